"""Makes documents of what others pushed: the records note each path that the branch has changed.

The branch moves first, after a mark that says so. Whatever the process that moved it did not note, the next
commit or look at the remote does: it compares the trees of the mark and of the branch, and each record says
whether it has noted its path.
"""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from prism_contracts.records import AnchoredKind, DocumentRecord, document_id
from prism_contracts.rpc.common import CallerRequest
from prism_workspace.adapters.anchors import WantLinks
from prism_workspace.adapters.documents import DocumentRecords
from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.adapters.git_refs import GitRefs
from prism_workspace.core import front_matter
from prism_workspace.core.document_files import is_document, read_document, text_of_file
from prism_workspace.core.rebase import PathEntry, kept_path, original_path
from prism_workspace.operations.trees import Trees

FILE_MODES = frozenset({0o100644, 0o100755, 0o100664})

log = logging.getLogger(__name__)


class RemoteIntake:
    """The records of documents, as far as others changed these at a remote."""

    def __init__(
        self,
        records: DocumentRecords,
        objects: GitObjects,
        refs: GitRefs,
        want_links: WantLinks,
        wake: Callable[[], None],
    ) -> None:
        """`wake` is called when documents have changed."""
        self._records = records
        self._objects = objects
        self._refs = refs
        self._want_links = want_links
        self._wake = wake
        self._trees = Trees(objects)

    async def finish(self, tenant: str) -> None:
        """Note what the branch has changed since the mark, if there is one."""
        mark = await self._refs.unnoted(tenant)
        if mark is None:
            return
        head = (await self._refs.head(tenant)).commit
        before = await self._trees.of_commit(tenant, mark.commit)
        changes = await self._trees.changes(tenant, before, await self._trees.of_commit(tenant, head))
        if changes:
            made = await self._objects.commit(tenant, head)
            at = datetime.fromtimestamp(made.commit_time, UTC)
            # Documents first: one that is kept beside another is noted in the record of that.
            for path in sorted(
                filter(is_document, changes), key=lambda path: (bool(original_path(path)), path)
            ):
                await self._note(tenant, path, changes[path], head, at)
            self._wake()
        await self._refs.end(tenant, mark)

    async def _note(self, tenant: str, path: str, entry: PathEntry | None, commit: str, at: datetime) -> None:
        found = await self._records.get(tenant, document_id(tenant, path))
        if found is not None and found.path != path:
            log.warning("%s of %s is no document: %s differs only in case", path, tenant, found.path)
            return
        text = None
        if entry is not None and entry.mode in FILE_MODES:
            text = text_of_file(await self._objects.blob(tenant, entry.sha))
        if entry is None or text is None:
            await self._note_deletion(tenant, path)
            return
        if found is not None and found.is_draft and entry.sha not in (found.blob, found.committed_blob):
            await self._keep_beside(tenant, path, entry.sha, text, at)
        theirs = read_document(tenant, path, text, at).model_copy(
            update={"blob": entry.sha, "committed_blob": entry.sha, "commit": commit}
        )
        if found is None or found.blob != entry.sha:
            await self._want(theirs, text)
        await self._records.take(theirs, partial(_taken, theirs=theirs))
        await self._note_conflict(tenant, path)

    async def _note_deletion(self, tenant: str, path: str) -> None:
        if await self._records.get(tenant, document_id(tenant, path)):
            await self._records.change(tenant, document_id(tenant, path), _deleted)
            await self._records.forget(tenant, document_id(tenant, path))

    async def _keep_beside(self, tenant: str, path: str, sha: str, text: str, at: datetime) -> None:
        """Keep their version of a draft as a draft of its own, which is committed with the next ones."""
        beside = kept_path(path, sha)
        kept = read_document(tenant, beside, text, at).model_copy(update={"blob": sha})
        await self._want(kept, text)
        await self._records.create(kept)
        await self._note_conflict(tenant, beside)

    async def _note_conflict(self, tenant: str, beside: str) -> None:
        """Say in the record of a document that another version of it is kept beside it."""
        original = document_id(tenant, original_path(beside))
        if original_path(beside) and await self._records.get(tenant, original):
            await self._records.change(
                tenant, original, lambda one: one.model_copy(update={"conflict": beside})
            )

    async def _want(self, record: DocumentRecord, text: str) -> None:
        content = front_matter.split(text)[1]
        await self._want_links(
            CallerRequest(tenant=record.tenant), AnchoredKind.DOCUMENT, record.document, content, ""
        )


def _taken(found: DocumentRecord | None, theirs: DocumentRecord) -> DocumentRecord:
    """Returns the record with their version, which the branch has now. A draft stays what callers read."""
    if found is None:
        return theirs
    noted = {"committed_blob": theirs.blob, "commit": theirs.commit}
    if found.blob == theirs.blob and found.committed_blob == theirs.blob:
        return found
    if found.is_draft:
        return found.model_copy(update=noted)
    kept = ("indexed_blob", "created_at", "conflict")
    known = {field: getattr(found, field) for field in kept}
    return theirs.model_copy(update={**known, "version": found.version + 1})


def _deleted(found: DocumentRecord) -> DocumentRecord:
    """Returns the record without its version that others deleted. A draft stays."""
    if found.is_draft:
        return found.model_copy(update={"committed_blob": "", "commit": ""})
    return found.model_copy(update={"blob": "", "committed_blob": "", "commit": ""})
