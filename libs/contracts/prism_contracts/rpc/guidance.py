"""Context for writing code: edit context, existing code, conventions, documents."""

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
from prism_contracts.rpc.common import EnclosingSymbol, Receipt, ScopedRequest
from prism_contracts.rpc.graph import RunCommand
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
    """Collects the context of an edit.

    `path` is the file of the definition; with lines it replaces the symbol.
    """

    symbol: SymbolName = ""
    path: FilePath = ""
    start_line: LineOrNone = 0
    end_line: LineOrNone = 0  # 0: the same line


class EditRisk(StrEnum):
    """Why a change may break code outside the file."""

    EXPORTED = "exported"
    IMPLEMENTS = "implements"  # an interface or a base class requires it
    OVERRIDDEN = "overridden"  # subclasses override it, or derive from it
    OTHER_REPOSITORIES = "other_repositories"


class EditWarning(Message):
    """A risk in one sentence, with the places that show it (`path:line name`)."""

    risk: EditRisk
    text: str
    places: tuple[str, ...] = ()


class ReachingTest(Message):
    """A test that uses the symbol, directly or through the caller `via`.

    `status` belongs to the less certain edge. `around` is the symbol with its range and group, as far as they are known;
    without it, `line` is the line of the use.
    """

    file_path: str
    line: int
    symbol: str
    status: EdgeStatus
    via: str = ""
    around: EnclosingSymbol | None = None


class SiblingKind(StrEnum):
    """Why another definition probably has to change too."""

    COUNTERPART = "counterpart"  # the declaration or the body of the same symbol
    SAME_METHOD = "same_method"  # the same method in a class with the same base


class Sibling(Message):
    """Another definition that probably has to change too."""

    kind: SiblingKind
    definition: Definition


class Document(Message):
    """Quoted lines of a document for people or agents. `headings` lists all its headings: `12 ## Style`."""

    file_path: str
    line_count: int
    start_line: int
    end_line: int
    content: str
    headings: tuple[str, ...] = ()


class RulesDocument(Document):
    """Rules for a path; `applies` says why they apply."""

    applies: str


class RecentChanges(Message):
    """Recent changes of a file. `note` says where the known history ends."""

    commits_90_days: int
    commits_12_months: int
    last: HistoryCommit
    note: str = ""


class EditContextReply(Message):
    """The context of an edit, the most important first.

    Without `symbol` the lines belong to no definition.
    """

    repo: str
    file_path: str
    language: str
    start_line: int
    end_line: int
    content: str  # of the requested lines, up to the limit of one read
    symbol: Symbol | None = None
    matched: str = ""
    others: tuple[Definition, ...] = ()  # other definitions of the name
    total_others: int = 0
    warnings: tuple[EditWarning, ...] = ()
    references: SymbolReferences | None = None
    tests: tuple[ReachingTest, ...] = ()
    test_counts: dict[EdgeStatus, int] = {}  # tests in total
    test_depth: int = 0  # how many uses deep they were searched
    # Dependents in the graph, and the depth of that search; None if the graph did not answer. `impact` lists
    # them.
    graph_tests: int | None = None
    graph_test_depth: int = 0
    test_commands: tuple[RunCommand, ...] = ()  # run the listed tests
    test_files: tuple[str, ...] = ()  # tests that are named after the file
    siblings: tuple[Sibling, ...] = ()
    rules: tuple[RulesDocument, ...] = ()
    changes: RecentChanges | None = None  # None: no history is known
    notes: tuple[str, ...] = ()  # what was not searched, and which of the requested lines are missing
    receipt: Receipt


class ExistingRequest(ScopedRequest):
    """Finds existing code for an intent: words, or the signature of a planned function."""

    intent: Query
    language: Language = ""
    limit: Annotated[int, Field(ge=1, le=EXISTING_MAX)] = EXISTING_MAX


class Verdict(StrEnum):
    """How likely a definition matches the intent."""

    LIKELY = "likely"
    MAYBE = "maybe"
    NONE = "none"


class ExistingDefinition(Message):
    """A definition that may match, with its evidence.

    Scores are from 0 to 1 and compare between questions.
    """

    definition: Definition
    verdict: Verdict
    score: float
    reasons: tuple[str, ...]
    aside: str = ""  # what its file is, if code is rarely reused from there: `in tests`


class WordRole(StrEnum):
    """What a line with a word is, the most telling first."""

    NAME = "name"  # it names a definition
    CODE = "code"
    COMMENT = "comment"


class WordPlace(Message):
    """A line that has a word of the intent, perhaps with another ending."""

    word: str
    repo: str
    file_path: str
    line: int
    text: str
    role: WordRole


class ExistingReply(Message):
    """Definitions, best first.

    The verdict is about the first. `none` with definitions: they are only similar.
    """

    verdict: Verdict
    existing: tuple[ExistingDefinition, ...]
    # The words of the intent, and those of them that no indexed file contains.
    words: tuple[str, ...] = ()
    absent_words: tuple[str, ...] = ()
    # Without a likely definition: some places of each of the rarest words that occur.
    places: tuple[WordPlace, ...] = ()
    receipt: Receipt


class ConventionsRequest(ScopedRequest):
    """Reports the coding conventions of a repository, in one language or all."""

    language: Language = ""


class ConventionExample(Message):
    """A place that follows a convention."""

    file_path: str
    line: int
    text: str


class Convention(Message):
    """A convention that `count` of `total` places follow. An empty language: all languages."""

    topic: str
    language: str = ""
    statement: str
    count: int
    total: int
    examples: tuple[ConventionExample, ...] = ()


class ConventionsReply(Message):
    """Conventions by topic, and the written rules of the repository.

    Topics without a majority are omitted.
    """

    repo: str
    conventions: tuple[Convention, ...]
    rules: tuple[RulesDocument, ...]
    files_read: int
    files: int  # source files, without generated and vendored ones
    receipt: Receipt


class ContextSection(StrEnum):
    """The kinds of documents of a repository."""

    VISION = "vision"
    README = "readme"
    ARCHITECTURE = "architecture"
    DECISIONS = "decisions"
    CONTRIBUTING = "contributing"
    CHANGELOG = "changelog"


class RepoContextRequest(ScopedRequest):
    """Quotes the documents of a repository, of some sections or all."""

    section: ContextSection | None = None
    sections: Annotated[tuple[ContextSection, ...], Field(max_length=len(ContextSection))] = ()  # and these


class ContextDocument(Document):
    """Quoted lines of a document of a section."""

    section: ContextSection


class RepoContextReply(Message):
    """Documents by section, the most relevant first. `missing` lists sections without an indexed document."""

    repo: str
    documents: tuple[ContextDocument, ...]
    missing: tuple[ContextSection, ...] = ()
    left_out: int = 0  # further documents that are not quoted
    receipt: Receipt


EDIT_CONTEXT = Rpc("search.edit_context", EditContextRequest, EditContextReply, reads=True)
EXISTING = Rpc("search.existing", ExistingRequest, ExistingReply, reads=True)
CONVENTIONS = Rpc("search.conventions", ConventionsRequest, ConventionsReply, reads=True)
REPO_CONTEXT = Rpc("search.repo_context", RepoContextRequest, RepoContextReply, reads=True)
