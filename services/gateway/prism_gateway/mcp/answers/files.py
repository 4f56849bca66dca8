"""Files: their lines, and lists of them."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from prism_contracts.errors import PrismError
from prism_contracts.rpc.common import EnclosingSymbol, Receipt
from prism_contracts.rpc.files import FileEntry, ListFilesReply, ReadFileReply
from prism_gateway.budget import chars, cut, fit
from prism_gateway.mcp.answers.places import symbol_name
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer, Json

# The cost of a file without its path, in characters: braces, field names, numbers.
FILE_CHARS = 60
# The cost of a place in an answer about several, without its path and lines, in characters.
PLACE_CHARS = 60
PLACE_FLOOR_CHARS = 200
NEAR_SHOWN_MAX = 3
# Lines before and after a match.
FRAME_LINES = 2
MEMBERS_SHOWN_MAX = 60
# Symbols that the label of a range names, those with the most of its lines.
TOUCHED_MAX = 4


def read_file(reply: ReadFileReply, max_tokens: int) -> Answer:
    """Returns the text of the lines, cut at a line end; numbered for readers."""
    content, end_line, cut_off = _fitting(reply, chars(max_tokens))
    structured: Json = {
        "repo": reply.repo,
        "file_path": reply.file_path,
        "start_line": reply.start_line,
        "end_line": end_line,
        "line_count": reply.line_count,
        "language": reply.language,
        "blob": reply.blob,
        "content": content,
        "receipt": receipt_json(reply.receipt),
    }
    foot = receipt_line(reply.receipt)
    if reply.note:
        structured["note"] = reply.note
        foot += f"\nnote: {reply.note}"
    if cut_off:
        next_line = min(end_line + 1, reply.line_count)
        action = f"Continue with read_file(file_path={reply.file_path!r}, start_line={next_line})."
        structured |= {"truncated": True, "next_actions": [action]}
        foot += f"\nnext: {action}"
    around = _around(reply)
    if around:
        structured["about"] = around
    place = f"{reply.file_path}:{reply.start_line}-{end_line} of {reply.line_count} lines"
    head = f"{place}{f' {around}' if around else ''}"
    return Answer(structured, f"{head}\n{numbered(content, reply.start_line)}\n\n{foot}")


class ShownPlace(NamedTuple):
    """Lines of a file to show, and what was asked for."""

    place: str
    repo: str
    file_path: str
    start_line: int
    content: str
    about: str = ""  # which symbol the lines are, or are in
    note: str = ""
    end_line: int = 0  # the last line of the place, if `content` ends before it
    lines: tuple[int, ...] = ()  # the only lines to show
    members: Sequence[EnclosingSymbol] = ()  # of the type that is shown


def excerpt(reply: ReadFileReply, place: str) -> ShownPlace:
    """Returns the lines of a reply as an excerpt."""
    return ShownPlace(
        place,
        reply.repo,
        reply.file_path,
        reply.start_line,
        reply.content,
        _around(reply),
        reply.note,
        reply.end_line,
    )


def with_matching_lines(one: ShownPlace, matches: Callable[[str], object]) -> ShownPlace:
    """Returns an excerpt that shows its first line, and those that match with two lines around each."""
    texts = one.content.removesuffix("\n").split("\n")
    found = [at for at, line in enumerate(texts) if matches(line)]
    near = {at for match in found for at in range(match - FRAME_LINES, match + FRAME_LINES + 1)}
    lines = tuple(one.start_line + at for at in sorted({0} | near) if 0 <= at < len(texts))
    note = "" if found else "no line matches"
    return one._replace(lines=lines, note="; ".join(filter(None, (note, one.note))))


def one_receipt(receipts: Sequence[Receipt]) -> Receipt | None:
    """Returns the receipt of an answer put together from several, with all corrected names."""
    corrected = {asked: shown for receipt in receipts for asked, shown in receipt.corrected.items()}
    return receipts[0].model_copy(update={"corrected": corrected}) if receipts else None


def excerpts(
    found: Sequence[ShownPlace | PrismError], places: Sequence[str], receipt: Receipt | None, max_tokens: int
) -> Answer:
    """Returns several places in one answer, with one budget: short ones leave their share to long ones.

    An error about one place is shown in its turn. The last line says how to read what is left out.
    """
    texts = [len(_text(one)) for one in found if isinstance(one, ShownPlace)]
    overheads = [len(one.file_path) + PLACE_CHARS for one in found if isinstance(one, ShownPlace)]
    chars_max = fit(texts, overheads, chars(max_tokens), PLACE_FLOOR_CHARS).text_chars_max
    shown = [
        _cut_excerpt(one, chars_max) if isinstance(one, ShownPlace) else _error(one, place)
        for one, place in zip(found, places, strict=True)
    ]
    structured: Json = {"files": [file for file, _, _ in shown]}
    blocks = [block for _, block, _ in shown]
    foot = []
    if receipt:
        structured["receipt"] = receipt_json(receipt)
        foot.append(receipt_line(receipt))
    rest = [place for _, _, place in shown if place]
    if rest:
        action = f"read_file(places={json.dumps(rest, ensure_ascii=False)}), or raise max_tokens."
        structured |= {"truncated": True, "next_actions": [action]}
        foot.append(f"next: {action}")
    return Answer(structured, "\n\n".join([*blocks, *(["\n".join(foot)] if foot else [])]))


def _cut_excerpt(one: ShownPlace, chars_max: int) -> tuple[Json, str, str]:
    """Returns an excerpt for programs and for readers, and the place of what is left out."""
    content, _ = cut(_text(one), chars_max)
    shown = content.removesuffix("\n").count("\n") + 1 if content else 0
    numbers = (one.lines or range(one.start_line, one.start_line + shown))[:shown]
    last = numbers[-1] if numbers else one.start_line - 1
    wanted = one.lines[-1] if one.lines else max(one.end_line, last)
    first, end = (one.start_line, one.end_line) if one.lines else (one.start_line, last)
    file: Json = {"file_path": one.file_path, "start_line": first, "end_line": end, "content": content}
    block = f"{one.file_path}:{first}-{end}{f' {one.about}' if one.about else ''}\n{with_numbers(content, numbers)}"
    if one.lines:
        file["lines"] = list(numbers)
    if one.about:
        file["about"] = one.about
    if one.note:
        file["note"] = one.note
        block += f"\nnote: {one.note}"
    if last >= wanted and len(content) == len(_text(one)):
        return file, block, ""
    file["truncated"] = True
    left_out = [f"… {one.end_line - last} more lines", *members_after(last, one.members)]
    return file, "\n".join([block, *left_out]), f"{one.file_path}:{last + 1}-{one.end_line}"


def members_after(line: int, members: Sequence[EnclosingSymbol]) -> Iterator[str]:
    """Returns the ranges of the members that end after a line: those that a cut source does not show."""
    rest = [f"{one.name} {one.start_line}-{one.end_line}" for one in members if one.end_line > line]
    if rest:
        more = f" and {len(rest) - MEMBERS_SHOWN_MAX} more" if len(rest) > MEMBERS_SHOWN_MAX else ""
        yield f"not shown: {', '.join(rest[:MEMBERS_SHOWN_MAX])}{more}"


def _text(one: ShownPlace) -> str:
    """Returns the text of the lines to show."""
    if not one.lines:
        return one.content
    texts = one.content.split("\n")
    return "\n".join(texts[number - one.start_line] for number in one.lines)


def with_numbers(content: str, numbers: Sequence[int]) -> str:
    """Returns lines with their numbers, and `…` where some are left out between them."""
    shown: list[str] = []
    width, previous = len(str(numbers[-1])) if numbers else 0, 0
    for number, line in zip(numbers, content.split("\n"), strict=False):
        if shown and number > previous + 1:
            shown.append("…")
        shown.append(f"{number:>{width}}\t{line}")
        previous = number
    return "\n".join(shown)


def _error(error: PrismError, place: str) -> tuple[Json, str, str]:
    body = error.body
    near = body.details.get("suggestions") or body.details.get("near") or ()
    hint = (
        f" Near: {', '.join(map(str, near[:NEAR_SHOWN_MAX]))}."
        if isinstance(near, list | tuple) and near
        else ""
    )
    text = f"{place}: {error.code.value}: {body.message}{hint}"
    return {"place": place, "error": body.model_dump(mode="json")}, text, ""


def _around(reply: ReadFileReply) -> str:
    """Returns which symbol the lines of a reply are, or are in, and the symbols that they cut or contain."""
    symbol = reply.enclosing
    if symbol is None or (reply.start_line, reply.end_line) == (1, reply.line_count):
        return ""
    if (symbol.start_line, symbol.end_line) == (reply.start_line, reply.end_line):
        return symbol.name
    touched = sorted(reply.touched, key=lambda one: -_shared_lines(reply, one))[:TOUCHED_MAX]
    names = ", ".join(symbol_name(one) for one in reply.touched if one in touched)
    more = f" and {len(reply.touched) - len(touched)} more" if len(reply.touched) > len(touched) else ""
    around = f"in {symbol_name(symbol)}" if symbol.name else ""
    return " ".join(filter(None, (around, f"with {names}{more}" if names else "")))


def _shared_lines(reply: ReadFileReply, symbol: EnclosingSymbol) -> int:
    return min(reply.end_line, symbol.end_line) - max(reply.start_line, symbol.start_line)


def _fitting(reply: ReadFileReply, chars_max: int) -> tuple[str, int, bool]:
    """Returns the lines that fit, the last of them, and whether some are left out."""
    content, missing = cut(reply.content, chars_max)
    return content, reply.end_line - missing, reply.truncated or content != reply.content


def numbered(content: str, start_line: int) -> str:
    """Returns lines with their numbers."""
    lines = content.removesuffix("\n").count("\n") + 1
    return with_numbers(content, range(start_line, start_line + lines))


def fit_files(reply: ListFilesReply, max_tokens: int) -> int:
    """Returns the number of files that fit."""
    overheads = [len(file.file_path) + FILE_CHARS for file in reply.files]
    return fit([0] * len(overheads), overheads, chars(max_tokens), 0).kept


def list_files(reply: ListFilesReply, max_tokens: int, *, cut_off: bool) -> Answer:
    """Returns files, one per line.

    With `cut_off` there were more, and `next_cursor` continues after these.
    """
    files = [_file(file) for file in reply.files]
    structured: Json = {
        "repo": reply.repo,
        "files": files,
        "total": reply.total,
        "next_cursor": reply.next_cursor,
        "receipt": receipt_json(reply.receipt),
    }
    foot = [f"{len(files)} of {reply.total} files; {receipt_line(reply.receipt)}"]
    if cut_off:
        structured["truncated"] = True
        foot.append(f"note: cut to max_tokens={max_tokens}: raise it, or continue with next_cursor.")
    if reply.next_cursor:
        foot.append(f"next_cursor: {reply.next_cursor}")
    return Answer(structured, "\n".join([*(_file_line(file) for file in files), *foot]))


def _file(file: FileEntry) -> Json:
    shown: Json = {
        "file_path": file.file_path,
        "language": file.language,
        "lines": file.lines,
        "size_bytes": file.size_bytes,
    }
    flags = [name for name, value in file.flags if value]
    if flags:
        shown["flags"] = flags
    if file.skipped:
        shown["skipped"] = file.skipped.value
    return shown


def _file_line(file: Json) -> str:
    marks = [*file.get("flags", ()), *([f"skipped: {file['skipped']}"] if "skipped" in file else [])]
    return f"{file['file_path']} ({', '.join([str(file['lines']) + ' lines', *marks])})"
