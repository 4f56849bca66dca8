"""The `prism` command: its arguments, its help, its exit codes. What each command does lives in its own module.

Modules are imported by the command that needs them, so that `prism --help` is quick.
"""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from prism_cli.exits import EXIT_CODES_HELP, CommandError, Exit

PORT = 8780
PORT_MAX = 65_535
LIMIT_MAX = 100

app = typer.Typer(
    name="prism",
    help="A shared memory of your code for coding agents.\n\n"
    "Start it with `prism up --detach`, give it code with `prism index .`, and ask with `prism search`. "
    "Agents ask over MCP; `prism connect` prints their configuration.\n\n"
    "PRISM_URL and PRISM_TOKEN name a Prism elsewhere; PRISM_DATA_DIR names the folder of the local one.",
    epilog=EXIT_CODES_HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

DataDirOption = Annotated[
    str | None,
    typer.Option(
        "--data-dir",
        help="Folder of the local stack.",
        envvar="PRISM_DATA_DIR",
        show_default="user data folder",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs on standard output.")]


@app.command()
def up(
    data_dir: DataDirOption = None,
    port: Annotated[
        int, typer.Option(min=0, max=PORT_MAX, help="Port of MCP and REST; 0 picks a free one.")
    ] = PORT,
    detach: Annotated[bool, typer.Option("--detach", help="Return when all is ready; it runs on.")] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Set the index aside and build it again, after an upgrade.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Start Prism on this machine: NATS, the store and every service, watched and restarted.

    Waits until all are ready, then prints the MCP address, the token, and the configuration of agents.
    Ctrl-C, or `prism down`, stops all of it. The data stays.

    Try:

    - `prism up` in the foreground

    - `prism up --detach --json` for scripts: prints url, mcp_url, token, data_dir

    - `prism up --data-dir /tmp/p --port 0` beside another one
    """
    with _told_errors():
        from prism_cli import up as command
        from prism_cli.stack import layout

        command.up(layout.data_dir(data_dir), port, detach=detach, rebuild=rebuild, as_json=as_json)


@app.command()
def down(data_dir: DataDirOption = None) -> None:
    """Stop the stack of a data folder, services first, and wait until it is gone. The data stays.

    Exit code 0 as well if it was not running: it is as stopped as it should be.

    Try: `prism down`
    """
    with _told_errors():
        from prism_cli import up as command
        from prism_cli.stack import layout

        command.down(layout.data_dir(data_dir))


@app.command()
def index(
    source: Annotated[
        str, typer.Argument(metavar="PATH_OR_GIT_URL", help="A folder, or the URL of a git repository.")
    ],
    name: Annotated[
        str, typer.Option(help="owner/repo. Without it: the name of the git origin, else local/FOLDER.")
    ] = "",
    ref: Annotated[
        str,
        typer.Option(help="A branch, tag or commit: beside what is indexed already, as a layer of its own."),
    ] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Return when all of it is searchable.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Index a folder or a git repository. A second run indexes only what changed.

    A folder is sent from here, uncommitted changes included; what `.gitignore` names stays out. A URL is cloned by
    the server. With `--ref`, the commit of a branch of the folder becomes what questions with that `ref` see (of the branch
    that is checked out, the files as they are). With `--wait`: 0 when all is searchable, 4 when some files failed, 1 when the whole failed.

    Try:

    - `prism index . --wait`

    - `prism index . --ref feature/parser --wait`

    - `prism index https://github.com/psf/requests --ref v2.32.0 --wait`

    - `prism index ~/notes --name me/notes`
    """
    with _told_errors():
        from prism_cli import terminal
        from prism_cli.index import command
        from prism_cli.target import find_target

        wish = command.Wish(source, name, ref, wait=wait)
        outcome = asyncio.run(command.index(find_target(), wish))
        if as_json:
            terminal.print_json(outcome.as_json())
        else:
            command.show(outcome)
        raise typer.Exit(outcome.exit_code)


PlaceArgument = Annotated[Path, typer.Argument(metavar="PATH", help="A folder of a git work tree.")]
NameOption = Annotated[
    str,
    typer.Option(
        help="owner/repo, as it was indexed. Without it: the name of the git origin, else local/FOLDER."
    ),
]


@app.command()
def sync(
    path: PlaceArgument = Path(),
    name: NameOption = "",
    close: Annotated[bool, typer.Option("--close", help="Forget the overlay.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make what is not committed searchable, and print the handle to ask by.

    What the work tree has otherwise than its branch on the server (or than what the server follows, if it does not know the
    branch) is laid over it as an overlay: edited, new and removed files, and commits that were not pushed. Nobody else sees
    it who does not ask by the handle. The next `prism sync` brings the same overlay up to date; it expires after 8 hours.

    Try:

    - `prism sync`

    - `prism search "where are retries decided" --ref $(prism sync --json | jq -r .handle)`

    - `prism sync --close`
    """
    with _told_errors():
        from prism_cli import terminal
        from prism_cli.sync import command
        from prism_cli.target import find_target

        place = command.Place(path, name)
        if close:
            is_closed = asyncio.run(command.close(find_target(), place))
            if as_json:
                terminal.print_json({"closed": is_closed})
            return
        synced = asyncio.run(command.sync(find_target(), place))
        if as_json:
            terminal.print_json(command.as_json(synced))
        else:
            command.show(synced)
        raise typer.Exit(command.exit_code(synced))


@app.command()
def watch(path: PlaceArgument = Path(), name: NameOption = "") -> None:
    """Do what `prism sync` does after each save, until Ctrl-C, which closes the overlay.

    Follows another branch when one is checked out. Ignored folders cost nothing.

    Try: `prism watch`
    """
    with _told_errors():
        from prism_cli.sync.command import Place
        from prism_cli.sync.watch import watch as follow
        from prism_cli.target import find_target

        asyncio.run(follow(find_target(), Place(path, name)))


@app.command()
def scip(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="index.scip, as an indexer wrote it.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ],
    repo: Annotated[str, typer.Option(help="owner/repo, as it was indexed.")],
    commit: Annotated[str, typer.Option(help="The commit that the index was made of, in full.")],
    root: Annotated[str, typer.Option(help="The folder of the repository that the index is of.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Bring what a compiler knows: a SCIP index of a commit that is indexed.

    What it says of references goes before what Prism finds itself, in files that are still as the commit has them.

    Try:

    - `prism scip index.scip --repo acme/parcels --commit $(git rev-parse HEAD)`
    """
    with _told_errors():
        from prism_cli import scip as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        reply = asyncio.run(command.send(find_target(), file, repo, commit, root))
        if as_json:
            terminal.print_json(reply.model_dump(mode="json"))
        else:
            command.show(reply)


@app.command()
def secrets(
    name: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="The repository, indexed or not yet.")],
    webhook: Annotated[
        bool,
        typer.Option("--webhook", help="Make the secret of its webhook, and print what the forge needs."),
    ] = False,
    git_login: Annotated[
        str,
        typer.Option(
            metavar="USER@HOST",
            help="Keep the login of its git server; the password is asked for, or it or a private ssh key is read from stdin.",
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Entrust Prism with secrets of a repository: they are kept encrypted, and never told again.

    Try:

    - `prism secrets acme/app --webhook`

    - `prism secrets acme/private --git-login x-access-token@github.com < token.txt`

    - `prism secrets acme/private --git-login git@github.com < deploy_key`
    """
    with _told_errors():
        from prism_cli import secrets as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        told = command.keep(find_target(), name, webhook=webhook, git_login=git_login)
        if as_json:
            terminal.print_json(told)
        else:
            command.show(told)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="A question, a name, a few words.")],
    repo: Annotated[str, typer.Option(help="owner/repo; without it all repositories.")] = "",
    ref: Annotated[
        str, typer.Option(help="A branch, pull/N, or the handle of an overlay; without it what is followed.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=LIMIT_MAX, help="Most hits.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Ask a question and get the lines that answer it, as an agent does.

    Each hit says where it is, how it scored, and which legs found it at which rank; the last line is the
    receipt: the commit that answered, how old, and what was left out.

    Try:

    - `prism search "where are retries decided"`

    - `prism search HTTPAdapter.send --repo psf/requests --limit 3`
    """
    with _told_errors():
        from prism_cli import search as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        reply = asyncio.run(command.search(find_target(), query, repo, ref, limit))
        if as_json:
            terminal.print_json(reply.model_dump(mode="json"))
        else:
            command.show(reply)


@app.command()
def status(as_json: JsonOption = False) -> None:
    """Show services, repositories, jobs, queues, dead letters, points and memory.

    Try:

    - `prism status`

    - `prism status --json | jq .memory.pss_bytes`
    """
    with _told_errors():
        from prism_cli import status as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        report = asyncio.run(command.status(find_target()))
        if as_json:
            terminal.print_json(report)
        else:
            command.show(report)


@app.command()
def connect(
    client: Annotated[str, typer.Argument(help="claude, cursor, vscode or codex; all without it.")] = "",
) -> None:
    """Print the configuration that connects a coding agent to this Prism, ready to paste.

    Try: `prism connect claude`
    """
    with _told_errors():
        from prism_cli import up as command
        from prism_cli.target import find_target

        target = find_target()
        command.connect(target.mcp_url, target.token, client)


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Check what Prism needs on this machine, and say what to do about each thing that is not right.

    Exit code 1 if something is wrong. A stack that does not run is not wrong.

    Try: `prism doctor`
    """
    with _told_errors():
        from prism_cli import doctor as command
        from prism_cli import terminal
        from prism_cli.stack import layout

        findings = command.examine(layout.data_dir(), PORT)
        if as_json:
            terminal.print_json(command.as_json(findings))
        else:
            command.show(findings)
        raise typer.Exit(Exit.FAILED if command.is_wrong(findings) else Exit.OK)


@app.command()
def repair(as_json: JsonOption = False) -> None:
    """Rebuild what the store lost or cannot read. Runs on the machine of the stack.

    Sets damaged collections aside, in `set-aside` of the data folder, and has the server fetch and index repositories with a git
    URL again. For the others it prints the `prism index` commands that bring them back. Exit code 4 if there are any.

    Try: `prism repair`
    """
    with _told_errors():
        from prism_cli import repair as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        repaired = asyncio.run(command.repair(find_target()))
        if as_json:
            terminal.print_json(repaired.as_json())
        else:
            command.show(repaired)
        raise typer.Exit(Exit.INCOMPLETE if repaired.commands else Exit.OK)


@app.command()
def demo(
    repo: Annotated[str, typer.Option(help="A folder or a git URL.")] = ".",
    query: Annotated[
        str, typer.Option(help="What to ask.")
    ] = "how is a failed message retried and moved to the dead letters",
) -> None:
    """Show the whole once: start a stack of its own, index, ask over MCP, print the answer, stop.

    Uses a temporary folder and a free port, beside any stack that runs; leaves nothing.

    Try:

    - `prism demo`

    - `prism demo --repo https://github.com/psf/requests --query "where are redirects followed"`
    """
    with _told_errors():
        from prism_cli import demo as command

        command.demo(repo, query)


@contextmanager
def _told_errors() -> Iterator[None]:
    """Errors that are answers leave as CommandError; see `main`."""
    try:
        yield
    except KeyboardInterrupt:
        raise CommandError("Interrupted.", code="interrupted", exit_code=Exit.INTERRUPTED) from None
    except Exception as error:
        # Only where pydantic is loaded anyway can it be an error of the contract.
        contract = sys.modules.get("prism_contracts.errors")
        if contract is None or not isinstance(error, contract.PrismError):
            raise
        body = error.body
        raise CommandError(
            body.message, body.next_action, code=body.code.value, details=body.details
        ) from error


def main() -> None:
    """Run the command line; exit with a code of `exits.Exit`."""
    try:
        app()
    except CommandError as error:
        from prism_cli import terminal

        terminal.show_error(error, as_json="--json" in sys.argv)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
