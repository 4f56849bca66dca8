"""Reports the branches that moved, with their new commits, and the pull requests that were merged.

In: a job that has fetched a commit, an upload, or a push. Out: `BranchPushed`, `PullRequestMerged`, or nothing. Commits are
read from git, so a push that a poll found is reported as one that a webhook announced. Only for branches that
are not fetched does the word of the webhook count.
"""

import asyncio

from prism_contracts.base import BASE_LAYER
from prism_contracts.events import BranchPushed, PullRequestMerged, PushedCommits, PushReceived
from prism_contracts.records import Job, Repository, layer_key, repository_key
from prism_contracts.rpc.imports import OpenSnapshotRequest
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.core.commits import commits_after
from prism_ingest.core.layers import BRANCHES, followed_ref
from prism_runtime.bus import Bus
from prism_source.clone import Mirror
from prism_source.pushed_commits import pushed_commits


class PushedBranches:
    """Branches that moved at a remote."""

    def __init__(self, bus: Bus, ledger: Ledger) -> None:
        self._bus = bus
        self._ledger = ledger

    async def report(self, job: Job, mirrored: Mirror) -> None:
        """Publish what a job fetched, if it is new.

        The first import of a repository is not a push. The head of a pull request may be a stranger's: its
        commits are reported once they are on a branch.
        """
        repository = await self._ledger.repositories.get(repository_key(job.tenant, job.repo))
        if repository is None or repository.served is None:
            return
        before, branch, is_new = repository.served.commit, mirrored.ref, False
        if job.layer != BASE_LAYER:
            layer = await self._ledger.layers.get(layer_key(job.tenant, job.repo, job.layer))
            if layer is None or not layer.source.startswith(BRANCHES):
                return
            before, branch, is_new = (layer.served or repository.served).commit, layer.ref, not layer.served
        if before == mirrored.commit and not is_new:
            return
        commits = await asyncio.to_thread(pushed_commits, mirrored.git_dir, before, mirrored.commit)
        await self._publish(repository, branch, commits, job.job)

    async def uploaded(self, request: OpenSnapshotRequest, job: Job) -> None:
        """Publish what a client uploads from a checkout, if it is new. The first upload is not a push."""
        repository = await self._ledger.repositories.get(repository_key(job.tenant, job.repo))
        if repository is None or repository.served is None or not request.commits:
            return
        indexed = await self._ledger.indexed(job.tenant, job.repo, job.layer)
        served = indexed.served if indexed else None
        commits = commits_after(request.commits, (served or repository.served).commit)
        if commits or served is None:
            await self._publish(repository, job.ref, commits, request.snapshot)

    async def announced(self, repository: Repository, event: PushReceived) -> None:
        """Publish what a webhook said of a branch that is not fetched."""
        if event.branch and not event.pull_request:
            await self._publish(repository, event.branch, event.commits, event.delivery)

    async def merged(self, repository: Repository, event: PushReceived) -> None:
        """Publish a pull request that was merged into the branch that the base follows."""
        if event.merged is None or event.merged.target != followed_ref(repository, event.default_branch):
            return
        merge = PullRequestMerged(
            tenant=repository.tenant,
            repo=repository.repo,
            name=repository.name,
            pull_request=event.pull_request,
            merged=event.merged,
            delivery=event.delivery,
        )
        await self._bus.publish(merge)

    async def _publish(self, repository: Repository, branch: str, commits: PushedCommits, push: str) -> None:
        event = BranchPushed(
            tenant=repository.tenant,
            repo=repository.repo,
            name=repository.name,
            branch=branch,
            commits=commits,
            push=push,
        )
        await self._bus.publish(event)
