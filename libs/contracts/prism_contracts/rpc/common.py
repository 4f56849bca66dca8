"""What requests share: their scope, and the receipt that every answer carries."""

from datetime import datetime

from prism_contracts.base import Message
from prism_contracts.errors import ErrorBody
from prism_contracts.registry import Rpc
from prism_contracts.types import (
    CommitIdOrNone,
    RefOrNone,
    RepoKeyOrNone,
    TenantId,
)

SNAPSHOT_FILES_MAX = 500_000
WAIT_MAX_S = 20.0
# In the place of a name in a receipt: the answer is of all of the tenant's repositories.
SEVERAL_REPOSITORIES = "*"


class ScopedRequest(Message):
    """A question of a tenant about a repository (or all of the tenant's, if `repo` is empty)."""

    tenant: TenantId
    repo: RepoKeyOrNone = ""  # owner/name as the caller says it
    # Branch, tag, pull request (`pull/12`), commit of a layer, or handle of an overlay; empty for what the repository follows.
    ref: RefOrNone = ""
    # Answer only when this commit is served, or say that it is not after `WAIT_MAX_S`.
    wait_for_commit: CommitIdOrNone = ""


class Receipt(Message):
    """How fresh and how complete an answer is."""

    repo: str
    ref: str = ""  # the layer that answered; empty for the base
    indexed_commit: str
    head_commit: str
    lag_seconds: float
    indexed_at: datetime | None
    corpus_version: int
    files_indexed: int
    files_skipped: int
    files_failed: int
    skipped_reasons: dict[str, int] = {}
    # Retrieval legs that could not be asked: the answer holds without them, and may lack their hits.
    missing_legs: tuple[str, ...] = ()
    dirty: bool = False
    # Of a layer: files that it has otherwise than the base, and whose content Prism was not sent. They are told as the base has them.
    files_missing: int = 0
    # The rest of the reply was found out before, for the same question and the same state of the index.
    cached: bool = False
    # The running import, or the last one if it failed: some files may be newer than `indexed_commit`. Empty if none are.
    mixed_with_job: str = ""


class GraphReceipt(Receipt):
    """The same of an answer from the graph, which is built behind the index."""

    graph_commit: str
    graph_version: int  # of the import that it was built after, or at a ref of the layer
    graph_built_at: datetime
    # Since when the index serves a newer state than the graph knows, in seconds; 0 if it serves no newer one.
    graph_lag_seconds: float = 0.0


class ReceiptRequest(ScopedRequest):
    """How fresh and how complete answers are now."""


class Reply(Message):
    """What travels back: exactly one of the two is set. `ok` is the JSON of the reply model."""

    ok: dict[str, object] | None = None
    error: ErrorBody | None = None


RECEIPT = Rpc("search.receipt", ReceiptRequest, Receipt)
