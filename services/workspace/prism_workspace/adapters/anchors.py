"""Records of anchors: compare-and-set in a key-value bucket, and copies in memory."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from prism_contracts import names
from prism_contracts.records import (
    LINK_REPOS_MAX,
    WANTED_LINKS_MAX,
    AnchoredKind,
    AnchorsRecord,
    Repository,
    WantedLinks,
    anchors_key,
)
from prism_contracts.rpc.common import CallerRequest
from prism_runtime.bus import Bus
from prism_runtime.records import FollowedBucket, Records, WatchedRecords, open_bucket
from prism_workspace.core.anchor_index import AnchorIndex
from prism_workspace.core.anchors import content_id

# Has the places linked that a text names; see `AnchorStore.want`.
WantLinks = Callable[[CallerRequest, AnchoredKind, str, str, str], Awaitable[None]]


class AnchorStore:
    """The anchors of all tenants, and the repositories that they lead to."""

    def __init__(
        self,
        records: Records[AnchorsRecord],
        watched: FollowedBucket[AnchorsRecord, AnchorIndex],
        repositories: WatchedRecords[Repository],
    ) -> None:
        self.records = records
        self.watched = watched
        self.repositories = repositories
        self.own: set[str] = set()  # keys of what this copy of the service was asked to link, and has not yet
        self.is_asked = asyncio.Event()  # since it was cleared

    @property
    def index(self) -> AnchorIndex:
        """The newest index. Another one may take its place, so it is not kept."""
        return self.watched.projection

    @classmethod
    async def open(cls, bus: Bus, *, replicas: int) -> "AnchorStore":
        """Open the bucket, and follow it."""
        bucket = await open_bucket(bus.js, names.KV_ANCHORS, replicas=replicas)
        return cls(
            Records(bucket, AnchorsRecord),
            await bus.project(names.KV_ANCHORS, AnchorsRecord, AnchorIndex),
            await bus.follow(names.KV_REPOSITORIES, Repository),
        )

    async def want(
        self, caller: CallerRequest, kind: AnchoredKind, subject: str, text: str, repo: str = ""
    ) -> None:
        """Have a text linked as soon as it is written. To be called before it is written.

        `repo`: what its writer works in, as a name or the last part of one; empty if it is not known.
        """
        content = content_id(text)
        visible = None if caller.visible is None else tuple(sorted(caller.visible)[:LINK_REPOS_MAX])
        wanted = WantedLinks(content=content, visible=visible, repo=repo, wanted_at=datetime.now(UTC))

        def change(found: AnchorsRecord | None) -> AnchorsRecord:
            record = found or AnchorsRecord(tenant=caller.tenant, kind=kind, subject=subject)
            if not record.wanted and record.linked == content:  # the same text stays as stale as it is
                return record
            others = tuple(one for one in record.wanted if one.content != content)
            return record.model_copy(update={"wanted": (*others, wanted)[-WANTED_LINKS_MAX:]})

        key = anchors_key(caller.tenant, kind, subject)
        await self.records.modify(key, change)
        self.own.add(key)
        self.is_asked.set()
