"""Retries and drops dead letters.

A retry publishes the event again if its letter holds it whole. Otherwise the repository is fetched and what failed
is read again: letters hold no text of files. docs/decisions has the reasons.
"""

from typing import Final

from prism_contracts.base import BASE_LAYER, Event, Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import UPLOAD, Job, Repository, repository_key
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.dead_letters import DropLetterRequest, LetterReply, RetryLetterRequest
from prism_contracts.rpc.repositories import ReindexRequest
from prism_contracts.topics import topic_of
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.letter_box import LetterBox, StoredLetter
from prism_ingest.core import without_bits
from prism_ingest.core.dead_letters import INSTEAD, WHOLE, ReadAgain, to_read_again, whole_event
from prism_ingest.core.layers import layer_of
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_runtime.bus import Bus

THEN_DROP: Final = "Then drop the letter."


class Letters:
    """Dead letters, as their tenant manages them."""

    def __init__(
        self, bus: Bus, ledger: Ledger, box: LetterBox, fetch_jobs: FetchJobs, layers: LayerRegistry
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._box = box
        self._fetch_jobs = fetch_jobs
        self._layers = layers

    async def retry(self, request: RetryLetterRequest) -> LetterReply:
        """Do again what the message of a letter was for, and delete the letter.

        Raises LETTER_NOT_FOUND, LETTER_NOT_RETRIABLE, and what `FetchJobs.reindex` raises.
        """
        letter, repository = await self._seen(request, request.letter)
        if event := whole_event(letter.fact, letter.body):
            await self._publish(event, letter)
            return await self._dropped(letter, repository)
        again = to_read_again(letter.fact, letter.body)
        if again is None:
            raise _not_retriable(letter, INSTEAD.get(letter.fact, "Index the repository again."))
        if repository is None:
            raise _not_retriable(letter, "Its repository was removed.")
        layer = await self._layer_to_read(repository, again)
        # Before the job begins: it may fail as well, and its letters are new ones.
        same = [
            one async for one in self._box.all(request.tenant) if await self._is_of(one, repository, layer)
        ]
        job = await self._read_again(request, letter, repository, layer)
        dropped = [
            await self._box.delete(number) for number in {letter.number, *(one.number for one in same)}
        ]
        return _reply(letter, repository).model_copy(
            update={"job": without_bits(job) if job else None, "dropped": sum(dropped)}
        )

    async def drop(self, request: DropLetterRequest) -> LetterReply:
        """Delete a letter. Raises LETTER_NOT_FOUND."""
        return await self._dropped(*await self._seen(request, request.letter))

    async def _dropped(self, letter: StoredLetter, repository: Repository | None) -> LetterReply:
        if not await self._box.delete(letter.number):
            raise _not_found(letter.number)
        return _reply(letter, repository)

    async def _seen(self, request: CallerRequest, number: int) -> tuple[StoredLetter, Repository | None]:
        """Returns a letter that the caller may see, with its repository if that exists.

        Raises LETTER_NOT_FOUND.
        """
        letter = await self._box.get(request.tenant, number)
        if letter is None:
            raise _not_found(number)
        repository = await self._repository(letter)
        is_seen = request.sees(repository.name) if repository else request.visible is None
        if not is_seen:
            raise _not_found(number)
        return letter, repository

    async def _repository(self, letter: StoredLetter) -> Repository | None:
        tenant, repo = letter.body["tenant"], letter.body.get("repo")
        if not isinstance(repo, str):
            job_id = letter.body.get("job")
            job = await self._ledger.jobs.get(job_id) if isinstance(job_id, str) else None
            repo = job.repo if job and job.tenant == tenant else None
        return await self._ledger.repositories.get(repository_key(tenant, repo)) if repo else None

    async def _is_of(self, letter: StoredLetter, repository: Repository, layer: str) -> bool:
        """Whether reading a layer again does what a letter's message was for."""
        again = to_read_again(letter.fact, letter.body)
        if again is None or letter.fact in WHOLE:
            return False
        found = await self._repository(letter)
        if found is None or found.repo != repository.repo:
            return False
        return await self._layer_to_read(repository, again) == layer

    async def _layer_to_read(self, repository: Repository, again: ReadAgain) -> str:
        """Returns the layer that a retry reads. A file of a layer names its content instead: its job has the layer."""
        if again.branch:
            return layer_of(repository, again.branch)
        if again.job and again.layer != BASE_LAYER:
            job = await self._ledger.jobs.get(again.job)
            return job.layer if job and job.repo == repository.repo else again.layer
        return again.layer

    async def _publish(self, event: Event, letter: StoredLetter) -> None:
        topic = topic_of(type(event))
        lane = getattr(event, "lane", None) or topic.lane or Lane.BULK
        # An id of its own: the first message may have been published moments ago.
        await self._bus.publish(event, lane=lane, message_id=f"{event.message_id}:{letter.number}")

    async def _read_again(
        self, request: RetryLetterRequest, letter: StoredLetter, repository: Repository, layer: str
    ) -> Job | None:
        """Begin a job that reads a layer again, or return the one that has to end first."""
        if layer == BASE_LAYER:
            if not repository.is_fetched:
                raise _not_retriable(
                    letter,
                    f"Prism has no copy of what was uploaded: `prism index PATH --name {repository.name}`.",
                )
            return await self._fetch_jobs.reindex(
                ReindexRequest(tenant=request.tenant, visible=request.visible, repo=repository.repo)
            )
        found = await self._layers.find(repository, layer)
        if found is None:
            raise _not_retriable(letter, "Its branch or overlay is not indexed any more.")
        if not repository.is_fetched or found.source == UPLOAD:
            raise _not_retriable(
                letter, f"Prism has no copy of what was uploaded for {found.ref}: send it again."
            )
        job = await self._fetch_jobs.update(repository, found, Lane.BULK)
        return job or await self._ledger.jobs.get(found.active_job or found.last_job)


def _reply(letter: StoredLetter, repository: Repository | None) -> LetterReply:
    path = letter.body.get("path")
    return LetterReply(
        letter=letter.number,
        event=letter.fact,
        repo=repository.name if repository else "",
        file_path=path if isinstance(path, str) else "",
    )


def _not_found(number: int) -> PrismError:
    return PrismError(
        ErrorCode.LETTER_NOT_FOUND,
        f"There is no dead letter {number}.",
        "It may have been retried, dropped, or deleted after 30 days; `prism dead-letters list` shows those that exist.",
    )


def _not_retriable(letter: StoredLetter, next_action: str) -> PrismError:
    return PrismError(
        ErrorCode.LETTER_NOT_RETRIABLE,
        f"The message {letter.fact} of dead letter {letter.number} cannot be sent again: letters hold no contents.",
        f"{next_action} {THEN_DROP}",
    )
