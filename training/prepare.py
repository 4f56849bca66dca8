"""Pairs and tokenizer.json -> prep.npz: token ids and counts of descriptions, paths and codes as flat arrays.

The code side contains its path line too: the model is trained on one bag of both.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from corpus import is_held_out, read_pairs
from numpy.typing import NDArray
from vocabulary import TOKENIZER_FILE

from prism_model.tokens import Tokenizer, Vocabulary

PREP_FILE = "prep.npz"
BATCH = 200  # rows per call of the tokenizer
COUNT_MAX = 255  # counts are stored as bytes
SIDES = ("q", "p", "c")  # description, path, code

Arrays = dict[str, NDArray[Any]]
Row = dict[str, Any]


def prepare(rows: Iterator[Row], tokenizer: Tokenizer) -> Arrays:
    """Returns for each side: `n` tokens per row, `t` their ids, `c` their counts; and language, package and
    kind of each row.
    """
    sides: dict[str, list[NDArray[Any]]] = defaultdict(list)
    languages: dict[str, int] = {}
    packages: dict[str, int] = {}
    about = []
    for batch in _batches(rows):
        _add(sides, tokenizer, batch)
        about += [
            (
                languages.setdefault(row["lang"], len(languages)),
                packages.setdefault(row["pkg"], len(packages)),
                row["k"] == "weak",
            )
            for row in batch
        ]
    language, package, weak = np.array(about, np.int32).T
    return {name: np.concatenate(parts) for name, parts in sides.items()} | {
        "lang": language.astype(np.int16),
        "pkg": package,
        "weak": weak.astype(np.bool_),
        "langs": np.array(list(languages)),
    }


def _add(sides: dict[str, list[NDArray[Any]]], tokenizer: Tokenizer, rows: Sequence[Row]) -> None:
    texts = {
        "q": [row["q"] for row in rows],
        "p": [row["path"] for row in rows],
        "c": [row["path"] + "\n" + row["code"] for row in rows],
    }
    for side in SIDES:
        bags = tokenizer.bags(texts[side])
        sides[side + "n"].append(np.diff(bags.starts).astype(np.int32))
        sides[side + "t"].append(bags.tokens)
        sides[side + "c"].append(np.minimum(bags.counts, COUNT_MAX).astype(np.uint8))


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    for first in rows:
        yield list(chain([first], islice(rows, BATCH - 1)))


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path, help=".jsonl.gz of build_pairs.py")
    parser.add_argument("work", type=Path, help="folder of vocabulary.py")
    parser.add_argument(
        "--hold-out", action="store_true", help="leave out the packages that heldout.py judges by"
    )
    options = parser.parse_args()
    rows = (row for row in read_pairs(options.pairs) if not (options.hold_out and is_held_out(row["pkg"])))
    vocabulary = Vocabulary.parse((options.work / TOKENIZER_FILE).read_bytes())
    arrays = prepare(rows, Tokenizer(vocabulary))
    np.savez(options.work / PREP_FILE, allow_pickle=False, **arrays)
    print("pairs", len(arrays["lang"]), "tokens a code side", round(len(arrays["ct"]) / len(arrays["lang"])))


if __name__ == "__main__":
    main()
