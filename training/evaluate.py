"""Model folders and a benchmark in, file-level NDCG@10 out: vectors alone, BM25 alone, and both fused by RRF.

`BENCH` contains repos.json (name, language) and annotations/NAME.json (query, category, relevant, secondary);
`CORPORA` contains one folder per repository. Repositories without a folder are skipped, so passing only the
development half scores only that. Chunks are 50 lines; the best chunk of a file counts; scores are means over
repositories of their mean.
"""

import argparse
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from languages import EXTENSIONS
from numpy.typing import NDArray

from prism_model.static_model import FileChunks, StaticModel

CHUNK_LINES = 50
FILE_BYTES_MAX = 1_000_000
RANK_MAX = 10
RRF_K, RRF_TOP = 60, 100
BM25_K1, BM25_B = 1.5, 0.75
RESAMPLES = 2_000
# Read here in addition to the languages of the training text.
MORE_EXTENSIONS = frozenset({".pyi", ".kts", ".inc", ".rake", ".bats", ".zig"})
_LEFT_OUT = frozenset({"node_modules", "__pycache__"})
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*|\d+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

Scores = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Task:
    """A question and the paths of the files that answer it."""

    query: str
    category: str
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Repository:
    """A repository in chunks, with its questions."""

    name: str
    chunks: list[tuple[str, str]]  # path, text
    tasks: list[Task]


@dataclass(frozen=True)
class Row:
    """The scores of one question by method."""

    repository: str
    category: str
    scores: dict[str, float]


def repositories(bench: Path, corpora: Path) -> Iterator[Repository]:
    """Returns the repositories with a folder, in order of repos.json."""
    for described in json.loads((bench / "repos.json").read_text()):
        name, root = described["name"], corpora / described["name"]
        annotations = bench / "annotations" / f"{name}.json"
        if root.is_dir() and annotations.is_file():
            tasks = [_task(item) for item in json.loads(annotations.read_text())]
            yield Repository(name, list(_chunks(root, described["language"])), tasks)


def evaluate(repository: Repository, model: StaticModel) -> list[Row]:
    """Scores each question of the repository."""
    paths = [path for path, _ in repository.chunks]
    vectors = _embed(model, repository.chunks)
    questions = model.embed_queries([task.query for task in repository.tasks])
    keywords = Bm25([f"{path}\n{text}" for path, text in repository.chunks])
    rows = []
    for task, question in zip(repository.tasks, questions, strict=True):
        by_words, by_vector = keywords.scores(task.query), vectors @ question
        matched = np.where(by_words > 0, by_words, -np.inf)
        methods = {"bm25": matched, "dense": by_vector, "rrf": fuse(by_words, by_vector)}
        scores = {name: ndcg(ranked_files(paths, values), task.targets) for name, values in methods.items()}
        rows.append(Row(repository.name, task.category, scores))
    return rows


class Bm25:
    """BM25 over identifiers, whole and in parts."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(_terms(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts])
        self._size = len(texts)
        self._postings = defaultdict(list)
        damping = BM25_K1 * (1 - BM25_B + BM25_B * lengths / lengths.mean())
        for row, count in enumerate(counts):
            for term, times in count.items():
                self._postings[term].append((row, times * (BM25_K1 + 1) / (times + damping[row])))

    def scores(self, query: str) -> Scores:
        """Returns one score per text; zero if it shares no term."""
        found = np.zeros(self._size, np.float32)
        for term in set(_terms(query)):
            postings = self._postings.get(term, [])
            rarity = math.log(1 + (self._size - len(postings) + 0.5) / (len(postings) + 0.5))
            for row, value in postings:
                found[row] += rarity * value
        return found


def fuse(by_words: Scores, by_vector: Scores) -> Scores:
    """Reciprocal rank fusion of chunks; minus infinity for those in neither list."""
    fused = np.full(len(by_words), -np.inf)
    for values, only_matches in ((by_words, True), (by_vector, False)):
        for rank, row in enumerate(np.argsort(-values, kind="stable")[:RRF_TOP], 1):
            if only_matches and values[row] <= 0:
                break
            fused[row] = max(fused[row], 0) + 1 / (RRF_K + rank)
    return fused


def ranked_files(paths: Sequence[str], scores: Scores) -> list[str]:
    """Returns the files by their best chunk, up to the cutoff."""
    order = [row for row in np.argsort(-scores, kind="stable") if np.isfinite(scores[row])]
    return list(dict.fromkeys(paths[row] for row in order))[:RANK_MAX]


def ndcg(files: Sequence[str], targets: Sequence[str]) -> float:
    """Binary NDCG@10: each target counts at the first matching file."""
    hits = {
        next((rank for rank, file in enumerate(files) if _same(file, target)), None) for target in targets
    }
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(RANK_MAX, len(targets))))
    return sum(1 / math.log2(rank + 2) for rank in hits if rank is not None) / ideal if targets else 0.0


def mean(rows: Sequence[Row], method: str, category: str = "") -> float:
    """Mean over repositories of the mean over their questions."""
    values = defaultdict(list)
    for row in rows:
        if category in {"", row.category}:
            values[row.repository].append(row.scores[method])
    return float(np.mean([np.mean(scores) for scores in values.values()])) if values else math.nan


def difference(rows: Sequence[Row], method: str, other: str) -> tuple[float, float, float]:
    """Mean difference of two methods and its 95 % interval: paired bootstrap over questions within repositories."""
    values = defaultdict(list)
    for row in rows:
        values[row.repository].append(row.scores[method] - row.scores[other])
    rng = np.random.default_rng(0)
    samples = np.zeros(RESAMPLES)
    for differences in map(np.array, values.values()):
        drawn = differences[rng.integers(0, len(differences), (RESAMPLES, len(differences)))]
        samples += drawn.mean(1) / len(values)
    low, high = np.percentile(samples, [2.5, 97.5])
    return mean(rows, method) - mean(rows, other), float(low), float(high)


def _task(item: dict[str, Any]) -> Task:
    targets = [*item.get("relevant", []), *item.get("secondary", [])]
    paths = tuple(target if isinstance(target, str) else str(target["path"]) for target in targets)
    return Task(item["query"], item["category"], paths)


def _chunks(root: Path, language: str) -> Iterator[tuple[str, str]]:
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root)
        if not _is_code(path, language) or not file.is_file() or file.is_symlink():
            continue
        if file.stat().st_size > FILE_BYTES_MAX:
            continue
        lines = file.read_text("utf-8", "replace").split("\n")
        for low in range(0, len(lines), CHUNK_LINES):
            text = "\n".join(lines[low : low + CHUNK_LINES])
            if text.strip():
                yield path.as_posix(), text


def _is_code(path: Path, language: str) -> bool:
    folders = path.parts[:-1]
    if any(folder.startswith(".") or folder in _LEFT_OUT for folder in folders):
        return False
    known = path.suffix.lower() in EXTENSIONS or path.suffix.lower() in MORE_EXTENSIONS
    return known or (language == "bash" and "." not in path.name)


def _embed(model: StaticModel, chunks: Sequence[tuple[str, str]]) -> Scores:
    by_path = defaultdict(list)
    for path, text in chunks:
        by_path[path].append(text)
    return np.concatenate(model.embed_files([FileChunks(path, texts) for path, texts in by_path.items()]))


def _terms(text: str) -> Iterator[str]:
    for identifier in _IDENTIFIER.findall(text):
        parts = [part.lower() for part in _PART.findall(identifier)]
        yield from parts
        if len(parts) > 1:
            yield identifier.lower()


def _same(path: str, target: str) -> bool:
    """Returns whether two paths are equal, or one is the end of the other."""
    return path == target or path.endswith("/" + target) or target.endswith("/" + path)


def _report(rows: Sequence[Row]) -> None:
    categories = sorted({row.category for row in rows})
    for method in ("bm25", "dense", "rrf"):
        parts = " ".join(f"{category} {mean(rows, method, category):.3f}" for category in categories)
        print(f"{method:6} {mean(rows, method):.3f}  {parts}")
    for method in ("dense", "rrf"):
        print(f"{method} minus bm25", _interval(*difference(rows, method, "bm25")))


def _compare(rows: Sequence[Row], first: Sequence[Row]) -> None:
    """Two models on the same questions."""
    for method in ("dense", "rrf"):
        both = [
            Row(row.repository, row.category, {"this": row.scores[method], "first": other.scores[method]})
            for row, other in zip(rows, first, strict=True)
        ]
        print(f"{method} minus that of the first model", _interval(*difference(both, "this", "first")))


def _interval(value: float, low: float, high: float) -> str:
    return f"{value:+.4f} [{low:+.4f}, {high:+.4f}]"


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", type=Path)
    parser.add_argument("corpora", type=Path)
    parser.add_argument(
        "models", type=Path, nargs="+", help="model folders; the first is compared with the others"
    )
    options = parser.parse_args()
    first: list[Row] = []
    for folder in options.models:
        model = StaticModel.load(folder)
        rows = [
            row
            for repository in repositories(options.bench, options.corpora)
            for row in evaluate(repository, model)
        ]
        print(folder, "questions", len(rows))
        _report(rows)
        if first:
            _compare(rows, first)
        first = first or rows


if __name__ == "__main__":
    main()
