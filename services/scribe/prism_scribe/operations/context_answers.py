"""Has a language model answer a question from a context: at most three drafts, with searches between them.

The model may only cite places that were found and name searches. Whatever goes wrong, the context is answered as
it is without a model, with the reason.
"""

import asyncio
import logging
import time
from dataclasses import dataclass, field

from prism_contracts.accounting import ModelPurpose
from prism_contracts.rpc.context import ContextMode, ContextReply, ContextRequest, ContextSentence
from prism_runtime.weighted_cache import WeightedCache
from prism_scribe.core.bundle import CHARS_PER_TOKEN
from prism_scribe.core.drafts import (
    INSTRUCTIONS,
    LAST_ROUND,
    Draft,
    EvidenceBook,
    check,
    evidence_of,
)
from prism_scribe.core.writing import Declined, TextWriter, WritingTask
from prism_scribe.operations.contexts import (
    PART_SHARE,
    QUOTED_CHARS_MAX,
    WITHOUT_MODEL,
    Contexts,
    Gathered,
    do_round,
    reply_of,
    search_further,
)
from prism_scribe.settings import ScribeSettings

DRAFTS_MAX = 3
DRAFT_TOKENS_MAX = 1_200
SENTENCES_SHARE = 0.5  # largest share of the token budget
ANSWER_CHARS = 400  # what an answer costs in the cache besides its texts
FAST = "mode=deep lets the language model answer."
NOTHING_HELD = "The language model wrote nothing that its sources hold."

log = logging.getLogger(__name__)


@dataclass
class _Answer:
    """An answer while it is written."""

    sentences: tuple[ContextSentence, ...] = ()
    model: str = ""
    dropped: int = 0
    tokens: int = 0
    reason: str = NOTHING_HELD  # why there is none
    asked: set[str] = field(default_factory=set)


class ContextAnswers:
    """Answers questions with the language model, if there is one."""

    def __init__(self, contexts: Contexts, writer: TextWriter, settings: ScribeSettings) -> None:
        self._contexts = contexts
        self._writer = writer
        self._settings = settings
        self._cache: WeightedCache[str, ContextReply] = WeightedCache(settings.context_answers_bytes_max)

    @property
    def is_possible(self) -> bool:
        """Whether there is a language model."""
        return bool(self._writer.models)

    def without_model(self, mode: ContextMode) -> str:
        """Returns why no language model took part in a context, and what it would add."""
        if not self.is_possible:
            return WITHOUT_MODEL
        return "" if mode is ContextMode.DEEP else FAST

    async def answer(self, request: ContextRequest) -> ContextReply:
        """Returns the context of a question with an answer. Raises what search raises about the repository."""
        request = request.model_copy(update={"rounds": type(request).model_fields["rounds"].default})
        gathered = await self._contexts.gather(request)
        key = gathered.sources.key(f"answer:{','.join(self._writer.models)}", request)
        known = self._cache.get(key) if key else None
        if known is not None:
            receipt = gathered.receipt.model_copy(update={"cached": True})
            return known.model_copy(update={"receipt": receipt})
        written = _Answer()
        if not self.is_possible or gathered.mode is not ContextMode.DEEP:
            written.reason = self.without_model(gathered.mode)
        elif len(gathered.places):
            await self._write(gathered, request, written)
        reply = _reply(gathered, request, written)
        if key and written.sentences:
            self._cache.put(key, reply, _weight(reply))
        return reply

    async def _write(self, gathered: Gathered, request: ContextRequest, written: _Answer) -> None:
        book, deadline = EvidenceBook(), time.monotonic() + self._settings.context_answer_s
        began = time.perf_counter()
        for number in range(1, DRAFTS_MAX + 1):
            is_last = number == DRAFTS_MAX or written.tokens * 2 > self._settings.context_answer_tokens_max
            searches = await self._draft(gathered, request, written, book, deadline, is_last=is_last)
            if not searches or is_last:
                break
            written.asked.update(searches)
            await _search(gathered, searches)
        gathered.timings_ms["answer"] = round((time.perf_counter() - began) * 1_000, 1)

    async def _draft(
        self,
        gathered: Gathered,
        request: ContextRequest,
        written: _Answer,
        book: EvidenceBook,
        deadline: float,
        *,
        is_last: bool,
    ) -> list[str]:
        """Has the model write once. Returns the searches that it asks for; the sentences of the newest draft count."""
        chosen = book.choose(gathered.places.best())
        task = WritingTask(
            request.tenant,
            ModelPurpose.CONTEXT,
            INSTRUCTIONS + (LAST_ROUND if is_last else ""),
            request.question,
            tokens_max=DRAFT_TOKENS_MAX,
            deadline_s=max(0.0, deadline - time.monotonic()),
        )
        result = await self._writer.write(task, evidence_of(chosen), Draft)
        written.tokens += result.tokens
        if isinstance(result, Declined):
            written.reason = result.message
            return []
        checked = check(result.output, chosen)
        written.dropped += checked.dropped
        if checked.sentences:
            written.sentences, written.model = checked.sentences, result.model
        return [search for search in checked.searches if search not in written.asked]


async def _search(gathered: Gathered, searches: list[str]) -> None:
    async def work(gathered: Gathered, number: int) -> None:
        await asyncio.gather(
            *(
                search_further(
                    gathered,
                    number,
                    search,
                    PART_SHARE,
                    f"matches a search of the language model: {search[:QUOTED_CHARS_MAX]}",
                )
                for search in searches
            )
        )

    await do_round(gathered, len(gathered.rounds) + 1, work)


def _reply(gathered: Gathered, request: ContextRequest, written: _Answer) -> ContextReply:
    """Returns the context with as many sentences as fit into half of its budget."""
    room = int(request.max_tokens * CHARS_PER_TOKEN * SENTENCES_SHARE)
    sentences: list[ContextSentence] = []
    for sentence in written.sentences:
        cost = len(sentence.text) + sum(len(source.file_path) + 12 for source in sentence.sources)
        if cost > room and sentences:
            break
        sentences.append(sentence)
        room -= cost
    used = request.max_tokens * CHARS_PER_TOKEN * SENTENCES_SHARE - room
    reply = reply_of(gathered, max(1, request.max_tokens - int(used / CHARS_PER_TOKEN)))
    return reply.model_copy(
        update={
            "answer": tuple(sentences),
            "model": written.model,
            "dropped_sentences": written.dropped,
            "without_model": "" if sentences else written.reason,
            "truncated": reply.truncated or len(sentences) < len(written.sentences),
        }
    )


def _weight(reply: ContextReply) -> int:
    texts = sum(len(item.content) for item in reply.items) + sum(len(one.text) for one in reply.answer)
    return texts + ANSWER_CHARS * (len(reply.items) + len(reply.answer))
