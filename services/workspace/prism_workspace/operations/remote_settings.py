"""Which remote the documents of a tenant have. Its login is a secret of the repository of documents."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import DocumentRemote
from prism_contracts.rpc.document_remote import DocumentRemoteReply, SetDocumentRemoteRequest
from prism_source.clone_url import CloneRules, CloneUrl, check_url
from prism_source.gittree import is_ref_name
from prism_workspace.adapters.git_refs import GitRefs
from prism_workspace.adapters.remotes import Remotes

RESOLVE_S_MAX = 5.0


def _now() -> datetime:
    return datetime.now(UTC)


class RemoteSettings:
    """The remotes of documents, as admins set them."""

    def __init__(
        self,
        remotes: Remotes,
        refs: GitRefs,
        rules: CloneRules,
        repo: str,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """`repo`: the name of the repository of documents, whose secrets hold the login."""
        self._remotes = remotes
        self._refs = refs
        self._rules = rules
        self._repo = repo
        self._now = now

    async def status(self, tenant: str) -> DocumentRemoteReply:
        """Returns the remote of a tenant. Raises REMOTE_NOT_SET."""
        return await self._reply(await self.required(tenant))

    async def required(self, tenant: str) -> DocumentRemote:
        """Returns the remote of a tenant. Raises REMOTE_NOT_SET."""
        found = await self._remotes.get(tenant)
        if found is None:
            raise not_set()
        return found

    async def set(self, request: SetDocumentRemoteRequest) -> DocumentRemoteReply:
        """Set the remote. What is known of the last one is forgotten if URL or branch differ.

        Raises PrismError: CLONE_REFUSED, INVALID_ARGUMENT.
        """
        if not is_ref_name(request.branch):
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT,
                "git allows no branch of that name.",
                "Give a branch such as main.",
            )
        checked = await self._checked(request.url)
        now = self._now()
        fresh = DocumentRemote(
            tenant=request.tenant,
            url=checked.url,
            branch=request.branch,
            set_by=request.set_by,
            set_at=now,
            repo=self._repo,
            next_at=now,
        )
        return await self._reply(await self._remotes.put(request.tenant, lambda found: _set(found, fresh)))

    async def announce(self, tenant: str) -> DocumentRemoteReply:
        """Have the remote looked at now, because somebody pushed to it. Raises REMOTE_NOT_SET."""
        now = self._now()
        found = await self._remotes.change(
            tenant, lambda one: one.model_copy(update={"next_at": now, "announced": one.announced + 1})
        )
        if found is None:
            raise not_set()
        return await self._reply(found)

    async def remove(self, tenant: str) -> DocumentRemoteReply:
        """Forget the remote. Raises REMOTE_NOT_SET."""
        if await self._remotes.remove(tenant) is None:
            raise not_set()
        return DocumentRemoteReply(url="", branch="", pending_push=False)

    async def _checked(self, url: str) -> CloneUrl:
        try:
            async with asyncio.timeout(RESOLVE_S_MAX):
                checked = await asyncio.to_thread(check_url, url, self._rules)
        except TimeoutError:
            raise _unresolved() from None
        except PrismError as error:
            if error.code is ErrorCode.CLONE_FAILED:
                raise _unresolved() from error
            raise
        if checked.credentials:
            raise PrismError(
                ErrorCode.CLONE_REFUSED,
                "The URL contains credentials, which would be stored in plain text.",
                f"Store them with `prism secrets {self._repo} --git-login USER@HOST`, and give the URL without them.",
            )
        return checked

    async def _reply(self, remote: DocumentRemote) -> DocumentRemoteReply:
        head = (await self._refs.head(remote.tenant)).commit
        return DocumentRemoteReply(
            url=remote.url,
            branch=remote.branch,
            set_by=remote.set_by,
            set_at=remote.set_at,
            pending_push=is_pending(remote, head),
            remote_commit=remote.remote_commit,
            checked_at=remote.checked_at,
            next_at=remote.next_at,
            failures=remote.failures,
            error=remote.error,
        )


def is_pending(remote: DocumentRemote, head: str) -> bool:
    """Whether the documents, whose newest commit is `head`, have commits that the remote is not known to have."""
    return bool(head) and head != remote.remote_commit


def not_set() -> PrismError:
    """Returns the error of a tenant whose documents have no remote."""
    return PrismError(
        ErrorCode.REMOTE_NOT_SET,
        "The repository of documents has no remote.",
        "An admin of the tenant sets one: prism documents remote set URL, or PUT /api/v1/documents/remote.",
    )


def _set(found: DocumentRemote | None, fresh: DocumentRemote) -> DocumentRemote:
    if found is None or (found.url, found.branch) != (fresh.url, fresh.branch):
        return fresh
    return found.model_copy(update={"next_at": fresh.next_at, "repo": fresh.repo})


def _unresolved() -> PrismError:
    return PrismError(
        ErrorCode.INVALID_ARGUMENT,
        "The host of the URL cannot be resolved.",
        "Check the host name, and the DNS of the machine that Prism runs on.",
    )
