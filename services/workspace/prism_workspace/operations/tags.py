"""Proposes tags for documents. It changes none: the tags of a document are those that its author chose."""

import asyncio
from collections import defaultdict

from prism_contracts.records import DocumentRecord
from prism_contracts.rpc.common import CallerRequest
from prism_workspace.core.tags import Proposal, TagVocabulary, propose
from prism_workspace.operations.documents import TeamDocuments


class TagProposals:
    """Tags by the words of a document and the tags of the others."""

    def __init__(self, documents: TeamDocuments) -> None:
        self._documents = documents
        self._vocabularies: defaultdict[str, TagVocabulary] = defaultdict(TagVocabulary)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def propose(self, caller: CallerRequest, record: DocumentRecord, content: str) -> Proposal:
        """Returns tags for a document, the strongest first. Raises UNAVAILABLE."""
        records = await self._documents.listed(caller)
        vocabulary = self._vocabularies[caller.tenant]
        async with self._turns[caller.tenant]:
            # In a thread: the first call of a tenant reads the words of all its documents.
            await asyncio.to_thread(vocabulary.follow, records)
            return propose(record.title, content, vocabulary.without(record.document))
