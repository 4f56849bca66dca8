"""Authenticates webhooks, drops repeated ones, and publishes one `PushReceived` per repository.

A webhook decides when ingest checks a repository, never what is indexed. A replayed webhook, or one whose
headers were manipulated, causes at worst a check that finds nothing new, and links that exist already.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter

from prism_catalog.repository_names import RepositoryNames
from prism_catalog.tenants import Tenants
from prism_catalog.vault import Vault
from prism_contracts import names
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import PushReceived
from prism_contracts.records import Delivery, DocumentRemote, Repository
from prism_gateway.settings import GatewaySettings
from prism_gateway.webhooks.bodies import BodyBudget
from prism_gateway.webhooks.mentions import mentions
from prism_gateway.webhooks.payloads import (
    BRANCHES,
    TAGS,
    Hook,
    Provider,
    Push,
    Remote,
    WebhookEvent,
    check_headers,
    read_hook,
)
from prism_gateway.webhooks.remotes import DocumentRemotes, is_followed
from prism_gateway.webhooks.signatures import is_signed
from prism_runtime.bus import Bus
from prism_runtime.records import Records, WatchedRecords, open_bucket
from prism_source.clone_url import normalized_location

# Signatures computed per body, one per repository: each needs a pass over the body.
CANDIDATES_MAX = 32
REMOTES_MAX = 8
UNKNOWN = "unknown"  # label in metrics for webhooks that could not be parsed


class WebhookOutcome(StrEnum):
    """The outcome of an accepted webhook."""

    QUEUED = "queued"
    DUPLICATE = "duplicate"
    IGNORED = "ignored"


class QueuedPush(NamedTuple):
    """A push that ingest takes up, or workspace if it is of documents."""

    tenant: str
    name: str  # the repository, which may be the one that keeps documents
    hook: Hook


class Taken(NamedTuple):
    """The response to an authentic webhook."""

    outcome: WebhookOutcome
    event: WebhookEvent
    reason: str = ""  # why it was ignored; empty if it was not
    repositories: tuple[str, ...] = ()
    queued: tuple[QueuedPush, ...] = ()  # may belong to other tenants: for the audit, never for the sender


class Signers(NamedTuple):
    """The secrets that match a signature: keys of repositories, tenants whose documents' remote it is, and
    whether the installation's secret matches.
    """

    repositories: frozenset[str]
    remotes: frozenset[str]
    is_common: bool


class WebhookMetrics:
    """Counts webhooks by outcome."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._received = Counter(
            "prism_webhooks",
            "Webhooks by forge, event and outcome: queued, duplicate, ignored, or the code of the error.",
            ["provider", "event", "outcome"],
            registry=registry,
        )

    def count(self, hook: Hook | None, outcome: str) -> None:
        """Count a webhook; None if it could not be parsed."""
        provider, event = (hook.provider.value, hook.event.value) if hook else (UNKNOWN, UNKNOWN)
        self._received.labels(provider, event, outcome).inc()


class Receiver:
    """Receives webhooks."""

    def __init__(
        self,
        bus: Bus,
        tenants: Tenants,
        vault: Vault,
        settings: GatewaySettings,
        metrics: WebhookMetrics,
        *,
        book: RepositoryNames,
    ) -> None:
        self._bus = bus
        self._tenants = tenants
        self._vault = vault
        self._settings = settings
        self._metrics = metrics
        self.bodies = BodyBudget(settings.webhook_memory_bytes_max)
        self._remotes = DocumentRemotes(bus, tenants, vault, book, timeout_s=settings.rpc_timeout_s)
        self._repositories: WatchedRecords[Repository] | None = None
        self._deliveries: Records[Delivery] | None = None

    async def open(self) -> None:
        """Start following the repositories. Returns once the copy is complete."""
        bucket = await open_bucket(
            self._bus.js,
            names.KV_DELIVERIES,
            ttl_s=names.DELIVERIES_MAX_AGE_S,
            replicas=self._settings.nats_replicas,
        )
        self._deliveries = Records(bucket, Delivery)
        await self._remotes.open()
        self._repositories = await self._bus.follow(names.KV_REPOSITORIES, Repository)

    async def receive(self, headers: Mapping[str, str], body: bytes) -> Taken:
        """Authenticate a webhook and publish its event. Returns once that is stored.

        Raises PrismError: INVALID_ARGUMENT, UNSUPPORTED_MEDIA_TYPE, UNAUTHENTICATED, REPO_NOT_FOUND,
        UNAVAILABLE.
        """
        hook: Hook | None = None
        try:
            signed_by = await self._signers(headers, body)
            # The body is parsed only now: before this line the sender is unknown.
            hook = await asyncio.to_thread(read_hook, headers, body)
            remotes = [one for one in self._remotes.at(hook.remote.urls) if one.tenant in signed_by.remotes]
            repositories = self._meant(hook, signed_by, is_of_documents=bool(remotes))
            taken = _joined([await self._take(one, repositories, remotes) for one in hook.each()])
        except PrismError as error:
            self._metrics.count(hook, error.code.value)
            raise
        self._metrics.count(hook, taken.outcome.value)
        return taken

    async def _signers(self, headers: Mapping[str, str], body: bytes) -> "Signers":
        """Returns the secrets that match the signature of the raw body.

        Raises UNAUTHENTICATED if none does.
        """
        provider = check_headers(headers)
        found = await asyncio.to_thread(mentions, headers.get("content-type", ""), body)
        candidates = _named(found.names, found.urls, self._of_active())[:CANDIDATES_MAX]
        remotes = self._remotes.at(found.urls)[:REMOTES_MAX]
        common = self._settings.webhook_secret.get_secret_value()
        secrets = [await self._secret(repository) or common for repository in candidates]
        of_remotes = [await self._remotes.secret(remote) or common for remote in remotes]
        signs = {
            secret: await asyncio.to_thread(is_signed, provider, headers, body, secret)
            for secret in {*secrets, *of_remotes, common}
        }
        if not any(signs.values()):
            raise _unauthenticated()
        keys = (one.key for one, secret in zip(candidates, secrets, strict=True) if signs[secret])
        tenants = (one.tenant for one, secret in zip(remotes, of_remotes, strict=True) if signs[secret])
        return Signers(frozenset(keys), frozenset(tenants), is_common=signs[common])

    def _meant(self, hook: Hook, signed_by: "Signers", *, is_of_documents: bool) -> list[Repository]:
        """Returns the repositories, of any tenant, that the webhook mentions and whose secret matches.

        There may be none if it `is_of_documents`.
        """
        named = named_by(hook.remote, self._of_active())
        honest = [repository for repository in named if repository.key in signed_by.repositories]
        is_ping = not named and signed_by.is_common and not hook.remote.full_name
        if honest or is_of_documents or is_ping:
            return honest
        if not named and signed_by.is_common:
            raise _unknown(hook.remote)
        raise _unauthenticated()

    def _of_active(self) -> list[Repository]:
        """Returns the repositories of active tenants. Those of others do not exist for forges."""
        if self._repositories is None:
            raise _not_connected()
        return [one for one in self._repositories.values() if self._tenants.is_active(one.tenant)]

    async def _secret(self, repository: Repository) -> str:
        return (await self._vault.get(repository.tenant, repository.repo)).webhook_secret

    async def _take(
        self, hook: Hook, repositories: Sequence[Repository], remotes: Sequence[DocumentRemote]
    ) -> Taken:
        followed = [one for one in remotes if hook.push and is_followed(one, hook.push)]
        reason = why_nothing(hook)
        if not reason and not followed:
            is_elsewhere = bool(remotes) and not repositories
            reason = "the documents are in another branch" if is_elsewhere else why_none(repositories)
        if reason:
            return Taken(WebhookOutcome.IGNORED, hook.event, reason)
        queued = [
            QueuedPush(found.tenant, found.name, hook)
            for found in repositories
            if takes_pushes(found) and await self._queue(hook, found)
        ]
        queued += [
            QueuedPush(found.tenant, found.repo, hook)
            for found in followed
            if await self._announce(hook, found)
        ]
        if not queued:
            return Taken(WebhookOutcome.DUPLICATE, hook.event, "this delivery was already accepted")
        # Only the sender's claim: the installation's secret covers repositories of all tenants.
        return Taken(
            WebhookOutcome.QUEUED,
            hook.event,
            repositories=(hook.remote.full_name,),
            queued=tuple(queued),
        )

    async def _announce(self, hook: Hook, remote: DocumentRemote) -> bool:
        """Have workspace fetch what was pushed, unless this delivery already did."""
        assert self._deliveries is not None
        key = _delivery_key(hook, remote.key)
        if await self._deliveries.get(key) or not await self._remotes.announce(remote):
            return False
        await self._deliveries.put(key, Delivery(times=1))
        return True

    async def _queue(self, hook: Hook, repository: Repository) -> bool:
        """Publish the push, unless this delivery already did. A delivery that failed may be repeated."""
        assert self._deliveries is not None
        assert hook.push is not None
        key = _delivery_key(hook, repository.key)
        before = await self._deliveries.get(key)
        times = before.times if before else 0
        if times and not is_behind(repository):
            return False
        event = PushReceived(
            tenant=repository.tenant,
            repo=repository.repo,
            branch="" if hook.push.pull_request else hook.push.ref.removeprefix(BRANCHES),
            pull_request=hook.push.pull_request,
            ref=hook.push.ref if hook.push.pull_request else "",
            is_deleted=not hook.push.commit,
            default_branch=hook.remote.default_branch,
            commit=hook.push.commit,
            commits=hook.push.commits,
            merged=hook.push.merged,
            delivery=f"{key}:{times}",
            received_at=datetime.now(UTC),
        )
        # Recorded after publishing: a crash in between repeats a push, and never loses one.
        await self._publish(event)
        await self._deliveries.put(key, Delivery(times=times + 1))
        return True

    async def _publish(self, event: PushReceived) -> None:
        self._bus.room.check()  # the forge redelivers it
        try:
            async with asyncio.timeout(self._settings.publish_timeout_s):
                await self._bus.publish(event, lane=Lane.LIVE)
        except TimeoutError as error:
            raise PrismError(
                ErrorCode.UNAVAILABLE, "The bus takes no more events now.", "Redeliver the webhook later."
            ) from error


def _joined(each: Sequence[Taken]) -> Taken:
    """Returns the response to a webhook with several pushes: it was queued if one of them was."""
    queued = [one for one in each if one.outcome is WebhookOutcome.QUEUED]
    first = (queued or each)[0]
    return first._replace(queued=tuple(push for one in queued for push in one.queued))


def named_by(remote: Remote, repositories: Iterable[Repository]) -> list[Repository]:
    """Returns the repositories of a payload, by fetch URL or full name."""
    return _named([remote.full_name], remote.urls, repositories)


def _named(names: Iterable[str], urls: Iterable[str], repositories: Iterable[Repository]) -> list[Repository]:
    places = {normalized_location(url) for url in urls} - {""}
    lower = {name.lower() for name in names} - {""}
    return [
        found
        for found in repositories
        if found.name.lower() in lower or (found.is_fetched and normalized_location(found.source) in places)
    ]


def is_behind(repository: Repository) -> bool:
    """Whether a newer commit is known and no job is importing it."""
    served = repository.served
    return not repository.active_job and (served is None or served.commit != repository.head_commit)


def why_nothing(hook: Hook) -> str:
    """Returns why an event is ignored, or an empty string."""
    if hook.event is WebhookEvent.PING:
        return "the webhook works"
    if hook.push is None and hook.provider is Provider.BITBUCKET and hook.event is WebhookEvent.PULL_REQUEST:
        return "its branch is indexed when it is pushed"
    if hook.push is None:
        return "Prism handles pushes and pull requests only"
    return "" if hook.push.pull_request else _why_not_followed(hook.push, hook.remote.default_branch)


def _why_not_followed(push: Push, default_branch: str) -> str:
    if push.ref.startswith(TAGS):
        return "tags are not followed"
    if not push.ref.startswith(BRANCHES):
        return "only branches are followed"
    is_default = push.ref == BRANCHES + default_branch
    return "the branch was deleted; its index is kept" if is_default and not push.commit else ""


def takes_pushes(repository: Repository) -> bool:
    """Whether pushes update the repository."""
    return repository.is_fetched and repository.is_active


def why_none(repositories: Sequence[Repository]) -> str:
    """Returns why none of the repositories takes a push, or an empty string."""
    if any(takes_pushes(found) for found in repositories):
        return ""
    if any(found.is_fetched for found in repositories):
        return "the repository is inactive"
    return "the repository was uploaded by `prism index PATH`: Prism has no URL to fetch it from"


def _delivery_key(hook: Hook, place: str) -> str:
    """Returns the key of a delivery for a repository or a remote, given the key of its record."""
    said = f"{place}\0{hook.provider}\0{hook.delivery}"
    return hashlib.sha256(said.encode(errors="surrogateescape")).hexdigest()


def _unknown(remote: Remote) -> PrismError:
    return PrismError(
        ErrorCode.REPO_NOT_FOUND,
        f"{remote.full_name} is not indexed.",
        "Index it first: POST /api/v1/repos, or `prism index URL`.",
    )


def _unauthenticated() -> PrismError:
    return PrismError(
        ErrorCode.UNAUTHENTICATED,
        "The signature matches no secret of an indexed repository.",
        "Set the same secret in the forge and in Prism: see docs/guides/keep-fresh.md.",
    )


def _not_connected() -> PrismError:
    return PrismError(
        ErrorCode.UNAVAILABLE, "The gateway is not connected to NATS yet.", "Redeliver the webhook later."
    )
