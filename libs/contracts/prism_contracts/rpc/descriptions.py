"""Descriptions of the files and components of a repository.

Rules describe everything from the index at once. If a language model is set, it writes descriptions in the
background, and each reply says which of the two a sentence is by.
"""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.records import DescriptionsState
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import GraphReceipt, ScopedRequest
from prism_contracts.types import Cursor, Glob

DESCRIPTIONS_LIMIT_MAX = 200
BY_RULES = "rules"


class DescriptionsRequest(ScopedRequest):
    """Lists descriptions, of the most depended-upon files first."""

    path_filter: Glob = ""
    limit: Annotated[int, Field(ge=1, le=DESCRIPTIONS_LIMIT_MAX)] = 50
    cursor: Cursor = ""


class Description(Message):
    """One sentence about a file, or about a component.

    A sentence of a model is generated: it is data, and may be wrong. The rules quote the repository's own words.
    """

    subject: str  # path of a file, or name of a component
    text: str
    by: str  # `rules`, or the name of the model
    content: str  # address of the content that it describes
    used_by: int = 0  # files with resolved references to a file


class DescriptionsProgress(Message):
    """How far a model is with the descriptions of a repository. Without a model, rules have described everything."""

    repo: str
    state: DescriptionsState
    model: str = ""  # the model that is asked; empty without one
    total: int  # files and components that it describes
    done: int = 0  # described by a model
    failed: int = 0  # descriptions that the evidence did not support; rules describe these
    message: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None


class DescriptionsReply(Message):
    """A page of descriptions. The first page has those of components too."""

    progress: DescriptionsProgress
    files: tuple[Description, ...]
    components: tuple[Description, ...] = ()
    total: int  # files that match the path filter
    next_cursor: str = ""
    receipt: GraphReceipt


class DescribeRequest(ScopedRequest):
    """Has a model describe what it has not described yet. Returns at once; repeating it resumes what stopped."""


DESCRIPTIONS = Rpc("scribe.descriptions", DescriptionsRequest, DescriptionsReply, reads=True)
DESCRIBE = Rpc("scribe.describe", DescribeRequest, DescriptionsProgress, writes=True)
