"""The steps of `prism connect`: print the configuration of a client, merge it into its file, list the clients."""

import difflib
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from prism_cli import environment, terminal
from prism_cli.connect import clients, files, jsonc, toml
from prism_cli.connect.clients import CLIENTS, SERVER, AgentClient, CommandServer, Entry, Folders, HttpServer
from prism_cli.connect.files import ClientFile
from prism_cli.connect.jsonc import UneditableError
from prism_cli.exits import CommandError, Exit
from prism_cli.target import find_target

ASKING_ELSEWHERE = (
    "Every tool takes the argument `ref`: a branch, pull/N, or the handle that `prism watch` and `prism sync` print for "
    "uncommitted changes."
)
CLAUDE = "claude"
SECRET_CHARS_SHOWN = 10
SECRET_SHARE_SHOWN = 4  # a quarter at most
SECRET = "PRISM_TOKEN"  # noqa: S105 - the name of a variable
# Variables with which a client has to start `prism mcp` to find the same Prism; True: a path.
PASSED_ON = {
    "PRISM_URL": False,
    SECRET: False,
    f"{SECRET}_FILE": True,
    "PRISM_DATA_DIR": True,
    "PRISM_CONFIG": True,
}


class ClientChange(NamedTuple):
    """A client's file, with its text and permission bits after the change."""

    file: ClientFile
    text: str
    mode: int
    secret: str

    @property
    def is_needed(self) -> bool:
        """Whether the configuration is missing, or a secret in it is readable by others."""
        return self.text != self.file.text or self.mode != self.file.mode


class ClientState(NamedTuple):
    """A client, the address or command of Prism in its file, and the file."""

    client: str
    title: str
    prism: str
    file: str


def print_snippets(key: str, *, stdio: bool) -> None:
    """Print the configuration of one client, or of all. Raises CommandError."""
    for name in [key] if key else CLIENTS:
        client = _client(name)
        server = _server(client, stdio=stdio)
        where = "run this command" if name == CLAUDE else str(client.place(_folders()))
        terminal.out.print(Text(f"\n{client.title} ({where})", style="bold"), soft_wrap=True)
        text = _claude_command(server) if name == CLAUDE else snippet(client, server)
        terminal.out.print(Text(text), soft_wrap=True)
    terminal.out.print(Text(f"\n{ASKING_ELSEWHERE}", style="dim"), soft_wrap=True)


def write(key: str, *, stdio: bool, yes: bool) -> None:
    """Show the change of a client's file, ask, and make it. Raises CommandError."""
    client = _client(key)
    change = plan(client, _server(client, stdio=stdio), _folders())
    if not change.is_needed:
        terminal.out.print(
            f"{client.title} is connected already. {change.file.path} is unchanged.", soft_wrap=True
        )
        return
    for line in difference(change):
        terminal.out.print(Text(terminal.printable(line), style=_style(line)), soft_wrap=True)
    if not yes:
        _ask(change.file.path)
    backup = files.replace(change.file, change.text.encode(), change.mode)
    terminal.out.print(f"Wrote {change.file.path}. {client.afterwards}", soft_wrap=True)
    if backup:
        terminal.out.print(Text(f"The previous file is {backup}.", style="dim"), soft_wrap=True)


def plan(client: AgentClient, server: clients.Server, at: Folders) -> ClientChange:
    """Returns the change that connects a client. Raises CommandError."""
    file = files.read(client.place(at))
    try:
        text = _with_entry(client, file.text, clients.entry(client, server))
    except UneditableError as error:
        raise files.unusable(file.path, f"cannot be edited: {error}.") from error
    secret = server.token if isinstance(server, HttpServer) else server.environment.get(SECRET, "")
    if not secret:
        return ClientChange(file, text, file.mode, "")
    if files.is_tracked(file.path):
        raise CommandError(
            f"git tracks {file.path}, and the configuration contains your token.",
            "Store the token with `prism config set token`, and use --stdio, which leaves it out of the file.",
            code="client_file_tracked",
        )
    return ClientChange(file, text, files.private_mode(file), secret)


def difference(change: ClientChange) -> Iterator[str]:
    """Returns the lines of a unified diff, without the token."""
    path, length = str(change.file.path), len(change.secret)
    shown = f"{change.secret[: min(SECRET_CHARS_SHOWN, length // SECRET_SHARE_SHOWN)]}…"
    before, after = change.file.text.splitlines(), change.text.splitlines()
    old = path if change.file.status else "/dev/null"
    for line in difflib.unified_diff(before, after, old, path, lineterm=""):
        yield line.replace(change.secret, shown) if change.secret else line
    if change.mode != change.file.mode:
        yield f"mode {change.file.mode:o} → {change.mode:o}: only you may read your token"


def states(at: Folders) -> list[ClientState]:
    """Returns every client with what its file has about Prism."""
    return [
        ClientState(key, client.title, _state(client, at), str(client.place(at)))
        for key, client in CLIENTS.items()
    ]


def show_states(*, as_json: bool) -> None:
    """Print the clients."""
    found = states(_folders())
    if as_json:
        terminal.print_json([one._asdict() for one in found])
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ClientState._fields:
        table.add_column(column, header_style="dim", overflow="fold")
    for one in found:
        table.add_row(*(Text(terminal.printable(cell)) for cell in one))
    terminal.out.print(table)


def snippet(client: AgentClient, server: clients.Server) -> str:
    """Returns the text of a file that has nothing but the entry of Prism."""
    return _with_entry(client, "", clients.entry(client, server)).rstrip()


def http_server() -> HttpServer:
    """Returns the Prism in use, by its address. Raises CommandError if there is none."""
    target = find_target()
    return HttpServer(target.mcp_url, target.token)


def command_server() -> CommandServer:
    """Returns `prism mcp`, and the variables that this command was started with."""
    given = environment.given()
    passed_on = {
        name: str(Path(given[name]).expanduser().absolute()) if is_path else given[name]
        for name, is_path in PASSED_ON.items()
        if given.get(name)
    }
    return CommandServer((*_program(), "mcp"), passed_on)


def _client(key: str) -> AgentClient:
    if key not in CLIENTS:
        raise CommandError(
            f"There is no client {key!r}." if key else "--write needs a client.",
            f"Choose one of: {', '.join(CLIENTS)}.",
            code="client_unknown",
            exit_code=Exit.USAGE,
        )
    return CLIENTS[key]


def _server(client: AgentClient, *, stdio: bool) -> clients.Server:
    return command_server() if stdio or not client.url_key else http_server()


def _folders() -> Folders:
    return clients.folders(os.environ, Path.home())


def _program() -> tuple[str, ...]:
    """Returns the full path of this `prism`: clients start commands with a short PATH."""
    own = Path(sys.executable).with_name("prism")
    found = shutil.which("prism")
    # A link in a folder of the PATH outlives an upgrade.
    if found and Path(found).resolve() == own.resolve():
        return (found,)
    return (str(own),) if own.exists() else (sys.executable, "-m", "prism_cli.main")


def _claude_command(server: clients.Server) -> str:
    if isinstance(server, HttpServer):
        header = f' --header "Authorization: Bearer {server.token}"' if server.token else ""
        return f"claude mcp add --transport http {SERVER} {server.url}{header}"
    variables = [word for item in server.environment.items() for word in ("--env", "=".join(item))]
    return shlex.join(["claude", "mcp", "add", SERVER, *variables, "--", *server.argv])


def _with_entry(client: AgentClient, text: str, wanted: Entry) -> str:
    found = _entry_in(client, text)
    result = clients.merged(found, wanted)
    if result == found:
        return text
    if client.is_toml:
        return toml.with_table(text, client.servers, SERVER, result)
    return jsonc.with_value(text, (client.servers, SERVER), result)


def _entry_in(client: AgentClient, text: str) -> Any:
    """Returns the entry of Prism, None if there is none. Raises UneditableError."""
    value = toml.decode(text) if client.is_toml else jsonc.decode(text)
    servers = value.get(client.servers) if isinstance(value, dict) else None
    return servers.get(SERVER) if isinstance(servers, dict) else None


def _state(client: AgentClient, at: Folders) -> str:
    try:
        file = files.read(client.place(at))
        found = _entry_in(client, file.text)
    except CommandError:
        return "cannot be read"
    except UneditableError as error:
        return f"cannot be read: {error}"
    if found is None:
        return "not connected" if file.status else "no file"
    return clients.described(found) or "incomplete"


def _style(line: str) -> str:
    return {"+": "green", "-": "red"}.get(line[:1], "dim")


def _ask(path: Path) -> None:
    if not _is_terminal():
        raise CommandError(
            "Nothing was written.",
            "Confirm the change with --yes.",
            code="confirmation_required",
            exit_code=Exit.USAGE,
        )
    if not typer.confirm(f"Write {path}?", err=True):
        raise CommandError("Nothing was written.", code="declined")


def _is_terminal() -> bool:
    return sys.stdin.isatty()
