"""Keeps the anchors of documents and tasks: links new texts, and checks the links after each import."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_contracts.events import AnchorsBroken
from prism_contracts.records import (
    UNCOMMITTED,
    Anchor,
    AnchoredKind,
    AnchorKind,
    AnchorsRecord,
    LayerState,
    Repository,
    StaleReason,
    WantedLinks,
    anchors_key,
    repository_key,
)
from prism_contracts.rpc.anchors import Concerning, ConcerningReply, ConcerningRequest, StalePlace
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.files import ManifestEntry
from prism_workspace.adapters.anchors import AnchorStore
from prism_workspace.adapters.places import Places
from prism_workspace.core.anchors import (
    IndexedFile,
    LineSpan,
    Title,
    adopted,
    committed,
    concerns,
    content_id,
    is_removed,
    is_same_place,
    is_unchanged,
    judged,
    moved,
    removed,
)
from prism_workspace.core.related import Shared, shared_places
from prism_workspace.operations.linker import Linker, Preferred

# A text that is wanted and not written by then was given up by its writer.
ABANDONED_AFTER = timedelta(minutes=10)
# The copy of the service that was asked links at once; after this time, another one does.
OTHERS_AFTER = timedelta(seconds=10)
LINK_PAUSE_S = 0.3
# An import wants thousands of links. They take every second moment, so that questions are answered in between.
LINKED_IN_A_ROW = 100
WAIT_LOOK_S = 0.02
# An event arrives within a second. What none announced is found in a round.
MISSED_ROUND_S = 60.0
# An import may end while another one is being checked.
ROUNDS_MAX = 5
MOVED_TO_MAX = 3

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Subjects:
    """Where the documents, or the tasks, are: their texts and titles by id; None if there is none."""

    text: Callable[[str, str], Awaitable[str | None]]  # reads the text by tenant and id
    title: Callable[[CallerRequest, str], Title | None]  # None if the caller may not see it


class Anchors:
    """Links documents and tasks to code, and notices when that code changes."""

    def __init__(
        self,
        store: AnchorStore,
        places: Places,
        subjects: Mapping[AnchoredKind, Subjects],
        publish: Callable[[AnchorsBroken], Awaitable[None]],
        *,
        unlinked: Collection[str] = (),
    ) -> None:
        """`unlinked` are the names of repositories to which nothing is linked."""
        self._store = store
        self._places = places
        self._linker = Linker(places)
        self._subjects = subjects
        self._publish = publish
        self._unlinked = frozenset(name.lower() for name in unlinked)
        # By tenant and repository: the newest version that this copy has checked.
        self._checked: dict[tuple[str, str], int] = {}
        # By tenant and repository: the name that the anchors to it have.
        self._named_as: dict[tuple[str, str], str] = {}
        self._removed: set[tuple[str, str]] = set()  # tenant and repository: whose anchors say so

    def of(self, caller: CallerRequest, kind: AnchoredKind, subject: str) -> tuple[Anchor, ...]:
        """Returns the anchors of a document or task to repositories that the caller sees."""
        record = self._store.index.get(anchors_key(caller.tenant, kind, subject))
        return tuple(one for one in (record.anchors if record else ()) if self._sees(caller, one))

    def all_stale(self, caller: CallerRequest, kind: AnchoredKind) -> dict[str, tuple[StalePlace, ...]]:
        """Returns `stale` of every document, or task, of which there is any, by its id."""
        found = {
            one.subject: self.stale(caller, kind, one.subject)
            for one in self._store.index.stale(caller.tenant, kind)
        }
        return {subject: places for subject, places in found.items() if places}

    def stale(self, caller: CallerRequest, kind: AnchoredKind, subject: str) -> tuple[StalePlace, ...]:
        """Returns what has changed of the places that a document or task names, in what the caller sees."""
        return tuple(
            StalePlace(
                repo=self._name(caller.tenant, one),
                path=one.path,
                symbol=one.symbol,
                start_line=one.start_line,
                end_line=one.end_line,
                reason=one.stale.reason,
                commit=one.stale.commit,
                found_at=one.stale.found_at,
            )
            for one in self.of(caller, kind, subject)
            if one.stale
        )

    def _name(self, tenant: str, anchor: Anchor) -> str:
        found = self._store.repositories.get(repository_key(tenant, anchor.repo))
        return found.name if found else anchor.repo_name

    def _sees(self, caller: CallerRequest, anchor: Anchor) -> bool:
        """Whether the caller may see the repository, or might have seen the one that was removed, by its last name."""
        repository = self._store.repositories.get(repository_key(caller.tenant, anchor.repo))
        if repository is not None:
            return caller.sees(repository.name)
        return is_removed(anchor) and caller.sees(anchor.repo_name)

    def concerning(self, request: ConcerningRequest) -> ConcerningReply:
        """Returns the documents and open tasks that name a place, those that name it most closely first."""
        repository = self._named(request)
        if repository is None:
            return ConcerningReply(concerning=(), total=0)
        records = self._store.index.at(request.tenant, repository.repo, request.path)
        found = [one for record in records if (one := self._concerned(record, request, repository))]
        found.sort(key=lambda one: (-one[0], one[1].kind, one[1].title, one[1].subject))
        return ConcerningReply(concerning=tuple(one for _, one in found[: request.limit]), total=len(found))

    def _named(self, request: ConcerningRequest) -> Repository | None:
        """Returns the repository that a request names by id or name, if the caller sees it."""
        by_id = self._store.repositories.get(repository_key(request.tenant, request.repo))
        named = [by_id] if by_id else self._store.repositories.values()
        for one in named:
            if one.tenant == request.tenant and request.repo.lower() in {one.repo, one.name.lower()}:
                return one if request.sees(one.name) else None
        return None

    def _concerned(
        self, record: AnchorsRecord, request: ConcerningRequest, repository: Repository
    ) -> tuple[int, Concerning] | None:
        place = LineSpan(request.start_line, max(request.start_line, request.end_line))
        close = [
            (closeness, one)
            for one in record.anchors
            if one.repo == repository.repo
            and (closeness := concerns(one, request.path, request.symbol, place if place.start else None))
        ]
        title = self._subjects[record.kind].title(request, record.subject) if close else None
        if title is None or not title.is_open:
            return None
        concerning = Concerning(
            kind=record.kind,
            subject=record.subject,
            title=title.title,
            path=title.path,
            status=title.status,
            anchors=tuple(one for _, one in close),
        )
        return max(closeness for closeness, _ in close), concerning

    def sharing(self, caller: CallerRequest, kind: AnchoredKind, subject: str) -> dict[str, Shared]:
        """Returns what other subjects of the kind name of the places that this one names, by their ids."""
        named_by: list[tuple[str, list[str]]] = []
        for one in self.of(caller, kind, subject):
            others = [
                record.subject
                for record in self._store.index.at(caller.tenant, one.repo, one.path)
                if record.kind is kind
                and record.subject != subject
                and any(is_same_place(one, other) for other in record.anchors)
            ]
            place = " ".join(filter(None, (self._name(caller.tenant, one), one.path, one.symbol)))
            named_by.append((place, others))
        return shared_places(named_by)

    async def keep_linking(self) -> None:
        """Link what is wanted, until cancelled."""
        while True:
            self._store.is_asked.clear()
            await self.link_wanted()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LINK_PAUSE_S):
                    await self._store.is_asked.wait()

    async def link_wanted(self) -> None:
        """Link what this copy of the service was asked for, and what others left undone."""
        now = datetime.now(UTC)
        left = {
            record.key
            for record in self._store.index.wanted()
            if any(now - one.wanted_at > OTHERS_AFTER for one in record.wanted)
        }
        keys = sorted(self._store.own | left)
        for key in keys:
            began = time.monotonic()
            try:
                await self._link_one(key, now)
            except Exception as error:  # noqa: BLE001 - the next round tries again
                log.warning("anchors %s are not linked yet: %s", key, reason_of(error))
            if len(keys) > LINKED_IN_A_ROW:
                await asyncio.sleep(time.monotonic() - began)

    async def _link_one(self, key: str, now: datetime) -> None:
        # The copy in memory may not have what was wanted last.
        record = await self._store.records.get(key)
        if record is not None and record.wanted:
            await self._link(record, now)
            record = await self._store.records.get(key)
        if record is None or not record.wanted:
            self._store.own.discard(key)

    async def wait(self, tenant: str, kind: AnchoredKind, subject: str, wait_s: float) -> None:
        """Wait until a text that was just written is linked, `wait_s` seconds at most."""
        end = time.monotonic() + wait_s
        key = anchors_key(tenant, kind, subject)
        while key in self._store.own and time.monotonic() < end:  # noqa: ASYNC110 - another task empties it
            await asyncio.sleep(WAIT_LOOK_S)

    async def _link(self, record: AnchorsRecord, now: datetime) -> None:
        text = await self._subjects[record.kind].text(record.tenant, record.subject)
        content = None if text is None else content_id(text)
        wanted = next((one for one in record.wanted if one.content == content), None)
        if text is None or wanted is None:
            await self._give_up(record, now)
            return
        caller = CallerRequest(
            tenant=record.tenant, visible=None if wanted.visible is None else frozenset(wanted.visible)
        )
        repositories = [
            one
            for one in self._store.repositories.values()
            if one.tenant == record.tenant and one.name.lower() not in self._unlinked
        ]
        versions = {one.repo: _version(one) for one in repositories}
        anchors = await self._linker.of(
            caller, text, repositories, Preferred(repo=wanted.repo, linked=record.anchors)
        )
        await self._store.records.change(record.key, lambda found: _linked(found, wanted, anchors))
        await self._store.repositories.catch_up()
        for repo in {one.repo for one in anchors}:
            # Its import may have ended before the anchors were there to be checked.
            repository = self._store.repositories.get(repository_key(record.tenant, repo))
            if repository is not None and _version(repository) != versions[repo]:
                await self.check(record.tenant, repo)

    async def _give_up(self, record: AnchorsRecord, now: datetime) -> None:
        """Forget wanted texts that were not written."""
        old = {one.content for one in record.wanted if now - one.wanted_at > ABANDONED_AFTER}
        if old:
            await self._store.records.change(
                record.key,
                lambda found: found.model_copy(
                    update={"wanted": tuple(one for one in found.wanted if one.content not in old)}
                ),
            )

    async def check(self, tenant: str, repo: str) -> None:
        """Check the anchors to a repository against what the index holds of it now.

        Twice is the same as once: the event is published before the record says that it was. Raises PrismError
        if search does not answer, or imports end faster than they can be checked.
        """
        await self._store.watched.catch_up()
        repository = await self._repository(tenant, repo)
        if repository is not None and await self._adopt(repository):
            await self._store.watched.catch_up()
        for _ in range(ROUNDS_MAX):
            if repository is None or repository.served is None:
                return
            await _Check(self._store, self._places, self._publish, repository, repository.served).run()
            before, repository = repository, await self._repository(tenant, repo)
            if repository is None or _version(repository) == _version(before):
                self._checked[tenant, repo] = _version(before)
                return
        raise PrismError(ErrorCode.UNAVAILABLE, f"Imports of {repo} end faster than anchors are checked.")

    async def keep_checking(self) -> None:
        """Check what no event had checked, until cancelled."""
        while True:
            await self.check_missed()
            await asyncio.sleep(MISSED_ROUND_S)

    async def check_missed(self) -> None:
        """Check each repository with anchors that serves another version than this copy has checked.

        An event is missed when workspace is down for longer than its stream keeps it, or when the stream is
        purged. Which versions were checked is not stored: a check compares the blob of every anchored file with
        the one of its last check, so that of an unchanged repository costs one request.
        """
        places = self._store.index.repositories()
        self._checked = {place: self._checked[place] for place in places if place in self._checked}
        self._named_as = {place: self._named_as[place] for place in places if place in self._named_as}
        self._removed &= set(places)
        for tenant, repo in places:
            try:
                await self._check_missed(tenant, repo)
            except Exception as error:  # noqa: BLE001 - the next round tries again
                log.warning("the anchors to %s are not checked yet: %s", repo, reason_of(error))

    async def _check_missed(self, tenant: str, repo: str) -> None:
        repository = self._store.repositories.get(repository_key(tenant, repo))
        if repository is None:
            await self._check_removed(tenant, repo)
            return
        if self._named_as.get((tenant, repo)) != repository.name:
            await self._rename(repository)
        if repository.served and self._checked.get((tenant, repo)) != repository.served.version:
            await self.check(tenant, repo)

    async def _check_removed(self, tenant: str, repo: str) -> None:
        """Mark the anchors to a repository that was removed, unless another one has its name by now."""
        if (tenant, repo) not in self._removed:
            if await self._repository(tenant, repo) is not None:  # the copy was behind
                return
            await self._store.watched.catch_up()
            await self._mark_removed(tenant, repo)
            self._removed.add((tenant, repo))
        names = {one.repo_name.lower() for one in self._anchors_to(tenant, repo)}
        for other in self._store.repositories.values():
            if other.tenant == tenant and other.served and other.name.lower() in names:
                await self.check(tenant, other.repo)

    async def _mark_removed(self, tenant: str, repo: str) -> None:
        at = datetime.now(UTC)
        for record in self._store.index.of_repository(tenant, repo):
            changes = {one: removed(one, at) for one in record.anchors if one.repo == repo}
            await _change(self._store, self._publish, record, changes)

    async def _rename(self, repository: Repository) -> None:
        """Give the anchors to a repository its name: it decides who sees them once the repository is removed."""
        place = (repository.tenant, repository.repo)
        await self._store.watched.catch_up()
        for record in self._store.index.of_repository(*place):
            changes = {
                one: one.model_copy(update={"repo_name": repository.name})
                for one in record.anchors
                if one.repo == repository.repo and one.repo_name != repository.name
            }
            if changes:
                await _change(self._store, self._publish, record, changes)
        self._named_as[place] = repository.name

    async def _adopt(self, repository: Repository) -> bool:
        """Move the anchors to removed repositories of its name to a repository. Returns whether there were any."""
        tenant, served = repository.tenant, repository.served
        has_any = False
        for other, repo in self._store.index.repositories():
            is_gone = other == tenant and repo != repository.repo
            if served is None or not is_gone or self._store.repositories.get(repository_key(tenant, repo)):
                continue
            for record in self._store.index.of_repository(tenant, repo):
                changes = {
                    one: adopted(one, repository.repo, _commit(served))
                    for one in record.anchors
                    if one.repo == repo
                    and is_removed(one)
                    and one.repo_name.lower() == repository.name.lower()
                }
                if changes:
                    has_any = True
                    await _change(self._store, self._publish, record, changes)
        return has_any

    def _anchors_to(self, tenant: str, repo: str) -> list[Anchor]:
        records = self._store.index.of_repository(tenant, repo)
        return [one for record in records for one in record.anchors if one.repo == repo]

    async def _repository(self, tenant: str, repo: str) -> Repository | None:
        await self._store.repositories.catch_up()
        return self._store.repositories.get(repository_key(tenant, repo))


class _Check:
    """One check of all anchors to a repository. Each file that changed is read once."""

    def __init__(
        self,
        store: AnchorStore,
        places: Places,
        publish: Callable[[AnchorsBroken], Awaitable[None]],
        repository: Repository,
        served: LayerState,
    ) -> None:
        self._store = store
        self._places = places
        self._publish = publish
        self._tenant, self._repo = repository.tenant, repository.repo
        self._commit = _commit(served)
        self._version = served.version
        self._at = datetime.now(UTC)
        self._paths: frozenset[str] = frozenset()  # those that were looked up
        self._entries: dict[str, ManifestEntry] = {}
        self._read: dict[str, IndexedFile] = {}

    async def run(self) -> None:
        self._paths = frozenset(self._store.index.paths(self._tenant, self._repo))
        self._entries = dict(await self._places.entries(self._tenant, self._repo, self._paths))
        for record in self._touched():
            changes = {one: new for one in record.anchors if (new := await self._checked(one)) != one}
            if changes:
                await _change(
                    self._store,
                    self._publish,
                    record,
                    changes,
                    commit=self._commit,
                    version=self._version,
                )

    def _touched(self) -> list[AnchorsRecord]:
        """Returns the records with an anchor that may be another one after this check."""
        blobs = [(path, self._blob(path)) for path in self._paths]
        found = self._store.index.differing(self._tenant, self._repo, blobs)
        if self._commit != UNCOMMITTED:
            found += self._store.index.uncommitted(self._tenant, self._repo)
        return list({one.key: one for one in found}.values())

    def _blob(self, path: str) -> str:
        entry = self._entries.get(path)
        return entry.blob if entry else ""

    async def _checked(self, anchor: Anchor) -> Anchor:
        if anchor.repo != self._repo or anchor.path not in self._paths:
            return anchor
        entry = self._entries.get(anchor.path)
        if is_unchanged(anchor, self._blob(anchor.path)):
            return committed(anchor, self._commit)
        if entry is None or anchor.kind is AnchorKind.FILE:
            file = IndexedFile(anchor.path, entry.blob) if entry else None
        elif not entry.generation:  # it is skipped: its text cannot be compared
            return anchor
        else:
            file = await self._file(entry)
        new = judged(anchor, file, commit=self._commit, at=self._at)
        is_gone = new.stale is not None and new.stale.reason is not StaleReason.TEXT_CHANGED
        return (await self._moved(anchor) if is_gone else None) or new

    async def _moved(self, anchor: Anchor) -> Anchor | None:
        """Returns the anchor in another file of the repository that has the same definition."""
        if anchor.kind is not AnchorKind.SYMBOL:
            return None
        caller = CallerRequest(tenant=self._tenant)
        answer = (await self._places.definitions(caller, [anchor.symbol], repo=self._repo))[0]
        paths = {one.file_path for one in answer.definitions if one.symbol.qualified_name == anchor.symbol}
        for path in sorted(paths - {anchor.path})[:MOVED_TO_MAX]:
            if path not in self._entries:
                self._entries |= await self._places.entries(self._tenant, self._repo, {path})
            entry = self._entries.get(path)
            found = moved(anchor, await self._file(entry)) if entry and entry.generation else None
            if found is not None:
                return found
        return None

    async def _file(self, entry: ManifestEntry) -> IndexedFile:
        if entry.path not in self._read:
            file = await self._places.file(self._tenant, self._repo, entry)
            if file is None:
                raise PrismError(ErrorCode.UNAVAILABLE, f"{entry.path} changed while it was being checked.")
            self._read[entry.path] = file
        return self._read[entry.path]


async def _change(
    store: AnchorStore,
    publish: Callable[[AnchorsBroken], Awaitable[None]],
    record: AnchorsRecord,
    changes: Mapping[Anchor, Anchor],
    *,
    commit: str = "",
    version: int = 0,
) -> None:
    """Change anchors of a record. Those that broke are published first, so that a crash repeats and loses nothing."""
    broken = tuple(new for old, new in changes.items() if new.stale and not old.stale)
    if broken:
        event = AnchorsBroken(
            tenant=record.tenant,
            kind=record.kind,
            subject=record.subject,
            content=record.linked,
            commit=commit,
            version=version,
            anchors=broken,
        )
        await publish(event)
        log.info("%d anchors of %s %s broke at %s", len(broken), record.kind, record.subject, commit)
    await store.records.change(
        record.key,
        lambda found: found.model_copy(
            update={"anchors": tuple(changes.get(one, one) for one in found.anchors)}
        ),
    )


def _linked(found: AnchorsRecord, wanted: WantedLinks, anchors: list[Anchor]) -> AnchorsRecord:
    """Returns the record with the anchors of a text, unless they were linked by somebody else."""
    if wanted.content not in {one.content for one in found.wanted}:
        return found
    later = tuple(one for one in found.wanted if one.wanted_at > wanted.wanted_at)
    return found.model_copy(update={"linked": wanted.content, "anchors": tuple(anchors), "wanted": later})


def _version(repository: Repository) -> int:
    return repository.served.version if repository.served else 0


def _commit(served: LayerState) -> str:
    return UNCOMMITTED if served.dirty else served.commit
