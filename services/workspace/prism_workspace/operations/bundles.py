"""The documents of a tenant as one file that git clones: a bundle of the branch with its whole history."""

import tempfile
from pathlib import Path

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.document_remote import BUNDLE_BYTES_MAX, DocumentBundleReply
from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.adapters.git_refs import BRANCH, GitRefs
from prism_workspace.adapters.scratch import Scratch
from prism_workspace.operations.turns import BranchTurns


class DocumentBundles:
    """Bundles of the documents."""

    def __init__(self, objects: GitObjects, refs: GitRefs, scratch: Scratch) -> None:
        """No one else uses the folder of `scratch`."""
        self._objects = objects
        self._refs = refs
        self._scratch = scratch
        self._turns = BranchTurns()

    async def bundle(self, tenant: str) -> DocumentBundleReply:
        """Returns what is committed. Raises PrismError: DOCUMENT_NOT_FOUND, PAYLOAD_TOO_LARGE, DISK_FULL, UNAVAILABLE."""
        head = (await self._refs.head(tenant)).commit
        if not head:
            raise PrismError(
                ErrorCode.DOCUMENT_NOT_FOUND,
                "No document is committed yet.",
                "Commit drafts first, with commit_to_git.",
            )
        async with self._turns.of(tenant):
            try:
                return await self._made(tenant, head)
            except PrismError:
                await self._scratch.drop(tenant)
                raise

    async def _made(self, tenant: str, head: str) -> DocumentBundleReply:
        await self._scratch.fill(tenant, self._objects, head)
        with tempfile.TemporaryDirectory(prefix="prism-bundle-") as folder:
            path = Path(folder) / "documents.bundle"
            body, size = await self._scratch.bundle(tenant, head, BRANCH, path, BUNDLE_BYTES_MAX)
        await self._scratch.trim(tenant)
        if body is None:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The bundle of the documents has {size:,} bytes; the limit is {BUNDLE_BYTES_MAX:,}.",
                "Set a remote, push to it, and clone that: `prism documents remote set URL`, then `prism documents "
                "remote push`. Or export the newest versions without history: `prism documents export FOLDER`.",
                size=size,
                limit=BUNDLE_BYTES_MAX,
            )
        return DocumentBundleReply(commit=head, branch=BRANCH, bundle=body)
