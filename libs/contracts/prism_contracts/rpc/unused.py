"""Definitions that nothing uses, and the lines of text that hold a name."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.code import SymbolKind
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import GraphReceipt, ScopedRequest
from prism_contracts.rpc.graph import GraphNode
from prism_contracts.types import Cursor, Glob, IndexedName, Language

UNUSED_LIMIT_MAX = 200
# Names of one request. They fit into a message.
NAMES_MAX = 20_000


class UnusedGroup(StrEnum):
    """What is known of a definition without a use in the code."""

    UNUSED = "unused"  # neither the graph nor the text has a use
    TESTS_ONLY = "tests_only"  # only tests use it
    EXPORTED = "exported"  # nothing in the repository uses it, but other repositories may
    UNCLEAR = "unclear"  # the graph has no use, but something named in `doubts` may be one


class DoubtReason(StrEnum):
    """Why a definition may have a use that the graph does not know."""

    EXPORTED = "exported"  # other repositories can import it
    TEXT = "text"  # code, configuration or a template contains the name
    COMPUTED_NAME = "computed_name"  # a string holds the beginning or the end of the name
    CROWDED = "crowded"  # too many lines contain the name to compare them all
    NAMESAKE = "namesake"  # uses of the name lead to another definition
    REGISTERED = "registered"  # a decorator, an annotation or an attribute may register it
    INHERITED = "inherited"  # its type has a supertype outside of the repository
    IMPLICIT = "implicit"  # the language or a library may call a member of this name
    DYNAMIC = "dynamic"  # code of the language looks names up while it runs
    NOT_READ = "not_read"  # the text around the definition could not be read


class UseDoubt(Message):
    """A reason to doubt that a definition is unused, with the line that gives it."""

    reason: DoubtReason
    file_path: str = ""
    line: int = 0
    text: str = ""  # of the line, or what it names
    total: int = 1  # lines with this reason


class UnusedRequest(ScopedRequest):
    """Finds definitions that nothing reaches from entry points, top-level code, exports and tests."""

    path_filter: Glob = ""
    language: Language = ""
    kind: SymbolKind | None = None
    group: UnusedGroup | None = None  # all groups if it is omitted
    limit: Annotated[int, Field(ge=1, le=UNUSED_LIMIT_MAX)] = 50
    cursor: Cursor = ""


class UnusedDefinition(Message):
    """A definition without a use in the code, and what was looked at.

    `certain` is true only without doubts. `users` are the first of those that use it: unused themselves, or tests.
    """

    node: GraphNode
    group: UnusedGroup
    certain: bool = False
    exported: bool = False
    members: int = 0  # definitions in it, which are not listed themselves
    users: tuple[GraphNode, ...] = ()
    total_users: int = 0
    below: int = -1  # position on this page of the listed definition that is its only way in
    namesakes: int = 0  # other definitions of the name
    references_elsewhere: int = 0  # references of the name that lead to other definitions
    text_lines: int = 0  # lines of code that contain the name, all of them explained unless `doubts` has one
    mentions: int = 0  # lines of comments and prose that contain the name
    doubts: tuple[UseDoubt, ...] = ()


class UnusedReply(Message):
    """A page of definitions by group; in a group by file, the outermost of those that use each other first."""

    definitions: tuple[UnusedDefinition, ...]
    counts: dict[UnusedGroup, int]  # on all pages, whatever group was requested
    examined: int  # definitions that pass the filters and could be listed
    not_compared: int = (
        0  # definitions without a use in the graph that were too many to compare with the text
    )
    # Languages whose definitions are not examined, each with the number of its files.
    other_languages: dict[str, int] = {}
    next_cursor: str = ""
    receipt: GraphReceipt


class NamedIn(StrEnum):
    """Where in a file a name stands."""

    CODE = "code"
    STRING = "string"
    COMMENT = "comment"  # or a docstring
    PROSE = "prose"  # Markdown and other prose


class NameLinesRequest(ScopedRequest):
    """Finds the lines that contain names as whole words."""

    names: Annotated[tuple[IndexedName, ...], Field(min_length=1, max_length=NAMES_MAX)]


class NameLinesReply(Message):
    """Lines by name, place and path."""

    lines: str = ""  # packed: by `name<tab>place<tab>path`
    crowded: tuple[str, ...] = ()  # names with more lines than are listed


UNUSED = Rpc("atlas.unused", UnusedRequest, UnusedReply, reads=True)
NAME_LINES = Rpc("search.name_lines", NameLinesRequest, NameLinesReply, deadline_s=60.0, reads=True)
