"""`prism documents import` and `export`: folders of Markdown files as documents, and back."""

import asyncio
import io
import os
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, TASK_PATIENCE_S, Prism
from prism_cli.exits import CommandError
from prism_cli.target import ServerTarget
from prism_contracts.rpc.documents import IMPORT_FILES_MAX
from prism_contracts.types import DOCUMENT_CHARS_MAX
from prism_source.paths import decode_path, path_problem

FILES = f"{API}/documents/files"
FOLDERS = ("documents", "generated")
MARKDOWN = frozenset({".md", ".markdown"})
# A request is at most this long, besides its last file.
BATCH_BYTES_MAX = 4 * 1024 * 1024
SKIPPED, REFUSED = "skipped", "refused"
OUTCOMES = ("created", "updated", "unchanged", SKIPPED, REFUSED)
TAR = ".tar"
# It explains the folder to readers of the git repository, and is no document.
README_PATH = "generated/README.md"


class _File(NamedTuple):
    """A file of the folder: its text, or why it is not sent."""

    path: str
    text: str = ""
    outcome: str = ""
    message: str = ""


async def import_folder(target: ServerTarget, folder: Path, to: str, *, replace: bool) -> dict[str, Any]:
    """Import the Markdown files of a folder. Returns a result for each file, and the number of each outcome."""
    if to.split("/", 1)[0] not in FOLDERS:
        raise CommandError(f"{to} is no folder of documents.", "Choose one below documents or generated.")
    results: list[dict[str, Any]] = []
    async with Prism(target) as prism:
        for batch in _batches(_files(folder, to.rstrip("/"))):
            results += await _sent(prism, batch, replace=replace)
    counts = Counter(one["outcome"] for one in results)
    return {"files": results} | {outcome: counts[outcome] for outcome in OUTCOMES}


async def _sent(prism: Prism, batch: list[_File], *, replace: bool) -> list[dict[str, Any]]:
    sent = [{"path": file.path, "text": file.text} for file in batch if not file.outcome]
    found: dict[str, dict[str, Any]] = {}
    if sent:
        body = {"files": sent, "replace": replace}
        reply = await prism.manage("PUT", FILES, json=body, patience_s=TASK_PATIENCE_S)
        found = {one["path"]: one for one in reply["files"]}
    return [
        {"path": file.path, "outcome": file.outcome, "message": file.message}
        if file.outcome
        else found[file.path]
        for file in batch
    ]


def _batches(files: Iterator[_File]) -> Iterator[list[_File]]:
    """Yields the files in their order, as many as one request takes."""
    batch: list[_File] = []
    size = 0
    for file in files:
        batch.append(file)
        size += len(file.text)
        if len(batch) == IMPORT_FILES_MAX or size > BATCH_BYTES_MAX:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _files(folder: Path, to: str) -> Iterator[_File]:
    """Yields the files of a folder and of those in it, without hidden folders."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(place) / name
            yield _read(file, os.fsencode(file.relative_to(folder)), to)


def _read(file: Path, name: bytes, to: str) -> _File:
    shown, problem = decode_path(name)
    path = shown if shown.split("/", 1)[0] in FOLDERS else f"{to}/{shown}"
    if reason := _reason_to_skip(file, path):
        return _File(path, outcome=SKIPPED, message=reason)
    if problem:
        return _File(path, outcome=REFUSED, message=f"Its name cannot be stored: {problem}.")
    try:
        return _File(path, text=_text(file))
    except ValueError as error:
        return _File(path, outcome=REFUSED, message=str(error))


def _reason_to_skip(file: Path, path: str) -> str:
    if path == README_PATH:
        return "Prism writes this file."
    if file.is_symlink() or not file.is_file():
        return "It is a link, or no regular file."
    return "" if file.suffix.lower() in MARKDOWN else "It is not Markdown."


def _text(file: Path) -> str:
    """Returns the text of a file. Raises ValueError with a sentence for people."""
    try:
        data = file.read_bytes()
        if len(data) > DOCUMENT_CHARS_MAX:
            size, limit = terminal.size(len(data)), terminal.size(DOCUMENT_CHARS_MAX)
            raise ValueError(f"It has {size}; the limit is {limit}.")
        return data.decode()
    except UnicodeDecodeError:
        raise ValueError("It is not UTF-8.") from None
    except OSError as error:
        raise ValueError(f"It cannot be read: {error.strerror}.") from None


async def export(target: ServerTarget, place: Path, below: str) -> dict[str, Any]:
    """Write documents below a folder, or into a tar file. Returns how many, and how many files changed."""
    files: dict[str, str] = {}
    cursor, is_last = "", False
    async with Prism(target) as prism:
        while not is_last:
            wanted = {"folder": below, "cursor": cursor}
            page = await prism.manage("GET", FILES, params=wanted, patience_s=TASK_PATIENCE_S)
            files |= {one["path"]: one["text"] for one in page["files"]}
            cursor = page["next_cursor"]
            is_last = not cursor
    for path in files:
        if path_problem(path):
            raise CommandError(f"The server names a file {path!a}, which is not valid.", code="invalid_path")
    written = await asyncio.to_thread(_write_tar if place.suffix == TAR else _write_folder, place, files)
    return {"place": str(place), "documents": len(files), "written": written}


def _write_folder(folder: Path, files: Mapping[str, str]) -> int:
    """Write the files that differ. Returns how many."""
    written = 0
    for path, text in files.items():
        file, data = folder / path, text.encode()
        if not file.resolve().is_relative_to(folder.resolve()):
            raise CommandError(f"{file} leads out of {folder}.", "Remove the link.", code="invalid_path")
        if file.is_file() and file.read_bytes() == data:
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        written += 1
    return written


def _write_tar(place: Path, files: Mapping[str, str]) -> int:
    """Write a tar file, the same for the same documents. Returns the number of files."""
    with tarfile.open(place, "w", format=tarfile.PAX_FORMAT) as tar:
        for path, text in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data := text.encode())
            tar.addfile(entry, io.BytesIO(data))
    return len(files)


def show_import(found: dict[str, Any]) -> None:
    """Print what was refused or left out, and how many files had each outcome."""
    for one in found["files"]:
        if one["message"]:
            line = f"{one['outcome']} {one['path']}: {one['message']}"
            terminal.err.print(Text(terminal.printable(line)), soft_wrap=True)
    counts = ", ".join(f"{found[outcome]} {outcome}" for outcome in OUTCOMES if found[outcome])
    terminal.out.print(Text(counts or "No files."))
    if found["created"] or found["updated"]:
        terminal.err.print(Text("They are drafts: prism documents commit -m MESSAGE"))


def show_export(found: dict[str, Any]) -> None:
    """Print how many documents were written where."""
    line = f"{found['documents']} documents in {found['place']}, {found['written']} written"
    terminal.out.print(Text(terminal.printable(line)), soft_wrap=True)
