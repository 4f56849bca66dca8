"""The types that most code depends on: what each says of itself, its fields and methods, what it extends."""

from collections.abc import Iterator, Sequence

from prism_contracts.code import Symbol
from prism_contracts.records import WikiTocEntry
from prism_contracts.rpc.graph import TreeBranch, TypeHierarchyReply
from prism_resolver.prose import first_sentence
from prism_scribe.core.wiki import diagrams, markdown
from prism_scribe.core.wiki.contents import outlined
from prism_scribe.core.wiki.orientation import Evidence, Orientation, TypeInFile, types_of

TYPES_MAX = 20
TYPES_OF_FILE_MAX = 3
MEMBERS_MAX = 40
CONSTRUCTOR_CHARS_MAX = 600
RELATIVES_MAX = 6


def lines(orientation: Orientation, evidence: Evidence, _: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    types = main_types(orientation, evidence)
    lead = (
        "These types are in the files that most other code depends on. Their order is that of the files; "
        "within a file, the most depended-upon type comes first."
    )
    if not types:
        return ["# Data types", "", "The main files of the repository define no types that Prism can list."]
    described = [line for one in types for line in _type(orientation, one, evidence)]
    return ["# Data types", "", lead, "", *_diagram(orientation, types, evidence), *described]


def main_types(orientation: Orientation, evidence: Evidence) -> list[TypeInFile]:
    """Returns the types to describe, from the outlines of the main files."""
    ranks = {
        entry.file_path: [name.partition(" ")[2] for name in entry.top_symbols]
        for entry in orientation.modules
    }
    found: list[TypeInFile] = []
    for path in outlined(orientation):
        outline = evidence.outlines.get(path)
        types = types_of(path, outline.symbols) if outline else []
        ranked = ranks.get(path, [])
        types.sort(
            key=lambda one: ranked.index(one.symbol.name) if one.symbol.name in ranked else len(ranked)
        )
        found += types[:TYPES_OF_FILE_MAX]
    return found[:TYPES_MAX]


def _type(orientation: Orientation, one: TypeInFile, evidence: Evidence) -> Iterator[str]:
    symbol = one.symbol
    yield f"## {markdown.code(symbol.qualified_name)}"
    yield ""
    said = markdown.text(first_sentence(symbol.docstring))
    yield f"A {symbol.kind.value} in {markdown.place(one.path, symbol.start_line, symbol.end_line)}. {said}".rstrip()
    yield ""
    if symbol.signature:
        yield from markdown.block([symbol.signature])
        yield ""
    hierarchy = evidence.types.get((one.path, symbol.qualified_name))
    relations = [*_relatives(orientation, hierarchy)] if hierarchy else []
    members = [
        *_made_by(one),
        *_members("Fields", one.path, one.fields),
        *_members("Methods", one.path, one.methods),
    ]
    if relations or members:
        yield from [*relations, *members]
        yield ""


def _made_by(one: TypeInFile) -> Iterator[str]:
    """Yields the constructor, whose parameters are fields in many languages."""
    if one.constructor and one.constructor.signature:
        signature = markdown.code(one.constructor.signature, CONSTRUCTOR_CHARS_MAX)
        yield f"- Made by {signature} ({markdown.place(one.path, one.constructor.name_line)})."


def _relatives(orientation: Orientation, hierarchy: TypeHierarchyReply) -> Iterator[str]:
    supers = [branch for branch in hierarchy.supertypes if branch.depth == 1]
    if supers:
        yield f"- Extends {markdown.joined([_relative(branch) for branch in supers[:RELATIVES_MAX]])}."
    subs = [
        branch
        for branch in hierarchy.subtypes
        if branch.depth == 1 and not orientation.is_test(branch.node.file_path)
    ]
    if subs:
        names = [_relative(branch) for branch in subs[:RELATIVES_MAX]]
        yield f"- Extended by {markdown.joined(names, len(subs))}."


def _relative(branch: TreeBranch) -> str:
    node = branch.node
    return f"{markdown.code(node.symbol or node.file_path)} ({markdown.place(node.file_path, node.line)})"


def _members(title: str, path: str, members: Sequence[Symbol]) -> Iterator[str]:
    public = list({member.name: member for member in members if not member.name.startswith("_")}.values())
    if not public:
        return
    names = [f"{markdown.code(member.name)} (line {member.name_line})" for member in public[:MEMBERS_MAX]]
    yield f"- {title} in {markdown.code(path)}: {markdown.joined(names, len(public))}."


def _diagram(orientation: Orientation, types: Sequence[TypeInFile], evidence: Evidence) -> list[str]:
    edges = []
    labels = {}
    for one in types:
        hierarchy = evidence.types.get((one.path, one.symbol.qualified_name))
        here = f"{one.path}:{one.symbol.qualified_name}"
        labels[here] = one.symbol.qualified_name
        for branch, is_super in _direct(hierarchy):
            node = branch.node
            if orientation.is_test(node.file_path):
                continue
            there = f"{node.file_path}:{node.symbol}"
            labels[there] = node.symbol or node.file_path
            edges.append((here, there, "") if is_super else (there, here, ""))
    chart = diagrams.flowchart(list(dict.fromkeys(edges)), labels, direction="BT")
    return ["An arrow means: extends or implements.", "", *chart] if chart else []


def _direct(hierarchy: TypeHierarchyReply | None) -> Iterator[tuple[TreeBranch, bool]]:
    if hierarchy is None:
        return
    yield from ((branch, True) for branch in hierarchy.supertypes if branch.depth == 1)
    yield from ((branch, False) for branch in hierarchy.subtypes[:RELATIVES_MAX] if branch.depth == 1)
