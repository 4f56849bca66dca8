"""A card: a summary of a file in words, the input of the deep model.

Path and names are spelled as words, since a language model knows `parse header` and not `parseHeader`. Pure:
the same version of a file has the same card, whether it is built from its event or from the index.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Symbol
from prism_resolver.prose import first_comments, first_sentence

NAMES_MAX = 40
SENTENCES_MAX = 6

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")


def card_text(path: str, symbols: Sequence[Symbol], opening: str) -> str:
    """Returns a card of some 200 words at most. `opening` is the text at the start of the file."""
    *folders, name = path.split("/")
    place = " in ".join(
        filter(None, (_words(name.partition(".")[0] or name), ", ".join(map(_words, folders))))
    )
    comments = first_comments(opening)
    names = ", ".join(_names(symbols))
    sentences = " ".join(_sentences(symbols, comments))
    parts = (part.rstrip(". ") for part in (place, comments, names, sentences))
    return ". ".join(filter(None, parts))


def _words(name: str) -> str:
    return " ".join(word.lower() for word in _WORD.findall(name))


def _names(symbols: Sequence[Symbol]) -> list[str]:
    """Returns names of types, then of functions, as words and each once."""
    ordered = (*_of_kinds(symbols, TYPE_KINDS), *_of_kinds(symbols, CALLABLE_KINDS))
    spelled = dict.fromkeys(_words(symbol.name) for symbol in ordered)
    return list(filter(None, spelled))[:NAMES_MAX]


def _of_kinds(symbols: Sequence[Symbol], kinds: Iterable[object]) -> Iterator[Symbol]:
    return (symbol for symbol in symbols if symbol.kind in kinds)


def _sentences(symbols: Sequence[Symbol], shown: str) -> list[str]:
    """Returns the start of the first docstrings, unless the comments contain it already."""
    first = (first_sentence(symbol.docstring) for symbol in symbols)
    fresh = dict.fromkeys(text for text in first if text and text not in shown)
    return list(fresh)[:SENTENCES_MAX]
