"""The types that most code depends on: what each says of itself, its fields and methods, what it extends."""

import re
from collections.abc import Iterator, Sequence

from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.records import WikiTocEntry
from prism_contracts.rpc.graph import TreeBranch, TypeHierarchyReply
from prism_resolver.prose import first_sentence
from prism_scribe.core.wiki import declarations, diagrams, excerpts, markdown, prose
from prism_scribe.core.wiki.contents import surveyed
from prism_scribe.core.wiki.orientation import Evidence, Orientation, TypeInFile, types_of

TYPES_MAX = 24
TYPES_OF_FILE_MAX = 4
FIELDS_MAX = 60
METHODS_MAX = 16
# The page ends with a list of the types for whose members there is no more room.
CHARS_MAX = 52_000
LISTED_MAX = 60
CONSTRUCTOR_CHARS_MAX = 600
CONSTRUCTOR_LINES_MAX = 30
RELATIVES_MAX = 6
DECLARATION_LINES_MAX = 24
# A type that documents name comes as early as one that is so many files before it.
MENTIONED_FILES = 15
DIAGRAM_TYPES_MAX = 12
DOCUMENTATION_CHARS_MAX = 600  # of one paragraph
BODY_LINES_MAX = 2
PARAMETERS_MAX = 20
PARAMETER_CHARS_MAX = 240
# `self.rate: int = rate`, `this.rate = rate`, `@rate = rate`
_ATTRIBUTE = re.compile(r"^\s*(?:self\.|this\.|@)(?P<name>[A-Za-z]\w*)\s*(?::[^=]+)?=(?!=)")
_ABOVE = re.compile(r"^(?:#:?|//)\s")
_CLOSING = frozenset({"{", "}", "end", "});", "};"})
# What operators, conditions and calls of an object mean.
_SPECIAL = re.compile(
    r"^__(?:bool|eq|lt|call|len|iter|next|contains|getitem|setitem|getattr|enter|exit|hash|add|or)__$"
)


def lines(orientation: Orientation, evidence: Evidence, _: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    types = main_types(orientation, evidence)
    lead = (
        "These types are in the files that most other code depends on, or in the examples of the documents. "
        "Each row has the line of its declaration in the file of the type."
    )
    if not types:
        return ["# Data types", "", "The main files of the repository define no types that Prism can list."]
    described: list[str] = []
    room, shown = CHARS_MAX, 0
    for one in types[:TYPES_MAX]:
        section = [*_type(orientation, one, evidence)]
        room -= sum(map(len, section))
        if room < 0 and shown:
            break
        described += section
        shown += 1
    diagram = _diagram(orientation, types[:DIAGRAM_TYPES_MAX], evidence)
    return ["# Data types", "", lead, "", *diagram, *described, *_listed(types[shown:])]


def main_types(orientation: Orientation, evidence: Evidence) -> list[TypeInFile]:
    """Returns the types to describe, from the outlines of the main files."""
    ranks = {
        entry.file_path: [name.partition(" ")[2] for name in entry.top_symbols]
        for entry in orientation.modules
    }
    mentioned = prose.names_in_code(orientation.documents)
    found: list[tuple[int, TypeInFile]] = []
    for position, path in enumerate(surveyed(orientation)):
        outline = evidence.outlines.get(path)
        types = [one for one in types_of(path, outline.symbols) if _holds(one)] if outline else []
        if outline and outline.language == "elixir":
            types = [*_structs(path, outline.symbols, evidence), *types]
        ranked = ranks.get(path, [])
        types.sort(
            key=lambda one: ranked.index(one.symbol.name) if one.symbol.name in ranked else len(ranked)
        )
        for one in types[:TYPES_OF_FILE_MAX]:
            name = one.symbol.name.rpartition(".")[2]
            earlier = MENTIONED_FILES if name[:1].isupper() and mentioned[name] else 0
            found.append((position - earlier, one))
    return [one for _, one in sorted(found, key=lambda item: item[0])]


def _holds(one: TypeInFile) -> bool:
    """Whether a type says something: an error without members is on the page of errors."""
    return bool(one.fields or one.methods or one.constructor or one.symbol.kind is SymbolKind.TYPE)


def _structs(path: str, symbols: Sequence[Symbol], evidence: Evidence) -> list[TypeInFile]:
    """Returns the modules of Elixir that define a struct."""
    return [
        TypeInFile(path, symbol, fields=(), methods=())
        for symbol in symbols
        if symbol.kind is SymbolKind.MODULE and _struct_line(evidence, path, symbol)
    ]


def _struct_line(evidence: Evidence, path: str, symbol: Symbol) -> int:
    """Returns the line of `defstruct` in a module; 0 if it defines no struct."""
    text = evidence.texts.get(path, ())[: symbol.end_line]
    numbers = range(symbol.start_line, len(text) + 1)
    return next((number for number in numbers if text[number - 1].lstrip().startswith("defstruct")), 0)


def _type(orientation: Orientation, one: TypeInFile, evidence: Evidence) -> Iterator[str]:
    symbol = one.symbol
    kind = "struct" if symbol.kind is SymbolKind.MODULE else symbol.kind.value
    article = "An" if kind[0] in "aeiou" else "A"
    yield f"## {markdown.code(symbol.qualified_name)}"
    yield ""
    paragraphs = [*excerpts.documentation(evidence.texts.get(one.path, ()), symbol)]
    said = markdown.text(
        paragraphs[0] if paragraphs else first_sentence(symbol.docstring), DOCUMENTATION_CHARS_MAX
    )
    yield f"{article} {kind} in {markdown.place(one.path, symbol.start_line, symbol.end_line)}. {said}".rstrip()
    yield ""
    for paragraph in paragraphs[1:]:
        yield from [markdown.text(paragraph, DOCUMENTATION_CHARS_MAX), ""]
    yield from _parameters(one.path, symbol, evidence)
    yield from _declared(one, evidence)
    hierarchy = evidence.types.get((one.path, symbol.name_line))
    relations = [*_relatives(orientation, hierarchy)] if hierarchy else []
    if relations:
        yield from [*relations, ""]
    yield from _made_by(one, evidence)
    yield from _fields(one, evidence)
    yield from _methods(one, evidence)


def _declared(one: TypeInFile, evidence: Evidence) -> Iterator[str]:
    """Yields the declaration: the whole of a type that has no members of its own, else its first lines."""
    symbol = one.symbol
    text = evidence.texts.get(one.path, ())
    if symbol.kind is SymbolKind.MODULE:
        line = _struct_line(evidence, one.path, symbol)
        yield from markdown.block(_statement(text, line), "elixir")
        yield ""
    elif not one.fields and not one.methods and text and symbol.end_line > symbol.name_line:
        shown = text[symbol.name_line - 1 : symbol.end_line]
        rest = ["…"] if len(shown) > DECLARATION_LINES_MAX else []
        yield from markdown.block([*prose.dedented(shown[:DECLARATION_LINES_MAX]), *rest])
        yield ""
    elif symbol.signature:
        yield from markdown.block([evidence.line(one.path, symbol.name_line) or symbol.signature])
        yield ""


def _statement(text: Sequence[str], line: int) -> list[str]:
    """Returns a statement with the lines that its brackets continue on."""
    found: list[str] = []
    depth = 0
    for row in text[line - 1 : line - 1 + DECLARATION_LINES_MAX]:
        found.append(row)
        depth += sum(row.count(mark) for mark in "([{") - sum(row.count(mark) for mark in ")]}")
        if depth <= 0 and not row.rstrip().endswith((",", "\\", "defstruct")):
            break
    return [*prose.dedented(found)]


def _parameters(path: str, symbol: Symbol, evidence: Evidence) -> Iterator[str]:
    """Yields a list item for each parameter that the documentation describes."""
    found = [*excerpts.parameters(evidence.texts.get(path, ()), symbol)][:PARAMETERS_MAX]
    yield from (
        f"- {markdown.code(name)}: {markdown.text(said, PARAMETER_CHARS_MAX)}" for name, said in found
    )
    if found:
        yield ""


def _made_by(one: TypeInFile, evidence: Evidence) -> Iterator[str]:
    """Yields the constructor, whose parameters are fields in many languages."""
    made = one.constructor
    if made is None or not made.signature:
        return
    said = declarations.said_of(made)
    yield f"Made by the constructor in {markdown.place(one.path, made.name_line)}. {markdown.text(said)}".rstrip()
    yield ""
    yield from markdown.block(_wrapped(made.signature))
    yield ""
    yield from _parameters(one.path, made, evidence)


def _wrapped(signature: str) -> list[str]:
    """Returns a signature with a line for each parameter, if it is long."""
    if len(signature) <= markdown.BLOCK_COLUMNS_MAX // 2:
        return [signature]
    head, bracket, rest = signature[: CONSTRUCTOR_CHARS_MAX * 2].partition("(")
    parts = re.split(r",\s+(?![^(\[{]*[)\]}](?!$))", rest)
    return [head + bracket, *(f"    {part}," for part in parts[:-1]), f"    {parts[-1]}"][
        :CONSTRUCTOR_LINES_MAX
    ]


def _set_in_constructor(one: TypeInFile, evidence: Evidence) -> list[str]:
    """Returns a table of the attributes that a constructor sets, where the type declares none of them."""
    text = evidence.texts.get(one.path, ())
    made = one.constructor
    declared = {member.name for member in one.fields}
    rows: dict[str, tuple[str, str, str]] = {}
    for number in range(made.name_line, min(made.end_line, len(text)) + 1) if made else ():
        found = _ATTRIBUTE.match(text[number - 1])
        if found and found["name"] not in declared and not found["name"].startswith("_"):
            outline = evidence.outlines.get(one.path)
            code = declarations.split_comment(text[number - 1].strip(), outline.language if outline else "")
            above = text[number - 2].strip() if number > 1 else ""
            said = code.said or (above.lstrip("#/ ") if _ABOVE.match(above) else "")
            rows.setdefault(found["name"], (markdown.code(code.code), markdown.text(said), f"{number}"))
    return _table(("attribute", "what it says of itself", "line"), list(rows.values())[:FIELDS_MAX])


def _fields(one: TypeInFile, evidence: Evidence) -> Iterator[str]:
    yield from _set_in_constructor(one, evidence)
    public = list({member.name: member for member in one.fields if not _is_private(member)}.values())
    if not public:
        return
    rows = []
    for member in public[:FIELDS_MAX]:
        declared = declarations.declaration(evidence, one.path, member)
        said = declarations.said_of(member, declared.said)
        rows.append((markdown.code(declared.code), markdown.text(said), f"{member.name_line}"))
    yield from _table(("field", "what it says of itself", "line"), rows)
    if len(public) > FIELDS_MAX:
        yield f"{markdown.counted(len(public) - FIELDS_MAX, 'more field')} follow there."
        yield ""


def _is_private(member: Symbol) -> bool:
    return member.name.startswith("_") and not member.name.startswith("__")


def _methods(one: TypeInFile, evidence: Evidence) -> Iterator[str]:
    public = [
        member
        for member in one.methods
        if member.kind is not SymbolKind.CONSTRUCTOR
        and (not member.name.startswith("_") or _SPECIAL.match(member.name))
    ]
    said = {member.qualified_name: _said_of(one, member, evidence) for member in public}
    # Those that say something come first, each in the order of the file.
    public.sort(key=lambda member: (member.name.startswith("_"), not said[member.qualified_name]))
    rows = [
        (markdown.code(member.signature or member.name), said[member.qualified_name], f"{member.name_line}")
        for member in public[:METHODS_MAX]
    ]
    yield from _table(("method", "what it says of itself", "line"), rows)
    if len(public) > METHODS_MAX:
        names = [markdown.code(member.name) for member in public[METHODS_MAX : 2 * METHODS_MAX]]
        yield f"It has {markdown.counted(len(public) - METHODS_MAX, 'more method')}: " + markdown.joined(
            names, len(public) - METHODS_MAX
        )
        yield ""


def _said_of(one: TypeInFile, member: Symbol, evidence: Evidence) -> str:
    """Returns the first sentence of a method's documentation, and the code of a short method."""
    text = evidence.texts.get(one.path, ())
    lines = excerpts.code_of(text, member.name_line, member.end_line)[1:]
    body = [code for number in lines if (code := text[number - 1].strip()) not in _CLOSING]
    shown = markdown.code("; ".join(body)) if 0 < len(body) <= BODY_LINES_MAX else ""
    return " ".join(filter(None, (markdown.text(first_sentence(member.docstring)), shown)))


def _table(heads: tuple[str, str, str], rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Returns a table, without the middle column if no row has anything there."""
    if any(row[1] for row in rows):
        return markdown.table(heads, rows)
    return markdown.table((heads[0], heads[2]), [(row[0], row[2]) for row in rows])


def _listed(types: Sequence[TypeInFile]) -> list[str]:
    rows = [
        (
            markdown.code(one.symbol.qualified_name),
            one.symbol.kind.value,
            markdown.text(first_sentence(one.symbol.docstring)),
            markdown.place(one.path, one.symbol.name_line),
        )
        for one in types[:LISTED_MAX]
    ]
    table = markdown.table(("type", "kind", "what it says of itself", "defined in"), rows)
    return markdown.section("Other types", table)


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


def _diagram(orientation: Orientation, types: Sequence[TypeInFile], evidence: Evidence) -> list[str]:
    edges = []
    labels = {}
    for one in types:
        hierarchy = evidence.types.get((one.path, one.symbol.name_line))
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
