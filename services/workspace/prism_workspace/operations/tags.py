"""Proposes tags for documents. It changes none: the tags of a document are those that its author chose."""

import asyncio
from collections import defaultdict

from prism_contracts.records import DocumentRecord
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.documents import TAGS_OFFERED_MAX, WriteTagsReply
from prism_workspace.adapters.tag_writer import TagWriter
from prism_workspace.core.tags import Proposal, TagVocabulary, accepted, propose
from prism_workspace.operations.documents import TeamDocuments


class TagProposals:
    """Tags by the words of a document and the tags of the others, or by a language model."""

    def __init__(self, documents: TeamDocuments, writer: TagWriter) -> None:
        self._documents = documents
        self._writer = writer
        self._vocabularies: defaultdict[str, TagVocabulary] = defaultdict(TagVocabulary)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def propose(self, caller: CallerRequest, record: DocumentRecord, content: str) -> Proposal:
        """Returns tags for a document by its words, the strongest first. Raises UNAVAILABLE."""
        return propose(record.title, content, await self._others(caller, record))

    async def choose(
        self, caller: CallerRequest, record: DocumentRecord, content: str, *, model: str
    ) -> tuple[Proposal, WriteTagsReply]:
        """Returns tags that a language model chooses, or those by words, and what the model said.

        Raises PrismError: INVALID_ARGUMENT, UNAVAILABLE.
        """
        others = await self._others(caller, record)
        in_use = [tag for tag, _ in others.in_use.most_common(TAGS_OFFERED_MAX)]
        written = await self._writer.write(caller, record.title, content, in_use=in_use, model=model)
        if written.model:
            proposal = accepted(written.tags, record.title, content, others)
            if proposal.tags:
                return proposal, written
            written = WriteTagsReply(without_model="The language model chose no tag that the document holds.")
        return propose(record.title, content, others), written

    async def _others(self, caller: CallerRequest, record: DocumentRecord) -> TagVocabulary:
        records = await self._documents.listed(caller)
        vocabulary = self._vocabularies[caller.tenant]
        async with self._turns[caller.tenant]:
            # In a thread: the first call of a tenant reads the words of all its documents.
            await asyncio.to_thread(vocabulary.follow, records)
            return vocabulary.without(record.document)
