"""Asks a language model for the introductions of pages."""

from prism_contracts.accounting import ModelPurpose
from prism_contracts.records import WikiTocEntry
from prism_scribe.core.wiki.introductions import (
    INSTRUCTIONS,
    INTRODUCED,
    WrittenIntroduction,
    accepted,
    statements,
    with_introduction,
)
from prism_scribe.core.writing import Declined, TextWriter, WritingTask

TOKENS_MAX = 1_500
DEADLINE_S = 120.0


class NotIntroducedError(Exception):
    """The model wrote nothing for a page, which stays as the rules wrote it. The message says why."""


class Introductions:
    """Introduces pages if a language model is set."""

    def __init__(self, writer: TextWriter) -> None:
        self._writer = writer

    def has_model_for(self, entry: WikiTocEntry) -> bool:
        """Whether a page is to have an introduction."""
        return bool(self._writer.models) and entry.kind in INTRODUCED

    async def introduced(self, tenant: str, page: str) -> tuple[str, str]:
        """Returns a page with its introduction, and the model that wrote it. Raises NotIntroducedError."""
        evidence = statements(page)
        task = WritingTask(
            tenant, ModelPurpose.WIKI, INSTRUCTIONS, tokens_max=TOKENS_MAX, deadline_s=DEADLINE_S
        )
        written = await self._writer.write(task, evidence, WrittenIntroduction)
        if isinstance(written, Declined):
            raise NotIntroducedError(written.message)
        sentences = accepted(written.output, evidence)
        if not sentences:
            raise NotIntroducedError(f"No sentence of {written.model} is held by the statements of the page.")
        return with_introduction(page, sentences), written.model
