"""Answers `search`: the lines that answer a question.

query ▶ legs ▶ fused candidates ▶ filters ▶ ranked files ▶ passages ▶ reranker, if there is one ▶ hits with their
text ▶ receipt
"""

import time

from prism_catalog.repositories import RepositoryCatalog
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.search import SearchAnswer, SearchReply, SearchRequest
from prism_runtime import tracing
from prism_runtime.tasks import running
from prism_runtime.tracing import Attribute
from prism_search.adapters.answers import Answers, Found, Lookup
from prism_search.adapters.embedding import QueryEmbedding
from prism_search.adapters.facts import Facts
from prism_search.adapters.filters import refuse_unknown_language
from prism_search.adapters.known_names import NameReader
from prism_search.adapters.member_texts import MemberTexts
from prism_search.adapters.metrics import SearchMetrics
from prism_search.adapters.rarity import RarityCounter
from prism_search.adapters.reranker import Reranker
from prism_search.core.advice import next_actions
from prism_search.core.confidence import confidence, rate
from prism_search.core.hit_pages import next_cursor, read_page
from prism_search.core.matching import Question
from prism_search.core.query import parse_query, with_corrections
from prism_search.core.retrieval.assemble import passages_of, tests_last
from prism_search.core.retrieval.context import SearchContext, Steps
from prism_search.core.retrieval.filters import dropped_by
from prism_search.core.retrieval.plan import DEEP_LEG
from prism_search.core.retrieval.rank import rank
from prism_search.operations.reranking import Reranking
from prism_search.operations.retrieval import Retrieval
from prism_search.operations.spelling import Spelling
from prism_store.reader import Reader

# Attempts at hits that are all of the files' current versions.
ATTEMPTS_MAX = 3


class SearchHandler:
    """Answers `search`."""

    def __init__(
        self,
        reader: Reader,
        repositories: RepositoryCatalog,
        embedding: QueryEmbedding,
        answers: Answers | None,
        *,
        facts: Facts,
        names: NameReader,
        metrics: SearchMetrics,
        reranker: Reranker | None,
        texts: MemberTexts,
    ) -> None:
        self._reader = reader
        self._repositories = repositories
        self._answers = answers
        self._metrics = metrics
        self._rarity = RarityCounter(reader, repositories)
        self._spelling = Spelling(names, self._rarity)
        self._retrieval = Retrieval(reader, repositories, embedding, facts, metrics, texts=texts)
        self._reranking = Reranking(self._retrieval, reranker)

    async def search(self, request: SearchRequest) -> SearchReply:
        """Returns hits, best first, and the receipt; from the cache if the index has not changed."""
        began, steps = time.perf_counter(), Steps()
        with steps.step("prepare"):
            target, query = await self._repositories.target(request), parse_query(request.query)
            corrected = await self._spelling.corrections(target, query)
        tracing.note({Attribute.CORPUS_VERSION: target.corpus_version})
        context = SearchContext(request, with_corrections(query, corrected), target, steps)
        with steps.step("cache"):
            known, found = await self._answers.find(context) if self._answers else Lookup(None, Found.PASSED)
            tracing.note({Attribute.CACHE_HIT: known is not None})
        answer, missing_legs = (known, ()) if known else await self._answer(context)
        with steps.step("receipt"):
            receipt = await self._repositories.receipt(
                context.target, missing_legs, cached=known is not None, corrected=corrected
            )
        tracing.note({Attribute.HITS: len(answer.results)})
        self._metrics.observe(found, time.perf_counter() - began, steps.milliseconds)
        return SearchReply(**dict(answer), receipt=receipt, timings_ms=steps.milliseconds)

    async def _answer(self, context: SearchContext) -> tuple[SearchAnswer, tuple[str, ...]]:
        """Returns the answer, and the legs that did not contribute to it."""
        request, query, target = context.request, context.query, context.target
        page = read_page(request, query, target.state)
        passages_max = self._reranking.passages_max(request, page)
        await refuse_unknown_language(self._reader, self._repositories, target, request.language)
        async with (
            running(self._rarity.rarity(target, query)) as rarity_task,
            self._retrieval.vectors(context) as vectors,
        ):
            for _ in range(ATTEMPTS_MAX):
                retrieved = await self._retrieval.candidates(context, vectors)
                with context.steps.step("rank"):
                    question = Question(query, *await rarity_task)
                    wanted = (file for file in retrieved.candidates if not dropped_by(file, request))
                    ranked = passages_of(question, rank(question, wanted, passages_max), passages_max)
                passages, unordered = await self._reranking.reorder(context, page, ranked)
                rate(passages)
                with context.steps.step("assemble"):
                    asked = tests_last(context, passages[page.begin : page.end])
                    hits, is_whole = await self._retrieval.hits(
                        context, question, asked, retrieved.candidates
                    )
                if is_whole:
                    break
                self._retrieval.forget([file.file for file, _ in passages])
            else:  # a short page is better than an error
                if not hits:
                    raise _files_keep_changing()
            answer = SearchAnswer(
                results=hits,
                confidence=confidence(query, [*asked, *passages[page.end :]]) if hits else "none",
                query_intent=query.intent,
                next_actions=next_actions(query, hits, with_repo=len(target.repositories) > 1),
                diagnostics={} if hits else await self._retrieval.diagnose(context, retrieved),
                next_cursor=next_cursor(request, query, page, target.state)
                if len(passages) > page.end
                else "",
            )
        missing = (*retrieved.found.missing, *unordered)
        # Deep vectors arrive after an import completes, so an answer that uses them is not cached.
        if self._answers and not missing and DEEP_LEG not in retrieved.found.points:
            self._answers.keep(context, answer)
        return answer, missing


def _files_keep_changing() -> PrismError:
    return PrismError(
        ErrorCode.UNAVAILABLE,
        "The matching files keep changing while they are read.",
        "Retry in a second.",
    )
