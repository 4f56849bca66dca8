"""What to know before writing code: edit context, existing code, conventions, documents."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.code import (
    EdgeStatus,
    Symbol,
)
from prism_contracts.records import HistoryCommit
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import Receipt, ScopedRequest
from prism_contracts.rpc.symbols import Definition, SymbolReferences
from prism_contracts.types import (
    FilePath,
    Language,
    LineOrNone,
    Query,
    SymbolName,
)

EXISTING_MAX = 5


class EditContextRequest(ScopedRequest):
    """What to know before a symbol is changed. `path` is that of its definition; with a line it stands in the symbol's place."""

    symbol: SymbolName = ""
    path: FilePath = ""
    start_line: LineOrNone = 0
    end_line: LineOrNone = 0  # 0: the same line


class EditRisk(StrEnum):
    """Why a change may break what does not show in the file."""

    EXPORTED = "exported"
    IMPLEMENTS = "implements"  # an interface or a base class asks for it
    OVERRIDDEN = "overridden"  # classes below define it again, or are derived from it
    OTHER_REPOSITORIES = "other_repositories"


class EditWarning(Message):
    """A risk in a sentence, with definitions or places that show it (`path:line name`)."""

    risk: EditRisk
    text: str
    places: tuple[str, ...] = ()


class ReachingTest(Message):
    """A test that uses the symbol; if `via` names a caller, through it. `status` is that of the less sure edge."""

    file_path: str
    line: int
    symbol: str
    status: EdgeStatus
    via: str = ""


class SiblingKind(StrEnum):
    """Why a definition probably has to change too."""

    COUNTERPART = "counterpart"  # a declaration of the same, or its body
    SAME_METHOD = "same_method"  # the method in a class with the same base


class Sibling(Message):
    """A definition that probably has to change too."""

    kind: SiblingKind
    definition: Definition


class Document(Message):
    """Lines of a document for people or agents, quoted. `headings` are those of all of it: `12 ## Style`."""

    file_path: str
    line_count: int
    start_line: int
    end_line: int
    content: str
    headings: tuple[str, ...] = ()


class RulesDocument(Document):
    """Rules for a path; `applies` says why they hold there."""

    applies: str


class RecentChanges(Message):
    """What changed in a file lately, as far as its history is known: `note` says what limits it."""

    commits_90_days: int
    commits_12_months: int
    last: HistoryCommit
    note: str = ""


class EditContextReply(Message):
    """What to know before an edit, the most important first. Without `symbol` the lines belong to no definition."""

    repo: str
    file_path: str
    language: str
    start_line: int
    end_line: int
    content: str  # of the lines, at most so many as one reads at once
    symbol: Symbol | None = None
    matched: str = ""
    others: tuple[Definition, ...] = ()  # other definitions of the name
    total_others: int = 0
    warnings: tuple[EditWarning, ...] = ()
    references: SymbolReferences | None = None
    tests: tuple[ReachingTest, ...] = ()
    test_counts: dict[EdgeStatus, int] = {}  # of all tests
    test_depth: int = 0  # over how many uses in a row they were looked for
    # How many the graph knows, and over how many uses; None if it was not asked or does not answer. `impact` lists them.
    graph_tests: int | None = None
    graph_test_depth: int = 0
    test_files: tuple[str, ...] = ()  # that are named after the file
    siblings: tuple[Sibling, ...] = ()
    rules: tuple[RulesDocument, ...] = ()
    changes: RecentChanges | None = None  # None: none are known
    notes: tuple[
        str, ...
    ] = ()  # what was not looked at, and what of the lines that were asked for is not here
    receipt: Receipt


class ExistingRequest(ScopedRequest):
    """Is there something already that does this? The intent is words, or a signature that somebody is about to write."""

    intent: Query
    language: Language = ""
    limit: Annotated[int, Field(ge=1, le=EXISTING_MAX)] = EXISTING_MAX


class Verdict(StrEnum):
    """How much speaks for it that a definition is what was meant."""

    LIKELY = "likely"
    MAYBE = "maybe"
    NONE = "none"


class ExistingDefinition(Message):
    """A definition that may do what was meant, and what speaks for it. Scores are from 0 to 1 and compare between questions."""

    definition: Definition
    verdict: Verdict
    score: float
    reasons: tuple[str, ...]


class ExistingReply(Message):
    """Definitions, best first. The verdict is that of the first; `none` with definitions: they are near, and no more."""

    verdict: Verdict
    existing: tuple[ExistingDefinition, ...]
    receipt: Receipt


class ConventionsRequest(ScopedRequest):
    """How code is written in a repository; of one language, or of all."""

    language: Language = ""


class ConventionExample(Message):
    """A place that keeps to a convention."""

    file_path: str
    line: int
    text: str


class Convention(Message):
    """What most of the code does: `count` of `total`. An empty language: whatever the language."""

    topic: str
    language: str = ""
    statement: str
    count: int
    total: int
    examples: tuple[ConventionExample, ...] = ()


class ConventionsReply(Message):
    """Conventions by topic, and the rules that the repository has written down. Where there is no majority nothing is said."""

    repo: str
    conventions: tuple[Convention, ...]
    rules: tuple[RulesDocument, ...]
    files_read: int
    files: int  # of code, generated and vendored ones left out
    receipt: Receipt


class ContextSection(StrEnum):
    """What documents of a repository are about."""

    VISION = "vision"
    README = "readme"
    ARCHITECTURE = "architecture"
    DECISIONS = "decisions"
    CONTRIBUTING = "contributing"
    CHANGELOG = "changelog"


class RepoContextRequest(ScopedRequest):
    """What a repository says of itself; of one section, or of all."""

    section: ContextSection | None = None


class ContextDocument(Document):
    """Lines of a document of a section."""

    section: ContextSection


class RepoContextReply(Message):
    """Documents by section, the most telling first. `missing` are sections of which no document is indexed."""

    repo: str
    documents: tuple[ContextDocument, ...]
    missing: tuple[ContextSection, ...] = ()
    left_out: int = 0  # documents beside these
    receipt: Receipt


EDIT_CONTEXT = Rpc("search.edit_context", EditContextRequest, EditContextReply)
EXISTING = Rpc("search.existing", ExistingRequest, ExistingReply)
CONVENTIONS = Rpc("search.conventions", ConventionsRequest, ConventionsReply)
REPO_CONTEXT = Rpc("search.repo_context", RepoContextRequest, RepoContextReply)
