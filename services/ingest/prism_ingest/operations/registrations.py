"""Registers repositories, and changes their settings. Imports apply them."""

from datetime import UTC, datetime

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Job, Repository
from prism_contracts.rpc.imports import CloneRequest
from prism_contracts.rpc.repositories import ClearCacheRequest, RegisterRequest, UpdateRepositoryRequest
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.core.selection import Selection, folder_of
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.renames import Renames

# The fields of a repository that a caller may set.
SETTINGS = ("ref", "is_active", "repo_root_prefix", "include", "exclude", "tasks_on_merge")


class Registrations:
    """Repositories that Prism fetches, and their settings."""

    def __init__(self, ledger: Ledger, fetch_jobs: FetchJobs, renames: Renames) -> None:
        self._ledger = ledger
        self._renames = renames
        self._fetch_jobs = fetch_jobs

    async def register(self, request: RegisterRequest) -> tuple[Repository, bool, Job | None]:
        """Register a repository. Returns it, whether it is new, and the job that imports it, if requested.

        The URL is checked, and not contacted. Raises FORBIDDEN, INVALID_ARGUMENT, CLONE_REFUSED,
        LIMIT_EXCEEDED, and REPO_EXISTS if the repository is known with another URL or other settings.
        """
        name, url = await self._fetch_jobs.check(request)
        given = _given(request)
        fresh = Repository(
            tenant=request.tenant,
            repo=await self._ledger.names.id_of(request.tenant, name),
            name=name,
            source=url,
            created_at=datetime.now(UTC),
            **given,
        )
        known = await self._ledger.register(fresh)
        if request.index:
            # As without settings: another URL or ref replaces the known one.
            given.pop("ref")
        elif known.source != url:
            raise _exists(known, "source")
        for field, value in given.items():
            if getattr(known, field) != value:
                raise _exists(known, field)
        if not request.index:
            return known, known == fresh, None
        job = await self._fetch_jobs.clone(
            CloneRequest(
                tenant=request.tenant,
                visible=request.visible,
                url=url,
                repo_name=name,
                ref=request.ref,
                lane=request.lane,
            )
        )
        return await self._ledger.repository(request.tenant, name), known == fresh, job

    async def update(self, request: UpdateRepositoryRequest) -> Repository:
        """Change settings of a repository, and its name.

        Raises REPO_NOT_FOUND, REPO_EXISTS, FORBIDDEN if the caller may not see the new name, INVALID_PATH, and
        INVALID_ARGUMENT for a glob or for settings of uploads.
        """
        repository, given = await self._ledger.seen_by(request, request.repo), _given(request)
        if given and not repository.is_fetched:
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT,
                f"{repository.name} is uploaded by clients, which choose its branch and its files.",
                "Upload it again: `prism index PATH`.",
            )
        if request.name is not None:
            repository = await self._renames.rename(request, repository, request.name)
        return await self._ledger.change(repository, given) if given else repository

    async def clear_cache(self, request: ClearCacheRequest) -> Repository:
        """Drop the cached answers of a repository. Raises REPO_NOT_FOUND."""
        return await self._ledger.clear_cache(await self._ledger.seen_by(request, request.repo))


def _given(request: RegisterRequest | UpdateRepositoryRequest) -> dict[str, object]:
    """Returns the settings that a request has. Raises INVALID_PATH, INVALID_ARGUMENT for a glob."""
    given = {field: value for field in SETTINGS if (value := getattr(request, field, None)) is not None}
    if request.repo_root_prefix:
        given["repo_root_prefix"] = folder_of(request.repo_root_prefix)
    Selection(include=request.include or (), exclude=request.exclude or ()).matcher()
    return given


def _exists(known: Repository, field: str) -> PrismError:
    return PrismError(
        ErrorCode.REPO_EXISTS,
        f"{known.name} is registered with another {field}.",
        "Change it: PATCH /api/v1/repos/{name}. Or register the URL under another name.",
        field=field,
    )
