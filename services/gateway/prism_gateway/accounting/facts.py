"""The facts of one request, collected while it is handled.

The middleware `CallFrame` puts a `CallFacts` into the state of each guarded request. Routes, tools and the
backend fill it in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from starlette.requests import HTTPConnection

from prism_contracts.accounting import CallSource
from prism_contracts.base import Message
from prism_contracts.rpc.files import OutlineReply, ReadFileReply
from prism_contracts.rpc.search import Hit, SearchReply, SearchRequest
from prism_gateway.accounting.changes import ACTIONS, CallChange
from prism_gateway.budget import CHARS_PER_TOKEN
from prism_gateway.rates.limiter import Admission
from prism_gateway.route_names import REST_PREFIX
from prism_gateway.scopes import TOOLS

FACTS_KEY: Final = "call"
MCP_PATH: Final = "/mcp"
# Lines of code have about forty characters.
TOKENS_PER_LINE = 10


@dataclass(slots=True)
class CallFacts:
    """The facts of a call."""

    source: CallSource | None = None
    call: str = ""  # a tool, or `POST /search`
    repo: str = ""
    code: str = ""  # of the error
    cached: bool = False
    corpus_version: int | None = None  # the version of the index that answered; None if no index was queried
    timings_ms: Mapping[str, float] = field(default_factory=dict)  # steps of a search
    is_text: bool = False  # whether the bodies of the request are text for a reader
    chars_in: int = 0
    chars_out: int = 0
    file_lines: int = 0  # of the files whose code the answer shows
    query: str = ""
    hits: tuple[Hit, ...] = ()
    intent: str = ""
    confidence: str = ""
    missing_legs: tuple[str, ...] = ()
    admission: Admission = field(default_factory=Admission)
    change: CallChange = field(default_factory=CallChange)
    is_repeated: bool = False  # whether it got the answer of an earlier call, and did nothing
    is_answered: bool = False  # whether the outcome is known: `code`, or none

    @property
    def tool(self) -> str:
        """The tool that was called; empty for anything else."""
        return self.call if self.call in TOOLS else ""

    @property
    def tokens_in(self) -> int:
        """The question in tokens."""
        return self.chars_in // CHARS_PER_TOKEN

    @property
    def tokens_out(self) -> int:
        """The answer in tokens."""
        return self.chars_out // CHARS_PER_TOKEN

    @property
    def tokens_of_files(self) -> int:
        """The files whose code the answer shows, in tokens."""
        return self.file_lines * TOKENS_PER_LINE

    def note_request(self, request: Message) -> None:
        """Take what a request to a service says about a change. It may get no reply."""
        if self.call in ACTIONS:
            self.change.read_request(request)

    def note(self, request: Message, reply: Message) -> None:
        """Take what a request to a service and its reply say about the call."""
        if self.call in ACTIONS:
            self.change.read_reply(request, reply)
        receipt = getattr(reply, "receipt", None)
        self.repo = (
            getattr(receipt, "repo", "") or getattr(request, "repo", "") or getattr(request, "repo_name", "")
        ) or self.repo
        self.cached = getattr(receipt, "cached", False)
        self.corpus_version = getattr(receipt, "corpus_version", self.corpus_version)
        if isinstance(reply, ReadFileReply | OutlineReply):
            self.file_lines = reply.line_count
        if isinstance(request, SearchRequest) and isinstance(reply, SearchReply):
            self.query, self.hits, self.timings_ms = request.query, reply.results, reply.timings_ms
            self.intent, self.confidence = reply.query_intent.value, reply.confidence
            self.missing_legs = reply.receipt.missing_legs
            shown = {(hit.repo, hit.file_path): hit.file_lines for hit in reply.results if _shows_code(hit)}
            self.file_lines = sum(shown.values())


def source_of(path: str) -> CallSource:
    """Returns where a request comes in, by its path."""
    if path.startswith(REST_PREFIX):
        return CallSource.REST
    return CallSource.MCP if path.startswith(MCP_PATH) else CallSource.CONSOLE


def facts_of(request: HTTPConnection) -> CallFacts:
    """Returns the facts of a guarded request."""
    facts = request.scope["state"][FACTS_KEY]
    assert isinstance(facts, CallFacts)
    return facts


def _shows_code(hit: Hit) -> bool:
    return bool(hit.content or hit.lines)
