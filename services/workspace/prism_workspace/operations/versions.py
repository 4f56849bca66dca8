"""The versions of a document: its drafts since the last commit, and the commits that changed it."""

import asyncio
import re
from datetime import UTC, datetime
from itertools import pairwise

from dulwich.objects import Commit

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import DocumentRecord
from prism_contracts.rpc.documents import (
    DocumentDiffReply,
    DocumentDiffRequest,
    DocumentVersion,
    DocumentVersionsReply,
    DocumentVersionsRequest,
)
from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.adapters.git_refs import GitRefs
from prism_workspace.core.commits import FOLDER_MODE
from prism_workspace.core.versions import unified_diff
from prism_workspace.operations.documents import TeamDocuments

# Commits that one request reads. Each takes a few reads of NATS, and most do not change the document.
COMMITS_READ_MAX = 500
COMMITS_AT_ONCE = 50
HASH_CHARS = 40
_HASH = re.compile(r"[0-9a-f]{40}")


class DocumentVersions:
    """The history of documents, as git has it."""

    def __init__(self, documents: TeamDocuments, objects: GitObjects, refs: GitRefs) -> None:
        self._documents = documents
        self._objects = objects
        self._refs = refs

    async def listed(self, request: DocumentVersionsRequest) -> DocumentVersionsReply:
        """Returns a page of versions, the newest first. Raises DOCUMENT_NOT_FOUND, INVALID_CURSOR, STORE_DAMAGED."""
        record = await self._documents.find(request, request.document_id, "")
        start = request.cursor or (await self._refs.head(record.tenant)).commit
        found: list[DocumentVersion] = []
        read = 0
        while start and read < COMMITS_READ_MAX and len(found) < request.limit:
            chain, start = await self._chain(
                record.tenant, start, is_cursor=bool(request.cursor and not read)
            )
            blobs = await asyncio.gather(*(self._blob_in(record, commit) for commit in chain))
            changed = [
                _version(commit, blob)
                for (commit, (blob, before)) in zip(chain, pairwise(blobs), strict=False)
                if blob and blob != before
            ]
            if not start and blobs[-1]:
                changed.append(_version(chain[-1], blobs[-1]))
            found += changed
            read += len(chain)
        left_out = found[request.limit].version if len(found) > request.limit else start
        return DocumentVersionsReply(
            document_id=record.document,
            path=record.path,
            versions=(*(() if request.cursor else _drafts(record)), *found[: request.limit]),
            next_cursor=left_out,
        )

    async def blob(self, record: DocumentRecord, version: str) -> str:
        """Returns the hash of the content of a version; of the newest if it is empty. Raises VERSION_NOT_FOUND."""
        if not version:
            return record.blob
        if len(version) < HASH_CHARS:
            found = {str(note.version): note.blob for note in record.drafts}
            found[str(record.version)] = record.blob
            blob = found.get(str(int(version)), "")
        else:
            commit = await self._objects.find_commit(record.tenant, version)
            blob = await self._blob_in(record, commit) if commit else ""
        if not blob:
            raise PrismError(
                ErrorCode.VERSION_NOT_FOUND,
                f"{record.path} has no version {version}.",
                "List its versions: get_document_metadata with include_versions, or GET …/versions.",
            )
        return blob

    async def diff(self, request: DocumentDiffRequest) -> DocumentDiffReply:
        """Compares two versions. Raises DOCUMENT_NOT_FOUND, VERSION_NOT_FOUND, STORE_DAMAGED."""
        record = await self._documents.find(request, request.document_id, "")
        base = await self.blob(record, request.base) if request.base else record.committed_blob
        blob = await self.blob(record, request.version)
        texts = [
            (await self._objects.blob(record.tenant, sha)).decode() if sha else "" for sha in (base, blob)
        ]
        return DocumentDiffReply(
            document_id=record.document,
            path=record.path,
            diff=await asyncio.to_thread(unified_diff, record.path, *texts),
        )

    async def _chain(self, tenant: str, start: str, *, is_cursor: bool) -> tuple[list[Commit], str]:
        """Returns some commits from one on, each followed by its parent, and the last one's hash if it has a parent.

        The last one is also the first of the next chain, because a commit is compared with its parent.
        """
        is_hash = _HASH.fullmatch(start) is not None
        first = await self._objects.find_commit(tenant, start) if is_cursor and is_hash else None
        if is_cursor and first is None:
            raise PrismError(
                ErrorCode.INVALID_CURSOR,
                "The cursor is not valid.",
                "Use the next_cursor of the page before.",
            )
        chain = [first or await self._objects.commit(tenant, start)]
        while chain[-1].parents and len(chain) <= COMMITS_AT_ONCE:
            chain.append(await self._objects.commit(tenant, chain[-1].parents[0].decode()))
        return chain, chain[-1].id.decode() if chain[-1].parents else ""

    async def _blob_in(self, record: DocumentRecord, commit: Commit) -> str:
        """Returns the hash of the document in a commit; empty if it is not in it."""
        sha = commit.tree.decode()
        folder, _, name = record.path.encode().rpartition(b"/")
        for part in folder.split(b"/"):
            tree = await self._objects.tree(record.tenant, sha)
            if part not in tree or tree[part][0] != FOLDER_MODE:
                return ""
            sha = tree[part][1].decode()
        tree = await self._objects.tree(record.tenant, sha)
        return tree[name][1].decode() if name in tree and tree[name][0] != FOLDER_MODE else ""


def _drafts(record: DocumentRecord) -> tuple[DocumentVersion, ...]:
    return tuple(
        DocumentVersion(version=str(one.version), is_draft=True, blob=one.blob, author=one.by, at=one.at)
        for one in reversed(record.drafts)
    )


def _version(commit: Commit, blob: str) -> DocumentVersion:
    message = commit.message.decode(errors="replace").lstrip()
    return DocumentVersion(
        version=commit.id.decode(),
        is_draft=False,
        blob=blob,
        message=message.split("\n", 1)[0],
        author=commit.author.decode(errors="replace").rsplit(" <", 1)[0],
        at=datetime.fromtimestamp(commit.commit_time, UTC),
    )
