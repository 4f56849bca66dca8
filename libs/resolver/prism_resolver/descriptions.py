"""Describes files and symbols in one plain sentence, from what the index holds. Pure.

What the authors say comes first: the comment that opens a file, unless a definition follows it, and then the
docstring of the definition that the file is about. A docstring of any other definition says nothing about the
file, so without these two a sentence lists what the file defines. docs/decisions/0059 has how often each is right.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Flag, Symbol, SymbolFact, SymbolKind
from prism_resolver.prose import OPENING_CHARS_MAX, first_sentence, leading_comments

DESCRIPTION_CHARS_MAX = 200
NAMES_MAX = 4
# A definition is what a file is about if it has more than this share of the lines of all its definitions.
MAIN_SHARE = 0.5
# A file that represents its folder and defines no more than this is described by what it imports.
GATHERING_LINES_MAX = 20
# The same for the only exported one.
ONLY_SHARE = 0.25
# Names of files that say nothing of what is inside, or that represent their folder.
_FOLDER_NAMES = frozenset({"__init__", "index", "mod", "lib", "main", "__main__", "doc", "package-info"})
_ARTICLES = frozenset({"a", "an", "the"})
_ENCLOSING = frozenset({SymbolKind.MODULE, SymbolKind.NAMESPACE})
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_TEST_WORDS = frozenset({"test", "tests", "spec", "specs", "it", "e2e", "should"})
# The subject of a suite in the tests of JavaScript, Ruby and their relatives.
_SUITE = re.compile(r"^\s*(?:R?Spec\.)?describe[\w.]*\s*\(?\s*(['\"`])(.{2,80}?)\1", re.MULTILINE)
_TEST_AFFIX = re.compile(r"^(?:tests?|spec)[_-]|[_-](?:tests?|spec)$|(?<=[a-z0-9])(?:Tests?|Spec|IT)$")
_TEST_NAME = re.compile(r"\.(?:test|spec)s?\b[^/]*$")
_SUITE_NAME = re.compile(r"[\w$.#: -]+")
# `from .parts import x`, `export * from "./parts"`, `pub mod parts;`
_GATHERED = re.compile(
    r"^\s*(?:from\s+(?:\.+(?P<py>[\w.]*)|(?P<package>\w[\w.]*))\s+import\b"
    r"|export\b[^;'\"]{0,500}\bfrom\s*['\"]\.{1,2}/(?P<js>[^'\"]{1,200})['\"]"
    r"|(?:pub(?:\([^)]*\))?\s+)?mod\s+(?P<rs>\w+)\s*;)",
    re.MULTILINE,
)
_MODULE_DOC = re.compile(
    r'^[ \t]*@moduledoc[ \t]+(?:~[sS])?(?:"""[^\n]*\n(?P<block>(?:(?![ \t]*""")[^\n]*\n){1,40})|"(?P<line>[^"\n]+)")',
    re.MULTILINE,
)
_HEADING = re.compile(r"^#{1,3}[ \t]+(.{2,120}?)[ \t#]*$|^(\S.{1,118})\n(?:={3,}|-{3,})$", re.MULTILINE)
_PACKAGE_DOC = re.compile(r"Package\s+(\w+)\b")


class DescribedFile(NamedTuple):
    """A file as indexed. `opening` is the text at its start; `flags` are the letters of `FileFlags`."""

    path: str
    language: str
    flags: str
    symbols: Sequence[Symbol | SymbolFact]
    opening: str


def describe_file(file: DescribedFile) -> str:
    """Returns one sentence of at most `DESCRIPTION_CHARS_MAX` characters; empty if nothing can be said."""
    file = file._replace(opening=file.opening[:OPENING_CHARS_MAX])
    main = _main_symbol(file)
    tested = _tested(file) if Flag.TEST in file.flags else ""
    if main and tested and not _is_named(file, main):
        main = None
    said = _module_doc(file) or _opening(file, has_main=main is not None and bool(main.docstring))
    found = said or (_said_of(main) if main else "") or tested or _composed(file, main)
    return _cut(found)


def describe_symbol(symbol: Symbol | SymbolFact) -> str:
    """Returns the first sentence of its docstring, else what it is; at most `DESCRIPTION_CHARS_MAX` characters."""
    return _cut(_said_of(symbol) or f"{_kind(symbol).capitalize()} {symbol.qualified_name}.")


def _module_doc(file: DescribedFile) -> str:
    """Returns what the first module of a file of Elixir says of itself."""
    said = (
        _MODULE_DOC.search(file.opening)
        if file.language == "elixir" and Flag.TEST not in file.flags
        else None
    )
    return first_sentence(said["block"] or said["line"] or "") if said else ""


def _opening(file: DescribedFile, *, has_main: bool) -> str:
    """Returns what the comments at the start of a file say of it; empty if they belong to a definition."""
    first = min((symbol.start_line for symbol in _top_level(file.symbols)), default=0)
    for line, text in leading_comments(file.opening):
        if first and line >= first:
            return ""
        sentence = first_sentence(text)
        if sentence and not (has_main and file.language == "go" and _is_of_package(sentence, file.path)):
            return sentence
    return ""


def _is_of_package(sentence: str, path: str) -> bool:
    """Whether a comment of Go is about the package, and this file is not the one that represents it."""
    package = _PACKAGE_DOC.match(sentence)
    return package is not None and _stem(path) not in {package[1], "doc"}


def _main_symbol(file: DescribedFile) -> Symbol | SymbolFact | None:
    """Returns the definition that a file is about: named as the file, the only exported one, or most of its lines."""
    top = _defined(file)
    if named := [symbol for symbol in top if _is_named(file, symbol)]:
        return max(named, key=lambda symbol: (symbol.exported, bool(symbol.docstring)))
    exported = [symbol for symbol in top if symbol.exported]
    sizes = _sizes(file.symbols)
    total = sum(sizes.values())
    by_name: dict[str, int] = {}
    for position, size in sizes.items():
        by_name[file.symbols[position].name] = by_name.get(file.symbols[position].name, 0) + size
    share = ONLY_SHARE if len({symbol.name for symbol in exported}) == 1 else MAIN_SHARE
    large = [symbol for symbol in exported or top if by_name.get(symbol.name, 0) > share * total]
    return max(large, key=lambda symbol: bool(symbol.docstring), default=None)


def _is_named(file: DescribedFile, symbol: Symbol | SymbolFact) -> bool:
    return not symbol.bodiless and _words(symbol.name) == _words(_place_name(file.path))


def _sizes(symbols: Sequence[Symbol | SymbolFact]) -> dict[int, int]:
    """Returns the lines of each top-level definition, by position. A method outside its type counts for the type."""
    sizes: dict[int, int] = {}
    for position, symbol in enumerate(symbols):
        lines = symbol.end_line - symbol.name_line + 1
        if _is_top(symbols, symbol):
            sizes[position] = sizes.get(position, 0) + lines
        elif symbol.parent >= 0 and _is_top(symbols, owner := symbols[symbol.parent]):
            is_outside = symbol.start_line > owner.end_line or symbol.end_line < owner.start_line
            sizes[symbol.parent] = sizes.get(symbol.parent, 0) + (lines if is_outside else 0)
    return sizes


def _said_of(symbol: Symbol | SymbolFact) -> str:
    """Returns what a docstring says, with the name of its definition."""
    sentence = first_sentence(symbol.docstring)
    if not sentence:
        return ""
    first = sentence.split(" ")
    subject = first[first[0].lower() in _ARTICLES]
    return sentence if subject == symbol.name else f"{symbol.name}: {sentence}"


def _composed(file: DescribedFile, main: Symbol | SymbolFact | None) -> str:
    """Returns a sentence about what a file consists of."""
    defined = _defined(file)
    if _is_short(file, defined) and (gathered := _gathered(file)):
        return f"Gathers the {_listed(gathered, 'module')}."
    if main is not None and main.kind in TYPE_KINDS and (text := _of_type(file, main)):
        return text
    if {symbol.name for symbol in defined} == {"main"}:
        return f"Program {' '.join(_words(_place_name(file.path)))}."
    if defined:
        return f"Defines {_listed_by_kind(file.symbols, defined)}."
    heading = _HEADING.search(file.opening) if file.language in _PROSE else None
    return _plain_heading(heading[1] or heading[2]) if heading else ""


def _is_short(file: DescribedFile, defined: Sequence[Symbol | SymbolFact]) -> bool:
    """Whether a file represents its folder and defines little, or nothing at all."""
    lines = sum(_sizes(file.symbols).values())
    return not defined or (_stem(file.path) in _FOLDER_NAMES - {"main"} and lines <= GATHERING_LINES_MAX)


def _plain_heading(text: str) -> str:
    return " ".join(text.replace("`", "").split())


_PROSE = frozenset({"markdown", "mdx", "rst", "asciidoc", "text", "org"})


def _of_type(file: DescribedFile, main: Symbol | SymbolFact) -> str:
    """Returns a sentence about a type and its methods; empty if it has none."""
    at = next(position for position, symbol in enumerate(file.symbols) if symbol is main)
    members = [
        symbol.name
        for symbol in file.symbols
        if symbol.parent == at and symbol.kind is SymbolKind.METHOD and symbol.exported
    ]
    names = list(dict.fromkeys(name for name in members if not name.startswith("_")))
    if not names:
        return ""
    others = [one for one in _defined(file) if one.exported and one.name != main.name and not _owner(one)]
    beside = f", and {_listed_by_kind(file.symbols, others, 1)}" if others else ""
    return f"Defines the {_kind(main)} {main.name} with the {_listed(names, 'method')}{beside}."


def _tested(file: DescribedFile) -> str:
    """Returns what tests are about: by the name of the file, by its first suite, and by the names of the tests.

    Empty for other code under a folder of tests.
    """
    suite = _SUITE.search(file.opening)
    stem = _TEST_AFFIX.sub("", file.path.rpartition("/")[2].partition(".")[0])
    names = [_words(symbol.name)[1:] for symbol in file.symbols if _is_test(symbol)]
    if not suite and not names and stem == _stem(file.path) and not _TEST_NAME.search(file.path):
        return ""
    says_nothing = stem in _FOLDER_NAMES or set(_words(stem)) <= _TEST_WORDS
    subject = "" if says_nothing else stem.replace("_", " ").replace("-", " ")
    if not subject and suite and _SUITE_NAME.fullmatch(suite[2]):
        subject = suite[2].strip()
    folders = [name for name in file.path.split("/")[:-1] if not set(_words(name)) <= _TEST_WORDS]
    subject = subject or (folders[-1] if folders else "the repository")
    cases = [" ".join(words) for words in names if words and words != _words(subject)]
    rest = f" and {len(cases) - NAMES_MAX} more" if len(cases) > NAMES_MAX else ""
    return f"Tests of {subject}: {', '.join(cases[:NAMES_MAX])}{rest}." if cases else f"Tests of {subject}."


def _is_test(symbol: Symbol | SymbolFact) -> bool:
    words = _words(symbol.name)
    return symbol.kind in CALLABLE_KINDS and bool(words) and words[0] in _TEST_WORDS


def _gathered(file: DescribedFile) -> list[str]:
    """Returns the modules of its own folder that a file imports or exports as they are, by their last name."""
    folder = file.path.rpartition("/")[0].rpartition("/")[2]
    found = []
    for match in _GATHERED.finditer(file.opening):
        package, _, rest = (match["package"] or "").partition(".")
        found.append(match["py"] or match["js"] or match["rs"] or (rest if package == folder else ""))
    names = (re.sub(r"\.[cm]?[jt]sx?$", "", name).rstrip("/").removesuffix("/index") for name in found)
    return list(dict.fromkeys(name.rpartition("/")[2] for name in names if name))


def _top_level(symbols: Sequence[Symbol | SymbolFact]) -> Iterator[Symbol | SymbolFact]:
    return (symbol for symbol in symbols if _is_top(symbols, symbol))


def _is_top(symbols: Sequence[Symbol | SymbolFact], symbol: Symbol | SymbolFact) -> bool:
    """Whether a definition is at the top level, or in a namespace there. Tests at the end of a file are not."""
    if symbol.kind in _ENCLOSING:
        return False
    while symbol.parent >= 0:
        symbol = symbols[symbol.parent]
        if symbol.kind not in _ENCLOSING or symbol.name.lower() in _TEST_WORDS:
            return False
    return True


def _defined(file: DescribedFile) -> list[Symbol | SymbolFact]:
    """Returns types and functions at the top level; of a file without any, its values."""
    top = list(_top_level(file.symbols))
    code = [symbol for symbol in top if symbol.kind in TYPE_KINDS | CALLABLE_KINDS]
    return code or top


def _listed_by_kind(
    symbols: Sequence[Symbol | SymbolFact], defined: Sequence[Symbol | SymbolFact], kinds_max: int = 2
) -> str:
    """Returns `the classes Depot and Dock, and the function open`: exported names first, then the longest."""
    sizes = {id(symbols[position]): size for position, size in _sizes(symbols).items()}
    shown = [symbol for symbol in defined if symbol.exported] or list(defined)
    shown = [symbol for symbol in shown if not symbol.name.startswith("__")] or shown
    groups: dict[str, list[Symbol | SymbolFact]] = {}
    for symbol in shown:
        groups.setdefault(_group(symbol), []).append(symbol)
    order = sorted(groups.items(), key=lambda group: -sum(sizes.get(id(one), 0) for one in group[1]))
    if any(one.kind in TYPE_KINDS for one in shown):
        order = [group for group in order if " of " not in group[0]]
    parts = []
    for kind, members in order[:kinds_max]:
        members.sort(key=lambda symbol: -sizes.get(id(symbol), 0))
        noun, _, owner = kind.partition(" of ")
        listed = _listed(list(dict.fromkeys(one.name for one in members)), noun)
        parts.append(f"the {listed} of {owner}" if owner else f"the {listed}")
    return ", and ".join(parts)


def _listed(names: Sequence[str], noun: str) -> str:
    """Returns `methods open, close and 3 more`."""
    shown, rest = names[:NAMES_MAX], len(names) - NAMES_MAX
    if rest > 0:
        text = f"{', '.join(shown)} and {rest} more"
    else:
        text = " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
    return f"{_plural(noun) if len(names) > 1 else noun} {text}"


def _plural(noun: str) -> str:
    if noun.endswith(("s", "x")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def _group(symbol: Symbol | SymbolFact) -> str:
    """Returns the kind, and of a method outside its type the type."""
    owner = _owner(symbol)
    return f"{_kind(symbol)} of {owner}" if owner else _kind(symbol)


def _owner(symbol: Symbol | SymbolFact) -> str:
    """Returns the type of a method; empty for another symbol."""
    owner = symbol.qualified_name.removesuffix(symbol.name).removesuffix(".")
    return owner if symbol.kind is SymbolKind.METHOD else ""


def _kind(symbol: Symbol | SymbolFact) -> str:
    return symbol.kind.value.replace("_", " ")


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.partition(".")[0] or name


def _place_name(path: str) -> str:
    """Returns the stem of a path, or the folder that it represents."""
    folder = path.rpartition("/")[0].rpartition("/")[2]
    return folder if folder and _stem(path) in _FOLDER_NAMES else _stem(path)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _cut(sentence: str) -> str:
    """Returns a sentence with its period, cut between words."""
    if not sentence:
        return ""
    if len(sentence) >= DESCRIPTION_CHARS_MAX:
        return f"{sentence[: DESCRIPTION_CHARS_MAX - 1].rpartition(' ')[0].rstrip(' ,;:(')}…"
    return sentence if sentence[-1] in ".!?…" else f"{sentence}."
