"""Collects what descriptions are made of, by asking search and atlas. Raises PrismError only."""

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Repository
from prism_contracts.rpc.files import OUTLINE, READ_FILE, OutlineReply, OutlineRequest, ReadFileRequest
from prism_contracts.rpc.maps import (
    ARCHITECTURE,
    MODULE_MAP,
    ArchitectureRequest,
    ComponentSummary,
    ModuleEntry,
    ModuleMapRequest,
)
from prism_runtime.bus import Bus
from prism_scribe.core.describing import Subject, evidence_of, subjects_of
from prism_scribe.core.writing import EvidenceText

TIMEOUT_S = 14.0
COMPONENTS_MAX = 60
PAGE = 200
OPENING_LINES = 40
OPENING_CHARS_MAX = 3_000
_GONE = frozenset({ErrorCode.FILE_NOT_FOUND, ErrorCode.FILE_SKIPPED})


class DescriptionSources:
    """The index of one repository, as its descriptions need it."""

    def __init__(self, bus: Bus, repository: Repository) -> None:
        self._bus = bus
        self._tenant, self._repo = repository.tenant, repository.repo

    async def components(self) -> tuple[ComponentSummary, ...]:
        """Returns the largest components."""
        request = ArchitectureRequest(tenant=self._tenant, repo=self._repo, limit=COMPONENTS_MAX)
        overview = (await self._bus.ask(ARCHITECTURE, request, timeout_s=TIMEOUT_S)).overview
        return overview.components if overview else ()

    async def subjects(self, files_max: int) -> list[Subject]:
        """Returns the components, and the files with the highest rank. Raises GRAPH_NOT_BUILT."""
        modules: list[ModuleEntry] = []
        cursor = ""
        while len(modules) < files_max:
            request = ModuleMapRequest(
                tenant=self._tenant, repo=self._repo, limit=min(PAGE, files_max - len(modules)), cursor=cursor
            )
            page = await self._bus.ask(MODULE_MAP, request, timeout_s=TIMEOUT_S)
            modules += page.entries
            cursor = page.next_cursor
            if not cursor:
                break
        return subjects_of(modules, await self.components())

    async def evidence(self, subject: Subject) -> tuple[EvidenceText, ...]:
        """Returns what a model may draw from. Empty if the file is gone."""
        if subject.component is not None:
            return evidence_of(subject, None, "")
        try:
            return evidence_of(subject, await self._outline(subject.name), await self._opening(subject.name))
        except PrismError as error:
            if error.code in _GONE:
                return ()
            raise

    async def _outline(self, path: str) -> OutlineReply:
        request = OutlineRequest(tenant=self._tenant, repo=self._repo, path=path)
        return await self._bus.ask(OUTLINE, request, timeout_s=TIMEOUT_S)

    async def _opening(self, path: str) -> str:
        request = ReadFileRequest(
            tenant=self._tenant, repo=self._repo, path=path, start_line=1, end_line=OPENING_LINES
        )
        return (await self._bus.ask(READ_FILE, request, timeout_s=TIMEOUT_S)).content[:OPENING_CHARS_MAX]
