"""Dead letters: messages that were given up. Retries them, and drops them."""

from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.records import Job
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.types import COUNT_MAX

LetterNumber = Annotated[int, Field(ge=1, le=COUNT_MAX)]


class RetryLetterRequest(CallerRequest):
    """Does again what the message of a dead letter was for, and drops the letter."""

    letter: LetterNumber


class DropLetterRequest(CallerRequest):
    """Deletes a dead letter. What the message was for stays undone."""

    letter: LetterNumber


class LetterReply(Message):
    """What became of a dead letter."""

    letter: int
    event: str  # what the message said, such as `file.changed`
    repo: str = ""  # the name of its repository; empty if it has none, or the repository was removed
    file_path: str = ""
    # The job that reads the repository again, or one that has to end first. None: the message was published again,
    # or the letter was dropped.
    job: Job | None = None
    dropped: int = 1  # letters that are gone: with this one, those of the same files


RETRY_LETTER = Rpc("ingest.retry_letter", RetryLetterRequest, LetterReply, deadline_s=20, writes=True)
DROP_LETTER = Rpc("ingest.drop_letter", DropLetterRequest, LetterReply, deadline_s=10)
