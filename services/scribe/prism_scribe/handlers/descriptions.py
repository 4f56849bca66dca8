"""Requests about descriptions: list them, and have a model write what is missing."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import DescriptionsRecord, DescriptionsState, Repository
from prism_contracts.rpc.common import RECEIPT, SEVERAL_REPOSITORIES, ReceiptRequest, ScopedRequest
from prism_contracts.rpc.descriptions import (
    BY_RULES,
    DescribeRequest,
    Description,
    DescriptionsProgress,
    DescriptionsReply,
    DescriptionsRequest,
)
from prism_contracts.rpc.maps import MODULE_MAP, ModuleMapRequest
from prism_runtime.bus import Bus
from prism_runtime.records import WatchedRecords
from prism_scribe.adapters.description_sources import DescriptionSources
from prism_scribe.adapters.description_store import DescriptionStore
from prism_scribe.core.describing import Subject
from prism_scribe.operations.description_runs import DescriptionRuns

TIMEOUT_S = 9.0
BY_RULES_ONLY = "No language model is set, so rules describe everything from the index."
NOT_BEGUN = "No model has described anything yet: POST begins it."


class DescriptionHandlers:
    """Answers requests about the descriptions of repositories that the caller may see."""

    def __init__(
        self,
        bus: Bus,
        store: DescriptionStore,
        repositories: WatchedRecords[Repository],
        runs: DescriptionRuns,
        sources_of: Callable[[Repository], DescriptionSources],
    ) -> None:
        self._bus = bus
        self._store = store
        self._repositories = repositories
        self._runs = runs
        self._sources_of = sources_of

    async def list_descriptions(self, request: DescriptionsRequest) -> DescriptionsReply:
        """Returns a page of descriptions. Raises REPO_NOT_FOUND, REPO_AMBIGUOUS, GRAPH_NOT_BUILT."""
        repository = await self._repository(request)
        asked = ModuleMapRequest(
            tenant=request.tenant,
            visible=request.visible,
            repo=repository.name,
            path_filter=request.path_filter,
            limit=request.limit,
            cursor=request.cursor,
        )
        modules = await self._bus.ask(MODULE_MAP, asked, timeout_s=TIMEOUT_S)
        components = () if request.cursor else await self._sources_of(repository).components()
        files = [Subject.of_file(entry) for entry in modules.entries]
        groups = [Subject.of_component(one) for one in components]
        record, written = await asyncio.gather(
            self._store.get(repository.tenant, repository.repo),
            self._written(repository, [*files, *groups]),
        )
        used_by = {entry.file_path: entry.used_by for entry in modules.entries}
        return DescriptionsReply(
            progress=self._progress(repository, record),
            files=tuple(_description(one, written, used_by.get(one.name, 0)) for one in files),
            components=tuple(_description(one, written) for one in groups),
            total=modules.total,
            next_cursor=modules.next_cursor,
            receipt=modules.receipt,
        )

    async def describe(self, request: DescribeRequest) -> DescriptionsProgress:
        """Begins or resumes a run. Raises REPO_NOT_FOUND, REPO_AMBIGUOUS, REPO_NOT_INDEXED, RATE_LIMITED."""
        repository = await self._repository(request)
        return self._progress(repository, await self._runs.begin(repository, datetime.now(UTC)))

    async def _written(self, repository: Repository, subjects: list[Subject]) -> dict[str, tuple[str, str]]:
        """Returns text and model by content. What an earlier model wrote stays if none is set now."""
        contents = (subject.content for subject in subjects)
        found = await self._store.written(repository.tenant, repository.repo, contents)
        return {content: (one.text, one.model) for content, one in found.items() if one.text}

    async def _repository(self, request: ScopedRequest) -> Repository:
        """Returns the repository of a request: search decides which one a name means, and who may see it."""
        asked = ReceiptRequest(tenant=request.tenant, visible=request.visible, repo=request.repo)
        receipt = await self._bus.ask(RECEIPT, asked, timeout_s=TIMEOUT_S)
        for known in self._repositories.values():
            if known.tenant == request.tenant and known.name == receipt.repo:
                return known
        if receipt.repo != SEVERAL_REPOSITORIES:
            raise PrismError(
                ErrorCode.UNAVAILABLE, f"{receipt.repo} is not known here yet.", "Try again in a second."
            )
        raise PrismError(
            ErrorCode.REPO_AMBIGUOUS,
            "Descriptions are of one repository, and several match.",
            "Name one of them as `repo`: list_repos lists them.",
        )

    def _progress(self, repository: Repository, record: DescriptionsRecord | None) -> DescriptionsProgress:
        if record is None:
            return DescriptionsProgress(
                repo=repository.name,
                state=DescriptionsState.COMPLETE,
                model=self._runs.model,
                total=0,
                message=NOT_BEGUN if self._runs.model else BY_RULES_ONLY,
            )
        return DescriptionsProgress(
            repo=repository.name,
            state=record.state,
            model=record.model,
            total=record.total,
            done=record.done,
            failed=record.failed,
            message=record.message,
            started_at=record.started_at,
            finished_at=record.finished_at,
        )


def _description(subject: Subject, written: dict[str, tuple[str, str]], used_by: int = 0) -> Description:
    text, model = written.get(subject.content, (subject.by_rules, BY_RULES))
    return Description(subject=subject.name, text=text, by=model, content=subject.content, used_by=used_by)
