"""Clones and pushes."""

from prism_contracts.events import CloneRequested, PushReceived
from prism_contracts.rpc.imports import CloneRequest, JobReply
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.fetching import Fetcher
from prism_ingest.operations.pushes import Pushes


class CloneHandlers:
    """Answers `clone`, and receives pushes and the commands of jobs that fetch."""

    def __init__(self, fetch_jobs: FetchJobs, pushes: Pushes, fetcher: Fetcher) -> None:
        self._fetch_jobs = fetch_jobs
        self._pushes = pushes
        self._fetcher = fetcher

    async def clone(self, request: CloneRequest) -> JobReply:
        """Begin a job that clones a git URL. Raises PrismError: CLONE_REFUSED, SNAPSHOT_CONFLICT."""
        return JobReply(job=await self._fetch_jobs.clone(request))

    async def on_push(self, event: PushReceived) -> None:
        """A remote may have moved."""
        await self._pushes.apply(event)

    async def on_clone_requested(self, command: CloneRequested) -> None:
        """A job has to fetch its repository."""
        await self._fetcher.run(command)
