"""Two states of a repository beside each other: a branch or overlay and what is below it, or any two refs.

Shown are the files that differ, line by line, the symbols in these lines, and the tests that reach them.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from starlette.responses import Response

from prism_contracts.errors import ErrorBody, ErrorCode, PrismError
from prism_contracts.records import Layer, Repository
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.files import LINES, FileEntry, FileRange
from prism_contracts.rpc.graph import IMPACT, ImpactReply
from prism_contracts.rpc.imports import JOBS
from prism_contracts.rpc.repositories import REPOSITORY_STATUS
from prism_contracts.types import DIFF_CHARS_MAX
from prism_gateway.console.changed_symbols import (
    OutlinedPath,
    changed_symbols,
    outlines_of,
    removed_symbols,
)
from prism_gateway.console.differences import LINES_MAX, TextDiff, difference, unified
from prism_gateway.console.files import pages_of_files
from prism_gateway.console.formats import DEFAULT_REF, compare_url, ref_of
from prism_gateway.console.page import PageView, Visit, redirect

FILES_MAX: Final = 200
# Files whose symbols are compared.
OUTLINED_MAX: Final = 30
# Lines that one page shows, and those that it reads on each side.
ROWS_MAX: Final = 5_000
LINES_READ_MAX: Final = 40_000
PAGES_MAX: Final = 4
TESTS_SHOWN: Final = 50
BETWEEN: Final = "..."  # no ref of git has two dots
NOT_SERVED: Final = frozenset(
    {ErrorCode.REF_NOT_FOUND, ErrorCode.COMMIT_NOT_INDEXED, ErrorCode.INVALID_ARGUMENT}
)


class ChangeMark(StrEnum):
    """What a layer does to a file."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class ComparedFile(NamedTuple):
    """A file on both sides. `diff` is None where it is left out, and `note` says why."""

    path: str
    mark: ChangeMark
    diff: TextDiff | None = None
    note: str = ""


class UnservedRef(NamedTuple):
    """A ref that Prism does not serve, and what its services say of it."""

    ref: str
    error: ErrorBody


class _Side(NamedTuple):
    """A ref, its files, and what served them."""

    ref: str  # empty: the followed branch
    files: Mapping[str, FileEntry]
    last: str  # the path at which the list is cut; empty: it is whole
    receipt: Receipt


class _Sides(NamedTuple):
    """Both states, with their files up to the path at which one of the lists is cut."""

    below: str
    ref: str
    before: Mapping[str, FileEntry]
    after: Mapping[str, FileEntry]
    end: str  # empty: the lists are whole


async def show_branch(visit: Visit) -> Response:
    """One layer beside what is below it."""
    name, ref = visit.part("name"), ref_of(visit.part("ref"))
    found, known = await asyncio.gather(visit.ask(REPOSITORY_STATUS, repo=name), visit.ask(JOBS, limit=1))
    layer, below = _layer_of(found.repository, known.layers, ref)
    before, after = await asyncio.gather(_side(visit, name, below), _side(visit, name, layer.ref))
    return visit.show(
        "branch.html",
        repository=found.repository,
        layer=layer,
        below=below or (found.repository.served.ref if found.repository.served else ""),
        refs=served_refs(found.repository, known.layers),
        **await _differences(visit, name, before, after),
    )


async def choose_refs(visit: Visit) -> Response:
    """Go to the page of the two refs that a form names; without the second, show the form. The first is HEAD if left out."""
    name = visit.part("name")
    before, after = (visit.query.get(field, "").strip() for field in ("from", "to"))
    if after:
        before = before or DEFAULT_REF
        return redirect(compare_url(name, ref_of(before), ref_of(after)))
    return await _choose(visit, name, before, after, problems=[])


async def compare(visit: Visit) -> Response:
    """Any two refs that Prism serves, beside each other."""
    name = visit.part("name")
    first, mark, second = visit.part("refs").partition(BETWEEN)
    refs = [ref_of(part) for part in (first, second)]
    if not mark or not first or not second:
        return await _choose(visit, name, first, second, problems=[], status=404)
    sides = await asyncio.gather(*(_side_or_problem(visit, name, ref) for ref in refs))
    problems = [
        UnservedRef(ref or DEFAULT_REF, side)
        for ref, side in zip(refs, sides, strict=True)
        if isinstance(side, ErrorBody)
    ]
    if problems:
        visit.facts.code = problems[0].error.code.value
        return await _choose(visit, name, first, second, problems=problems, status=404)
    before, after = (side for side in sides if isinstance(side, _Side))
    found, known = await asyncio.gather(visit.ask(REPOSITORY_STATUS, repo=name), visit.ask(JOBS, limit=1))
    return visit.show(
        "compare.html",
        repository=found.repository,
        before=before,
        after=after,
        refs=served_refs(found.repository, known.layers),
        **await _differences(visit, name, before, after),
    )


def served_refs(repository: Repository, layers: Iterable[Layer]) -> list[str]:
    """Returns the refs that can be compared, the followed branch first."""
    own = [layer.ref for layer in layers if layer.repo == repository.repo and layer.served]
    return [DEFAULT_REF, *own] if repository.served else own


async def _choose(
    visit: Visit, name: str, first: str, second: str, *, problems: Sequence[UnservedRef], status: int = 200
) -> Response:
    found, known = await asyncio.gather(visit.ask(REPOSITORY_STATUS, repo=name), visit.ask(JOBS, limit=1))
    return visit.show(
        "choose_refs.html",
        status=status,
        repository=found.repository,
        name=name,
        first=ref_of(first) or first,
        second=ref_of(second) or second,
        problems=problems,
        refs=served_refs(found.repository, known.layers),
    )


async def _differences(visit: Visit, name: str, before: _Side, after: _Side) -> dict[str, Any]:
    """Returns what both pages show of two states."""
    sides = _sides(before, after)
    compared = _compared(sides)
    files = await _with_diffs(visit, name, compared[:FILES_MAX], sides)
    outlined = files[:OUTLINED_MAX]
    impact, outlines = await asyncio.gather(
        _impact(visit, name, after.ref, files),
        outlines_of(visit, name, _paths(outlined), before.ref, after.ref),
    )
    return {
        "name": name,
        "base_ref": before.ref,
        "ref": after.ref,
        "files": files,
        "total": len(compared),
        "marks": [(mark.value, sum(one.mark is mark for one in compared)) for mark in ChangeMark],
        "changed": changed_symbols(impact.changed, outlines) if isinstance(impact, ImpactReply) else [],
        "removed": removed_symbols(outlines),
        "files_outlined": len(outlined),
        "end": sides.end,
        "impact": impact if isinstance(impact, ImpactReply) else None,
        "impact_error": impact if isinstance(impact, ErrorBody) else None,
    }


def _layer_of(repository: Repository, layers: Iterable[Layer], ref: str) -> tuple[Layer, str]:
    """Returns a layer, and the ref of the layer below it: empty for the followed branch."""
    own = {layer.layer: layer for layer in layers if layer.repo == repository.repo}
    layer = next((one for one in own.values() if one.ref == ref), None)
    if layer is None or layer.served is None:
        raise PrismError(
            ErrorCode.REF_NOT_FOUND,
            f"{repository.name} has no indexed branch or overlay {ref}.",
            "Open the page of branches: it lists those that are indexed.",
        )
    return layer, own[layer.parent].ref if layer.parent in own else ""


async def _side(visit: Visit, name: str, ref: str) -> _Side:
    files, first, is_cut = await pages_of_files(visit, name, ref, pages_max=PAGES_MAX)
    by_path = {file.file_path: file for file in files}
    return _Side(ref, by_path, files[-1].file_path if is_cut and files else "", first.receipt)


async def _side_or_problem(visit: Visit, name: str, ref: str) -> _Side | ErrorBody:
    """Returns the files of a ref, or why Prism does not serve it."""
    try:
        return await _side(visit, name, ref)
    except PrismError as error:
        if error.code not in NOT_SERVED:
            raise
        return error.body


def _sides(before: _Side, after: _Side) -> _Sides:
    end = min((side.last for side in (before, after) if side.last), default="")
    old, new = (
        {path: file for path, file in side.files.items() if not end or path <= end}
        for side in (before, after)
    )
    return _Sides(before.ref, after.ref, old, new, end)


def _compared(sides: _Sides) -> list[ComparedFile]:
    """Returns the files whose content differs, in the order of their paths."""
    found = []
    for path in sorted(sides.before.keys() | sides.after.keys()):
        old, new = sides.before.get(path), sides.after.get(path)
        if old is None:
            found.append(ComparedFile(path, ChangeMark.ADDED))
        elif new is None:
            found.append(ComparedFile(path, ChangeMark.REMOVED))
        elif old.blob != new.blob:
            found.append(ComparedFile(path, ChangeMark.CHANGED))
    return found


def _paths(files: Iterable[ComparedFile]) -> list[OutlinedPath]:
    return [
        OutlinedPath(file.path, file.mark is not ChangeMark.ADDED, file.mark is not ChangeMark.REMOVED)
        for file in files
    ]


async def _with_diffs(
    visit: Visit, name: str, files: Sequence[ComparedFile], sides: _Sides
) -> list[ComparedFile]:
    notes = _notes(files, sides)
    wanted = [file for file in files if file.path not in notes]
    before, after = await asyncio.gather(
        _texts(visit, name, sides.below, [file.path for file in wanted if file.path in sides.before]),
        _texts(visit, name, sides.ref, [file.path for file in wanted if file.path in sides.after]),
    )
    # In a thread, so that other requests go on meanwhile.
    return await asyncio.to_thread(_diffs, files, notes, before, after)


def _notes(files: Sequence[ComparedFile], sides: _Sides) -> dict[str, str]:
    """Returns why files are not compared: they have no text, or the page has read enough."""
    notes, read = {}, 0
    for file in files:
        entries = [entry for side in (sides.before, sides.after) if (entry := side.get(file.path))]
        skipped = next((entry.skipped for entry in entries if entry.skipped), None)
        lines = sum(min(entry.lines, LINES_MAX) for entry in entries)
        if skipped:
            notes[file.path] = f"Not compared: {skipped.value.replace('_', ' ')}."
        elif read + lines > LINES_READ_MAX:
            notes[file.path] = "Not compared: this page has read as many lines as it may."
        else:
            read += lines
    return notes


async def _texts(visit: Visit, name: str, ref: str, paths: Sequence[str]) -> dict[str, list[str]]:
    """Returns the first lines of files."""
    if not paths:
        return {}
    ranges = [FileRange(file_path=path, start_line=1, end_line=LINES_MAX + 1) for path in paths]
    reply = await visit.ask(LINES, repo=name, ref=ref, ranges=ranges)
    return {path: _lines_of(text) for path, text in zip(paths, reply.texts, strict=True) if text is not None}


def _lines_of(text: str) -> list[str]:
    """Returns the lines of a text, without the empty one after its last line end."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _diffs(
    files: Sequence[ComparedFile],
    notes: Mapping[str, str],
    before: Mapping[str, list[str]],
    after: Mapping[str, list[str]],
) -> list[ComparedFile]:
    shown, rows = [], 0
    for file in files:
        note = notes.get(file.path, "")
        if not note and rows >= ROWS_MAX:
            note = "Not compared: this page shows as many lines as it may."
        old, new = before.get(file.path), after.get(file.path)
        is_read = (old is not None or file.mark is ChangeMark.ADDED) and (
            new is not None or file.mark is ChangeMark.REMOVED
        )
        if note or not is_read:
            shown.append(file._replace(note=note or "Not compared: its text could not be read."))
            continue
        made = difference((old or [])[:LINES_MAX], (new or [])[:LINES_MAX])
        if rows + made.rows > ROWS_MAX and rows:
            shown.append(
                file._replace(note="Not shown: its diff has more lines than are left for this page.")
            )
            continue
        rows += made.rows
        if max(len(old or []), len(new or [])) > LINES_MAX:
            note = f"Only the first {LINES_MAX:,} lines are compared."
        elif not made.hunks:
            note = "The difference is in the ends of very long lines, or in line ends."
        shown.append(file._replace(diff=made, note=note))
    return shown


async def _impact(
    visit: Visit, name: str, ref: str, files: Sequence[ComparedFile]
) -> ImpactReply | ErrorBody | None:
    """Returns the tests that reach the changes that are shown, or why they are not known."""
    diff = "".join(
        unified(
            file.path,
            file.diff,
            is_new=file.mark is ChangeMark.ADDED,
            is_gone=file.mark is ChangeMark.REMOVED,
        )
        for file in files
        if file.diff and file.diff.hunks and file.path.isprintable()
    )
    if not diff or len(diff) > DIFF_CHARS_MAX:
        return None
    try:
        return await visit.ask(IMPACT, repo=name, ref=ref, diff=diff, depth=1, limit=TESTS_SHOWN)
    except PrismError as error:
        return error.body


VIEWS: Final = (
    PageView("/r/{name:repository}/-/branch/{ref}", "impact_of_change", show_branch),
    PageView("/r/{name:repository}/-/compare", "GET /repos/{name:path}/status", choose_refs),
    PageView("/r/{name:repository}/-/compare/{refs}", "impact_of_change", compare),
)
