"""Collects what to know before a symbol is changed.

the symbol, or the symbol at some lines ▶ its references ▶ tests that use it, or use its callers ▶ overridden
and overriding methods ▶ the rules for its path, and recent changes of its file

Searches about other symbols end when their time is up; the reply says what was left out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from prism_catalog.histories import Histories
from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.code import TYPE_KINDS, EdgeKind, EdgeStatus, Flag
from prism_contracts.rpc.common import TEST_BLOCK, EnclosingSymbol, ScopedRequest
from prism_contracts.rpc.graph import ImpactReply, ImpactRequest
from prism_contracts.rpc.guidance import (
    EditContextReply,
    EditContextRequest,
    EditRisk,
    EditWarning,
    ReachingTest,
    Sibling,
    SiblingKind,
)
from prism_contracts.rpc.symbols import Definition, ReferenceEntry, ReferenceGroup, SymbolReferences
from prism_runtime.tasks import running
from prism_search.adapters.definitions import Definitions
from prism_search.adapters.documents import Documents
from prism_search.adapters.listing import Listing
from prism_search.adapters.uses import GraphUses
from prism_search.core.definitions import LocatedSymbol, corrections, definition_reply
from prism_search.core.edits import files_named_after, is_constructor, is_counterpart, is_public
from prism_search.operations.focus import Focus, FocusFinder, SymbolFocus
from prism_search.operations.overrides import Overrides, find_overrides, subtypes
from prism_search.operations.references import ReferenceFinder, is_evidence
from prism_search.operations.timed_references import TimedReferences

SOURCE_LINES_MAX = 400
ENTRIES_MAX = 60
UNEXPLAINED_SHOWN_MAX = 4
OTHERS_MAX = 5
TESTS_MAX = 20
TEST_FILES_MAX = 5
CALLERS_FOLLOWED_MAX = 5
# Tests that use the symbol, and tests that use its users.
TEST_DEPTH = 2
SIBLINGS_MAX = 20
PLACES_MAX = 5

NO_OVERRIDES = Overrides((), (), ())


class EditContextBuilder:
    """Collects what to know before a symbol, or some lines, are changed."""

    def __init__(
        self,
        repositories: RepositoryCatalog,
        *,
        focus: FocusFinder,
        definitions: Definitions,
        listing: Listing,
        documents: Documents,
        histories: Histories,
        references: ReferenceFinder,
        graph: GraphUses,
    ) -> None:
        self._repositories = repositories
        self._focus = focus
        self._definitions = definitions
        self._listing = listing
        self._documents = documents
        self._histories = histories
        self._references = references
        self._graph = graph

    async def build(self, request: EditContextRequest) -> EditContextReply:
        """Raises SYMBOL_NOT_FOUND with near names, FILE_NOT_FOUND, INVALID_ARGUMENT."""
        focus = await self._focus.find(request)
        reply = await self._about_lines(focus)
        if not isinstance(focus, SymbolFocus):
            return reply
        fields = await self._about_symbol(focus)
        if corrected := corrections([request.symbol], [focus.name]):
            fields["receipt"] = reply.receipt.model_copy(update={"corrected": corrected})
        return reply.model_copy(update={**fields, "notes": (*reply.notes, *fields["notes"])})

    async def _about_lines(self, focus: Focus) -> EditContextReply:
        start, end = focus.lines
        shown = focus.file.lines[start - 1 : min(end, start + SOURCE_LINES_MAX - 1)]
        files = await self._listing.files(focus.target)
        named = files_named_after(focus.file.path, files.tests_by_stem)
        return EditContextReply(
            repo=focus.target.repositories[0].name,
            file_path=focus.file.path,
            language=focus.file.language,
            start_line=start,
            end_line=end,
            content="\n".join(shown),
            notes=(*focus.notes, *_cut_lines(focus, len(shown))),
            test_files=tuple(named[:TEST_FILES_MAX]),
            rules=await self._documents.rules_for_edits(focus.target, focus.file.path),
            changes=await self._histories.changes(focus.target, focus.file.path),
            receipt=await self._repositories.receipt(focus.target),
        )

    async def _about_symbol(self, focus: SymbolFocus) -> dict[str, Any]:
        """Returns the fields of the reply that only a symbol has."""
        references = TimedReferences(self._references, focus.target)
        counterparts = await self._counterparts(focus)
        uses = await self._uses(focus, references, counterparts)
        async with running(self._tests_by_graph(focus, uses.symbol)) as by_graph:
            overrides = await self._overrides(focus, references)
            warnings = [*_warnings(focus, uses, overrides), *await self._elsewhere(focus, references)]
            known = await by_graph
        is_known = known is not None and known.total_tests > 0
        tests, untested = ([], []) if is_known else await _tests(uses, references)
        others = _others(focus, counterparts)
        return {
            "symbol": focus.symbol,
            "matched": focus.matched,
            "others": tuple(others[:OTHERS_MAX]),
            "total_others": len(others),
            "warnings": tuple(warnings),
            "references": _without_tests(uses),
            "tests": tuple(tests[:TESTS_MAX]),
            "test_counts": Counter(test.status for test in tests),
            "test_depth": TEST_DEPTH,
            **(_reaching(known) if known is not None and is_known else {}),
            "siblings": tuple(_siblings(focus.target, counterparts, overrides)),
            "graph_tests": known.total_tests if known else None,
            "graph_test_depth": known.test_depth if known else 0,
            "notes": (*references.left_out, *([] if known else untested)),
        }

    async def _counterparts(self, focus: SymbolFocus) -> list[LocatedSymbol]:
        located = await self._definitions.called(focus.target, {focus.symbol.qualified_name})
        return [
            one
            for one in located
            if (one.point.id, one.symbol) != (focus.file.id, focus.symbol)
            and is_counterpart(focus.definition, definition_reply(focus.target, one.point, one.symbol))
        ]

    async def _uses(
        self, focus: SymbolFocus, references: TimedReferences, counterparts: Sequence[LocatedSymbol]
    ) -> SymbolReferences:
        """Returns the references of the symbol; for a constructor, those of its class."""
        # Callers may refer to a declaration in another file: search both together.
        is_elsewhere = any(one.point.id != focus.file.id for one in counterparts)
        path = "" if is_elsewhere else focus.file.path
        if is_constructor(focus.symbol) and focus.owner:
            return await references.uses(focus.owner, path)
        return await references.uses(focus.symbol.qualified_name, path)

    async def _tests_by_graph(self, focus: SymbolFocus, symbol: str) -> ImpactReply | None:
        """Returns the tests that reach the symbol, through any callers; None if the graph does not answer."""
        request = ImpactRequest(
            tenant=focus.target.scope.tenant,
            repo=focus.target.repositories[0].repo,
            ref=focus.target.ref,
            symbol=symbol,
            path=focus.file.path,
            limit=TESTS_MAX,
        )
        return await self._graph.impact(request)

    async def _overrides(self, focus: SymbolFocus, references: TimedReferences) -> Overrides:
        if not focus.owner or is_constructor(focus.symbol) or references.is_over("Classes around"):
            return NO_OVERRIDES
        return await find_overrides(self._definitions, focus, references)

    async def _elsewhere(self, focus: SymbolFocus, references: TimedReferences) -> list[EditWarning]:
        """Returns a warning about uses in other repositories that the caller sees; for a member, of its class."""
        is_alone = len(self._repositories.around(focus.target).repositories) == 1
        is_private = not is_public(focus.file, focus.index) or Flag.TEST in focus.file.flags
        if is_alone or is_private or references.is_over("Other repositories"):
            return []
        name = focus.owner.partition(".")[0] or focus.symbol.qualified_name
        path = focus.file.path if name in focus.file.unit.named else ""
        around = ScopedRequest(tenant=focus.target.scope.tenant, visible=focus.target.visible)
        home = await self._repositories.target(
            around.model_copy(update={"repo": focus.target.repositories[0].repo})
        )
        everywhere = await self._repositories.target(around)
        entries = await references.elsewhere(home, everywhere, name, path)
        far = [entry for entry in entries if is_evidence(entry)]
        if not far:
            return []
        repos = ", ".join(sorted({entry.repo for entry in far}))
        places = (f"{entry.repo} {entry.file_path}:{entry.line} {entry.symbol}".rstrip() for entry in far)
        places_of = "place" if len(far) == 1 else "places"
        text = f"{name} is used in {len(far)} {places_of} of other repositories that import it: {repos}."
        return [_warning(EditRisk.OTHER_REPOSITORIES, text, places)]


def _cut_lines(focus: Focus, shown: int) -> Iterator[str]:
    start, end = focus.lines
    if end - start + 1 > shown:
        yield f"Only the first {shown} of lines {start} to {end} are shown. read_file has the others."


def _others(focus: SymbolFocus, counterparts: Sequence[LocatedSymbol]) -> list[Definition]:
    """Returns the other definitions of the name that belong to other symbols."""
    known = {(one.point.text("path"), one.symbol.start_line) for one in counterparts}
    return [one for one in focus.others if (one.file_path, one.symbol.start_line) not in known]


def _siblings(target: Target, counterparts: Sequence[LocatedSymbol], overrides: Overrides) -> list[Sibling]:
    every = [
        *((SiblingKind.COUNTERPART, one) for one in counterparts),
        *((SiblingKind.SAME_METHOD, one) for one in overrides.beside),
    ]
    return [
        Sibling(kind=kind, definition=definition_reply(target, one.point, one.symbol))
        for kind, one in every[:SIBLINGS_MAX]
    ]


async def _tests(uses: SymbolReferences, references: TimedReferences) -> tuple[list[ReachingTest], list[str]]:
    """Returns tests that use the symbol or its first callers, each once, resolved before candidates.

    Also what was not searched.
    """
    tests = {(entry.file_path, entry.symbol): _test(entry) for entry in _of_tests(uses.entries)}
    every, left_out = _callers(uses), []
    if uses.next_cursor:
        left_out.append(f"Only the first {len(uses.entries)} uses were checked for tests.")
    callers = every[:CALLERS_FOLLOWED_MAX]
    if len(callers) < len(every):
        left_out.append(f"Tests were searched for the first {len(callers)} of {len(every)} callers.")
    symbols = ((caller.symbol, caller.file_path) for caller in callers)
    found = await references.entries_of_each(symbols, "Tests of further callers")
    for caller, entries in zip(callers, found, strict=True):
        for entry in _of_tests(entries):
            # Two candidates in a row are not evidence.
            if entry.status is EdgeStatus.RESOLVED:
                tests.setdefault((entry.file_path, entry.symbol), _test(entry, caller))
    return sorted(tests.values(), key=lambda test: test.status is EdgeStatus.CANDIDATE), left_out


def _reaching(known: ImpactReply) -> dict[str, Any]:
    """Returns the fields of a reply with the tests that the graph knows."""
    counts = {
        EdgeStatus.RESOLVED: known.resolved_tests,
        EdgeStatus.CANDIDATE: known.total_tests - known.resolved_tests,
    }
    return {
        "tests": tuple(
            ReachingTest(
                file_path=one.node.file_path,
                line=one.node.line,
                symbol=one.node.symbol,
                status=one.status,
                via=one.hook.name if one.hook else one.uses.symbol if one.distance > 1 else "",
                around=EnclosingSymbol(
                    name=one.node.symbol,
                    kind="" if one.node.kind else TEST_BLOCK,
                    start_line=one.node.start_line,
                    end_line=one.node.end_line,
                    outer=one.node.outer,
                    marks=one.node.marks,
                )
                if one.node.symbol
                else None,
            )
            for one in known.tests
        ),
        "test_counts": {status: count for status, count in counts.items() if count},
        "test_depth": known.test_depth,
        "test_commands": known.test_commands,
    }


def _of_tests(entries: Iterable[ReferenceEntry]) -> list[ReferenceEntry]:
    """Returns the uses by tests; imports only of files that use it nowhere else, such as by an alias."""
    tests = [entry for entry in entries if entry.group is ReferenceGroup.TESTS]
    used = {entry.file_path for entry in tests if entry.edge is not EdgeKind.IMPORTS}
    return [entry for entry in tests if entry.edge is not EdgeKind.IMPORTS or entry.file_path not in used]


def _callers(uses: SymbolReferences) -> list[ReferenceEntry]:
    """Returns one place per calling function, resolved calls first."""
    callers: dict[tuple[str, str], ReferenceEntry] = {}
    for entry in uses.entries:
        if entry.group is ReferenceGroup.CALLERS and entry.symbol:
            callers.setdefault((entry.file_path, entry.symbol), entry)
    return sorted(callers.values(), key=lambda entry: entry.status is EdgeStatus.CANDIDATE)


def _test(entry: ReferenceEntry, caller: ReferenceEntry | None = None) -> ReachingTest:
    return ReachingTest(
        file_path=entry.file_path,
        line=entry.line,
        symbol=entry.symbol,
        status=caller.status if caller else entry.status,
        via=caller.symbol if caller else "",
        around=entry.enclosing if entry.enclosing and entry.enclosing.name else None,
    )


def _without_tests(uses: SymbolReferences) -> SymbolReferences:
    """Returns the references without tests, which are listed separately, and with a few unexplained lines."""
    entries = [entry for entry in uses.entries if entry.group is not ReferenceGroup.TESTS]
    reconciliation = uses.reconciliation
    if reconciliation:
        reconciliation = reconciliation.model_copy(
            update={
                "unexplained_lines": reconciliation.unexplained_lines[:UNEXPLAINED_SHOWN_MAX],
                "other": reconciliation.other[:UNEXPLAINED_SHOWN_MAX],
                "mention_lines": (),
            }
        )
    return uses.model_copy(
        update={"entries": tuple(entries[:ENTRIES_MAX]), "reconciliation": reconciliation, "next_cursor": ""}
    )


def _warnings(focus: SymbolFocus, uses: SymbolReferences, overrides: Overrides) -> list[EditWarning]:
    name = focus.symbol.name
    warnings = []
    if overrides.above:
        text = f"{name} implements an inherited declaration: its signature must match."
        warnings.append(_warning(EditRisk.IMPLEMENTS, text, _places(overrides.above)))
    if overrides.below:
        count = len(overrides.below)
        text = f"{name} is overridden in {count} {'place' if count == 1 else 'places'}."
        warnings.append(_warning(EditRisk.OVERRIDDEN, text, _places(overrides.below)))
    derived = subtypes(uses.entries) if focus.symbol.kind in TYPE_KINDS else []
    if derived:
        places = (f"{entry.file_path}:{entry.line} {entry.symbol}" for entry in derived)
        warnings.append(_warning(EditRisk.OVERRIDDEN, f"{len(derived)} subtypes of {name}:", places))
    if is_public(focus.file, focus.index) and Flag.TEST not in focus.file.flags:
        text = f"{name} is exported: code outside this repository may use it."
        warnings.append(_warning(EditRisk.EXPORTED, text))
    return warnings


def _warning(risk: EditRisk, text: str, places: Iterable[str] = ()) -> EditWarning:
    return EditWarning(risk=risk, text=text, places=tuple(places)[:PLACES_MAX])


def _places(found: Sequence[LocatedSymbol]) -> Iterable[str]:
    return (f"{one.point.text('path')}:{one.symbol.name_line} {one.symbol.qualified_name}" for one in found)
