"""Matches of an exact search by file, or the files with matches."""

from collections.abc import Sequence

from prism_contracts.rpc.search import FileMatches, GrepMatch, GrepReply
from prism_gateway.budget import Fit, chars, fit
from prism_gateway.mcp.answers.places import PlaceLine, file_label, place_lines, several
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer, Json

LINE_FLOOR_CHARS = 200
# The cost of a match or a file without its text, in characters: braces, field names, numbers.
ITEM_CHARS = 60


def fit_matches(reply: GrepReply, max_tokens: int) -> Fit:
    """The number of matches or files that fit, and the longest length of matching lines."""
    texts = [
        len(match.text) + sum(map(len, match.before)) + sum(map(len, match.after)) for match in reply.matches
    ]
    overheads = [len(item.file_path) + ITEM_CHARS for item in _items(reply)]
    return fit([*texts, *[0] * len(reply.files)], overheads, chars(max_tokens), LINE_FLOOR_CHARS)


def grep(reply: GrepReply, max_tokens: int, *, cut_off: bool) -> Answer:
    """Returns matches by file, or files.

    With `cut_off` there were more, and `next_cursor` continues after these.
    """
    with_repo = len({item.repo for item in _items(reply)}) > 1
    text_chars_max = fit_matches(reply, max_tokens).text_chars_max
    matches = [_match(match, text_chars_max, with_repo) for match in reply.matches]
    files = [_file(file, with_repo) for file in reply.files]
    structured: Json = {
        **_totals(reply, files),
        "matches": matches,
        "next_cursor": reply.next_cursor,
        "complete": reply.complete,
        "note": reply.note,
        "files_scanned": reply.files_scanned,
        "receipt": receipt_json(reply.receipt),
    }
    if cut_off:
        structured["truncated"] = True
        note = f"Cut to max_tokens={max_tokens}: raise it, or continue with next_cursor."
        structured["note"] = f"{reply.note} {note}".lstrip()
    lines = [_file_line(file) for file in files]
    lines += place_lines(
        PlaceLine(
            _place(match),
            match["line"],
            match["text"],
            found.enclosing,
            match.get("before", ()),
            match.get("after", ()),
        )
        for match, found in zip(matches, reply.matches, strict=True)
    )
    foot = [f"{_count_line(reply)}; {receipt_line(reply.receipt)}"]
    if structured["note"]:
        foot.append(f"note: {structured['note']}")
    if reply.next_cursor:
        foot.append(f"next_cursor: {reply.next_cursor}")
    return Answer(structured, "\n".join([*lines, "", *foot] if lines else foot))


def _items(reply: GrepReply) -> list[GrepMatch | FileMatches]:
    return [*reply.matches, *reply.files]


def _match(match: GrepMatch, chars_max: int, with_repo: bool) -> Json:
    shown: Json = {"file_path": match.file_path, "line": match.line, "text": _clip(match.text, chars_max)}
    if with_repo:
        shown["repo"] = match.repo
    if match.enclosing and match.enclosing.name:
        shown["symbol"] = match.enclosing.name
    if match.before:
        shown["before"] = [_clip(line, chars_max) for line in match.before]
    if match.after:
        shown["after"] = [_clip(line, chars_max) for line in match.after]
    return shown


def _clip(line: str, chars_max: int) -> str:
    return line if len(line) <= chars_max else f"{line[:chars_max]}… {len(line) - chars_max} more characters"


def _file(file: FileMatches, with_repo: bool) -> Json:
    shown: Json = {"file_path": file.file_path}
    if file.lines is not None:
        shown["lines"] = file.lines
    return {"repo": file.repo, **shown} if with_repo else shown


def _totals(reply: GrepReply, files: Sequence[Json]) -> Json:
    """Returns the text of files, in the modes that return files."""
    totals = {"total_files": reply.total_files, "total_lines": reply.total_lines}
    result = {name: total for name, total in totals.items() if total is not None}
    return {"files": files, **result} if files or result else {}


def _file_line(file: Json) -> str:
    return f"{_place(file)}:{file['lines']}" if "lines" in file else _place(file)


def _place(match: Json) -> str:
    return file_label(match["file_path"], match.get("repo", ""))


def _count_line(reply: GrepReply) -> str:
    found = len(reply.matches) or len(reply.files)
    scanned = several(reply.files_scanned, "file")
    if not found and not reply.files_scanned and not reply.note:
        return "No match: the index rules out every file"
    if not found:
        return f"No match in {scanned} scanned"
    if reply.matches:
        holding = len({(match.repo, match.file_path) for match in reply.matches})
        return f"{several(found, 'match')} in {several(holding, 'file')}; {scanned} scanned"
    if reply.total_files is None:
        return f"{several(found, 'file')} with matches, of {scanned} scanned"
    counted = "" if reply.total_lines is None else f"{several(reply.total_lines, 'line')} in "
    return f"{counted}{several(reply.total_files, 'file')} with matches; {found} shown"
