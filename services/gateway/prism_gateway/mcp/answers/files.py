"""Files: their lines, and lists of them."""

from collections.abc import Sequence

from prism_contracts.errors import PrismError
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.files import FileEntry, ListFilesReply, ReadFileReply
from prism_gateway.budget import chars, cut, fit
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer, Json

# The cost of a file without its path, in characters: braces, field names, numbers.
FILE_CHARS = 60


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
    head = f"{reply.file_path}:{reply.start_line}-{end_line} of {reply.line_count} lines"
    return Answer(structured, f"{head}\n{numbered(content, reply.start_line)}\n\n{foot}")


def read_places(
    found: Sequence[ReadFileReply | PrismError], places: Sequence[str], max_tokens: int
) -> Answer:
    """Returns several places in one answer. Each gets an equal share of the budget that earlier ones left over.

    An error about one place is shown in its turn.
    """
    chars_left = chars(max_tokens)
    files: list[Json] = []
    blocks: list[str] = []
    receipt: Receipt | None = None
    for number, (reply, place) in enumerate(zip(found, places, strict=True)):
        if isinstance(reply, PrismError):
            files.append({"place": place, "error": reply.body.model_dump(mode="json")})
            blocks.append(f"{place}: {reply.code.value}: {reply.body.message}")
            continue
        receipt = receipt or reply.receipt
        content, end_line, cut_off = _fitting(reply, chars_left // (len(places) - number))
        chars_left -= len(content)
        file: Json = {
            "file_path": reply.file_path,
            "start_line": reply.start_line,
            "end_line": end_line,
            "content": content,
        }
        block = f"{reply.file_path}:{reply.start_line}-{end_line}\n{numbered(content, reply.start_line)}"
        if reply.note:
            file["note"] = reply.note
            block += f"\nnote: {reply.note}"
        if cut_off:
            file["truncated"] = True
            block += f"\n… read_file from line {end_line + 1}"
        files.append(file)
        blocks.append(block)
    structured: Json = {"files": files}
    if receipt:
        structured["receipt"] = receipt_json(receipt)
        blocks.append(receipt_line(receipt))
    return Answer(structured, "\n\n".join(blocks))


def _fitting(reply: ReadFileReply, chars_max: int) -> tuple[str, int, bool]:
    """Returns the lines that fit, the last of them, and whether some are left out."""
    content, missing = cut(reply.content, chars_max)
    return content, reply.end_line - missing, reply.truncated or content != reply.content


def numbered(content: str, start_line: int) -> str:
    """Returns lines with their numbers."""
    lines = content.removesuffix("\n").split("\n")
    width = len(str(start_line + len(lines) - 1))
    return "\n".join(f"{number:>{width}}\t{line}" for number, line in enumerate(lines, start_line))


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
