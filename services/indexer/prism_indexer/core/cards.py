"""A card: what a file is about, in words. It is what the deep model reads of a file.

Path and names are spelled as words, since a language model knows `parse header` and not `parseHeader`. Pure: the same
version of a file gives the same card, whether it comes from its event or from the index.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Symbol

NAMES_MAX = 40
SENTENCES_MAX = 6
SENTENCE_CHARS_MAX = 160
COMMENTS_CHARS_MAX = 400
OPENING_CHARS_MAX = 6_000  # of a file, in which its first comments are looked for

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_COMMENT = re.compile(
    r'/\*.*?\*/|""".*?"""|\'\'\'.*?\'\'\'|\{-(?!#).*?-\}|<!--.*?-->'
    r"|(?:^[ \t]*(?://|--|;|%|#(?!\[|!|[ \t]*(?:include|define|undef|if|elif|else|endif|pragma|import|region)\b))[^\n]*\n?)+",
    re.DOTALL | re.MULTILINE,
)
_DECORATION = re.compile(r"""^[\s/*#;%"'{}|!<>=~-]+|[\s/*#"'{}|<>=~-]+$""")
# Lines that say who may copy the file.
_LICENCE = re.compile(
    r"copyright|licen[sc]|spdx|warrant|redistribut|permission|merchantab|liable|liability|damages|all rights|furnished"
    r"|substantial portions|without restriction|\bas is\b|and associated documentation|conditions are met|@author"
    r"|copies of the software|fitness for|in no event|other dealings|applicable law|governed by|maintainer *:|stability *:"
    r"|portability *:",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"<[^>]{1,80}>|[`*{}@]")
_SENTENCE = re.compile(r".{20,}?[.!?](?=\s)|.+", re.DOTALL)


def card_text(path: str, symbols: Sequence[Symbol], opening: str) -> str:
    """A card of some 200 words at most. `opening` is the text that the file begins with."""
    *folders, name = path.split("/")
    place = " in ".join(
        filter(None, (_words(name.partition(".")[0] or name), ", ".join(map(_words, folders))))
    )
    comments = _comments(opening[:OPENING_CHARS_MAX])
    names = ", ".join(_names(symbols))
    sentences = " ".join(_sentences(symbols, comments))
    parts = (part.rstrip(". ") for part in (place, comments, names, sentences))
    return ". ".join(filter(None, parts))


def _words(name: str) -> str:
    return " ".join(word.lower() for word in _WORD.findall(name))


def _comments(opening: str) -> str:
    """The words of the first comments, but for licences."""
    lines = (line for block in _COMMENT.findall(opening) for line in block.splitlines())
    plain = (_DECORATION.sub("", line) for line in lines if not _LICENCE.search(line))
    return " ".join(filter(None, plain))[:COMMENTS_CHARS_MAX]


def _names(symbols: Sequence[Symbol]) -> list[str]:
    """Names of types, then of functions, as words and each once."""
    ordered = (*_of_kinds(symbols, TYPE_KINDS), *_of_kinds(symbols, CALLABLE_KINDS))
    spelled = dict.fromkeys(_words(symbol.name) for symbol in ordered)
    return list(filter(None, spelled))[:NAMES_MAX]


def _of_kinds(symbols: Sequence[Symbol], kinds: Iterable[object]) -> Iterator[Symbol]:
    return (symbol for symbol in symbols if symbol.kind in kinds)


def _sentences(symbols: Sequence[Symbol], told: str) -> list[str]:
    """What the first docstrings begin with, unless the comments told it already."""
    documented = (" ".join(_MARKUP.sub("", symbol.docstring).split()) for symbol in symbols)
    first = (match[0][:SENTENCE_CHARS_MAX] for text in documented if (match := _SENTENCE.match(text)))
    fresh = dict.fromkeys(text for text in first if text not in told and not _LICENCE.search(text))
    return list(fresh)[:SENTENCES_MAX]
