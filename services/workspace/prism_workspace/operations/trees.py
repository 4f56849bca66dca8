"""Reads and builds the trees of the documents' repository, of which only changed folders are touched."""

from collections import defaultdict
from collections.abc import Mapping

from dulwich.objects import ShaFile, Tree

from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.core.commits import FOLDER_MODE, with_entries
from prism_workspace.core.rebase import Changes, PathEntry

EMPTY = Tree()


class Trees:
    """The trees of all tenants. Each method raises STORE_DAMAGED if an object is missing or unreadable."""

    def __init__(self, objects: GitObjects) -> None:
        self._objects = objects

    async def of_commit(self, tenant: str, commit: str) -> Tree:
        """Returns the tree of a commit; without a commit, an empty one."""
        if not commit:
            return EMPTY
        return await self._objects.tree(tenant, (await self._objects.commit(tenant, commit)).tree.decode())

    async def applied(self, tenant: str, tree: Tree, changes: Changes, new: list[ShaFile]) -> Tree:
        """Returns the tree with these changes. Each folder is built once, and added to `new`.

        A file at the place of a folder is replaced, and a folder at the place of a file.
        """
        below: defaultdict[str, dict[str, PathEntry | None]] = defaultdict(dict)
        here: dict[str, PathEntry | None] = {}
        for path, entry in changes.items():
            name, slash, rest = path.partition("/")
            if slash:
                below[name][rest] = entry
            else:
                here[name] = entry
        entries = _entries(tree) if below else {}
        folders = {
            name: await self.applied(tenant, await self._folder(tenant, entries, name), inner, new)
            for name, inner in below.items()
        }
        changed = with_entries(tree, here, folders)
        new.append(changed)
        return changed

    async def changes(
        self, tenant: str, before: Tree, after: Tree, folder: str = ""
    ) -> dict[str, PathEntry | None]:
        """Returns which files differ between two trees, by path, and what the second one has there."""
        found: dict[str, PathEntry | None] = {}
        old, new = _entries(before), _entries(after)
        for name in old.keys() | new.keys():
            was, is_now = old.get(name), new.get(name)
            if was == is_now:
                continue
            path = f"{folder}{name}"
            if was is not None and was.mode != FOLDER_MODE:
                found[path] = None
            if _is_folder(was) or _is_folder(is_now):
                inside = await self._folder(tenant, old, name), await self._folder(tenant, new, name)
                found |= await self.changes(tenant, *inside, folder=f"{path}/")
            if is_now is not None and is_now.mode != FOLDER_MODE:
                found[path] = is_now
        return found

    async def entry(self, tenant: str, tree: Tree, path: str) -> PathEntry | None:
        """Returns what a tree has at a path, or None."""
        *folders, name = path.split("/")
        for folder in folders:
            tree = await self._folder(tenant, _entries(tree), folder)
        return _entries(tree).get(name)

    async def _folder(self, tenant: str, entries: Mapping[str, PathEntry], name: str) -> Tree:
        """Returns the folder among the entries of a tree, empty if there is none of that name."""
        found = entries.get(name)
        return await self._objects.tree(tenant, found.sha) if found and _is_folder(found) else EMPTY


def _is_folder(entry: PathEntry | None) -> bool:
    return entry is not None and entry.mode == FOLDER_MODE


def _entries(tree: Tree) -> Mapping[str, PathEntry]:
    # A name that is not UTF-8 is kept as it is: no one can write a document there.
    return {
        one.path.decode(errors="surrogateescape"): PathEntry(one.mode, one.sha.decode())
        for one in tree.items()
    }
