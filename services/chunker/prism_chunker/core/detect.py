"""The language of a file, by its name, then its first line, then its content where names are ambiguous."""

import re
from collections.abc import Callable

from prism_chunker.core.languages.table import LANGUAGES

_SHEBANG = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+)*)?(?:\S*/)?([A-Za-z]+)")
_CPP = re.compile(
    r"^[ \t]*+(?:class\s+\w+|namespace\b|template\s*<|using\s+\w|public:|private:|protected:|#include\s*<\w+>)"
    r"|\bstd::|\bvirtual\b|\bconstexpr\b|\bnullptr\b|\boverride\b",
    re.MULTILINE,
)
_C_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/)?|//[^\n]*+")
_OBJC = re.compile(
    r"^[ \t]*+(?:@(?:interface|protocol|implementation|class|import)\b|#import\b)", re.MULTILINE
)
_PROLOG = re.compile(r"^[ \t]*+:-|^[a-z]\w*\(.*\)\s*:-", re.MULTILINE)
_PERL = re.compile(r"\b(?:use strict|my \$|sub \w+|package \w)")
_COQ = re.compile(r"^[ \t]*+(?:Require Import|Lemma|Theorem|Proof)\b", re.MULTILINE)
CONTENT_CHARS_MAX = 100_000

_BY_EXTENSION = {
    extension: language.id for language in LANGUAGES.values() for extension in language.extensions
}
_BY_NAME = {name: language.id for language in LANGUAGES.values() for name in language.filenames}
_BY_INTERPRETER = {name: language.id for language in LANGUAGES.values() for name in language.interpreters}


def detect_language(path: str, text: str) -> str:
    """Returns the lower-case id of a file's language, empty if unknown."""
    name = path.rsplit("/", 1)[-1].lower()
    by_content = _AMBIGUOUS.get(name.rsplit(".", 1)[-1]) if "." in name else None
    if by_content:
        return by_content(text[:CONTENT_CHARS_MAX])
    return _BY_NAME.get(name) or _by_extension(name) or _by_prefix(name) or _by_first_line(text)


def _by_extension(name: str) -> str:
    """Returns the longest known extension: `x.blade.php` before `x.php`."""
    parts = name.split(".")[1:]
    known = (_BY_EXTENSION.get(".".join(parts[index:])) for index in range(len(parts)))
    return next(filter(None, known), "")


def _by_prefix(name: str) -> str:
    """Returns the language of `Dockerfile.dev`, `Makefile.am`."""
    return _BY_NAME.get(name.split(".", 1)[0], "")


def _by_first_line(text: str) -> str:
    found = _SHEBANG.match(text[:200])
    return _BY_INTERPRETER.get(found.group(1).lower(), "") if found else ""


def _of_h(text: str) -> str:
    if _OBJC.search(text):
        return "objc"
    # In comments "virtual" and "override" are words.
    return "cpp" if _CPP.search(_C_COMMENT.sub("", text)) else "c"


def _of_m(text: str) -> str:
    return "objc" if _OBJC.search(text) or "#include" in text else "matlab"


def _of_ts(text: str) -> str:
    return "xml" if text.lstrip().startswith(("<?xml", "<!DOCTYPE TS")) else "typescript"


def _of_pl(text: str) -> str:
    return "prolog" if _PROLOG.search(text) and not _PERL.search(text) else "perl"


def _of_v(text: str) -> str:
    return "coq" if _COQ.search(text) else "verilog"


_AMBIGUOUS: dict[str, Callable[[str], str]] = {"h": _of_h, "m": _of_m, "ts": _of_ts, "pl": _of_pl, "v": _of_v}
