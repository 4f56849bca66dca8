"""The `prism` command: arguments, help, exit codes. Each command is implemented in a module of its own.

Commands import their modules when they run, which keeps `prism --help` fast.
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
    "Start it with `prism up --detach`, index code with `prism index .`, and ask with `prism search`. "
    "Agents connect over MCP; `prism connect` prints their configuration.\n\n"
    "PRISM_URL and PRISM_TOKEN select a remote Prism; PRISM_DATA_DIR selects the data folder of the local one.",
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
        help="Data folder of the local stack.",
        envvar="PRISM_DATA_DIR",
        show_default="user data folder",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


@app.command()
def up(
    data_dir: DataDirOption = None,
    port: Annotated[
        int, typer.Option(min=0, max=PORT_MAX, help="Port for MCP and REST; 0 picks a free one.")
    ] = PORT,
    detach: Annotated[
        bool, typer.Option("--detach", help="Run in the background; return when everything is ready.")
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Move the index aside and rebuild it, after an upgrade.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Start Prism on this machine: NATS, the store and all services, under a supervisor.

    Waits until everything is ready, then prints the MCP URL, the token, and the configuration for agents.
    Stop it with Ctrl-C or `prism down`. The data is kept.

    Examples:
    - `prism up` runs in the foreground

    - `prism up --detach --json` prints url, mcp_url, token and data_dir, for scripts

    - `prism up --data-dir /tmp/p --port 0` starts a second stack

    """
    with _told_errors():
        from prism_cli import up as command
        from prism_cli.stack import layout

        command.up(layout.data_dir(data_dir), port, detach=detach, rebuild=rebuild, as_json=as_json)


@app.command()
def down(data_dir: DataDirOption = None) -> None:
    """Stop the local stack and wait until it has stopped. The data is kept.

    Also exits with 0 if it was not running.

    Example: `prism down`
    """
    with _told_errors():
        from prism_cli import up as command
        from prism_cli.stack import layout

        command.down(layout.data_dir(data_dir))


@app.command()
def index(
    source: Annotated[str, typer.Argument(metavar="PATH_OR_GIT_URL", help="A folder, or a git URL.")],
    name: Annotated[
        str, typer.Option(help="owner/repo. Default: the name of the git origin, else local/FOLDER.")
    ] = "",
    ref: Annotated[
        str,
        typer.Option(help="Index this branch, tag or commit as a layer, in addition to the default branch."),
    ] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until everything is searchable.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Index a folder or a git repository. A second run indexes only what changed.

    A folder is uploaded with its uncommitted changes, without files that `.gitignore` excludes. A URL is
    cloned by the server. `--ref` indexes the commit of another branch of the folder; for the checked-out
    branch, the files as they are. With `--wait`, the exit code is 0 if everything is searchable, 4 if some
    files failed, 1 if the import failed.

    Examples:
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


PlaceArgument = Annotated[Path, typer.Argument(metavar="PATH", help="A folder in a git work tree.")]
NameOption = Annotated[
    str,
    typer.Option(help="owner/repo, as indexed. Default: the name of the git origin, else local/FOLDER."),
]


@app.command()
def sync(
    path: PlaceArgument = Path(),
    name: NameOption = "",
    close: Annotated[bool, typer.Option("--close", help="Delete the overlay.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make uncommitted and unpushed changes searchable, and print the handle of their overlay.

    Uploads the differences between the work tree and its branch on the server, or the followed branch if the
    server does not have it. Only questions with the handle see them. The next `prism sync` updates the same
    overlay. It expires after 8 hours.

    Examples:
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
    """Run `prism sync` after each save, until Ctrl-C, which deletes the overlay.

    Follows the checked-out branch. Ignored folders cost nothing.

    Example: `prism watch`
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
            help="The index.scip of an indexer.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ],
    repo: Annotated[str, typer.Option(help="owner/repo, as indexed.")],
    commit: Annotated[str, typer.Option(help="The full hash of the commit that was indexed.")],
    root: Annotated[str, typer.Option(help="The folder of the repository that the index covers.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Upload a SCIP index of an indexed commit.

    Its references take precedence over those that Prism resolves, in files that are unchanged since the
    commit.

    Example:
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
    name: Annotated[
        str, typer.Argument(metavar="OWNER/NAME", help="The repository; it need not be indexed yet.")
    ],
    webhook: Annotated[
        bool,
        typer.Option("--webhook", help="Generate its webhook secret, and print the settings for the forge."),
    ] = False,
    git_login: Annotated[
        str,
        typer.Option(
            metavar="USER@HOST",
            help="Store the login of its git server. Prompts for the password, or reads it or a private ssh key from stdin.",
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Store secrets of a repository. They are encrypted, and never shown again.

    Examples:
    - `prism secrets acme/app --webhook`

    - `prism secrets acme/private --git-login x-access-token@github.com < token.txt`

    - `prism secrets acme/private --git-login git@github.com < deploy_key`

    """
    with _told_errors():
        from prism_cli import secrets as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        shown = command.keep(find_target(), name, webhook=webhook, git_login=git_login)
        if as_json:
            terminal.print_json(shown)
        else:
            command.show(shown)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="A question, a name, or a few words.")],
    repo: Annotated[str, typer.Option(help="owner/repo. Default: all repositories.")] = "",
    ref: Annotated[
        str, typer.Option(help="A branch, pull/N, or the handle of an overlay. Default: the followed branch.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=LIMIT_MAX, help="Maximum number of hits.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Search for code, as an agent does.

    Each hit shows its place, its score, and the retrieval legs that found it with their ranks. The last line
    is the receipt: the commit that answered, its age, and what is missing.

    Examples:
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

    Examples:
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
    client: Annotated[str, typer.Argument(help="claude, cursor, vscode or codex. Default: all.")] = "",
) -> None:
    """Print the configuration that connects a coding agent to this Prism.

    Example: `prism connect claude`
    """
    with _told_errors():
        from prism_cli import up as command
        from prism_cli.target import find_target

        target = find_target()
        command.connect(target.mcp_url, target.token, client)


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Check this machine and the local stack, and explain how to fix each problem.

    The exit code is 1 if there is a problem. A stack that is not running is not a problem.

    Example: `prism doctor`
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
    """Rebuild lost or damaged parts of the index. Run it on the machine of the stack.

    Moves damaged collections to `set-aside` in the data folder, and reindexes repositories that have a git
    URL. For the others it prints the `prism index` commands to run; the exit code is then 4.

    Example: `prism repair`

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
    repo: Annotated[str, typer.Option(help="A folder, or a git URL.")] = ".",
    query: Annotated[
        str, typer.Option(help="The question.")
    ] = "how is a failed message retried and moved to the dead letters",
) -> None:
    """Demonstrate Prism: start a temporary stack, index a repository, ask over MCP, print the answer, stop.

    Uses a temporary folder and a free port, does not affect a running stack, and leaves nothing behind.

    Examples:
    - `prism demo`

    - `prism demo --repo https://github.com/psf/requests --query "where are redirects followed"`

    """
    with _told_errors():
        from prism_cli import demo as command

        command.demo(repo, query)


@contextmanager
def _told_errors() -> Iterator[None]:
    """Convert errors of the contracts to CommandError; see `main`."""
    try:
        yield
    except KeyboardInterrupt:
        raise CommandError("Interrupted.", code="interrupted", exit_code=Exit.INTERRUPTED) from None
    except Exception as error:
        # An error of the contracts implies that pydantic is loaded.
        contract = sys.modules.get("prism_contracts.errors")
        if contract is None or not isinstance(error, contract.PrismError):
            raise
        body = error.body
        raise CommandError(
            body.message, body.next_action, code=body.code.value, details=body.details
        ) from error


def main() -> None:
    """Run the command line, and exit with a code of `exits.Exit`."""
    try:
        app()
    except CommandError as error:
        from prism_cli import terminal

        terminal.show_error(error, as_json="--json" in sys.argv)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
