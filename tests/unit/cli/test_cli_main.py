import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prism_cli.commands.shared import told_errors
from prism_cli.exits import CommandError, Exit
from prism_cli.main import app
from prism_contracts.errors import ErrorCode, PrismError

COMMANDS = (
    "grep",
    "read",
    "references",
    "symbols",
    "outline",
    "up",
    "down",
    "index",
    "secrets",
    "search",
    "status",
    "logs",
    "doctor",
    "connect",
    "mcp",
    "demo",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_teaches_by_example(command: str):
    shown = CliRunner().invoke(app, [command, "--help"])
    assert shown.exit_code == 0
    assert "prism " in shown.output.split("Usage:")[1].split("\n", 1)[1]


def test_the_exit_codes_are_in_the_help():
    shown = " ".join(CliRunner().invoke(app, ["--help"]).output.split())
    for code in Exit:
        assert f"{int(code)} " in shown


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["up", "--port", "65536"], ["search"], ["search", "x", "--limit", "101"], ["index"]],
)
def test_a_wrong_command_line_is_usage(arguments: list[str]):
    assert CliRunner().invoke(app, arguments).exit_code == Exit.USAGE


def test_version_is_that_of_the_distribution():
    shown = CliRunner().invoke(app, ["--version"])
    assert (shown.exit_code, shown.output) == (0, f"prism {version('prism-code-intelligence')}\n")


def test_completion_is_installed_and_completes_commands(tmp_path: Path):
    prism = Path(sys.executable).with_name("prism")
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    # `true` keeps the shell as the parent, by which it is recognized.
    subprocess.run(["bash", "-c", f"{prism} --install-completion; true"], env=home, check=True)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "gateway.log").touch()
    home |= {"PATH": f"{prism.parent}:{home['PATH']}", "PRISM_DATA_DIR": str(tmp_path)}

    def completed(*words: str) -> list[str]:
        """Returns what bash offers at the end of the last word."""
        # Calls the function that `complete -F` registered, as bash does at a tab.
        script = """source ~/.bashrc; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            $(complete -p prism | sed 's/.* -F //; s/ .*//') prism; echo "${COMPREPLY[@]}" """
        shell = subprocess.run(
            ["bash", "-c", script, "bash", *words], env=home, capture_output=True, text=True, check=True
        )
        return shell.stdout.split()

    assert completed("prism", "se") == ["secrets", "search"]
    assert completed("prism", "logs", "") == ["gateway"]
    assert {"claude", "cursor", "agents-md"} <= set(completed("prism", "connect", ""))
    assert "--follow" in completed("prism", "logs", "--f")


def test_errors_of_the_contract_keep_their_code():
    with pytest.raises(CommandError) as caught, told_errors():
        raise PrismError(ErrorCode.SOURCE_EMPTY, "no files", "add some", folder="x")
    assert (caught.value.code, caught.value.next_action) == ("source_empty", "add some")
    assert caught.value.details == {"folder": "x"}


def test_ctrl_c_has_the_exit_code_of_a_signal():
    with pytest.raises(CommandError) as caught, told_errors():
        raise KeyboardInterrupt
    assert caught.value.exit_code is Exit.INTERRUPTED


def test_mistakes_of_our_own_are_not_hidden():
    with pytest.raises(ZeroDivisionError), told_errors():
        raise ZeroDivisionError


def test_the_supervisor_and_the_help_load_nothing_heavy():
    """The supervisor stays resident, and `--help` is common."""
    for module in ("prism_cli.stack.daemon", "prism_cli.main"):
        code = f"import {module}, sys; print(*sys.modules)"
        loaded = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
        heavy = {"pydantic", "httpx", "httpx2", "mcp", "numpy", "nats", "prism_contracts"}
        assert not heavy & set(loaded), module
