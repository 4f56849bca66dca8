"""Remotes of documents: whose pushes a webhook may announce, and the secrets that sign it."""

from collections.abc import Iterable

from prism_catalog.repository_names import RepositoryNames
from prism_catalog.tenants import Tenants
from prism_catalog.vault import Vault
from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import DocumentRemote
from prism_contracts.rpc.document_remote import DOCUMENTS_ANNOUNCED, DocumentsAnnouncedRequest
from prism_gateway.webhooks.payloads import BRANCHES, Push
from prism_runtime.bus import Bus
from prism_runtime.records import WatchedRecords
from prism_source.clone_url import normalized_location


class DocumentRemotes:
    """The remotes of the documents of active tenants."""

    def __init__(
        self, bus: Bus, tenants: Tenants, vault: Vault, book: RepositoryNames, *, timeout_s: float
    ) -> None:
        """`timeout_s`: how long workspace has for an answer."""
        self._bus = bus
        self._tenants = tenants
        self._vault = vault
        self._book = book
        self._timeout_s = timeout_s
        self._watched: WatchedRecords[DocumentRemote] | None = None

    async def open(self) -> None:
        """Start following the remotes. Returns once the copy is complete."""
        self._watched = await self._bus.follow(names.KV_DOCUMENT_REMOTES, DocumentRemote)

    def at(self, urls: Iterable[str]) -> list[DocumentRemote]:
        """Returns the remotes, of any active tenant, that have one of these URLs."""
        places = {normalized_location(url) for url in urls} - {""}
        known = self._watched.values() if self._watched else ()
        return [
            one
            for one in known
            if normalized_location(one.url) in places and self._tenants.is_active(one.tenant)
        ]

    async def secret(self, remote: DocumentRemote) -> str:
        """Returns the webhook secret of the documents; empty if none is stored. Raises UNAVAILABLE."""
        repo = await self._book.id_of(remote.tenant, remote.repo)
        return (await self._vault.get(remote.tenant, repo)).webhook_secret

    async def announce(self, remote: DocumentRemote) -> bool:
        """Have workspace fetch from a remote. Returns False if it was removed meanwhile. Raises UNAVAILABLE."""
        request = DocumentsAnnouncedRequest(tenant=remote.tenant)
        try:
            await self._bus.ask(DOCUMENTS_ANNOUNCED, request, timeout_s=self._timeout_s)
        except PrismError as error:
            if error.code is not ErrorCode.REMOTE_NOT_SET:
                raise
            return False
        return True


def is_followed(remote: DocumentRemote, push: Push) -> bool:
    """Whether a push is to the branch that holds the documents."""
    return not push.pull_request and push.ref == BRANCHES + remote.branch
