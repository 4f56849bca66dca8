"""A repository as a whole: modules by rank, and the architecture."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import GraphReceipt, ScopedRequest
from prism_contracts.types import (
    Cursor,
    FilePath,
    Glob,
    Query,
)

MODULES_LIMIT_MAX = 500
ARCHITECTURE_LIMIT_MAX = 200


class Tier(StrEnum):
    """How much hangs on a file: half of all rank is in the core, nine tenths in the core and what is significant."""

    CORE = "core"
    SIGNIFICANT = "significant"
    PERIPHERAL = "peripheral"


class ModuleMapRequest(ScopedRequest):
    """The files that most hangs on; with a query, those that what it names hangs on."""

    query: Query = ""
    path_filter: Glob = ""
    limit: Annotated[int, Field(ge=1, le=MODULES_LIMIT_MAX)] = 30
    cursor: Cursor = ""


class ModuleEntry(Message):
    """A file. `relative_score` is its rank as a share of the best one's."""

    file_path: str
    language: str
    lines: int
    tier: Tier
    relative_score: float
    summary: str = ""  # what it says of itself
    top_symbols: tuple[str, ...] = ()  # each as `class Session`, the ones first that most hangs on
    commits_90_days: int | None = None  # None: nothing is known of when it changed


class ModuleMapReply(Message):
    """Files, best first. `total` and `tiers` count all that the path filter lets through."""

    repo: str
    entries: tuple[ModuleEntry, ...]
    total: int
    tiers: dict[Tier, int]
    next_cursor: str = ""
    receipt: GraphReceipt


class EntryKind(StrEnum):
    """How the outside comes in."""

    MAIN = "main"  # where a program begins
    SCRIPT = "script"  # a file that is run
    COMMAND = "command"  # of a command line
    ROUTE = "route"  # of HTTP
    ROOT = "root"  # a file that uses many others and that none uses


class EntryPoint(Message):
    """A place where the outside comes in. `symbol` is empty for a file as a whole."""

    kind: EntryKind
    file_path: str
    line: int
    symbol: str = ""


class ComponentSummary(Message):
    """Files that use each other more than others. `rank` is their share of all rank."""

    id: int
    name: str
    files: int
    lines: int
    rank: float
    main_files: tuple[str, ...]
    main_symbols: tuple[str, ...]


class ComponentDependency(Message):
    """One component uses another. `example` is the pair of files with the most references between them."""

    source: str
    target: str
    references: int  # resolved
    candidates: int
    example: tuple[str, str]


class Cycle(Message):
    """Files or components each of which needs all others. `path` is a shortest way around, back to where it began."""

    members: int
    path: tuple[str, ...]


class Spread(Message):
    """What is in several: a folder over components, or a component over folders. `over` counts files, most first."""

    name: str
    files: int
    over: dict[str, int]


class Outlier(Message):
    """A file that uses and is used by another component than most of its folder."""

    file_path: str
    component: str
    folder_component: str


class Divergence(Message):
    """How far folders and components agree: normalized mutual information, 1 if they are the same, and where they differ."""

    agreement: float
    folders: tuple[Spread, ...]
    components: tuple[Spread, ...]
    outliers: tuple[Outlier, ...]


class Partition(Message):
    """A part of a monorepo that is built by itself: the folder of a manifest."""

    folder: str
    manifest: str
    files: int


class Interface(Message):
    """A symbol, or a file, of a component that others use."""

    file_path: str
    line: int
    symbol: str
    references: int


class Overview(Message):
    """A repository by its components. `totals` counts what the lists are the first of."""

    entry_points: tuple[EntryPoint, ...]
    components: tuple[ComponentSummary, ...]
    dependencies: tuple[ComponentDependency, ...]
    file_cycles: tuple[Cycle, ...]
    component_cycles: tuple[Cycle, ...]
    divergence: Divergence
    partitions: tuple[Partition, ...]
    totals: dict[str, int]


class ComponentDetail(Message):
    """One component from inside. `totals` counts what the lists are the first of."""

    summary: ComponentSummary
    files: tuple[ModuleEntry, ...]
    interface: tuple[Interface, ...]
    uses: tuple[ComponentDependency, ...]
    used_by: tuple[ComponentDependency, ...]
    external_modules: dict[str, int]  # by files that import them
    entry_points: tuple[EntryPoint, ...]
    cycles: tuple[Cycle, ...]
    totals: dict[str, int]


class ArchitectureRequest(ScopedRequest):
    """What a repository consists of, or one of its components by name or id. `limit` is that of each list."""

    component: FilePath = ""
    limit: Annotated[int, Field(ge=1, le=ARCHITECTURE_LIMIT_MAX)] = 20


class ArchitectureReply(Message):
    """Exactly one of the two is set."""

    repo: str
    overview: Overview | None = None
    component: ComponentDetail | None = None
    receipt: GraphReceipt


MODULE_MAP = Rpc("atlas.module_map", ModuleMapRequest, ModuleMapReply)
ARCHITECTURE = Rpc("atlas.architecture", ArchitectureRequest, ArchitectureReply)
