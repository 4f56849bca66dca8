"""Changes of the index by file: what each import of a followed branch added, changed and removed."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.types import Cursor, FilePath, RepoKey

CHANGES_LIMIT_MAX = 500


class ChangeKind(StrEnum):
    """What happened to a file."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


class IndexChange(Message):
    """What one import changed, as it is stored: the paths in their order. A large import has several of them."""

    version: int  # the import's version
    job: str
    commit: str  # the commit that it imported, or `uncommitted`
    at: datetime  # when it was served
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    total: int  # files that the import changed, also those of its other parts and those that are not stored


class FileChange(Message):
    """A change of a file."""

    path: str
    change: ChangeKind
    at: datetime  # when it was served
    commit: str  # the imported commit, or `uncommitted`
    version: int  # the import's version
    job: str


class ChangesRequest(CallerRequest):
    """Lists changes of files, the newest first."""

    repo: RepoKey
    path: FilePath = ""  # a file, or a folder with all below it; empty: every file
    since: datetime | None = None  # without a zone: UTC
    limit: Annotated[int, Field(ge=1, le=CHANGES_LIMIT_MAX)] = 100
    cursor: Cursor = ""


class ChangesReply(Message):
    """A page of changes. It may have fewer than `limit`; a cursor is empty on the last page."""

    repo: str  # owner/name
    changes: tuple[FileChange, ...]
    next_cursor: str = ""


CHANGES = Rpc("ingest.changes", ChangesRequest, ChangesReply, reads=True)
