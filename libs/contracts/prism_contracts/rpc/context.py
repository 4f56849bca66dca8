"""The context of a question: places of six domains, gathered in one round or several."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.registry import Rpc, Timeout
from prism_contracts.rpc.common import Receipt, ScopedRequest
from prism_contracts.types import QUERY_CHARS_MAX

CONTEXT_TOKENS = 4_000
CONTEXT_TOKENS_MIN = 100
CONTEXT_TOKENS_MAX = 100_000
ROUNDS_MAX = 3


class Domain(StrEnum):
    """The kinds of files that a context draws on. A path has exactly one."""

    INTENT = "intent"  # what the project wants: README, vision, specifications, decisions
    RESEARCH = "research"  # explorations, experiments, investigations
    REFS = "refs"  # reference: API documents, schemas of interfaces, and all other prose
    PROCESS = "process"  # how it is built, tested and deployed: CI, build files, scripts
    WORKSPACE = "workspace"  # rules and commands for people and agents
    CODE = "code"


class ContextMode(StrEnum):
    """How much work goes into a context."""

    AUTO = "auto"  # fast, unless the question or what was found asks for more
    FAST = "fast"  # one round: a search in each domain
    DEEP = "deep"  # up to three rounds, which follow the graph and search for what is missing


Domains = Annotated[tuple[Domain, ...], Field(max_length=len(Domain))]


class ContextRequest(ScopedRequest):
    """Gathers what one needs to know to answer a question. An empty `domains` means all."""

    question: Annotated[str, Field(min_length=1, max_length=QUERY_CHARS_MAX)]
    mode: ContextMode = ContextMode.AUTO
    domains: Domains = ()
    max_tokens: Annotated[int, Field(ge=CONTEXT_TOKENS_MIN, le=CONTEXT_TOKENS_MAX)] = CONTEXT_TOKENS
    # Stop after this round. A caller that shows progress asks for one more each time.
    rounds: Annotated[int, Field(ge=1, le=ROUNDS_MAX)] = ROUNDS_MAX


class ContextItem(Message):
    """Lines of a file, and why they are here. `content` begins at `start_line`, and may end before `end_line`.

    `start_line` may be after the beginning of `symbol`: of a long one, the lines that matter are shown.
    """

    domain: Domain
    repo: str
    file_path: str
    start_line: int
    end_line: int
    symbol: str = ""
    kind: str = ""
    content: str
    why: str
    round: int  # the round that found it, from 1
    score: float


class ContextRound(Message):
    """What a round did. `missing` are the words of the question that nothing found so far contains."""

    number: int
    calls: int  # requests to search and atlas, without those that the cache answered
    cached: int  # searches that the cache answered
    places: int  # places that this round added
    missing: tuple[str, ...] = ()


class ContextSource(Message):
    """Lines that a sentence is drawn from."""

    repo: str
    file_path: str
    start_line: int
    end_line: int


class ContextSentence(Message):
    """A sentence that a language model wrote, without links and markup, and where its names and numbers are."""

    text: str
    sources: tuple[ContextSource, ...]


class ContextReply(Message):
    """The best places within the budget, best first."""

    mode: ContextMode  # fast or deep
    reason: str  # why that mode
    items: tuple[ContextItem, ...]
    rounds: tuple[ContextRound, ...]
    is_complete: bool  # False: a further round could add something
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what was not searched, and why
    truncated: bool = False  # places were left out or shortened to fit the budget
    # A language model may answer the question: ANSWER_CONTEXT has it do so.
    can_answer: bool = False
    answer: tuple[ContextSentence, ...] = ()  # what the language model wrote, and its sources hold
    model: str = ""  # the language model that wrote it
    dropped_sentences: int = 0  # sentences without a source, or with sources that do not hold them
    without_model: str = ""  # why no language model took part, and what it would add; empty if one did
    receipt: Receipt
    timings_ms: dict[str, float] = {}


CONTEXT = Rpc("scribe.context", ContextRequest, ContextReply, reads=True)
# The same, and an answer by a language model; all rounds, whatever `rounds` says.
ANSWER_CONTEXT = Rpc(
    "scribe.answer_context", ContextRequest, ContextReply, deadline_s=60.0, timeout=Timeout.MODEL
)
