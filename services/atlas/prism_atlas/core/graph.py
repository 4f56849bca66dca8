"""The read-only graph of a repository: files, symbols, and the references between them.

The graph is columns of numbers without an object per node: a graph of a million edges is mapped from a file
in a millisecond.

A *node* is a symbol or a file. Symbols come first, in order of their file's path and their position in it;
then one node per file, in order of path, for its top level and for the module that an import resolves to. So
the node of file `f` is `len(symbols) + f`. Strings are numbers as well: positions in one table of strings,
sorted by their UTF-8 bytes.
"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.roles import Role
from prism_contracts.code import EdgeKind, EdgeStatus, Flag, ReferenceKind, Strategy, SymbolKind
from prism_contracts.rpc.maps import EntryKind
from prism_resolver.resolution import LookupKind

Numbers = NDArray[np.int32]
Codes = NDArray[np.uint8]
Mask = NDArray[np.bool_]

# The meanings of the codes in columns.
SYMBOL_KINDS = tuple(SymbolKind)
EDGE_KINDS = tuple(EdgeKind)
EDGE_STATUSES = tuple(EdgeStatus)
REFERENCE_KINDS = tuple(ReferenceKind)
LOOKUP_KINDS = tuple(LookupKind)
STRATEGIES = tuple(Strategy)
ENTRY_KINDS = tuple(EntryKind)
ROLES = tuple(Role)

NONE = -1
# Modules with the unit tests of a file, in Rust.
TEST_MODULES = ("tests", "test")


@dataclass(frozen=True, slots=True)
class StringTable:
    """Distinct strings, sorted by their UTF-8 bytes. The first is the empty string."""

    data: NDArray[np.uint8]  # all strings, concatenated
    ends: NDArray[np.int64]  # where each ends in `data`

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, string: int) -> str:
        return self._bytes(int(string)).decode()

    def find(self, text: str) -> int:
        """Returns the number of a string, or NONE."""
        wanted = text.encode()
        found = bisect_left(range(len(self)), wanted, key=self._bytes)
        return found if found < len(self) and self._bytes(found) == wanted else NONE

    def beginning(self, prefix: str) -> range:
        """Returns the numbers of all strings with this prefix."""
        wanted = prefix.encode()
        first = bisect_left(range(len(self)), wanted, key=self._bytes)
        end = bisect_left(range(len(self)), wanted + b"\xff", key=self._bytes)  # no UTF-8 has this byte
        return range(first, end)

    def _bytes(self, string: int) -> bytes:
        start = self.ends[string - 1] if string else 0
        return self.data[start : self.ends[string]].tobytes()


@dataclass(frozen=True, slots=True)
class FileTable:
    """Indexed files, in order of path."""

    path: Numbers  # string
    id: Numbers  # string: id of the file point
    generation: Numbers  # string: the content that the graph was built from
    language: Numbers  # string
    flags: Numbers  # string: letters of its purpose, as on the file point
    lines: Numbers
    # Node, by file, plus one: the symbols of `f` end where those of `f + 1` begin.
    first_symbol: Numbers

    def __len__(self) -> int:
        return len(self.path)


@dataclass(frozen=True, slots=True)
class SymbolTable:
    """Definitions. Lines as in `prism_contracts.code.Symbol`."""

    file: Numbers
    name: Numbers  # string
    qualified_name: Numbers  # string
    # String: what implicit interfaces compare, as in `go_methods`; where names are overloaded, the parameters.
    contract: Numbers
    kind: Codes  # of SYMBOL_KINDS
    start_line: Numbers
    end_line: Numbers
    name_line: Numbers
    exported: NDArray[np.bool_]
    bodiless: NDArray[np.bool_]
    # Whether definitions of its qualified name in other files are the same symbol.
    shared: NDArray[np.bool_]
    parent: Numbers  # node of the enclosing symbol, or NONE
    by_name: Numbers  # nodes in order of name
    by_qualified_name: Numbers  # nodes in order of qualified name

    def __len__(self) -> int:
        return len(self.file)


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """Resolved references, one row per meaning, in order of source and line."""

    source: Numbers  # node that encloses the reference
    target: Numbers  # node
    kind: Codes  # of EDGE_KINDS
    status: Codes  # of EDGE_STATUSES
    strategy: Codes  # of STRATEGIES
    line: Numbers  # where the reference is, in the source's file
    first_out: NDArray[np.int64]  # by node, plus one: where the edges of a source begin
    first_in: NDArray[np.int64]  # by node, plus one: where the edges of a target begin in `by_target`
    by_target: Numbers  # edges in order of target, then of source

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True)
class ReferenceTable:
    """References to names that the repository defines, in order of file and position in the file."""

    source: Numbers  # node that encloses it
    name: Numbers  # string
    line: Numbers
    kind: Codes  # of REFERENCE_KINDS
    status: Codes  # of EDGE_STATUSES
    strategy: Codes  # of STRATEGIES
    sought: Codes  # of LOOKUP_KINDS: what an unresolved name may refer to
    has_qualifier: NDArray[np.bool_]
    by_name: Numbers  # references in order of name

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True)
class MeaningTable:
    """Pairs of a reference and its definition, in order of definition, then of reference."""

    target: Numbers  # node
    reference: Numbers

    def __len__(self) -> int:
        return len(self.target)


@dataclass(frozen=True, slots=True)
class AliasTable:
    """References that give a name an alias (`import { open as start }`), by alias, then by reference."""

    name: Numbers  # string
    alias: Numbers  # string
    reference: Numbers

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, slots=True)
class ExternalTable:
    """Imports that resolve to no file of the repository, in order of file and line."""

    file: Numbers
    module: Numbers  # string: as written
    line: Numbers
    first: Numbers  # by file, plus one: where the rows of a file begin

    def __len__(self) -> int:
        return len(self.file)


@dataclass(frozen=True, slots=True)
class OutsideBaseTable:
    """Supertypes that types declare and the repository does not define, in order of name, then of node."""

    node: Numbers  # the type that declares it; its file, if that does not define the type
    name: Numbers  # string: without the module and type arguments
    module: (
        Numbers  # string: where the file imports it from, or what stands before it; empty if nothing says so
    )
    line: Numbers
    kind: Codes  # of EDGE_KINDS

    def __len__(self) -> int:
        return len(self.node)


@dataclass(frozen=True, slots=True)
class EntryTable:
    """Entry points, in order of node, each node once per kind."""

    node: Numbers
    kind: Codes  # of ENTRY_KINDS
    line: Numbers

    def __len__(self) -> int:
        return len(self.node)


@dataclass(frozen=True, slots=True)
class RoleTable:
    """What symbols are to test runners, in order of file; requests of fixtures are edges instead."""

    node: Numbers
    role: Codes  # of ROLES

    def __len__(self) -> int:
        return len(self.node)


@dataclass(frozen=True, slots=True)
class Graph:
    """The whole graph. Nodes, edges and files are numbers; no method creates an object for one."""

    strings: StringTable
    files: FileTable
    symbols: SymbolTable
    edges: EdgeTable
    references: ReferenceTable
    meanings: MeaningTable
    aliases: AliasTable
    externals: ExternalTable
    outside_bases: OutsideBaseTable
    entries: EntryTable
    roles: RoleTable

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.symbols) + len(self.files)

    def file_node(self, file: int) -> int:
        """Returns the node of a file."""
        return len(self.symbols) + file

    def file_of(self, node: int) -> int:
        """Returns the file of a node."""
        symbols = len(self.symbols)
        return node - symbols if node >= symbols else int(self.symbols.file[node])

    def node_files(self) -> Numbers:
        """Returns the file of every node."""
        return np.concatenate([self.symbols.file, np.arange(len(self.files), dtype=np.int32)])

    def files_of(self, nodes: Numbers) -> Numbers:
        """Returns the file of each of these nodes."""
        files = nodes - np.int32(len(self.symbols))
        inside = files < 0
        files[inside] = self.symbols.file[nodes[inside]]
        return files

    def flagged(self, letter: str) -> NDArray[np.bool_]:
        """Returns by file whether its flags contain a letter."""
        flags = np.unique(self.files.flags)
        return np.isin(self.files.flags, [flag for flag in flags if letter in self.strings[flag]])

    def with_role(self, role: Role) -> Numbers:
        """Returns the nodes that have a role."""
        found: Numbers = self.roles.node[self.roles.role == ROLES.index(role)]
        return found

    def in_tests(self) -> NDArray[np.bool_]:
        """Returns by node whether it is in a test: in a file of tests, or in a module of unit tests of Rust."""
        found: NDArray[np.bool_] = self.flagged(Flag.TEST)[self.node_files()]
        for name in TEST_MODULES:
            for module in self.named(name).tolist():
                if self._is_test_module(module):
                    file = int(self.symbols.file[module])
                    inside = np.arange(self.files.first_symbol[file], self.files.first_symbol[file + 1])
                    first, last = self.symbols.start_line[module], self.symbols.end_line[module]
                    lines = self.symbols.name_line[inside]
                    found[inside[(lines >= first) & (lines <= last)]] = True
        return found

    def is_in_test(self, node: int) -> bool:
        """Returns whether one node is in a test, as in `in_tests`."""
        if Flag.TEST in self.strings[self.files.flags[self.file_of(node)]]:
            return True
        while not self.is_file(node) and node != NONE:
            if self.strings[self.symbols.name[node]] in TEST_MODULES and self._is_test_module(node):
                return True
            node = int(self.symbols.parent[node])
        return False

    def _is_test_module(self, node: int) -> bool:
        language = self.strings[self.files.language[self.symbols.file[node]]]
        return language == "rust" and SYMBOL_KINDS[self.symbols.kind[node]] is SymbolKind.MODULE

    def is_file(self, node: int) -> bool:
        """Whether a node is a file, not a symbol."""
        return node >= len(self.symbols)

    def path(self, file: int) -> str:
        """Returns the path of a file."""
        return self.strings[self.files.path[file]]

    def find_file(self, path: str) -> int:
        """Returns the file with this path, or NONE."""
        string = self.strings.find(path)
        first, end = _run(self.files.path, string)
        return first if string != NONE and first < end else NONE

    def symbols_of(self, file: int) -> range:
        """Returns the symbols of a file, in order."""
        return range(int(self.files.first_symbol[file]), int(self.files.first_symbol[file + 1]))

    def named(self, name: str) -> Numbers:
        """Returns the symbols with this name, in order of path and position."""
        return _those(self.symbols.name, self.symbols.by_name, self._numbers(name))

    def qualified(self, qualified_name: str) -> Numbers:
        """Returns the symbols with this qualified name, in order of path and position."""
        return _those(
            self.symbols.qualified_name, self.symbols.by_qualified_name, self._numbers(qualified_name)
        )

    def qualified_within(self, qualified_name: str) -> Numbers:
        """Returns the symbols nested in this qualified name, in order of qualified name."""
        inside = self.strings.beginning(f"{qualified_name}.")
        return _those(self.symbols.qualified_name, self.symbols.by_qualified_name, inside)

    def references_to(self, name: str) -> Numbers:
        """Returns the references to a name, in order of file and position."""
        return _those(self.references.name, self.references.by_name, self._numbers(name))

    def meaning(self, node: int) -> Numbers:
        """Returns the references that resolve to a node, in order of file and position."""
        first, end = _run(self.meanings.target, node)
        return self.meanings.reference[first:end]

    def names_of(self, alias: str) -> list[str]:
        """Returns the names that files import under this alias."""
        first, end = _run(self.aliases.alias, self.strings.find(alias))
        return [self.strings[name] for name in np.unique(self.aliases.name[first:end]).tolist()]

    def aliased(self, alias: str) -> Numbers:
        """Returns the references that introduce this alias, in order of file and position."""
        first, end = _run(self.aliases.alias, self.strings.find(alias))
        return self.aliases.reference[first:end]

    def outside_bases_named(self, name: str) -> slice:
        """Returns the rows of `outside_bases` with this name, as a slice of every column."""
        return slice(*_run(self.outside_bases.name, self.strings.find(name)))

    def edges_out(self, node: int) -> slice:
        """Returns the edges that leave a node, as a slice of every column of `edges`."""
        return slice(int(self.edges.first_out[node]), int(self.edges.first_out[node + 1]))

    def edges_in(self, node: int) -> Numbers:
        """Returns the edges that lead to a node."""
        first, end = self.edges.first_in[node], self.edges.first_in[node + 1]
        return self.edges.by_target[first:end]

    def _numbers(self, text: str) -> range:
        string = self.strings.find(text)
        return range(string, string + (string != NONE))


def _run(ordered: Numbers, number: int) -> tuple[int, int]:
    """Returns where a number begins and ends in a sorted column.

    The keys have the column's type: for another type, NumPy would first convert the whole column.
    """
    first, end = np.searchsorted(ordered, np.array([number, number + 1], ordered.dtype))
    return int(first), int(end)


def _those(column: Numbers, order: Numbers, wanted: range) -> Numbers:
    """Returns the rows whose column is in `wanted`; `order` sorts the column."""
    first = bisect_left(order, wanted.start, key=column.__getitem__)
    end = bisect_left(order, wanted.stop, first, key=column.__getitem__)
    return order[first:end]
