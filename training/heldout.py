"""Pairs and model folders in; out comes how well each model finds files of packages that it was not trained
on.

Each package held out (`prepare.py --hold-out`) is a small corpus: its code sides are the chunks, its doc
comments the questions. The score is the reciprocal rank of the file of a doc comment, by the file's best
chunk. So epochs, rates and data can be chosen without the benchmark; only models trained with the same
packages held out are comparable.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from corpus import is_held_out, read_pairs

from prism_model.static_model import FileChunks, StaticModel

FILES_MIN = 10  # per package: among fewer there is little to find
QUESTIONS_MAX = 300  # per package

Row = dict[str, Any]


def packages(pairs: Path) -> dict[tuple[str, str], list[Row]]:
    """Returns the rows of the packages held out, by language and package."""
    groups = defaultdict(list)
    for row in read_pairs(pairs):
        if is_held_out(row["pkg"]):
            groups[row["lang"], row["pkg"]].append(row)
    return {key: rows for key, rows in groups.items() if len({row["path"] for row in rows}) >= FILES_MIN}


def by_language(groups: dict[tuple[str, str], list[Row]], model: StaticModel) -> dict[str, float]:
    """Returns the mean over the packages of a language of their mean reciprocal rank."""
    found = defaultdict(list)
    for (language, _), rows in groups.items():
        asked = [row for row in rows if row["k"] == "doc"][:QUESTIONS_MAX]
        if asked:
            found[language].append(mean_reciprocal_rank(asked, rows, model))
    return {language: float(np.mean(values)) for language, values in sorted(found.items())}


def mean_reciprocal_rank(asked: Sequence[Row], rows: Sequence[Row], model: StaticModel) -> float:
    """Returns the mean reciprocal rank of the files of `asked` among the files of `rows`. On a tie the other
    file ranks first.
    """
    codes = defaultdict(list)
    for row in rows:
        codes[row["path"]].append(row["code"])
    chunks = model.embed_files([FileChunks(path, texts) for path, texts in codes.items()])
    questions = model.embed_queries([row["q"] for row in asked])
    scores = np.stack([(questions @ vectors.T).max(axis=1) for vectors in chunks], axis=1)
    places = {path: place for place, path in enumerate(codes)}
    right = scores[np.arange(len(asked)), [places[row["path"]] for row in asked]]
    ranks = (scores >= right[:, None]).sum(axis=1)
    return float((1 / ranks).mean())


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path, help=".jsonl.gz of build_pairs.py")
    parser.add_argument("models", type=Path, nargs="+", help="model folders")
    options = parser.parse_args()
    groups = packages(options.pairs)
    for folder in options.models:
        values = by_language(groups, StaticModel.load(folder))
        parts = " ".join(f"{language} {value:.3f}" for language, value in values.items())
        print(f"{folder} {np.mean(list(values.values())):.4f}  {parts}")


if __name__ == "__main__":
    main()
