"""semble without its model: its chunks, BM25 and ranking, in this process. Needs an interpreter with semble.

Its vectors need a model from a hub; here all vectors are equal and have no weight (`alpha` 0), so the measured times
are below those of its users.

In (stdin): {"folder": str, "questions": [str], "hits": int, "warm_up": int}.
Out (stdout): {"version": str, "files": int, "chunks": int, "index_s": float, "index_cpu_s": float, "rss": int, "search_s": [float]}.
"""

import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import psutil  # type: ignore[import-untyped]

ONLY_BM25 = 0.0


class NoModel:
    """Replaces the model that semble expects: every text has the same vector."""

    dim = 2

    def encode(self, texts: list[str], **_: object) -> Any:
        """Returns shape (texts, 2)."""
        return np.ones((len(texts), self.dim), np.float32)


def main() -> None:
    """Index the folder, ask the questions, print the times."""
    from semble.index.create import create_index_from_path  # type: ignore[import-not-found]
    from semble.search import search  # type: ignore[import-not-found]

    asked = json.load(sys.stdin)
    model: Any = NoModel()
    started, cpu_before = time.perf_counter(), _cpu_s()
    bm25, vectors, chunks, manifest = create_index_from_path(Path(asked["folder"]).resolve(), model)
    index_s, index_cpu_s = time.perf_counter() - started, _cpu_s() - cpu_before
    times = []
    for question in asked["questions"]:
        started = time.perf_counter()
        search(question, model, vectors, bm25, chunks, asked["hits"], alpha=ONLY_BM25)
        times.append(time.perf_counter() - started)
    shown = {
        "version": version("semble"),
        "files": len(manifest),
        "chunks": len(chunks),
        "index_s": index_s,
        "index_cpu_s": index_cpu_s,
        "rss": psutil.Process().memory_info().rss,
        "search_s": times[asked["warm_up"] :],
    }
    json.dump(shown, sys.stdout)


def _cpu_s() -> float:
    """Of this process and its finished children."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    main()
