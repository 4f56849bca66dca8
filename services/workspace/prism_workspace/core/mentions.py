"""Finds the places of code that a Markdown text names: paths, lines and symbols.

Takes the text of a document or task, returns `Mention`s in the order of the text. A mention is only a
spelling: whether the place exists is asked of the index. Words of prose are never mentions, and code blocks are
left out: they hold examples as often as code of a repository.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from prism_contracts.types import LINE_MAX, PATH_CHARS_MAX, REPO_CHARS_MAX, SYMBOL_CHARS_MAX

# The rest of a longer text is not read: parsing this much takes a quarter of a second.
SCANNED_CHARS_MAX = 256 * 1024
MENTIONS_MAX = 200
_SPAN_CHARS_MAX = 400  # longest inline code or link target
_NAME_CHARS_MIN = 3
_FILES_BESIDE_MAX = 3  # files of a paragraph in which its names are looked for
_EXTENSION_CHARS_MAX = 8
_LINE_DIGITS = len(str(LINE_MAX))

# Files that are named without a folder, and files without an extension. `app.get` is a symbol: an extension
# that is also a common name of a member is missing here.
_EXTENSIONS = frozenset(
    [
        "bash",
        "c",
        "cc",
        "cfg",
        "cpp",
        "cs",
        "css",
        "csv",
        "cxx",
        "dart",
        "ex",
        "exs",
        "fish",
        "go",
        "gradle",
        "graphql",
        "h",
        "hpp",
        "hs",
        "html",
        "ini",
        "ipynb",
        "java",
        "jl",
        "js",
        "json",
        "jsx",
        "kt",
        "kts",
        "lock",
        "lua",
        "md",
        "mdx",
        "mjs",
        "ml",
        "mli",
        "php",
        "pl",
        "proto",
        "ps1",
        "py",
        "pyi",
        "pyx",
        "r",
        "rb",
        "rs",
        "rst",
        "sass",
        "scala",
        "scss",
        "sh",
        "sql",
        "svelte",
        "swift",
        "tf",
        "toml",
        "ts",
        "tsx",
        "txt",
        "vue",
        "xml",
        "yaml",
        "yml",
        "zig",
        "zsh",
    ]
)
_BARE_FILES = frozenset(
    {"CODEOWNERS", "Dockerfile", "Gemfile", "Justfile", "Makefile", "Procfile", "Rakefile"}
)
# Calls of a language's own functions: one that a repository defines again is hardly ever meant.
_LANGUAGE_NAMES = frozenset(
    [
        "abs",
        "bool",
        "bytes",
        "dict",
        "float",
        "format",
        "hash",
        "input",
        "int",
        "isinstance",
        "iter",
        "len",
        "list",
        "map",
        "max",
        "min",
        "next",
        "open",
        "print",
        "range",
        "round",
        "set",
        "sorted",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "vars",
        "zip",
    ]
)
_HOST_ENDINGS = frozenset({"com", "dev", "io", "net", "org"})

_OWNER = r"(?P<repo>[\w.-]{1,100}(?:/[\w.-]{1,100}){1,3})"
_SEGMENT = r"[\w@+~()\[\]=,.-]+"
_LINES = (
    rf"(?::(?P<first>[1-9]\d{{0,{_LINE_DIGITS - 1}}})(?:[-:](?P<last>[1-9]\d{{0,{_LINE_DIGITS - 1}}}))?"
    rf"|\#L(?P<from>[1-9]\d{{0,{_LINE_DIGITS - 1}}})(?:-L?(?P<to>[1-9]\d{{0,{_LINE_DIGITS - 1}}}))?)?"
)
_NAME = r"[^\W\d]\w*"
_QUALIFIED = rf"{_NAME}(?:(?:\.|::|\#){_NAME})*"
_PLACE = re.compile(
    rf"(?:{_OWNER}:\ ?)?(?!\d+(?:-\d+)?$)(?:\./)?(?P<path>{_SEGMENT}(?:/{_SEGMENT})*)(?:::(?P<symbol>{_QUALIFIED})(?:\(\))?|{_LINES})",
    re.VERBOSE,
)
_SYMBOL = re.compile(rf"(?P<name>{_QUALIFIED})(?P<call>\([^()]*\))?", re.VERBOSE)
_ACRONYM_WORD = re.compile(r"[A-Z]{2,}[A-Z0-9]*[a-z]\w*")  # `HTTPPool`
_RECEIVER = re.compile(r"(?:self|this|cls|super\(\))\.")
# A path in prose has a folder, an extension and nothing of a URL around it.
_PROSE_PLACE = re.compile(
    rf"(?<![\w/.:@~$-])(?:[\w.-]{{1,100}}/[\w.-]{{1,100}}:\ )?(?:[\w@+.-]{{1,100}}/){{1,20}}[\w@+.-]{{1,100}}\.\w{{1,8}}"
    rf"(?::\d{{1,{_LINE_DIGITS}}}(?:-\d{{1,{_LINE_DIGITS}}})?)?(?![\w/])",
    re.VERBOSE,
)
_PROSE_SYMBOL = re.compile(rf"(?<![\w:.`/]){_NAME}(?:::{_NAME})+(?![\w:])")
_FORGE = re.compile(
    r"/(?P<repo>[^/]+(?:/[^/]+)+?)/(?:-/)?(?:blob|blame|src/(?:branch|commit|tag))/[^/]+/(?P<path>.+)"
)
_FRAGMENT = re.compile(r"L(?P<first>\d{1,10})(?:C\d+)?(?:-L?(?P<last>\d{1,10})(?:C\d+)?)?")

_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table")


@dataclass(frozen=True)
class Mention:
    """A place that a text names. A symbol without a path may be anywhere; lines are 1-based, 0 for none.

    A plain name (`media_type`, neither qualified nor called) is of a member as often as of a parameter, so that
    only a definition at top level fits it.
    """

    repo: str = ""  # owner/name, empty if the text does not say it
    path: str = ""
    symbol: str = ""  # with dots between its parts, in whatever language
    is_call: bool = False
    start_line: int = 0
    end_line: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether it is a symbol's name and nothing more."""
        return not self.path and "." not in self.symbol and not self.is_call


def mentions(text: str) -> tuple[Mention, ...]:
    """Returns the mentions of a Markdown text, each once, in its order, `MENTIONS_MAX` at most.

    `text` is without front matter. Never raises, whatever the text.
    """
    found: dict[Mention, None] = {}
    for mention in _of_blocks(_MARKDOWN.parse(text[:SCANNED_CHARS_MAX])):
        found.setdefault(mention)
        if len(found) == MENTIONS_MAX:
            break
    return tuple(found)


def of_code(code: str) -> Mention | None:
    """Returns what one span of inline code names: `path`, `path:line`, `owner/name: path`, or a symbol."""
    code = code.strip()
    if not code or len(code) > _SPAN_CHARS_MAX:
        return None
    return _place(code) or _symbol(code)


def of_target(target: str) -> Mention | None:
    """Returns what a link leads to: a file of a forge, or a relative path."""
    if len(target) > _SPAN_CHARS_MAX:
        return None
    try:
        url = urlsplit(target)
    except ValueError:  # brackets that are no address
        return None
    lines = _FRAGMENT.fullmatch(url.fragment)
    first, last = (int(lines["first"]), int(lines["last"] or 0)) if lines else (0, 0)
    if url.scheme in {"http", "https"}:
        forge = _FORGE.fullmatch(unquote(url.path))
        return _checked(forge["repo"], forge["path"], first, last) if forge else None
    if url.scheme or url.netloc:
        return None
    path = unquote(url.path).removeprefix("./")
    return _checked("", path, first, last) if _is_file(path) else None


def _of_blocks(tokens: Sequence[Token]) -> Iterator[Mention]:
    for token in tokens:
        if token.type == "inline":
            yield from _of_inline(token.children or ())


def _of_inline(tokens: Sequence[Token]) -> Iterator[Mention]:
    """Yields the mentions of a paragraph. A name beside a path may be one that the file defines."""
    found = list(_one_by_one(tokens))
    yield from found
    files = [one for one in found if one.path and not one.symbol][:_FILES_BESIDE_MAX]
    for token in tokens if files else ():
        name = _name(token.content) if token.type == "code_inline" else ""
        if name:
            yield from (Mention(repo=file.repo, path=file.path, symbol=name) for file in files)


def _name(code: str) -> str:
    """Returns the name that one span of inline code is, whatever it names; empty if it is none."""
    code = code.strip()
    match = _SYMBOL.fullmatch(_RECEIVER.sub("", code, count=1))
    if match is None or not _NAME_CHARS_MIN <= len(code) <= SYMBOL_CHARS_MAX or _place(code):
        return ""
    return "" if match["name"] in _LANGUAGE_NAMES else re.sub(r"::|#", ".", match["name"])


def _one_by_one(tokens: Sequence[Token]) -> Iterator[Mention]:
    for token in tokens:
        if token.type == "code_inline":
            mention = of_code(token.content)
            if mention:
                yield mention
        elif token.type == "link_open":
            mention = of_target(str(token.attrs.get("href", "")))
            if mention:
                yield mention
        elif token.type == "text":
            yield from _of_prose(token.content)


def _of_prose(text: str) -> Iterator[Mention]:
    for found in _PROSE_PLACE.finditer(text):
        place = _place(found[0])
        if place:
            yield place
    for found in _PROSE_SYMBOL.finditer(text):
        symbol = _symbol(found[0])
        if symbol:
            yield symbol


def _place(text: str) -> Mention | None:
    match = _PLACE.fullmatch(text)
    if not match or not _is_file(match["path"]):
        return None
    first, last = match["first"] or match["from"], match["last"] or match["to"]
    symbol = re.sub(r"::|#", ".", match["symbol"] or "")
    return _checked(match["repo"] or "", match["path"], int(first or 0), int(last or 0), symbol)


def _symbol(text: str) -> Mention | None:
    text = _RECEIVER.sub("", text, count=1)
    match = _SYMBOL.fullmatch(text)
    if not match or len(text) > SYMBOL_CHARS_MAX:
        return None
    name, is_call = re.sub(r"::|#", ".", match["name"]), match["call"] is not None
    return Mention(symbol=name, is_call=is_call) if _is_symbol(name, is_call=is_call) else None


def _is_symbol(name: str, *, is_call: bool) -> bool:
    """Whether a name is so unlike a word that it is a symbol's: qualified, called, or of several words.

    A single capitalized word (`Response`) is a class of some library as often as one of a repository.
    """
    *qualifiers, last = name.split(".")
    if qualifiers:
        is_host = name.islower() and last in _HOST_ENDINGS
        # `T::Item` is of a type parameter.
        return not is_host and not last.startswith("__") and min(map(len, (*qualifiers, last))) > 1
    if len(name) < _NAME_CHARS_MIN or name in _LANGUAGE_NAMES:
        return False
    has_two_words = "_" in name.strip("_") or any(a.islower() and b.isupper() for a, b in pairwise(name))
    return is_call or has_two_words or _ACRONYM_WORD.fullmatch(name) is not None


def _is_file(path: str) -> bool:
    """Whether a spelling is that of a file: it has an extension, or is one of the few files without."""
    folder, _, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if not dot:
        return name in _BARE_FILES
    if folder:
        return (
            bool(extension)
            and extension[0].isalpha()
            and extension.isalnum()
            and len(extension) <= _EXTENSION_CHARS_MAX
        )
    return bool(stem) and extension in _EXTENSIONS


def _checked(repo: str, path: str, first: int, last: int, symbol: str = "") -> Mention | None:
    """Returns the mention of a place, unless it cannot be one of a repository."""
    if len(repo) > REPO_CHARS_MAX or len(path) > PATH_CHARS_MAX or first > LINE_MAX or last > LINE_MAX:
        return None
    if path.startswith("/") or not {"", ".", ".."}.isdisjoint(path.split("/")):
        return None
    if first and last < first:
        last = first
    return Mention(repo=repo.lower(), path=path, symbol=symbol, start_line=first, end_line=last)
