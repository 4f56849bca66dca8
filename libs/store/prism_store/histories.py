"""What changed in a file lately, of the histories that ingest keeps. Read once for a state of a repository."""

from collections.abc import Mapping
from typing import NamedTuple

from prism_contracts.records import History, HistoryFile
from prism_contracts.rpc.guidance import RecentChanges
from prism_runtime.histories import HistoryStore
from prism_runtime.kept import Kept
from prism_store.repositories import Target

FILES_KEPT_MAX = 200_000
SHALLOW = "the repository is a shallow clone: older commits are unknown"
CUT = "the newest commits only"


class _Read(NamedTuple):
    version: int  # of the repository, when it was read
    history: History
    files: Mapping[str, HistoryFile]


class Histories:
    """Reads histories."""

    def __init__(self, store: HistoryStore) -> None:
        self._store = store
        self._kept: Kept[tuple[str, str], _Read] = Kept(FILES_KEPT_MAX)

    async def changes(self, target: Target, path: str) -> RecentChanges | None:
        """The recent changes of a file of a target of one repository; None if none are known."""
        history, files = await self._read(target)
        file = files.get(path)
        if file is None:
            return None
        limits = (SHALLOW if history.is_shallow else "", CUT if history.is_cut else "")
        return RecentChanges(
            commits_90_days=file.commits_90_days,
            commits_12_months=file.commits_12_months,
            last=history.commits[file.last],
            note="; ".join(filter(None, limits)),
        )

    async def _read(self, target: Target) -> tuple[History, Mapping[str, HistoryFile]]:
        repository = target.repositories[0]
        key = (repository.tenant, repository.repo)
        known = self._kept.get(key)
        if known is None or known.version != repository.next_version:
            history = await self._store.get(*key) or History()
            files = {file.path: file for file in history.files}
            known = _Read(repository.next_version, history, files)
            if target.is_quiet:  # ingest puts the history of an import after it has begun
                self._kept.keep(key, known, 1 + len(files))
        return known.history, known.files
