"""Commits drafts to the git repository of their tenant.

The order of writes makes a crash harmless. Objects come before the branch that leads to them, and the branch
before the records that name the commit. Whatever is missing, the same call does it, and makes no second commit:
a tree that equals the newest commit's is committed already.
"""

import asyncio
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial

from dulwich.objects import Blob, Commit, ShaFile

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import DocumentRecord, document_id
from prism_contracts.rpc.documents import CommitDocumentsReply, CommitDocumentsRequest
from prism_source.paths import validate_path
from prism_workspace.adapters.documents import DocumentRecords, not_found
from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.adapters.git_refs import GitRefs, Head
from prism_workspace.core.commits import FILE_MODE, README, README_PATH, commit_of
from prism_workspace.core.rebase import PathEntry
from prism_workspace.operations.remote_intake import RemoteIntake
from prism_workspace.operations.trees import Trees
from prism_workspace.operations.turns import BranchTurns

# Only the copies of workspace race, each with one commit of a tenant at a time.
RACES_MAX = 50
PAUSE_S_MAX = 0.03


class DraftCommits:
    """Commits of drafts."""

    def __init__(
        self,
        records: DocumentRecords,
        objects: GitObjects,
        refs: GitRefs,
        intake: RemoteIntake,
        turns: BranchTurns,
    ) -> None:
        self._intake = intake
        self._records = records
        self._objects = objects
        self._refs = refs
        self._trees = Trees(objects)
        self._turns = turns

    async def commit(self, request: CommitDocumentsRequest) -> CommitDocumentsReply:
        """Commit drafts: those at the paths of a request, or all.

        Raises PrismError: DOCUMENT_NOT_FOUND, NOTHING_TO_COMMIT, INVALID_ARGUMENT, INVALID_PATH, UNAVAILABLE.
        """
        wanted = {validate_path(path) for path in request.paths}
        async with self._turns.of(request.tenant):
            for _ in range(RACES_MAX):
                # The branch first: if it has not moved at the end, no newer content was committed meanwhile.
                head = await self._refs.head(request.tenant)
                # What was pushed to the remote may be in the branch and not yet in the records.
                await self._intake.finish(request.tenant)
                drafts = await self._drafts(request.tenant, wanted)
                commit, is_new = await self._commit_of(request, head, drafts)
                sha = commit.id.decode()
                if not is_new or await self._refs.move(request.tenant, head, sha):
                    await self._note(request.tenant, drafts, sha)
                    return CommitDocumentsReply(
                        commit_hash=sha,
                        files_committed=tuple(sorted(drafts)),
                        timestamp=datetime.fromtimestamp(commit.commit_time, UTC),
                    )
                await asyncio.sleep(random.random() * PAUSE_S_MAX)  # noqa: S311 - it spreads the copies out
        raise PrismError(
            ErrorCode.UNAVAILABLE, "Other commits were faster each time.", "Repeat the call in a few seconds."
        )

    async def _drafts(self, tenant: str, wanted: set[str]) -> dict[str, DocumentRecord]:
        """Returns the drafts by path. Raises DOCUMENT_NOT_FOUND, NOTHING_TO_COMMIT."""
        known = {record.document: record for record in await self._records.all_of(tenant)}
        ids = {document_id(tenant, path): path for path in wanted}
        for document, path in ids.items():
            if document not in known:
                raise not_found(path)
        drafts = [one for one in known.values() if one.is_draft and (not ids or one.document in ids)]
        if not drafts:
            raise PrismError(
                ErrorCode.NOTHING_TO_COMMIT,
                "There is no draft at these paths." if wanted else "There are no drafts.",
                "Nothing needs to be done: the newest versions are committed.",
            )
        return {one.path: one for one in drafts}

    async def _commit_of(
        self, request: CommitDocumentsRequest, head: Head, drafts: Mapping[str, DocumentRecord]
    ) -> tuple[Commit, bool]:
        """Returns a commit of the drafts, and whether it is new; else the newest one holds them already."""
        new: list[ShaFile] = []
        files = {path: draft.blob for path, draft in drafts.items()}
        newest = await self._objects.commit(request.tenant, head.commit) if head.commit else None
        if newest is None:
            readme = Blob.from_string(README)
            new.append(readme)
            files[README_PATH] = readme.id.decode()
        base = await self._trees.of_commit(request.tenant, head.commit)
        changes = {path: PathEntry(FILE_MODE, sha) for path, sha in files.items()}
        tree = await self._trees.applied(request.tenant, base, changes, new)
        if newest is not None and tree.id == newest.tree:
            return newest, False
        made = commit_of(tree.id.decode(), head.commit, request.message, request.author, datetime.now(UTC))
        await self._objects.write(request.tenant, [*new, made])
        return made, True

    async def _note(self, tenant: str, drafts: Mapping[str, DocumentRecord], commit: str) -> None:
        """Name the commit in the records. One that was changed meanwhile stays a draft."""
        changes = {one.document: partial(_committed, draft=one, commit=commit) for one in drafts.values()}
        await self._records.change_many(tenant, changes)


def _committed(found: DocumentRecord, draft: DocumentRecord, commit: str) -> DocumentRecord:
    """Returns the record with the commit, unless another copy has noted one since the draft was read."""
    if found.committed_blob != draft.committed_blob:
        return found
    newer = tuple(note for note in found.drafts if note.version > draft.version)
    return found.model_copy(update={"committed_blob": draft.blob, "commit": commit, "drafts": newer})
