"""Where code of one's own goes: interfaces, abstract classes and behaviours, what each asks for, and who implements it."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Symbol, SymbolKind
from prism_contracts.records import WikiTocEntry
from prism_contracts.rpc.graph import GraphNode
from prism_resolver.prose import first_sentence
from prism_scribe.core.wiki import declarations, excerpts, markdown, prose
from prism_scribe.core.wiki.contents import surveyed
from prism_scribe.core.wiki.orientation import Evidence, Orientation, members_by_type

INTERFACES_MAX = 16
MEMBERS_MAX = 20
IMPLEMENTATIONS_MAX = 12
CALLBACK_LINES_MAX = 8
LISTED_MAX = 40
BASE_BODY_LINES_MAX = 40
EXAMPLE_LINES_MIN, EXAMPLE_LINES_MAX = 4, 70
CONTRACT_CHARS_MAX = 700

# These have a page of their own.
_ERROR = re.compile(r"(?:Error|Exception)$")
_OPEN_KINDS = frozenset({SymbolKind.INTERFACE, SymbolKind.TRAIT})
_ABSTRACT = re.compile(
    r"\babstract\b|\((?:[\w.]+,\s*)*(?:abc\.)?(?:ABC|Protocol)\b|metaclass\s*=\s*(?:abc\.)?ABCMeta"
)
_UNWRITTEN = re.compile(
    r"^\s*raise\s+NotImplementedError\b|\bthrow new (?:\w*NotImplemented\w*|UnsupportedOperationException)\b"
)
# The lines by which a module of Elixir says that it has the callbacks of another.
_BEHAVIOUR = re.compile(
    r"^@behaviour\s+(?P<name>[\w.]+)|^use\s+(?P<used>[A-Z][\w.]*)|^@impl\s+(?P<impl>[A-Z][\w.]*)"
)


class ExtensionPoint(NamedTuple):
    """A type that other code implements, with what it asks for."""

    path: str
    symbol: Symbol
    members: tuple[Symbol, ...]


def lines(orientation: Orientation, evidence: Evidence, _: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    found = interfaces(orientation, evidence)
    if not found:
        return [
            "# How to extend",
            "",
            "The main files declare no interface, abstract class or behaviour that Prism can list.",
        ]
    lead = (
        "Code of your own can take these places: each asks for the members below it. "
        "Those with the most implementations here come first."
    )
    implemented = {one: _implementations(orientation, evidence, one) for one in found}
    found.sort(key=lambda one: -len(implemented[one]))
    described = [line for one in found for line in _interface(orientation, evidence, one, implemented[one])]
    return ["# How to extend", "", lead, "", *described]


def interfaces(orientation: Orientation, evidence: Evidence) -> list[ExtensionPoint]:
    """Returns the interfaces of the main files: those that documents name, then by file."""
    named = prose.names_in_code(orientation.documents)
    found = []
    for path in surveyed(orientation):
        outline = evidence.outlines.get(path)
        inside = members_by_type(outline.symbols) if outline else {}
        for position, symbol in enumerate(outline.symbols if outline else ()):
            if symbol.kind in TYPE_KINDS and symbol.exported and not _ERROR.search(symbol.name):
                members = [one for one in inside.get(position, ()) if one.kind in CALLABLE_KINDS]
                if asked := _asked_for(evidence, path, symbol, members):
                    found.append(ExtensionPoint(path, symbol, asked))
    found.sort(key=lambda one: not named[one.symbol.name.rpartition(".")[2]])
    return found[:INTERFACES_MAX]


def _asked_for(
    evidence: Evidence, path: str, symbol: Symbol, members: Sequence[Symbol]
) -> tuple[Symbol, ...]:
    """Returns the members that an implementation of a type has; none if it is no type to implement."""
    if symbol.kind is SymbolKind.MODULE:
        return tuple(one for one in members if declarations.is_callback(evidence, path, one))
    if symbol.kind in _OPEN_KINDS:
        return tuple(members)
    unwritten = tuple(one for one in members if _is_unwritten(evidence, path, one))
    return unwritten or (tuple(members) if _ABSTRACT.search(symbol.signature) else ())


def _is_unwritten(evidence: Evidence, path: str, member: Symbol) -> bool:
    """Whether a subclass has to write a method: it is abstract, or its body only says so."""
    text = evidence.texts.get(path, ())
    above = text[member.start_line - 1 : member.name_line]
    if any("@abstractmethod" in line or "@abc.abstractmethod" in line for line in above):
        return True
    if re.search(r"\babstract\b", member.signature):
        return True
    body = [line for line in text[member.name_line - 1 : member.end_line] if line.strip(" \t}")]
    return 0 < len(body) <= BASE_BODY_LINES_MAX and _UNWRITTEN.search(body[-1]) is not None


def _implementations(orientation: Orientation, evidence: Evidence, one: ExtensionPoint) -> list[str]:
    """Returns who implements a type, each with its place."""
    if one.symbol.kind is SymbolKind.MODULE:
        return [*_modules_with(orientation, evidence, one)]
    hierarchy = evidence.types.get((one.path, one.symbol.name_line))
    if hierarchy is None:
        return []
    nodes = [branch.node for branch in hierarchy.subtypes] or list(hierarchy.structural)
    own = [node for node in nodes if not orientation.is_test(node.file_path)]
    return [
        f"{markdown.code(node.symbol or node.file_path)} ({markdown.place(node.file_path, node.line)})"
        for node in own
    ]


def _modules_with(orientation: Orientation, evidence: Evidence, one: ExtensionPoint) -> Iterator[str]:
    """Yields the modules of Elixir that declare a behaviour, with the line that says so.

    A behaviour that names itself does so for those that use it.
    """
    for path in surveyed(orientation):
        own = range(one.symbol.start_line, one.symbol.end_line + 1) if path == one.path else range(0)
        for number, line in declarations.code_lines(evidence.texts.get(path, ())):
            said = _BEHAVIOUR.match(line.strip())
            name = (said["name"] or said["used"] or said["impl"]) if said else ""
            if name == one.symbol.qualified_name and number not in own:
                yield markdown.place(path, number)
                break


def _interface(
    orientation: Orientation, evidence: Evidence, one: ExtensionPoint, implemented: Sequence[str]
) -> Iterator[str]:
    symbol = one.symbol
    kind = "behaviour" if symbol.kind is SymbolKind.MODULE else symbol.kind.value
    article = "An" if kind[0] in "aeiou" else "A"
    place = markdown.place(one.path, symbol.start_line, symbol.end_line)
    yield f"## {markdown.code(symbol.qualified_name)}"
    yield ""
    paragraphs = [*excerpts.documentation(evidence.texts.get(one.path, ()), symbol)]
    said = paragraphs[0] if paragraphs else first_sentence(symbol.docstring)
    yield f"{article} {kind} in {place}. {markdown.text(said, CONTRACT_CHARS_MAX)}".rstrip()
    yield ""
    for paragraph in paragraphs[1:]:
        yield from [markdown.text(paragraph, CONTRACT_CHARS_MAX), ""]
    if implemented:
        names = list(implemented[:IMPLEMENTATIONS_MAX])
        yield f"Implemented by {markdown.joined(names, len(implemented))}."
        yield ""
    rows = [
        (
            markdown.code(_declared(evidence, one.path, member)),
            _said_of(evidence, one.path, member),
            f"{member.name_line}",
        )
        for member in one.members[:MEMBERS_MAX]
    ]
    yield from markdown.table(("member", "what it says of itself", "line"), rows)
    if len(one.members) > MEMBERS_MAX:
        yield f"{markdown.counted(len(one.members) - MEMBERS_MAX, 'more member')} follow there."
        yield ""
    yield from _shortest(orientation, evidence, one)


def _said_of(evidence: Evidence, path: str, member: Symbol) -> str:
    """Returns the whole documentation of a member, which is the contract of those that implement it."""
    text = evidence.texts.get(path, ())
    said = [*excerpts.documentation(text, member)] or [declarations.said_of(member)]
    described = [
        f"{markdown.code(name)}: {markdown.text(about)}" for name, about in excerpts.parameters(text, member)
    ]
    return " ".join([*(markdown.text(paragraph, CONTRACT_CHARS_MAX) for paragraph in said), *described])


def _shortest(orientation: Orientation, evidence: Evidence, one: ExtensionPoint) -> Iterator[str]:
    """Yields the code of the shortest type that implements another, as an example to begin with."""
    hierarchy = evidence.types.get((one.path, one.symbol.name_line))
    nodes = [branch.node for branch in hierarchy.subtypes] or list(hierarchy.structural) if hierarchy else []
    known = [
        node for node in nodes if not orientation.is_test(node.file_path) and node.file_path in evidence.texts
    ]
    found = [
        (len(lines), node, lines)
        for node in known
        if (lines := _code_of(evidence, node)) and EXAMPLE_LINES_MIN <= len(lines) <= EXAMPLE_LINES_MAX
    ]
    if not found:
        return
    _, node, lines = min(found, key=lambda item: item[0])
    outline = evidence.outlines.get(node.file_path)
    language = outline.language if outline else ""
    yield "The shortest implementation here:"
    yield ""
    text = evidence.texts[node.file_path]
    yield from excerpts.excerpt(
        excerpts.QuotedCode(node.file_path, node.symbol, text, lines, language), lines
    )


def _code_of(evidence: Evidence, node: GraphNode) -> list[int]:
    """Returns the numbers of the lines of a type, and of its methods where they are outside of it."""
    outline, text = evidence.outlines.get(node.file_path), evidence.texts[node.file_path]
    symbols = outline.symbols if outline else ()
    own = next((position for position, one in enumerate(symbols) if one.name_line == node.line), -1)
    ranges = [(symbols[own].name_line, symbols[own].end_line)] if own >= 0 else []
    ranges += [(one.name_line, one.end_line) for one in symbols if own >= 0 and one.parent == own]
    return sorted({number for first, last in ranges for number in excerpts.code_of(text, first, last)})


def _declared(evidence: Evidence, path: str, member: Symbol) -> str:
    """Returns the declaration of a member; that of a callback with the lines that it continues on."""
    if not declarations.is_callback(evidence, path, member):
        return member.signature or member.name
    text = evidence.texts[path][member.name_line - 1 : member.end_line][:CALLBACK_LINES_MAX]
    return " ".join(line.strip() for line in text)
