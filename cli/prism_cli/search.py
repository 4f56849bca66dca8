"""`prism search`: the answer that an agent gets, as text."""

from itertools import groupby

from rich.syntax import Syntax
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import Prism
from prism_cli.target import ServerTarget
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.search import Detail, Hit, SearchReply

LINES_SHOWN_MAX = 12
COMMIT_CHARS = 10
THEME = "ansi_dark"


async def search(target: ServerTarget, query: str, repo: str, ref: str, limit: int) -> SearchReply:
    """Ask."""
    async with Prism(target) as prism:
        return await prism.search(query, repo, limit, ref=ref, detail=Detail.TOP)


def show(reply: SearchReply) -> None:
    """Print hits, best first, and their receipt."""
    if not reply.results:
        terminal.out.print("No hits.", style="yellow")
    for rank, hit in enumerate(reply.results, 1):
        _show_hit(rank, hit)
    for action in reply.next_actions:
        terminal.out.print(Text(f"→ {terminal.printable(action)}", style="cyan"), soft_wrap=True)
    terminal.out.print(Text(receipt_line(reply), style="dim"), soft_wrap=True)


def _show_hit(rank: int, hit: Hit) -> None:
    if not hit.content:
        _show_symbol(rank, hit)
        return
    lines = terminal.printable(hit.content).rstrip("\n").split("\n")
    terminal.out.print(hit_header(rank, hit), soft_wrap=True)
    terminal.out.print(_excerpt(hit, lines[:LINES_SHOWN_MAX]))
    if len(lines) > LINES_SHOWN_MAX:
        terminal.out.print(Text(f"     … {len(lines) - LINES_SHOWN_MAX} more lines", style="dim"))


def _show_symbol(rank: int, hit: Hit) -> None:
    """Print the lines of a symbol that matter, or its signature."""
    terminal.out.print(hit_header(rank, hit), soft_wrap=True)
    for number, (_, found) in enumerate(
        groupby(enumerate(hit.lines), key=lambda item: item[1].number - item[0])
    ):
        run = [line for _, line in found]
        if number:
            terminal.out.print(Text("     …", style="dim"))
        terminal.out.print(_excerpt(hit, [terminal.printable(line.text) for line in run], run[0].number))
    if hit.signature and not hit.lines:
        terminal.out.print(Text(f"     {terminal.printable(hit.signature)}"), soft_wrap=True)


def hit_header(rank: int, hit: Hit) -> Text:
    """`1. src/a.py:10-32  Session.get · method · python  score 0.912 · keyword #1 · vector #3`."""
    header = Text(f"{rank}. ", style="bold")
    place = f"{hit.file_path}:{hit.start_line}-{hit.end_line}"
    header.append(terminal.printable(place), style="bold cyan")
    about = " · ".join(part for part in (hit.symbol, hit.kind, hit.language, hit.repo) if part)
    header.append(f"  {terminal.printable(about)}", style="green")
    legs = "".join(f" · {leg} #{place}" for leg, place in sorted(hit.legs.items(), key=lambda leg: leg[1]))
    return header.append(f"  score {hit.score:.3f}{legs}", style="dim")


def _excerpt(hit: Hit, lines: list[str], start_line: int = 0) -> Syntax:
    return Syntax(
        "\n".join(lines),
        hit.language or "text",
        theme=THEME,
        background_color="default",
        line_numbers=True,
        start_line=start_line or hit.start_line,
    )


def receipt_line(reply: SearchReply) -> str:
    """Print the receipt: commit, age, completeness, confidence, time."""
    parts = [
        _freshness(reply.receipt),
        _completeness(reply.receipt),
        f"confidence {reply.confidence}",
        f"intent {reply.query_intent}",
    ]
    if reply.receipt.missing_legs:
        parts.append(f"without {', '.join(reply.receipt.missing_legs)}")
    if reply.timings_ms:
        parts.append(f"{sum(reply.timings_ms.values()):.1f} ms")
    return terminal.printable(" · ".join(parts))


def _freshness(receipt: Receipt) -> str:
    commit = receipt.indexed_commit.removeprefix("tree:")[:COMMIT_CHARS]
    dirty = " with uncommitted changes" if receipt.dirty else ""
    behind = f", {receipt.lag_seconds:.0f} s behind" if receipt.lag_seconds else ""
    where = receipt.repo or "all repositories"
    at = f" @ {commit}" if commit else ""
    return f"{where}{at}{dirty}, indexed {terminal.ago(receipt.indexed_at)}{behind}"


def _completeness(receipt: Receipt) -> str:
    text = f"{receipt.files_indexed:,} files"
    if receipt.files_skipped:
        text += f", {receipt.files_skipped:,} skipped"
    if receipt.files_failed:
        text += f", {receipt.files_failed:,} failed"
    return text
