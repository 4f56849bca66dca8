"""Questions to the index: search, grep, read, references, symbols, outline."""

import asyncio
from typing import Annotated, Any

import typer

from prism_cli.commands.shared import JsonOption, told_errors

LIMIT_MAX = 100

RepoOption = Annotated[str, typer.Option(help="owner/repo. Default: all repositories.", envvar="PRISM_REPO")]
RefOption = Annotated[
    str, typer.Option(help="A branch, pull/N, or the handle of an overlay. Default: the followed branch.")
]
TokensOption = Annotated[
    int, typer.Option("--max-tokens", min=100, help="Length of the answer, in tokens of some 4 characters.")
]
PATH_TOKENS = 10_000


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
    with told_errors():
        from prism_cli import search as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        reply = asyncio.run(command.search(find_target(), query, repo, ref, limit))
        if as_json:
            terminal.print_json(reply.model_dump(mode="json"))
        else:
            command.show(reply)


def grep(  # noqa: PLR0917 - options of a command
    pattern: Annotated[str, typer.Argument(help="A text, or with -e a regular expression.")],
    path: Annotated[str, typer.Option(help="A glob of files, such as `src/**/*.py`.")] = "",
    regex: Annotated[
        bool, typer.Option("-e", "--regex", help="The pattern is a regular expression.")
    ] = False,
    ignore_case: Annotated[bool, typer.Option("-i", "--ignore-case", help="Ignore case.")] = False,
    word: Annotated[bool, typer.Option("-w", "--word", help="Match whole words.")] = False,
    repo: RepoOption = "",
    ref: RefOption = "",
    max_tokens: TokensOption = PATH_TOKENS,
    as_json: JsonOption = False,
) -> None:
    """Print every line that matches, as the tool grep_code does.

    Example: `prism grep -e "def (get|post)_" --path "src/**/*.py"`
    """
    arguments = {"pattern": pattern, "path_filter": path, "regex": regex, "word": word}
    case = {"case_sensitive": not ignore_case}
    _ask("grep_code", arguments | case, repo, ref, max_tokens, as_json=as_json)


def read(
    place: Annotated[str, typer.Argument(metavar="PATH[:FIRST-LAST]", help="A file, or lines of it.")],
    repo: RepoOption = "",
    ref: RefOption = "",
    max_tokens: TokensOption = PATH_TOKENS,
    as_json: JsonOption = False,
) -> None:
    """Print lines of an indexed file, as the tool read_file does.

    Example: `prism read src/app.py:10-40`
    """
    _ask("read_file", {"places": [place]}, repo, ref, max_tokens, as_json=as_json)


def references(  # noqa: PLR0917 - options of a command
    symbol: Annotated[str, typer.Argument(help="`get`, or `Session.get`.")],
    file: Annotated[str, typer.Option(help="The file of its definition.")] = "",
    repo: RepoOption = "",
    ref: RefOption = "",
    max_tokens: TokensOption = PATH_TOKENS,
    as_json: JsonOption = False,
) -> None:
    """Print who uses a symbol, as the tool find_references does.

    Example: `prism references Session.get`
    """
    _ask("find_references", {"symbols": [symbol], "file_path": file}, repo, ref, max_tokens, as_json=as_json)


def symbols(  # noqa: PLR0917 - options of a command
    names: Annotated[list[str], typer.Argument(metavar="SYMBOL…", help="`get`, or `Session.get`.")],
    body: Annotated[bool, typer.Option("--body", help="Also the source.")] = False,
    repo: RepoOption = "",
    ref: RefOption = "",
    max_tokens: TokensOption = PATH_TOKENS,
    as_json: JsonOption = False,
) -> None:
    """Print the definitions of symbols, as the tool get_symbol_definition does.

    Example: `prism symbols Session.get --body`
    """
    _ask(
        "get_symbol_definition",
        {"symbols": names, "include_body": body},
        repo,
        ref,
        max_tokens,
        as_json=as_json,
    )


def outline(
    file: Annotated[str, typer.Argument(metavar="PATH", help="A file.")],
    repo: RepoOption = "",
    ref: RefOption = "",
    max_tokens: TokensOption = PATH_TOKENS,
    as_json: JsonOption = False,
) -> None:
    """Print the symbols of a file, as the tool get_file_outline does.

    Example: `prism outline src/app.py`
    """
    _ask("get_file_outline", {"file_path": file}, repo, ref, max_tokens, as_json=as_json)


def _ask(
    tool: str, arguments: dict[str, Any], repo: str, ref: str, max_tokens: int, *, as_json: bool
) -> None:
    with told_errors():
        from prism_cli import ask, terminal
        from prism_cli.target import find_target

        scope = {"repo": repo, "ref": ref, "max_tokens": max_tokens}
        answer = asyncio.run(ask.ask(find_target(), tool, arguments | scope))
        if as_json:
            terminal.print_json(answer.data)
        else:
            ask.show(answer)
