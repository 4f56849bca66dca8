"""One page of the references of a symbol, with the lines of text that they leave unexplained."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import filterfalse

from prism_catalog.target import Target
from prism_contracts.code import EDGE_KINDS, EdgeStatus, Flag, ReferenceKind
from prism_contracts.rpc.symbols import (
    Definition,
    Reconciliation,
    ReferenceEntry,
    ReferencePage,
    ReferencesRequest,
    SymbolReferences,
    TextLine,
    UsesReply,
)
from prism_search.core.definitions import DefinitionMatch, definition_reply, distinct_places
from prism_search.core.lines import shown
from prism_search.core.overloads import shown_parameters
from prism_search.core.references.edges import Edge, SourceFile, count_elsewhere, count_groups, group_of
from prism_search.core.references.query import ReferenceQuery
from prism_search.core.references.text import Text, TextFile, TextFileLine, code_lines, read_text
from prism_store.globs import compile_glob

DEFINITIONS_SHOWN_MAX = 5
OVERLOADS_SHOWN_MAX = 20  # of one function
UNEXPLAINED_SHOWN_MAX = 40
MENTIONS_SHOWN_MAX = 12
# Lines that mean another symbol are listed with the references if there are no more than these.
OTHERS_SHOWN_MAX = 3
OTHERS_BESIDE_FEW_MAX, FEW_ENTRIES = 12, 5
# The same beside few references, where some lines may be one of either.
OTHERS_IN_DOUBT_MAX = 20


def uses_of_edges(query: ReferenceQuery, files: Sequence[SourceFile], every: Sequence[Edge]) -> UsesReply:
    """Returns what edges among files say, in the form of a reply of the graph."""
    request = query.request
    edges = list(filter(_filter(request), every))
    page = edges[query.start : query.start + request.limit]
    resolved = sum(edge.status is EdgeStatus.RESOLVED for edge in every)
    return UsesReply(
        entries=tuple(_entry(query.target, edge) for edge in page),
        counts=count_groups(edges),
        resolved=resolved,
        candidates=len(every) - resolved,
        elsewhere=count_elsewhere(query.name, files, every),
    )


def symbol_references(
    query: ReferenceQuery, uses: UsesReply, files: Sequence[TextFile], left_out: int
) -> SymbolReferences:
    """Returns a page of references. `left_out` counts files that may hold the name and were not read."""
    target, match = query.target, query.match
    defined = distinct_places(match.found)
    is_wanted = _file_filter(query.request)
    kinds = {one.symbol.kind for one in match.found}
    text = read_text(query.name, filter(is_wanted, files), kinds)
    outside = list(filterfalse(is_wanted, files))
    is_main = query.request.page is ReferencePage.MAIN
    others, unexplained = _others_shown(query, uses, text), _unexplained_shown(query, text)
    shown, total = {
        ReferencePage.MAIN: (len(uses.entries), sum(uses.counts.values())),
        ReferencePage.OTHER: (len(others), len(text.others)),
        ReferencePage.UNRESOLVED: (len(unexplained), len(text.unexplained)),
    }[query.request.page]
    return SymbolReferences(
        symbol=match.name.spelled,
        definitions=tuple(_described(target, defined, overloaded=match.overload is not None)),
        total_definitions=len(defined),
        entries=tuple(_with_texts(target, uses.entries, files)) if is_main else (),
        counts=uses.counts,
        reconciliation=Reconciliation(
            name=query.name,
            resolved=uses.resolved,
            candidates=uses.candidates,
            elsewhere=uses.elsewhere,
            text_lines=text.lines,
            definition_lines=text.definitions,
            lines_by_group=dict(text.groups),
            candidate_lines=text.candidates,
            other_lines=len(text.others),
            other=tuple(_text_line(target, line) for line in others),
            alias_lines=text.aliased,
            unexplained=len(text.unexplained),
            unexplained_lines=tuple(_text_line(target, line) for line in unexplained),
            mentions=len(text.mentions),
            mention_lines=tuple(
                _text_line(target, line) for line in text.mentions[: MENTIONS_SHOWN_MAX * query.is_first]
            ),
            files=text.files,
            outside_lines=code_lines(query.name, outside),
            outside_test_lines=code_lines(query.name, (file for file in outside if file.is_test)),
            prose_lines=text.prose_lines,
            prose_files=text.prose_files,
            files_left_out=left_out,
        ),
        next_cursor=query.cursor(query.start + shown) if query.start + shown < total else "",
        suggestions=match.suggestions,
        matched=match.name.matched_suffix(match.found[0].fit) if match.found else "",
        unparsed=match.unparsed,
        overload=match.overload,
        helped=uses.helped if is_main else (),
        helped_left_out=uses.helped_left_out if is_main else 0,
    )


def _described(
    target: Target, defined: Sequence[DefinitionMatch], *, overloaded: bool
) -> Iterator[Definition]:
    """Yields the first definitions, with their parameters where these tell them apart."""
    parameters = [shown_parameters(one.point.text("language"), one.symbol) for one in defined]
    names = Counter(one.symbol.qualified_name for one in defined)
    known = Counter(
        name
        for name, _ in {(one.symbol.qualified_name, of) for one, of in zip(defined, parameters, strict=True)}
    )
    are_overloads = overloaded or any(known[name] > 1 for name in names if any(parameters))
    shown_max = OVERLOADS_SHOWN_MAX if are_overloads and len(names) == 1 else DEFINITIONS_SHOWN_MAX
    for one, of in zip(defined[:shown_max], parameters, strict=False):
        reply = definition_reply(target, one.point, one.symbol)
        yield reply.model_copy(update={"parameters": of}) if are_overloads else reply


def _others_shown(query: ReferenceQuery, uses: UsesReply, text: Text) -> Sequence[TextFileLine]:
    if query.request.page is ReferencePage.OTHER:
        return text.others[query.start : query.start + query.request.limit]
    if query.request.page is ReferencePage.UNRESOLVED:
        return ()
    if not query.match.found:
        return text.others[: query.request.limit]
    # With few references to the symbol, its true ones may be among those that seem to mean another.
    shown_max = OTHERS_SHOWN_MAX
    if len(uses.entries) < FEW_ENTRIES:
        shown_max = OTHERS_IN_DOUBT_MAX if text.unexplained or uses.candidates else OTHERS_BESIDE_FEW_MAX
    return text.others if len(text.others) <= shown_max else ()


def _unexplained_shown(query: ReferenceQuery, text: Text) -> Sequence[TextFileLine]:
    if query.request.page is ReferencePage.UNRESOLVED:
        return text.unexplained[query.start : query.start + query.request.limit]
    return text.unexplained[:UNEXPLAINED_SHOWN_MAX] if query.is_first else ()


def _with_texts(
    target: Target, entries: Iterable[ReferenceEntry], files: Iterable[TextFile]
) -> Iterator[ReferenceEntry]:
    by_place = {(target.name_of(file.scope), file.path): file for file in files}
    for entry in entries:
        file = by_place.get((entry.repo, entry.file_path))
        text = shown(TextFileLine(file, entry.line).text).strip() if file else ""
        yield entry.model_copy(update={"text": text})


def _filter(request: ReferencesRequest) -> Callable[[Edge], bool]:
    is_wanted = _place_filter(request)

    def passes(edge: Edge) -> bool:
        kind = EDGE_KINDS[edge.reference.kind]
        return (
            (request.reference_type is None or kind is request.reference_type)
            and (request.include_candidates or edge.status is EdgeStatus.RESOLVED)
            and is_wanted(edge.file.path, Flag.TEST in edge.file.flags)
        )

    return passes


def _file_filter(request: ReferencesRequest) -> Callable[[TextFile], bool]:
    is_wanted = _place_filter(request)
    return lambda file: is_wanted(file.path, file.is_test)


def _place_filter(request: ReferencesRequest) -> Callable[[str, bool], bool]:
    """Returns whether a file passes, by its path and whether it is a test."""
    glob = compile_glob(request.path_filter) if request.path_filter else None
    return lambda path, is_test: (
        not (request.source_only and is_test) and (glob is None or glob.fullmatch(path) is not None)
    )


def _entry(target: Target, edge: Edge) -> ReferenceEntry:
    file, reference = edge.file.facts, edge.reference
    return ReferenceEntry(
        repo=target.name_of(file.scope),
        file_path=file.path,
        line=reference.line,
        symbol=file.symbols[reference.symbol].qualified_name if reference.symbol >= 0 else "",
        group=group_of(edge),
        edge=EDGE_KINDS[reference.kind],
        status=edge.status,
        strategy=edge.strategy,
        text="",
        stored=reference.alias if reference.kind is ReferenceKind.VALUE else "",
        reaches=edge.reaches,
    )


def _text_line(target: Target, line: TextFileLine) -> TextLine:
    file = line.file
    return TextLine(
        repo=target.name_of(file.scope),
        file_path=file.path,
        line=line.number,
        text=shown(line.text).strip(),
        test=file.is_test,
        form=line.form,
    )
