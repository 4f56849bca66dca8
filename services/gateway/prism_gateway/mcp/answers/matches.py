"""Matches of an exact search by file, or the files with matches."""

from collections.abc import Iterator, Sequence

from prism_contracts.rpc.search import FileMatches, GrepMatch, GrepReply
from prism_gateway.budget import Fit, chars, fit
from prism_gateway.mcp.answers.places import PlaceLine, file_label, place_lines, several
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer, Json

LINE_FLOOR_CHARS = 200
# The cost of a line of an answer without its text, in characters: indentation, number, line end.
ITEM_CHARS = 12
# Files of the rest that are listed with their counts.
REST_SHOWN_MAX = 12
NO_FILE = "no indexed file"
MORE = "more matches: continue with next_cursor"


def fit_matches(reply: GrepReply, max_tokens: int) -> Fit:
    """The number of matches or files that fit, and the longest length of matching lines."""
    texts = [
        len(match.text) + sum(map(len, match.before)) + sum(map(len, match.after)) for match in reply.matches
    ]
    overheads = [
        *_match_overheads(reply.matches),
        *(len(file.file_path) + ITEM_CHARS for file in reply.files),
    ]
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
    if reply.rest:
        structured["rest"] = [_file(file, with_repo) for file in reply.rest]
    if cut_off:
        structured["truncated"] = True
        note = f"Cut to max_tokens={max_tokens}: raise it, or continue with next_cursor."
        structured["note"] = f"{reply.note} {note}".lstrip()
    lines = [_file_line(file) for file in files]
    lines += place_lines(
        PlaceLine(
            _place(match),
            match["line"],
            match["text"] if found.before or found.after else match["text"].strip(),
            found.enclosing,
            match.get("before", ()),
            match.get("after", ()),
        )
        for match, found in zip(matches, reply.matches, strict=True)
    )
    foot = [*_rest_lines(structured.get("rest", ())), f"{_count_line(reply)}; {receipt_line(reply.receipt)}"]
    # The cursor says that there is more.
    notes = "; ".join(note for note in structured["note"].split("; ") if note != MORE)
    if notes:
        foot.append(f"note: {notes}")
    if reply.next_cursor:
        foot.append(f"next_cursor: {reply.next_cursor}")
    return Answer(structured, "\n".join([*lines, "", *foot] if lines else foot))


def _match_overheads(matches: Sequence[GrepMatch]) -> Iterator[int]:
    """Yields the cost of each match: a path and a symbol are shown once for neighboring lines."""
    previous: GrepMatch | None = None
    for match in matches:
        chars_used = ITEM_CHARS * (1 + len(match.before) + len(match.after))
        if previous is None or (previous.repo, previous.file_path) != (match.repo, match.file_path):
            chars_used += len(match.repo) + len(match.file_path)
        if match.enclosing and (previous is None or previous.enclosing != match.enclosing):
            chars_used += len(match.enclosing.name) + ITEM_CHARS
        previous = match
        yield chars_used


def _rest_lines(rest: Sequence[Json]) -> Iterator[str]:
    """Yields the files with further matches, those with the most first."""
    if not rest:
        return
    most = sorted(rest, key=lambda file: -file["lines"])
    shown = ", ".join(f"{_place(file)} {file['lines']}" for file in most[:REST_SHOWN_MAX])
    more = most[REST_SHOWN_MAX:]
    further = f", {several(len(more), 'file')} {sum(file['lines'] for file in more)}" if more else ""
    yield f"further matches by file: {shown}{further}"


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
    if not found and not reply.files_scanned and not reply.note.startswith(NO_FILE):
        return "No match: the index rules out every file"
    if not found:
        return f"No match in {scanned} scanned"
    if reply.matches:
        return _lines_count(reply)
    if reply.total_files is None:
        return f"{several(found, 'file')} with matches, of {scanned} scanned"
    counted = "" if reply.total_lines is None else f"{several(reply.total_lines, 'line')} in "
    return f"{counted}{several(reply.total_files, 'file')} with matches; {found} shown"


def _lines_count(reply: GrepReply) -> str:
    """Returns how many lines are shown, and of how many."""
    lines = len(reply.matches)
    shown = (
        f"{several(lines, 'match')} in {several(len({(m.repo, m.file_path) for m in reply.matches}), 'file')}"
    )
    if reply.total_lines is None or reply.total_files is None:
        return shown if reply.complete else f"{shown} shown; there are more"
    total = f"{several(reply.total_lines, 'match')} in {several(reply.total_files, 'file')}"
    return f"All {total}" if reply.total_lines == lines else f"{lines:,} of {total}"
