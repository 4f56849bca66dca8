"""The pairs file as rows, the packages to evaluate with, and texts as words: shared by several steps."""

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prism_model.tokens import split_identifiers, split_words

HELD_OUT_SHARE = 0.05  # of the packages


def read_pairs(file: Path) -> Iterator[dict[str, Any]]:
    """Returns the rows that build_pairs.py wrote: k(ind), lang, pkg, path, name, q (description), code,
    win(dow).
    """
    with gzip.open(file, "rt") as lines:
        for line in lines:
            yield json.loads(line)


def is_held_out(package: str) -> bool:
    """Returns whether a package, by its name in the pairs, is held out for evaluation: the same ones in every
    run.
    """
    return hashlib.sha256(package.encode()).digest()[0] < HELD_OUT_SHARE * 256


def words(text: str) -> list[str]:
    """Returns the words of a text as the model sees them."""
    return [
        word for identifier in split_identifiers(text) for word in split_words(identifier.decode("ascii"))
    ]
