"""Gathers the context of a question, without a language model.

fast: a search in each domain, or one for several
deep: then what the question names, its parts, the words that nothing found so far contains, and the tests that
are named after the best files; then the neighbors of the best places in the graph. Three rounds, each in parallel
"""

import asyncio
import posixpath
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.context import (
    ContextMode,
    ContextReply,
    ContextRequest,
    ContextRound,
    Domain,
)
from prism_contracts.rpc.files import LINES, FileRange, LinesRequest
from prism_contracts.rpc.graph import (
    CALL_HIERARCHY,
    TYPE_HIERARCHY,
    CallDirection,
    CallHierarchyRequest,
    GraphNode,
    TypeHierarchyRequest,
)
from prism_contracts.rpc.search import Corpus, Hit
from prism_contracts.rpc.symbols import DEFINITIONS, DefinitionsRequest
from prism_runtime.bus import Bus
from prism_scribe.adapters.context_sources import ContextCache, ContextSources
from prism_scribe.core.bundle import bundle
from prism_scribe.core.domains import domain_of, glob_of
from prism_scribe.core.named_tests import glob_of_tests, nearest_test
from prism_scribe.core.places import ContextPlace, ContextPlaces, place_of
from prism_scribe.core.questions import AskedQuestion, read_question, route
from prism_scribe.settings import ScribeSettings

# The search of refs is not narrowed, and other domains take a part of it.
HITS_MAX = {domain: 30 if domain in (Domain.CODE, Domain.REFS) else 10 for domain in Domain}
SHARED_HITS_MAX = 40
FURTHER_HITS_MAX = 8  # hits per search in later rounds
PROSE = frozenset({Domain.INTENT, Domain.RESEARCH, Domain.REFS})
# Domains that share a search where all are asked.
SHARED = (
    (Domain.INTENT, Domain.RESEARCH, Domain.REFS),
    (Domain.PROCESS, Domain.WORKSPACE),
    (Domain.CODE,),
)
# A question that names no domain is mostly about code.
WEIGHTS = {domain: 1.0 if domain is Domain.CODE else 0.5 for domain in Domain}
NAMED_SCORE = 1.0  # the question itself names it
NEXT_SHARE = 0.999  # most of a hit's score that the next one of its search gets
PART_SHARE = 0.9  # factor on the score of a hit for a part of the question
MISSING_SHARE = 0.2  # factor on the score of a hit for the missing words
TESTED_MAX = 5  # best files whose tests are searched
TESTS_HITS_MAX = 20  # hits of that search: tests of several files may have one name
TESTS_SHARE = 0.5  # a test's share of the score of the file that it is named after
FOLLOWED_MAX = 3  # places whose neighbors a round looks up
NEIGHBORS_MAX = 12  # neighbors per place and direction
OTHERS_MAX = 2  # hits of each domain but code, where the question names none
NAMED_NEIGHBOR_SHARE = 0.5  # a neighbor's share of the score of a place that the question names
NEIGHBOR_SHARE = 0.2  # a neighbor's share of the score of any other place
WORDS_SHARE = 0.3  # more for a neighbor that has all words of the question
# Factor on the score of a neighbor, if the question names nothing: what the search found is then surer.
UNNAMED_SHARE = 0.3
NEIGHBOR_LINES_MAX = 40
QUOTED_CHARS_MAX = 60
WITHOUT_MODEL = (
    "No language model is set. It would write an answer from these places, each sentence with its lines, and "
    "word further searches."
)


@dataclass
class Gathered:
    """A context while it is gathered."""

    question: AskedQuestion
    domains: tuple[Domain, ...]
    mode: ContextMode  # fast or deep
    reason: str  # why that mode
    receipt: Receipt
    sources: ContextSources
    places: ContextPlaces = field(default_factory=ContextPlaces)
    rounds: list[ContextRound] = field(default_factory=list)
    timings_ms: dict[str, float] = field(default_factory=dict)
    is_complete: bool = False

    @property
    def missing(self) -> tuple[str, ...]:
        """The words of the question that no place contains."""
        return self.question.missing(
            f"{place.file_path} {place.symbol} {place.content}" for place in self.places.best()
        )


class Contexts:
    """Answers questions with contexts."""

    def __init__(self, bus: Bus, settings: ScribeSettings) -> None:
        self._bus = bus
        self._settings = settings
        self._cache = ContextCache(settings.context_cache_bytes_max)

    async def context(self, request: ContextRequest) -> ContextReply:
        """Returns the context of a question. Raises EMPTY_QUERY, and what search raises about the repository."""
        sources, receipt = await self._open(request)
        if known := sources.cached_context():
            return known
        context = reply_of(await self._gather(request, sources, receipt), request.max_tokens)
        sources.keep_context(context)
        return context

    async def gather(self, request: ContextRequest) -> Gathered:
        """Gathers the context of a question, and raises as `context` does."""
        return await self._gather(request, *await self._open(request))

    async def _open(self, request: ContextRequest) -> tuple[ContextSources, Receipt]:
        if not request.question.strip():
            raise PrismError(
                ErrorCode.EMPTY_QUERY, "The question is empty.", "Ask in words, or name a symbol."
            )
        sources = ContextSources(
            self._bus,
            self._cache,
            request,
            calls_max=self._settings.context_calls_max,
            timeout_s=self._settings.context_s,
        )
        return sources, await sources.open()

    async def _gather(self, request: ContextRequest, sources: ContextSources, receipt: Receipt) -> Gathered:
        question = read_question(request.question)
        mode, reason = route(question)
        if request.mode is not ContextMode.AUTO:
            mode, reason = request.mode, "it was asked for"
        gathered = Gathered(question, request.domains or tuple(Domain), mode, reason, receipt, sources)
        rounds = (_search_domains, _search_parts, _follow_edges)[: 3 if mode is ContextMode.DEEP else 1]
        try:
            async with asyncio.timeout(self._settings.context_s):
                for number, work in enumerate(rounds[: request.rounds], start=1):
                    await do_round(gathered, number, work)
        except TimeoutError:
            sources.notes[f"stopped after {self._settings.context_s:g} s"] = None
        gathered.is_complete = len(gathered.rounds) == len(rounds)
        return gathered


async def _search_domains(gathered: Gathered, number: int) -> None:
    """Round 1: a search in each domain. Those that show little of what they find share a search."""
    is_of_all = set(gathered.domains) == set(Domain)
    groups = SHARED if is_of_all else [(domain,) for domain in gathered.domains]
    found = await asyncio.gather(*(_in_domains(gathered, group) for group in groups))
    hits_by_domain = {domain: hits for searched in found for domain, hits in searched.items()}
    for domain in gathered.domains:
        is_aside = is_of_all and domain is not Domain.CODE
        weight = WEIGHTS[domain] if len(gathered.domains) > 1 else 1.0
        why = f"matches the question in {domain.value}"
        for hit, score in _in_order(hits_by_domain[domain][: OTHERS_MAX if is_aside else None]):
            gathered.places.add(place_of(hit, domain, score * weight, number, why))


def _in_order(hits: Sequence[Hit]) -> Iterator[tuple[Hit, float]]:
    """Yields hits with scores that fall, because the score of a hit may be above that of a better one."""
    highest = 1.0
    for hit in hits:
        score = min(highest, hit.score)
        yield hit, score
        highest = score * NEXT_SHARE


async def _search_parts(gathered: Gathered, number: int) -> None:
    """Round 2: what the question names, its parts, the words that nothing found so far contains, and tests."""
    question = gathered.question
    searches = [
        _Search(part, PART_SHARE, f"matches a part of the question: {part[:QUOTED_CHARS_MAX]}")
        for part in question.parts
    ]
    searches += [_Search(question.text, NAMED_SCORE, f"is in {path}", path) for path in question.paths]
    if missing := " ".join(gathered.missing):
        searches.append(_Search(missing, MISSING_SHARE, f"says {missing[:QUOTED_CHARS_MAX]}"))
    works = [_search_further(gathered, number, search) for search in searches]
    if question.symbols:
        works.append(_define(gathered, number, question.symbols))
    else:
        works.append(_add_tests(gathered, number))
    await asyncio.gather(*works)


async def _add_tests(gathered: Gathered, number: int) -> None:
    """Adds the tests that are named after the best files. Without a symbol, no edge leads to most of them."""
    tested: dict[str, ContextPlace] = {}
    for place in gathered.places.best():
        if place.domain is Domain.CODE and len(tested) < TESTED_MAX:
            tested.setdefault(place.file_path, place)
    if not (glob := glob_of_tests(tested)):
        return
    hits = await gathered.sources.search(
        Domain.CODE, query=gathered.question.text, path_filter=glob, limit=TESTS_HITS_MAX
    )
    for path, place in tested.items():
        test = nearest_test(path, (hit.file_path for hit in hits if hit.repo == place.repo))
        hit = next((hit for hit in hits if (hit.repo, hit.file_path) == (place.repo, test)), None)
        if hit and (domain := domain_of(test)) in gathered.domains:
            why = f"tests {posixpath.basename(path)} by its name"
            gathered.places.add(place_of(hit, domain, place.score * TESTS_SHARE, number, why))


async def _follow_edges(gathered: Gathered, number: int) -> None:
    """Round 3: callers and callees, supertypes and subtypes of the best places, tests among them."""
    best = [place for place in gathered.places.best() if place.domain is Domain.CODE and place.symbol]
    await asyncio.gather(*(_neighbors(gathered, number, place) for place in best[:FOLLOWED_MAX]))


async def _in_domains(gathered: Gathered, group: Sequence[Domain]) -> dict[Domain, list[Hit]]:
    """Returns the hits of each domain of a group, from one search."""
    hits = await _search(gathered, group)
    return {domain: [hit for hit in hits if domain_of(hit.file_path) is domain] for domain in group}


async def _search(gathered: Gathered, group: Sequence[Domain]) -> Sequence[Hit]:
    glob = glob_of(group)
    if glob and not await gathered.sources.has_files(group, glob):
        return ()
    is_prose = PROSE.issuperset(group)
    return await gathered.sources.search(
        group[0],
        query=gathered.question.text,
        corpus=Corpus.DOCS if is_prose else Corpus.CODE,
        path_filter=glob,
        limit=HITS_MAX[group[0]] if len(group) == 1 else SHARED_HITS_MAX,
    )


@dataclass(frozen=True)
class _Search:
    """A search of a later round. `share` is that of a hit's score which its place gets."""

    query: str
    share: float
    why: str
    path: str = ""


async def search_further(gathered: Gathered, number: int, query: str, share: float, why: str) -> None:
    """Adds the places that a further search finds. `share` is that of a hit's score which its place gets."""
    await _search_further(gathered, number, _Search(query, share, why))


async def _search_further(gathered: Gathered, number: int, search: _Search) -> None:
    hits = await gathered.sources.search(
        Domain.CODE, query=search.query, path_filter=search.path, limit=FURTHER_HITS_MAX
    )
    for hit, score in _in_order(hits):
        domain = domain_of(hit.file_path)
        if domain in gathered.domains:
            weighted = score * search.share * WEIGHTS[domain]
            gathered.places.add(place_of(hit, domain, weighted, number, search.why))


async def _define(gathered: Gathered, number: int, symbols: Sequence[str]) -> None:
    request = gathered.sources.scoped(DefinitionsRequest, symbols=tuple(symbols), include_body=True)
    reply = await gathered.sources.ask(DEFINITIONS, request)
    for answer in reply.answers if reply else ():
        for definition in answer.definitions[:NEIGHBORS_MAX]:
            symbol, domain = definition.symbol, domain_of(definition.file_path)
            if domain not in gathered.domains:
                continue
            gathered.places.add(
                ContextPlace(
                    domain=domain,
                    repo=definition.repo,
                    file_path=definition.file_path,
                    start_line=symbol.start_line,
                    end_line=symbol.end_line,
                    content=definition.body or symbol.signature,
                    # Each of several definitions of a name is less likely meant.
                    score=NAMED_SCORE / max(1, len(answer.definitions)) ** 0.5,
                    round=number,
                    why=(f"defines {answer.symbol}, which the question names",),
                    symbol=symbol.qualified_name,
                    kind=symbol.kind.value,
                    name_line=symbol.name_line,
                    is_named=True,
                )
            )


async def _neighbors(gathered: Gathered, number: int, place: ContextPlace) -> None:
    works = []
    if place.kind in CALLABLE_KINDS:
        works = [_calls(gathered, place, direction) for direction in CallDirection]
    elif place.kind in TYPE_KINDS:
        works = [_types(gathered, place), _calls(gathered, place, CallDirection.CALLERS)]
    found: dict[tuple[str, int, int], tuple[GraphNode, str]] = {}
    for nodes in await asyncio.gather(*works):
        for node, why in nodes:
            found.setdefault((node.file_path, node.start_line, node.end_line), (node, why))
    await _show(gathered, number, place, list(found.values()))


async def _calls(
    gathered: Gathered, place: ContextPlace, direction: CallDirection
) -> list[tuple[GraphNode, str]]:
    request = gathered.sources.scoped(
        CallHierarchyRequest,
        repo=place.repo,
        symbol=f"{place.file_path}:{place.name_line}",
        direction=direction,
        depth=1,
        limit=NEIGHBORS_MAX,
    )
    reply = await gathered.sources.ask(CALL_HIERARCHY, request)
    says = "calls" if direction is CallDirection.CALLERS else "is called by"
    return [
        (branch.node, f"{'tests' if branch.node.test else says} {place.symbol}")
        for branch in (reply.branches if reply else ())
    ]


async def _types(gathered: Gathered, place: ContextPlace) -> list[tuple[GraphNode, str]]:
    request = gathered.sources.scoped(
        TypeHierarchyRequest,
        repo=place.repo,
        symbol=f"{place.file_path}:{place.name_line}",
        limit=NEIGHBORS_MAX,
    )
    reply = await gathered.sources.ask(TYPE_HIERARCHY, request)
    if reply is None:
        return []
    supers = [(branch.node, f"is a supertype of {place.symbol}") for branch in reply.supertypes]
    subs = [(branch.node, f"is a subtype of {place.symbol}") for branch in reply.subtypes]
    return [*supers[:NEIGHBORS_MAX], *subs[:NEIGHBORS_MAX]]


async def _show(
    gathered: Gathered, number: int, place: ContextPlace, found: Sequence[tuple[GraphNode, str]]
) -> None:
    """Add neighbors with their lines."""
    shown = [
        (node, why)
        for node, why in found
        if node.start_line and domain_of(node.file_path) in gathered.domains
    ]
    if not shown:
        return
    ranges = tuple(
        FileRange(
            file_path=node.file_path,
            start_line=node.start_line,
            end_line=min(node.end_line, node.start_line + NEIGHBOR_LINES_MAX - 1),
        )
        for node, _ in shown
    )
    reply = await gathered.sources.ask(
        LINES, gathered.sources.scoped(LinesRequest, repo=place.repo, ranges=ranges)
    )
    is_named = any(known.is_named for known in gathered.places.best())
    for (node, why), text in zip(shown, reply.texts if reply else (), strict=False):
        if text is None:
            continue
        share = NAMED_NEIGHBOR_SHARE if place.is_named else NEIGHBOR_SHARE
        words = gathered.question.share(f"{node.file_path} {node.symbol} {text}")
        gathered.places.add(
            ContextPlace(
                domain=domain_of(node.file_path),
                repo=place.repo,
                file_path=node.file_path,
                start_line=node.start_line,
                end_line=node.end_line,
                content=text,
                score=place.score * (share + WORDS_SHARE * words) * (1.0 if is_named else UNNAMED_SHARE),
                round=number,
                why=(why,),
                symbol=node.symbol,
                kind=node.kind.value if node.kind else "",
                name_line=node.line,
            )
        )


async def do_round(gathered: Gathered, number: int, work: Callable[[Gathered, int], Awaitable[None]]) -> None:
    """Do a round, and note what it did."""
    sources, began = gathered.sources, time.perf_counter()
    calls, cached, places = sources.calls, sources.cached, len(gathered.places)
    await work(gathered, number)
    gathered.timings_ms[f"round_{number}"] = round((time.perf_counter() - began) * 1_000, 1)
    gathered.rounds.append(
        ContextRound(
            number=number,
            calls=sources.calls - calls,
            cached=sources.cached - cached,
            places=len(gathered.places) - places,
            missing=gathered.missing,
        )
    )


def reply_of(gathered: Gathered, max_tokens: int) -> ContextReply:
    """Returns what was gathered, within a budget of tokens."""
    chosen = bundle(gathered.places.best(), gathered.question.words, max_tokens)
    is_cached = not gathered.sources.calls and bool(gathered.sources.cached)
    return ContextReply(
        mode=gathered.mode,
        reason=gathered.reason,
        items=chosen.items,
        rounds=tuple(gathered.rounds),
        is_complete=gathered.is_complete,
        missing=gathered.missing,
        notes=tuple(gathered.sources.notes),
        truncated=chosen.truncated,
        without_model=WITHOUT_MODEL,
        receipt=gathered.receipt.model_copy(update={"cached": is_cached}),
        timings_ms=gathered.timings_ms,
    )
