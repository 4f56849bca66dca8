"""What is written around a definition and may use it: decorators, supertypes from outside, implemented traits."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from prism_atlas.core.graph import EDGE_KINDS, NONE, SYMBOL_KINDS, Graph
from prism_atlas.core.hierarchy import INHERITANCE, IS_TYPE
from prism_atlas.core.traversal import step, traverse
from prism_atlas.core.unused.reach import OVERRIDES, RESOLVED
from prism_atlas.core.unused.rules import EXCEPTIONS, INERT_BASES, INERT_MARKS
from prism_contracts.code import CALLABLE_KINDS, SymbolKind
from prism_contracts.rpc.unused import DoubtReason, UseDoubt
from prism_resolver.languages import C_FAMILY, ECMASCRIPT, JVM

SUPERTYPES_DEPTH_MAX = 10
HEADER_LINES_MAX = 12
# Modules of JavaScript whose exports a framework or a tool reads, because of their names and folders.
LOADED_MODULES = re.compile(
    r"(?:^|/)(?:app/(?:.*/)?(?:page|layout|route|loading|error|not-found|template|default|global-error|sitemap|robots"
    r"|manifest|opengraph-image|twitter-image|icon|apple-icon|root|entry\.\w+)\.\w+$|(?:pages|routes|api|functions)/.*"
    r"|\+[\w.]+$|[\w.-]+\.(?:config|conf|stories|setup|d)\.\w+$|(?:middleware|instrumentation|_app|_document)\.\w+$)"
)
IMPL_LINES_MAX = 3_000
# Languages in which a private member overrides nothing.
HIDES_PRIVATE = JVM | {"csharp", "cpp", "php", "swift"}
# Files of Python that tools load, and read names from.
LOADED = frozenset(
    {"conf.py", "noxfile.py", "tasks.py", "fabfile.py", "settings.py", "urls.py", "wsgi.py", "asgi.py", "apps.py"}
    | {"hubconf.py", "sitecustomize.py", "setup.py", "dodo.py", "conanfile.py", "SConstruct", "wscript", "admin.py"}
)  # fmt: skip
# What marks a definition, by language: the group is its name.
_AT = re.compile(r"@(?!interface\b)(?:[\w]+(?:\.|::))*(\w+)")
_BRACKET = re.compile(r"^\s*\[(?:\w+:\s*)?(?:\w+\.)*(\w+)|,\s*(?:\w+\.)*(\w+)(?=\(|\])")
_HASH = re.compile(r"#!?\[(?:unsafe\()?(?:\w+(?:::|\\))*(\w+)")
_ATTRIBUTE = re.compile(
    r"__attribute__|__declspec|\bextern\s+\"C\"|\b[A-Z][A-Z0-9_]*(?:EXPORT|API|CALLBACK)\b"
)
_MARKS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(("python", "swift", *ECMASCRIPT, *JVM), _AT),
    "csharp": _BRACKET,
    "rust": _HASH,
    "php": _HASH,
    **dict.fromkeys(C_FAMILY, _ATTRIBUTE),
}
_COMMENT = re.compile(r"^\s*(?://|/\*|\*|#(?![!\[])|--)")
_OVERRIDE = re.compile(r"\boverride\b|@Override\b")
_IMPL = re.compile(r"^(\s*)(?:unsafe\s+)?impl\b(?P<head>.*)")
_TEST_ONLY = re.compile(r"\s*#\[(?:cfg\(.*\btest\b|(?:\w+::)*test\b|bench\b)")
_FOR = re.compile(r"\bfor\b")
_WORD = re.compile(r"[A-Za-z_]\w*")
_KEYWORDS = frozenset(
    {"extends", "implements", "with", "class", "public", "private", "protected", "internal", "virtual", "where", "new"}
    | {"metaclass", "struct", "interface", "final", "sealed", "abstract", "object", "typename", "override", "by"}
)  # fmt: skip
_BASE_CLAUSE = re.compile(
    r"\b(?:extends|implements|with)\b|(?<!:):(?!:)|(?<=\w)\s*<(?!<)\s*(?=[A-Z]\w*(?:::\w+)*\s*$)"
)


def files_around(graph: Graph, nodes: Iterable[int]) -> list[str]:
    """Returns the paths of the files of definitions, and of the types that they and their members come from."""
    found = dict.fromkeys(nodes)
    for node in list(found):
        found |= dict.fromkeys(_types_above(graph, node))
    return list(dict.fromkeys(graph.path(graph.file_of(node)) for node in found))


def _types_above(graph: Graph, node: int) -> list[int]:
    """Returns the type of a member, or the type itself, with all of its supertypes in the repository."""
    symbols = graph.symbols
    owner = node if IS_TYPE[symbols.kind[node]] else int(symbols.parent[node])
    if owner == NONE or not IS_TYPE[symbols.kind[owner]]:
        return []
    steps = [step(INHERITANCE, forward=True, candidate_cost=1)]
    above = traverse(graph, np.array([owner], np.int32), steps, SUPERTYPES_DEPTH_MAX).distance
    return np.flatnonzero(above[: len(symbols)] != NONE).tolist()


class Surroundings:
    """Reads the text around definitions. `lines` are those of files, by path."""

    def __init__(self, graph: Graph, lines: Mapping[str, Sequence[str]]) -> None:
        self._graph = graph
        self._lines = lines

    def doubts(self, node: int) -> tuple[UseDoubt, ...]:
        """Returns the reasons for which something outside of the code may use a definition."""
        path = self._path(node)
        if path not in self._lines:
            return (UseDoubt(reason=DoubtReason.NOT_READ, file_path=path),)
        return (*self._registered(node), *self._inherited(node), *self._implicit(node))

    def _registered(self, node: int) -> Iterator[UseDoubt]:
        pattern = _MARKS.get(self._language(node))
        if pattern is None:
            return
        symbols, lines = self._graph.symbols, self._lines[self._path(node)]
        first, last = int(symbols.start_line[node]), int(symbols.name_line[node])
        name = self._name(node)
        for number in range(first, min(last, len(lines)) + 1):
            text = lines[number - 1]
            if _COMMENT.match(text):
                continue
            text = text[: _name_at(text, name)] if number == last else text
            for match in pattern.finditer(text):
                mark = next((group for group in match.groups() if group), match[0])
                if mark not in INERT_MARKS and mark.removesuffix("Attribute") not in INERT_MARKS:
                    yield UseDoubt(
                        reason=DoubtReason.REGISTERED,
                        file_path=self._path(node),
                        line=number,
                        text=match[0].strip(" ,["),
                    )
                    return

    def _inherited(self, node: int) -> Iterator[UseDoubt]:
        """A member may override one of a supertype outside, which runs it; a class may be found by its supertype."""
        graph, symbols = self._graph, self._graph.symbols
        is_type = bool(IS_TYPE[symbols.kind[node]])
        if not is_type and not graph.symbols.exported[node] and self._language(node) in HIDES_PRIVATE:
            return
        for one in _types_above(graph, node):
            outside = next(
                (base for base in self._bases(one) if not self._is_inert(base, is_type=is_type)), ""
            )
            if outside:
                yield UseDoubt(
                    reason=DoubtReason.INHERITED,
                    file_path=self._path(one),
                    line=int(symbols.name_line[one]),
                    text=outside,
                )
                return

    def _implicit(self, node: int) -> Iterator[UseDoubt]:
        symbols = self._graph.symbols
        language, line = self._language(node), int(symbols.name_line[node])
        lines = self._lines[self._path(node)]
        text = lines[line - 1] if line <= len(lines) else ""
        kind = SYMBOL_KINDS[symbols.kind[node]]
        is_member = kind is SymbolKind.METHOD or (kind in CALLABLE_KINDS and symbols.parent[node] != NONE)
        if self._is_loaded(node):
            yield UseDoubt(reason=DoubtReason.IMPLICIT, file_path=self._path(node), line=line, text="a tool")
        elif language == "rust":
            trait = self._trait_around(node)
            if trait:
                yield UseDoubt(reason=DoubtReason.IMPLICIT, file_path=self._path(node), line=line, text=trait)
        elif language == "go" and kind is SymbolKind.CONSTANT and "=" not in text:
            yield UseDoubt(
                reason=DoubtReason.IMPLICIT,
                file_path=self._path(node),
                line=line,
                text="its place in an enumeration",
            )
        elif language == "go" and is_member and _is_capital(self._name(node)):
            yield UseDoubt(
                reason=DoubtReason.IMPLICIT, file_path=self._path(node), line=line, text="an interface"
            )
        elif is_member and _OVERRIDE.search(" ".join(lines[max(0, line - 3) : line])):
            if not self._overrides_here(node):
                yield UseDoubt(
                    reason=DoubtReason.IMPLICIT, file_path=self._path(node), line=line, text="override"
                )
        elif language in ECMASCRIPT and self._is_in_object(node, text):
            yield UseDoubt(
                reason=DoubtReason.IMPLICIT, file_path=self._path(node), line=line, text="an object"
            )
        elif is_member and re.search(r"\boperator\b|\[Symbol\.", text):
            yield UseDoubt(
                reason=DoubtReason.IMPLICIT, file_path=self._path(node), line=line, text="operator"
            )

    def _is_in_object(self, node: int, text: str) -> bool:
        """Whether a function of JavaScript is a value in an object: whoever gets the object may call it."""
        symbols = self._graph.symbols
        kind, parent = SYMBOL_KINDS[symbols.kind[node]], int(symbols.parent[node])
        if kind is SymbolKind.METHOD and (parent == NONE or not IS_TYPE[symbols.kind[parent]]):
            return True
        name = re.escape(self._name(node).rpartition(".")[2])
        return kind in CALLABLE_KINDS and bool(
            re.search(rf"\.{name}\s*=(?!=)|^\s*[\"']?{name}[\"']?\s*:", text)
        )

    def _is_loaded(self, node: int) -> bool:
        """Whether something may load the file by its path: no import can name it, or tools look for it."""
        language = self._language(node)
        if language in ECMASCRIPT:
            return bool(self._graph.symbols.exported[node]) and bool(LOADED_MODULES.search(self._path(node)))
        if language != "python":
            return False
        name = self._path(node).rpartition("/")[2]
        return name in LOADED or not name.partition(".")[0].isidentifier()

    def is_test(self, node: int) -> bool:
        """Whether a module around a definition of Rust is compiled for tests only."""
        symbols, lines = self._graph.symbols, self._lines.get(self._path(node), ())
        if self._language(node) != "rust":
            return False
        while node != NONE:
            above = lines[int(symbols.start_line[node]) - 1 : int(symbols.name_line[node])]
            if any(_TEST_ONLY.match(text) for text in above):
                return True
            node = int(symbols.parent[node])
        return False

    def _overrides_here(self, node: int) -> bool:
        edges = self._graph.edges
        kinds = {int(kind) for kind in edges.kind[self._graph.edges_out(node)]}
        return OVERRIDES in kinds

    def _trait_around(self, node: int) -> str:
        """Returns the trait that the `impl` block around a function of Rust implements."""
        lines = self._lines[self._path(node)]
        at = int(self._graph.symbols.name_line[node])
        indent = _indent(lines[at - 1]) if at <= len(lines) else 0
        for number in range(at - 1, max(0, at - IMPL_LINES_MAX), -1):
            text = lines[number - 1]
            if not text.strip() or _indent(text) >= indent:
                continue
            found = _IMPL.match(text)
            if found is None:
                if text.startswith(("}", ")", "where", "#", "//")) or text.strip() in {
                    "{",
                    ") where",
                    "where",
                }:
                    continue
                return ""
            header = " ".join(lines[number - 1 : number + 4]).partition("{")[0]
            return header.strip()[:80] if _FOR.search(header) else ""
        return ""

    def _bases(self, node: int) -> Iterator[str]:
        """Yields the supertypes in the header of a type that the repository does not define."""
        path = self._path(node)
        if path not in self._lines:
            yield "?"
            return
        symbols, lines = self._graph.symbols, self._lines[path]
        at = int(symbols.name_line[node])
        text = "\n".join(lines[at - 1 : at - 1 + HEADER_LINES_MAX])
        inside = self._supertypes(node)
        for name in bases_of(text, self._name(node), self._language(node)):
            if name not in inside:
                yield name

    def _supertypes(self, node: int) -> set[str]:
        """Returns the names of the direct supertypes that the repository defines.

        A type that only has the name of a base is none: the repository may define a `Request`, and extend another.
        """
        graph, edges = self._graph, self._graph.edges
        out = graph.edges_out(node)
        is_above = np.isin(edges.kind[out], _INHERITANCE_CODES) & (edges.status[out] == RESOLVED)
        return {self._name(one) for one in edges.target[out][is_above].tolist()}

    @staticmethod
    def _is_inert(base: str, *, is_type: bool) -> bool:
        return base in INERT_BASES or (is_type and EXCEPTIONS.match(base) is not None)

    def _path(self, node: int) -> str:
        return self._graph.path(self._graph.file_of(node))

    def _name(self, node: int) -> str:
        return self._graph.strings[self._graph.symbols.name[node]]

    def _language(self, node: int) -> str:
        return self._graph.strings[self._graph.files.language[self._graph.file_of(node)]]


def bases_of(text: str, name: str, language: str) -> list[str]:
    """Returns the last names of the supertypes in the header of a type, which begins in the first line of a text."""
    rest = text[_name_at(text, name) + len(name) :]
    if language == "python":
        inside = _bracketed(rest) if rest.lstrip().startswith("(") else ""
        parts = [part for part in _split(inside) if not re.match(r"\s*(?!metaclass)\w+\s*=", part)]
        return [found for part in parts if (found := _last_name(part.partition("=")[2] or part))]
    header = re.split(r"[{;]|\n\s*\n", _without_brackets(rest), maxsplit=1)[0]
    if language == "ruby":
        header = header.partition("\n")[0]
        return (
            [found]
            if "<" in rest.partition("\n")[0] and (found := _last_name(rest.partition("\n")[0]))
            else []
        )
    clause = _BASE_CLAUSE.search(header)
    if clause is None:
        return []
    parts = re.split(r",|\b(?:extends|implements|with)\b|(?<!:):(?!:)", header[clause.start() :])
    return [found for part in parts if (found := _last_name(part))]


def _last_name(part: str) -> str:
    words = [word for word in _WORD.findall(part.partition("[")[0]) if word not in _KEYWORDS]
    return words[-1] if words else ""


def _split(text: str) -> Iterator[str]:
    depth, part = 0, ""
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and not depth:
            yield part
            part = ""
        else:
            part += char
    yield part


def _bracketed(text: str) -> str:
    """Returns what is in the round brackets that a text begins with."""
    depth, found = 0, ""
    for char in text.lstrip():
        depth += (char == "(") - (char == ")")
        if not depth:
            break
        found += char
    return found[1:]


def _without_brackets(text: str) -> str:
    """Returns a header without parameters of types and of constructors."""
    depth, found = 0, ""
    for previous, char in zip(" " + text, text, strict=False):
        depth += (char in "<(") - (char in ">)" and previous not in "-=" and depth > 0)
        if depth == 0 and char not in ">)":
            found += char
        if char == "{" and depth == 0:
            break
    return found


def _name_at(text: str, name: str) -> int:
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    return found.start() if found else 0


def _is_capital(name: str) -> bool:
    return name[:1].isupper()


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


_INHERITANCE_CODES = [EDGE_KINDS.index(kind) for kind in INHERITANCE]
