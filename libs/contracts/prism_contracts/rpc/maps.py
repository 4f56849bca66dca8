"""The whole repository: modules by rank, and the architecture."""

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
    """How depended-upon a file is.

    The core holds half of all rank; core and significant files hold nine tenths.
    """

    CORE = "core"
    SIGNIFICANT = "significant"
    PERIPHERAL = "peripheral"


class ModuleMapRequest(ScopedRequest):
    """Lists the most depended-upon files; with a query, those that the matching files depend on."""

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
    summary: str = ""  # one sentence about the file
    content: str = ""  # address of the content that the graph was built from
    used_by: int = 0  # files with resolved references to it, tests included
    top_symbols: tuple[str, ...] = ()  # each as `class Session`, the most depended-upon first
    commits_90_days: int | None = None  # None: no history is known


class ModuleMapReply(Message):
    """Files, best first. `total` and `tiers` count all files that match the path filter."""

    repo: str
    entries: tuple[ModuleEntry, ...]
    total: int
    tiers: dict[Tier, int]
    next_cursor: str = ""
    receipt: GraphReceipt


class EntryKind(StrEnum):
    """The kind of an entry point."""

    MAIN = "main"  # a program's main function
    SCRIPT = "script"  # a script
    COMMAND = "command"  # a command-line command
    ROUTE = "route"  # an HTTP route
    ROOT = "root"  # a file that uses many others and is used by none


class EntryPoint(Message):
    """An entry point. `symbol` is empty for a whole file."""

    kind: EntryKind
    file_path: str
    line: int
    symbol: str = ""


class ComponentSummary(Message):
    """A community: files that use each other more than others. `rank` is their share of all rank."""

    id: int
    name: str
    files: int
    lines: int
    rank: float
    main_files: tuple[str, ...]
    main_symbols: tuple[str, ...]
    description: str = ""  # what its main file is, and which components use it


class ComponentDependency(Message):
    """One component uses another. `example` is the pair of files with the most references between them."""

    source: str
    target: str
    references: int  # resolved references
    candidates: int
    example: tuple[str, str]


class Cycle(Message):
    """A dependency cycle: each member depends on all others.

    `path` is a shortest cycle, back to its start.
    """

    members: int
    path: tuple[str, ...]


class Spread(Message):
    """A folder spread over components, or a component spread over folders.

    `over` counts files, most first.
    """

    name: str
    files: int
    over: dict[str, int]


class Outlier(Message):
    """A file that belongs to another component than most of its folder."""

    file_path: str
    component: str
    folder_component: str


class Divergence(Message):
    """How well folders match components: normalized mutual information (1: identical), and where they differ."""

    agreement: float
    folders: tuple[Spread, ...]
    components: tuple[Spread, ...]
    outliers: tuple[Outlier, ...]


class Partition(Message):
    """A package of a monorepo: the folder of a manifest."""

    folder: str
    manifest: str
    files: int


class Interface(Message):
    """A symbol or file of a component that other components use."""

    file_path: str
    line: int
    symbol: str
    references: int


class Overview(Message):
    """A repository by its components. `totals` has the full lengths of the lists."""

    entry_points: tuple[EntryPoint, ...]
    components: tuple[ComponentSummary, ...]
    dependencies: tuple[ComponentDependency, ...]
    file_cycles: tuple[Cycle, ...]
    component_cycles: tuple[Cycle, ...]
    divergence: Divergence
    partitions: tuple[Partition, ...]
    totals: dict[str, int]


class ComponentDetail(Message):
    """The inside of one component. `totals` has the full lengths of the lists."""

    summary: ComponentSummary
    files: tuple[ModuleEntry, ...]
    interface: tuple[Interface, ...]
    uses: tuple[ComponentDependency, ...]
    used_by: tuple[ComponentDependency, ...]
    external_modules: dict[str, int]  # by the number of files that import them
    entry_points: tuple[EntryPoint, ...]
    cycles: tuple[Cycle, ...]
    totals: dict[str, int]


class ArchitectureRequest(ScopedRequest):
    """Describes the components of a repository, or one of them by name or id.

    `limit` applies to each list. With `by_folder`, folders of source files are the components.
    """

    component: FilePath = ""
    by_folder: bool = False
    limit: Annotated[int, Field(ge=1, le=ARCHITECTURE_LIMIT_MAX)] = 20


class ArchitectureReply(Message):
    """The overview, or one component: exactly one of the two is set."""

    repo: str
    overview: Overview | None = None
    component: ComponentDetail | None = None
    receipt: GraphReceipt


MODULE_MAP = Rpc("atlas.module_map", ModuleMapRequest, ModuleMapReply, reads=True)
ARCHITECTURE = Rpc("atlas.architecture", ArchitectureRequest, ArchitectureReply, reads=True)
