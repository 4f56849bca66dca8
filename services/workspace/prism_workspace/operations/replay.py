"""Puts our commits on top of theirs, path by path."""

from datetime import UTC, datetime

from dulwich.objects import Commit, ShaFile, Tree

from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.core.commits import commit_of, on_top
from prism_workspace.core.rebase import Changes, PathEntry, conflicts, in_the_way, kept_path, replayed
from prism_workspace.operations.trees import Trees

# More commits than these are replayed as one: each takes some milliseconds, and no one reads as many.
COMMITS_MAX = 1_000
KEPT_SHOWN_MAX = 20


class Replay:
    """Replays commits of documents. The same commits make the same result, so repeating it is harmless."""

    def __init__(self, objects: GitObjects) -> None:
        self._objects = objects
        self._trees = Trees(objects)

    async def onto(self, tenant: str, base: str, head: str, theirs: str) -> str:
        """Replay the commits from `base`, exclusive, to `head` on top of `theirs`. Returns the newest one.

        NATS has all three, and has the new commits when this returns. Empty `base`: the two have nothing in common.
        """
        base_tree = await self._trees.of_commit(tenant, base)
        head_tree = await self._trees.of_commit(tenant, head)
        tree = await self._trees.of_commit(tenant, theirs)
        ours = await self._trees.changes(tenant, base_tree, head_tree)
        others = await self._trees.changes(tenant, base_tree, tree)
        parent, new = theirs, list[ShaFile]()
        beside = await self._beside(tenant, tree, ours, others)
        if beside:
            tree = await self._trees.applied(tenant, tree, beside, new)
            kept = await self._kept(tenant, theirs, tree, beside)
            new.append(kept)
            parent = kept.id.decode()
            await self._objects.write(tenant, new)
        for commit in await self._commits(tenant, base, head):
            before = await self._trees.of_commit(tenant, commit.parents[0].decode() if commit.parents else "")
            after = await self._objects.tree(tenant, commit.tree.decode())
            delta = replayed(await self._trees.changes(tenant, before, after), others)
            new = []
            changed = await self._trees.applied(tenant, tree, delta, new)
            if changed.id == tree.id:  # they have made the same change
                continue
            moved = on_top(commit, changed.id.decode(), parent)
            await self._objects.write(tenant, [*new, moved])
            tree, parent = changed, moved.id.decode()
        return parent

    async def _beside(
        self, tenant: str, tree: Tree, ours: Changes, theirs: Changes
    ) -> dict[str, PathEntry | None]:
        """Returns what of theirs is kept, by its new path."""
        found: dict[str, PathEntry | None] = {}
        for path in sorted({*conflicts(ours, theirs), *in_the_way(ours, theirs)}):
            entry = await self._trees.entry(tenant, tree, path)
            if entry is not None:
                found[kept_path(path, entry.sha)] = entry
        return found

    async def _kept(self, tenant: str, theirs: str, tree: Tree, beside: Changes) -> Commit:
        at = (await self._objects.commit(tenant, theirs)).commit_time
        lines = [f"- {path}" for path in list(beside)[:KEPT_SHOWN_MAX]]
        more = [f"- and {len(beside) - KEPT_SHOWN_MAX:,} more"] if len(beside) > KEPT_SHOWN_MAX else []
        message = "\n".join(("Keep both versions of files that both sides changed", "", *lines, *more))
        return commit_of(tree.id.decode(), theirs, message, "", datetime.fromtimestamp(at, UTC))

    async def _commits(self, tenant: str, base: str, head: str) -> list[Commit]:
        """Returns our commits, the oldest first; as one if there are too many."""
        found: list[Commit] = []
        sha = head
        while sha and sha != base:
            commit = await self._objects.commit(tenant, sha)
            found.append(commit)
            if len(found) > COMMITS_MAX:
                return [await self._squashed(tenant, base, found[0])]
            sha = commit.parents[0].decode() if commit.parents else ""
        return found[::-1]

    async def _squashed(self, tenant: str, base: str, newest: Commit) -> Commit:
        one = commit_of(
            newest.tree.decode(),
            base,
            f"Write documents\n\nThese were more than {COMMITS_MAX:,} commits.",
            "",
            datetime.fromtimestamp(newest.commit_time, UTC),
        )
        await self._objects.write(tenant, [one])
        return one
