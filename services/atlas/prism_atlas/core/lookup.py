"""Resolves what callers name: a symbol, a line of a file, a file, a folder or a package."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prism_atlas.core.graph import NONE, Graph, Mask, Numbers
from prism_contracts.code import ASIDE
from prism_contracts.errors import ErrorCode, PrismError
from prism_resolver.symbol_names import AT_LINE, NameFit, RepoPath, SymbolName

# In these languages, types and namespaces of one name are one symbol, also across files.
OPEN_TYPES = frozenset({"c", "cpp", "objc", "csharp", "ruby"})
# Definitions of one name that are considered.
DEFINITIONS_MAX = 5_000


@dataclass(frozen=True, slots=True)
class NamedSymbol:
    """A symbol of the graph with its names."""

    node: int
    name: str
    qualified_name: str
    path: str


class ResolvedName(NamedTuple):
    """The nodes of the one symbol that a name refers to; none if it is ambiguous."""

    nodes: Numbers
    others: Sequence[int] = ()  # further matches; all matches if the name is ambiguous
    matched: str = ""  # the end of the name that matched, if nothing supports the part before it
    inherited: str = ""  # which member of a supertype it is, as a sentence


def find_symbol(graph: Graph, repo: str, text: str, path: str, preferred: Mask | None = None) -> ResolvedName:
    """Returns the best match of a name; for `path:line` the innermost symbol; for a path the file.

    Among equal matches, preferred kinds win (a flag for each of SYMBOL_KINDS). Raises INVALID_ARGUMENT for
    a line that the file does not have.
    """
    text = text.strip()
    file = graph.find_file(text)
    if file != NONE:
        return ResolvedName(np.array([graph.file_node(file)], np.int32))
    place = AT_LINE.fullmatch(text)
    if place and (file := graph.find_file(place["path"])) != NONE:
        line = int(place["line"])
        if not 1 <= line <= max(1, int(graph.files.lines[file])):
            raise _no_line(graph, file, line)
        return ResolvedName(np.array([symbol_at(graph, file, line)], np.int32))
    name = SymbolName.read(text)
    found = _best_match(graph, name, _matches(graph, repo, name, path), preferred)
    return _overload(graph, found, text)


def _overload(graph: Graph, found: ResolvedName, text: str) -> ResolvedName:
    """Returns the overload whose parameters a name ends with, as answers spell them; all without such parameters."""
    start = text.find("(")
    if start <= 0 or found.nodes.size <= 1 or not text.endswith(")"):
        return found
    wanted = graph.strings.find(", ".join(part.strip() for part in text[start:].split(",")))
    kept = found.nodes[graph.symbols.contract[found.nodes] == wanted]
    return found._replace(nodes=kept) if wanted != NONE and kept.size else found


def symbol_at(graph: Graph, file: int, line: int) -> int:
    """Returns the innermost symbol that contains a line, else the file."""
    symbols = np.asarray(graph.symbols_of(file), np.int32)
    around = symbols[(graph.symbols.start_line[symbols] <= line) & (graph.symbols.end_line[symbols] >= line)]
    if not around.size:
        return graph.file_node(file)
    sizes = graph.symbols.end_line[around] - graph.symbols.start_line[around]
    # If two symbols have the same lines, the inner one comes last.
    return int(around[np.flatnonzero(sizes == sizes.min())[-1]])


def _no_line(graph: Graph, file: int, line: int) -> PrismError:
    count = int(graph.files.lines[file])
    return PrismError(
        ErrorCode.INVALID_ARGUMENT,
        f"{graph.path(file)} has {count} lines; line {line} does not exist.",
        f"Give a line between 1 and {count}, or the name of a symbol.",
        line_count=count,
    )


def find_files(graph: Graph, text: str) -> Numbers:
    """Returns the file with a path, else all files of a folder or package: `acme/store`, `acme.store`."""
    cleaned = text.strip().removeprefix("./").strip("/")
    file = graph.find_file(cleaned)
    if file != NONE:
        return np.array([file], np.int32)
    paths = [graph.path(file) for file in range(len(graph.files))]
    for spelled in dict.fromkeys((cleaned, cleaned.replace("::", "/").replace(".", "/"))):
        for inside in (_is_under, _is_under_suffix, _is_named):
            found = [file for file, path in enumerate(paths) if inside(path, spelled)]
            if found:
                return np.array(found, np.int32)
    return np.array([], np.int32)


def _is_under(path: str, folder: str) -> bool:
    return not folder or folder == "." or path.startswith(f"{folder}/")


def _is_under_suffix(path: str, folder: str) -> bool:
    return f"/{folder}/" in path


def _is_named(path: str, name: str) -> bool:
    """Whether the path ends with this name, with or without its extension."""
    return f"/{path}".rpartition(".")[0].endswith(f"/{name}") or f"/{path}".endswith(f"/{name}")


def _matches(graph: Graph, repo: str, name: SymbolName, path: str) -> list[tuple[NamedSymbol, NameFit]]:
    found = []
    locations: dict[str, RepoPath] = {}
    for definition in _named_symbols(graph, _definitions_named(graph, name)):
        if path and not f"/{definition.path}".endswith(f"/{path.strip('/')}"):
            continue
        location = locations.setdefault(definition.path, RepoPath(repo, definition.path))
        fit = name.fit(definition, location)
        if fit:
            found.append((definition, fit))
    return found


def _definitions_named(graph: Graph, name: SymbolName) -> Numbers:
    """Returns the symbols with any spelling of the name, longer spellings first."""
    names = [*name.longer, name.last]
    found = [symbols for one in names for symbols in (graph.qualified(one), graph.named(one))]
    every = np.concatenate(found)
    _, first = np.unique(every, return_index=True)
    return every[np.sort(first)][:DEFINITIONS_MAX]


def _named_symbols(graph: Graph, nodes: Numbers) -> Iterable[NamedSymbol]:
    symbols, strings = graph.symbols, graph.strings
    for node in nodes.tolist():
        yield NamedSymbol(
            node,
            strings[symbols.name[node]],
            strings[symbols.qualified_name[node]],
            graph.path(int(symbols.file[node])),
        )


def _best_match(
    graph: Graph, name: SymbolName, matches: Sequence[tuple[NamedSymbol, NameFit]], preferred: Mask | None
) -> ResolvedName:
    if not matches:
        return ResolvedName(np.array([], np.int32))
    best = max(fit.degree for _, fit in matches)
    meant = [(definition, fit) for definition, fit in matches if fit.degree == best]
    if preferred is not None:
        # Definitions of the same name in the same file stay, such as `X = None` where class X is unavailable.
        kinds = graph.symbols.kind
        kept = {_identity(definition) for definition, _ in meant if preferred[kinds[definition.node]]}
        meant = [one for one in meant if _identity(one[0]) in kept] or meant
    ordered = sorted(
        ((_priority(graph, definition, fit), definition.node, definition) for definition, fit in meant),
        key=lambda item: item[:2],
    )
    first_rank, _, first = ordered[0]
    rivals = [definition for rank, _, definition in ordered if rank == first_rank]
    one = [definition.node for definition in rivals if _is_same(graph, first, definition)]
    same = set(one)
    # A constructor may be named like its type; it is not another match.
    others = [
        definition.node
        for _, _, definition in ordered
        if definition.node not in same and int(graph.symbols.parent[definition.node]) not in same
    ]
    matched = name.matched_suffix(next(fit for definition, fit in matches if definition is first))
    chosen = one if len(one) == len(rivals) else []
    return ResolvedName(np.array(sorted(chosen), np.int32), others if chosen else [*one, *others], matched)


def _priority(graph: Graph, definition: NamedSymbol, fit: NameFit) -> tuple[bool, bool]:
    """Sort key: whole names first, then code before tests and generated files."""
    flags = graph.strings[graph.files.flags[graph.file_of(definition.node)]]
    return not fit.is_whole, not ASIDE.isdisjoint(flags)


def _identity(definition: NamedSymbol) -> tuple[str, str]:
    return definition.qualified_name, definition.path


def _is_same(graph: Graph, one: NamedSymbol, other: NamedSymbol) -> bool:
    """Whether both are one symbol: overloads, or declarations of one symbol in several files."""
    if one.qualified_name != other.qualified_name:
        return False
    language = graph.strings[graph.files.language[graph.file_of(one.node)]]
    return one.path == other.path or language in OPEN_TYPES
