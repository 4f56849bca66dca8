"""Documents and tasks that concern a place of code."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.records import Anchor, AnchoredKind, StaleReason
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.types import FilePath, LineOrNone, RepoKey, SymbolName

CONCERNING_LIMIT_MAX = 50
# Stale places that a list shows of one document or task. Reading it shows all.
STALE_LISTED_MAX = 5


class StalePlace(Message):
    """A place that a document or task names, and that has changed since."""

    repo: str  # owner/name
    path: str
    symbol: str = ""  # empty for lines and files
    start_line: int = 0  # where it is now, or was last; 0 for a file
    end_line: int = 0
    reason: StaleReason
    # The first indexed commit at which it had changed, or `uncommitted`; empty if the repository was removed.
    commit: str
    found_at: datetime


class ConcerningRequest(CallerRequest):
    """Lists the documents and open tasks that name a file, or a symbol or lines in it."""

    repo: RepoKey
    path: FilePath
    symbol: SymbolName = ""  # qualified; empty with `start_line` 0 means anything in the file
    start_line: LineOrNone = 0
    end_line: LineOrNone = 0
    limit: Annotated[int, Field(ge=1, le=CONCERNING_LIMIT_MAX)] = 10


class Concerning(Message):
    """A document or task, and the anchors in it that concern the place."""

    kind: AnchoredKind
    subject: str  # its id
    title: str
    path: str = ""  # set for documents
    status: str = ""  # set for tasks
    anchors: tuple[Anchor, ...]


class ConcerningReply(Message):
    """Those that name the place most closely first, and how many there are."""

    concerning: tuple[Concerning, ...]
    total: int


CONCERNING = Rpc("workspace.concerning", ConcerningRequest, ConcerningReply, reads=True)
