"""Resolves names in a repository of C and C++ by libclang: `python resolve_c.py FOLDER USES_MAX SEED < PATHS`.

Runs in its own environment, so it imports nothing but libclang. `truth.py` defines the output. Each source is parsed with
all folders of headers as include paths, and with the headers of the machine; nothing is built. A header is seen in the
first sources that include it. If there are more uses than USES_MAX, whole files are drawn at random.
"""

import json
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from ctypes import byref, c_uint
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from clang import cindex  # type: ignore[import-not-found, unused-ignore]
from clang.cindex import CursorKind  # type: ignore[import-not-found, unused-ignore]

HEADERS = frozenset({".h", ".hh", ".hpp", ".hxx", ".inc"})
# Options of clang_parseTranslationUnit: a record of macros, and no end at the first missing header.
MACROS, KEEP_GOING = 0x01, 0x200
# Sources in which a header is read. In further ones its names mean the same, and a walk takes seconds.
READS_OF_A_HEADER_MAX = 2
FUNCTIONS = frozenset(
    {
        CursorKind.FUNCTION_DECL,
        CursorKind.CXX_METHOD,
        CursorKind.CONSTRUCTOR,
        CursorKind.CONVERSION_FUNCTION,
        CursorKind.FUNCTION_TEMPLATE,
    }
)
TYPES = frozenset(
    {
        CursorKind.STRUCT_DECL,
        CursorKind.UNION_DECL,
        CursorKind.ENUM_DECL,
        CursorKind.CLASS_DECL,
        CursorKind.CLASS_TEMPLATE,
        CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
        CursorKind.TYPEDEF_DECL,
        CursorKind.TYPE_ALIAS_DECL,
        CursorKind.TYPE_ALIAS_TEMPLATE_DECL,
    }
)
USES = frozenset(
    {
        CursorKind.DECL_REF_EXPR,
        CursorKind.MEMBER_REF_EXPR,
        CursorKind.MEMBER_REF,
        CursorKind.TYPE_REF,
        CursorKind.TEMPLATE_REF,
        CursorKind.VARIABLE_REF,
        CursorKind.LABEL_REF,
        CursorKind.MACRO_INSTANTIATION,
    }
)
# An identifier, or a comment, a string or a character, in which names mean nothing.
TOKEN = re.compile(
    rb"""//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*""", re.DOTALL
)


class Place(NamedTuple):
    """Where a name is: a path relative to the folder, and the byte at which it begins."""

    path: str
    at: int


class Definition(NamedTuple):
    """A definition or a declaration in the repository: `function`, `class` or `value`."""

    path: str
    line: int
    name: str
    kind: str


class Declared(NamedTuple):
    """What a name means in one source: an identity across sources, and the declaration that it sees."""

    usr: str
    seen: Definition
    is_definition: bool


class Use(NamedTuple):
    """A use in one source. `declared` is None for what is outside."""

    kind: str
    declared: Declared | None


def main() -> None:
    """Print the meaning of every use."""
    folder, uses_max, seed = Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    paths = sys.stdin.read().splitlines()
    reader = Reader(folder, paths)
    for path in _sources_first(paths):
        if Path(path).suffix not in HEADERS or path not in reader.seen:
            reader.read(path)
    files = sorted(reader.seen)
    random.Random(seed).shuffle(files)
    wanted = reader.wanted_names()
    covered: list[str] = []
    uses: list[dict[str, Any]] = []
    for path in files:
        if len(uses) >= uses_max:
            break
        covered.append(path)
        uses += reader.uses_in(path, wanted)
    shown = {
        "resolver": f"libclang {version('libclang')}",
        "files": sorted(covered),
        "unbuilt": sorted(set(paths) - reader.seen),
        "uses": uses,
    }
    json.dump(shown, sys.stdout)


def _sources_first(paths: Sequence[str]) -> list[str]:
    return sorted(paths, key=lambda path: (Path(path).suffix in HEADERS, path))


class Reader:
    """Parses sources, and collects what their names mean."""

    def __init__(self, folder: Path, paths: Sequence[str]) -> None:
        self.seen: set[str] = set()
        self._reads: Counter[str] = Counter()  # of headers
        self._folder = folder
        self._paths = frozenset(paths)
        self._index = cindex.Index.create()
        self._homes = _homes_of_headers(paths)
        self._machine_options = list(_machine_options())
        self._uses: dict[Place, list[Use]] = defaultdict(list)
        self._definitions: dict[str, set[Definition]] = defaultdict(set)  # by identity
        self._declarations: dict[str, set[Definition]] = defaultdict(set)
        self._declared: dict[Place, Definition] = {}
        self._texts: dict[str, bytes] = {}
        self._relative: dict[str, str | None] = {}

    def read(self, path: str) -> None:
        """Parse a source with its headers."""
        is_c = path.endswith((".c", ".h")) and not any(
            one.endswith((".cc", ".cpp", ".cxx")) for one in self._paths
        )
        language = ["-x", "c"] if is_c or path.endswith(".c") else ["-x", "c++", "-std=c++20"]
        options = [*language, *self._include_options(path), *self._machine_options]
        unit = self._index.parse(str(self._folder / path), options, options=MACROS | KEEP_GOING)
        todo, here = [unit.cursor], set()
        while todo:
            cursor = todo.pop()
            for child in cursor.get_children():
                place = self._place(child)
                is_top = cursor is unit.cursor
                if is_top and place is None:
                    continue  # a header of the machine
                if is_top and place is not None and place.path != path:
                    if self._reads[place.path] >= READS_OF_A_HEADER_MAX:
                        continue
                    here.add(place.path)
                if place is not None:
                    self.seen.add(place.path)
                    self._note(child, cursor, place)
                todo.append(child)
        self._reads.update(here)

    def _include_options(self, path: str) -> list[str]:
        """Returns the folders of headers, the nearest first: several programs may have headers of one name."""
        above = Path(path).parents

        def distance(home: Path) -> tuple[int, int, str]:
            shared = sum(one in above for one in (home, *home.parents))
            return -shared, len(home.parts), str(home)

        return [f"-I{self._folder / home}" for home in sorted(self._homes, key=distance)]

    def wanted_names(self) -> set[str]:
        """Returns the names of the functions and types of the repository."""
        return {one.name for one in self._declared.values() if one.kind != "value"}

    def uses_in(self, path: str, wanted: set[str]) -> Iterator[dict[str, Any]]:
        """Yields each wanted name in the code of a file, and its meaning."""
        text = self._text(path)
        line, counted = 1, 0
        for token in TOKEN.finditer(text):
            name = token[0].decode("utf-8", "replace")
            line += text.count(b"\n", counted, token.start())
            counted = token.start()
            place = Place(path, token.start())
            if name not in wanted or place in self._declared:
                continue
            found = self._uses.get(place, ())
            means = {one for use in found if use.declared for one in self._meaning(use.declared)}
            yield {
                "path": path,
                "line": line,
                "name": name,
                "kind": found[0].kind if found else "references",
                "means": [one._asdict() for one in sorted(means)],
                "outside": bool(found) and not means,
            }

    def _meaning(self, declared: Declared) -> Iterable[Definition]:
        """Returns the definition with its declarations, which are one symbol.

        That is the definition that the source sees, or the only one of all sources.
        """
        everywhere = self._definitions.get(declared.usr, set())
        defined = {declared.seen} if declared.is_definition else everywhere if len(everywhere) == 1 else set()
        return defined | self._declarations.get(declared.usr, set())

    def _note(self, cursor: Any, parent: Any, place: Place) -> None:
        name = self._name_at(place)
        if cursor.kind in USES:
            means = cursor.referenced
            if means is not None and _last(means.spelling) == name:
                kind = (
                    "extends"
                    if parent.kind is CursorKind.CXX_BASE_SPECIFIER
                    else self._kind_of_use(place, name)
                )
                self._note_use(place, means, kind)
        elif (cursor.kind.is_declaration() or cursor.kind is CursorKind.MACRO_DEFINITION) and (
            cursor.spelling == name
        ):
            found = self._definition(cursor, place)
            self._declared[place] = found
            if cursor.get_usr() and (cursor.is_definition() or cursor.kind in FUNCTIONS):
                known = self._definitions if cursor.is_definition() else self._declarations
                known[cursor.get_usr()].add(found)

    def _note_use(self, place: Place, means: Any, kind: str) -> None:
        at = self._place(means)
        if at == place:
            return  # a function that nothing declares
        if (
            means.kind is CursorKind.TYPEDEF_DECL
        ):  # `typedef struct gate gate;` is one symbol with the structure
            structure = means.underlying_typedef_type.get_declaration()
            if structure.spelling == means.spelling:
                self._note_use(place, structure, kind)
        if at is None:
            self._uses[place].append(Use(kind, None))
            return
        definition = means.get_definition()
        inside = self._place(definition) if definition is not None else None
        seen, where = (definition, inside) if inside is not None else (means, at)
        if self._name_at(where) == _last(seen.spelling):
            declared = Declared(means.get_usr(), self._definition(seen, where), inside is not None)
            self._uses[place].append(Use(kind, declared))

    def _kind_of_use(self, place: Place, name: str) -> str:
        after = self._text(place.path)[place.at + len(name.encode()) :][:80].lstrip()
        return "calls" if after.startswith(b"(") else "references"

    def _definition(self, cursor: Any, place: Place) -> Definition:
        line = self._text(place.path).count(b"\n", 0, place.at) + 1
        kind = "function" if cursor.kind in FUNCTIONS else "class" if cursor.kind in TYPES else "value"
        return Definition(place.path, line, cursor.spelling, kind)

    def _place(self, cursor: Any) -> Place | None:
        """Returns where a name is spelled, if in a listed file: in a macro, that is where the macro is defined."""
        file, at = _spelled(cursor.location)
        if file is None:
            return None
        name = file.name
        if name not in self._relative:
            real = Path(name).resolve()
            path = real.relative_to(self._folder).as_posix() if real.is_relative_to(self._folder) else ""
            self._relative[name] = path if path in self._paths else None
        relative = self._relative[name]
        return Place(relative, at) if relative else None

    def _name_at(self, place: Place) -> str:
        found = TOKEN.match(self._text(place.path), place.at)
        return found[0].decode("utf-8", "replace") if found else ""

    def _text(self, path: str) -> bytes:
        if path not in self._texts:
            self._texts[path] = (self._folder / path).read_bytes()
        return self._texts[path]


def _homes_of_headers(paths: Iterable[str]) -> frozenset[Path]:
    """Returns the folders of headers, and those around them: `#include <shop/depot.h>`."""
    homes = {Path(path).parent for path in paths if Path(path).suffix in HEADERS}
    return frozenset(above for home in homes for above in (home, *home.parents))


def _machine_options() -> Iterator[str]:
    """Yields where the compiler of the machine has the headers of the language, if there is one."""
    try:
        done = subprocess.run(["cc", "-print-file-name=include"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return
    yield f"-isystem{done.stdout.strip()}"


def _spelled(location: Any) -> tuple[Any, int]:
    file, line, column, offset = cindex.c_object_p(), c_uint(), c_uint(), c_uint()
    cindex.conf.lib.clang_getSpellingLocation(
        location, byref(file), byref(line), byref(column), byref(offset)
    )
    return (cindex.File(file) if file else None), int(offset.value)


def _last(name: str) -> str:
    return name.rpartition("::")[2].rpartition(" ")[2]


if __name__ == "__main__":
    main()
