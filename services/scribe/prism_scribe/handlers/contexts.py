"""Answers `context` and `answer_context`."""

from prism_contracts.rpc.context import ContextMode, ContextReply, ContextRequest
from prism_scribe.operations.context_answers import ContextAnswers
from prism_scribe.operations.contexts import Contexts


class ContextHandler:
    """Answers requests for contexts."""

    def __init__(self, contexts: Contexts, answers: ContextAnswers) -> None:
        self._contexts = contexts
        self._answers = answers

    async def context(self, request: ContextRequest) -> ContextReply:
        """Returns the context of a question. Raises what search raises about the repository."""
        reply = await self._contexts.context(request)
        is_answered = self._answers.is_possible and reply.mode is ContextMode.DEEP and bool(reply.items)
        return reply.model_copy(
            update={"can_answer": is_answered, "without_model": self._answers.without_model(reply.mode)}
        )

    async def answer(self, request: ContextRequest) -> ContextReply:
        """Returns the context of a question with an answer by a language model. Raises as `context` does."""
        return await self._answers.answer(request)
