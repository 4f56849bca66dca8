"""What requests share: their scope, and the receipt that every answer carries."""

from collections.abc import Collection
from datetime import datetime
from typing import Annotated

from pydantic import Field, PlainSerializer

from prism_contracts.base import Message
from prism_contracts.errors import ErrorBody
from prism_contracts.registry import Rpc
from prism_contracts.types import (
    CommitIdOrNone,
    RefOrNone,
    RepoKeyOrNone,
    RepoName,
    TenantId,
)

SNAPSHOT_FILES_MAX = 500_000
WAIT_MAX_S = 20.0
VISIBLE_MAX = 2_000
# The kinds of an `EnclosingSymbol` that is no symbol of an outline: a test or a group of tests that is a call with a
# title, and what runs before or after each test of a group.
TEST_BLOCK, TEST_HOOK = "test", "hook"
# Replaces the name in a receipt whose answer covers all of the tenant's repositories.
SEVERAL_REPOSITORIES = "*"


def _sorted(names: Collection[str] | None) -> list[str] | None:
    return None if names is None else sorted(names)


class CallerRequest(Message):
    """A request of a caller, who belongs to a tenant and may be limited to some of its repositories."""

    tenant: TenantId
    # Names of the repositories that the caller may see and change, in lower case, whether they exist or not.
    # None: all of the tenant's.
    visible: Annotated[
        Annotated[frozenset[RepoName], Field(max_length=VISIBLE_MAX)] | None, PlainSerializer(_sorted)
    ] = None

    def sees(self, name: str) -> bool:
        """Whether the caller may see and change the repository with a name. Nothing else decides this."""
        return self.visible is None or name.lower() in self.visible


class ScopedRequest(CallerRequest):
    """A question about one repository of a tenant, or about all that the caller sees if `repo` is empty."""

    repo: RepoKeyOrNone = ""  # owner/name, as the caller gave it
    # Branch, tag, pull request (`pull/12`), commit of a layer, or handle of an overlay. Empty: the followed
    # branch.
    ref: RefOrNone = ""
    # Wait until this commit is served, up to `WAIT_MAX_S`.
    wait_for_commit: CommitIdOrNone = ""


class EnclosingSymbol(Message):
    """The innermost type, function or block of data around a line. At top level, `name` is empty and the lines are 0.

    `outer` is the outermost function around it, if the symbol is local to a function; of a test that is a call with a
    title, the group of tests around it, with its own `outer`.
    """

    name: str  # qualified
    kind: str = ""
    start_line: int = 0
    end_line: int = 0
    outer: "EnclosingSymbol | None" = None
    marks: tuple[str, ...] = ()  # marks in the head of a test: `skip`, `todo`, `only`


class Receipt(Message):
    """The freshness and completeness of an answer."""

    repo: str
    ref: str = ""  # the layer that answered; empty for the base
    indexed_commit: str
    head_commit: str
    lag_seconds: float
    indexed_at: datetime | None
    index_age_seconds: float | None = None  # since `indexed_at`
    corpus_version: int
    files_indexed: int
    files_skipped: int
    files_failed: int
    skipped_reasons: dict[str, int] = {}
    # Retrieval legs that failed: the answer may lack their hits. `reranker`: the hits are in the order without it.
    missing_legs: tuple[str, ...] = ()
    dirty: bool = False
    # For a layer: overridden files whose content was never uploaded. They are answered from the base.
    files_missing: int = 0
    # The rest of the reply comes from the cache, for an equal question and state of the index.
    cached: bool = False
    # The running or failed import that may have updated some files past `indexed_commit`; empty if there is
    # none.
    mixed_with_job: str = ""
    # Requested names that nothing has, each with the similar one that was answered instead.
    corrected: dict[str, str] = {}


class GraphReceipt(Receipt):
    """The receipt of an answer from the graph, which is built after the index."""

    graph_commit: str
    graph_version: int  # version of the import that it was built after; at a ref, of the layer
    graph_built_at: datetime
    # How long the index has served a newer state than the graph, in seconds; 0 if it does not.
    graph_lag_seconds: float = 0.0


class ReceiptRequest(ScopedRequest):
    """Returns the receipt that an answer would have now."""


class Reply(Message):
    """A reply on the wire. Exactly one of the two is set; `ok` is the JSON of the reply model."""

    ok: dict[str, object] | None = None
    error: ErrorBody | None = None


RECEIPT = Rpc("search.receipt", ReceiptRequest, Receipt, reads=True)
