"""tokenizer.json -> init.npy: the first vector of each entry, from a sentence-transformers model.

Each entry is encoded separately, its token vectors averaged, all centred and reduced by PCA. Can be omitted
(`train.py --random-init`): then no other model is in the lineage, for 0.016 of NDCG@10.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from vocabulary import JOINED_FILE, PIECE_MARK, TOKENIZER_FILE

BATCH = 256
PCA_ROWS = 12_000
INIT_FILE = "init.npy"

Matrix = NDArray[np.float32]


def entry_texts(work: Path) -> list[str]:
    """Returns the entries as text, in order of token id: joined pairs as two words, pieces without their
    mark.
    """
    entries = json.loads((work / TOKENIZER_FILE).read_text())["model"]["vocab"]
    spaced = {joined.replace(" ", ""): joined for joined in json.loads((work / JOINED_FILE).read_text())}
    names = sorted(entries, key=lambda name: entries[name])
    return [
        spaced.get(name[1:], name[1:])
        if name.startswith("=") and len(name) > 1
        else name.replace(PIECE_MARK, "")
        for name in names
    ]


def encode(texts: list[str], folder: Path) -> Matrix:
    """Returns the mean of the encoder's token vectors, not normalized, one row per text."""
    from sentence_transformers import SentenceTransformer

    whole = SentenceTransformer(str(folder), device="cpu")
    pooled = SentenceTransformer(modules=[whole[0], whole[1]], device="cpu")
    return np.asarray(pooled.encode(texts, batch_size=BATCH, show_progress_bar=False), np.float32)


def reduce(rows: Matrix, dimension: int) -> Matrix:
    """Returns unit rows of the first principal components."""
    centred = rows - rows.mean(0)
    sample = centred[np.random.default_rng(0).permutation(len(centred))[:PCA_ROWS]]
    _, _, components = np.linalg.svd(sample, full_matrices=False)
    small: Matrix = centred @ components[:dimension].T
    length: Matrix = np.linalg.norm(small, axis=1, keepdims=True)
    return small / (length + np.float32(1e-9))


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="folder of vocabulary.py")
    parser.add_argument(
        "encoder", type=Path, help="folder of a sentence-transformers model: transformer, then mean pooling"
    )
    parser.add_argument("--dimension", type=int, default=256)
    options = parser.parse_args()
    rows = reduce(encode(entry_texts(options.work), options.encoder), options.dimension)
    np.save(options.work / INIT_FILE, rows.astype(np.float16))
    print("first vectors", rows.shape)


if __name__ == "__main__":
    main()
