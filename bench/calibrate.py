"""`python -m bench.calibrate`: how often the first hit is right at each confidence, and each verdict of check_exists.

Questions have their answer in the repository: subjects of commits, asked of the tree before them, where a
modified source file is right; first sentences of docstrings without the words of the symbol's name, where its file
is right, also with every second word replaced; names; and questions of the benchmark. The same sentences, asked of another repository of the same language, have no answer there.
"""

import argparse
import asyncio
import json
import random
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.commits import ASIDE, CHARS_MAX, SUFFIXES, WORDS_MIN, commits_after, lay_out
from bench.measure_index import index_folder
from bench.measure_search import call_tool, mcp_client
from bench.quality.questions import load_questions
from bench.stack import running_stack
from prism_chunker.core import chunk_file
from prism_cli.client import Prism
from prism_cli.target import ServerTarget
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS
from prism_search.core.confidence import HIGH_MIN, LEAD_MAX, LOW_MAX
from prism_search.core.retrieval.plan import KEYWORD_LEG
from prism_search.core.sentences import sentences
from prism_search.core.words import IDENTIFIER, stems_of
from prism_source.words import STOP_WORDS

OWNER = "calibrate"
PER_FAMILY = 60
KINDS = CALLABLE_KINDS | TYPE_KINDS
# What a question weighs in the fit; names have a rule of their own.
FIT_WEIGHTS = {"commit": 1.0, "benchmark": 1.0, "docstring": 0.6, "no answer": 0.3}
STEPS = 20
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """A question, the repository asked, and the files that answer; none if it has no answer there."""

    repo: str
    family: str
    text: str
    files: tuple[str, ...]


def main() -> None:
    """Ask, print the tables, and keep what each question was answered for a fit."""
    options = _options()
    clones = sorted(
        path for path in options.clones.iterdir() if not options.only or path.name in options.only
    )
    trees = {clone.name: _tree(clone, options.trees / clone.name) for clone in clones}
    questions = [
        one for clone in clones for one in _of_commits(clone, trees[clone.name], options.trees / clone.name)
    ]
    sentences_ = {name: _of_docstrings(name, options.trees / name) for name in trees}
    questions += [one for every in sentences_.values() for one in _reworded(every)]
    questions += [one for name in trees for one in _names(name, options.trees / name)]
    questions += _of_benchmark(options.annotations, trees) if options.annotations else []
    questions += [one for every in sentences_.values() for one in every] + _without_answer(
        sentences_, options.trees
    )
    _say(str(Counter((one.repo, one.family) for one in questions)))
    if options.url:
        rows = asyncio.run(
            _ask(ServerTarget(options.url, options.token), questions, options.trees, index=options.index)
        )
    else:
        with running_stack(options.trees / ".stack") as stack:
            rows = asyncio.run(_ask(stack.target, questions, options.trees, index=True))
    options.out.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    print(table(rows))
    print(fit(rows))


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Returns both tables as Markdown."""
    lines = ["| family | level | asked | share | first right |", "| --- | --- | ---: | ---: | ---: |"]
    lines += _levels(rows, "confidence", ("high", "medium", "low", "none"), "right")
    lines += ["", "| family | verdict | asked | share | first right |", "| --- | --- | ---: | ---: | ---: |"]
    lines += _levels(
        [row for row in rows if "verdict" in row], "verdict", ("likely", "maybe", "none"), "exists"
    )
    return "\n".join(lines)


def fit(rows: Sequence[dict[str, Any]]) -> str:
    """Returns the coefficients of confidence, and the levels with each repository left out of its own fit."""
    kept = [row for row in rows if row["family"] in FIT_WEIGHTS]
    inputs = np.array([_inputs(row) for row in kept])
    right = np.array([float(row["right"]) for row in kept])
    weights = np.array([FIT_WEIGHTS[row["family"]] for row in kept])
    repos = np.array([row["repo"] for row in kept])
    chances = np.zeros(len(kept))
    for repo in dict.fromkeys(repos):
        rest = repos != repo
        found = _logistic(inputs[rest], right[rest], weights[rest])
        chances[~rest] = 1 / (1 + np.exp(-inputs[~rest] @ found))
    levels = np.where(chances >= HIGH_MIN, "high", np.where(chances < LOW_MAX, "low", "medium"))
    left_out = [{**row, "confidence": level} for row, level in zip(kept, levels, strict=True)]
    constants = ", ".join(f"{value:.2f}" for value in _logistic(inputs, right, weights))
    lines = _levels(left_out, "confidence", ("high", "medium", "low"), "right")
    return "\n".join([f"constant, lead, body, words first: {constants}; each repository left out:", *lines])


def _inputs(row: dict[str, Any]) -> list[float]:
    body, is_first = row["signals"].get("body", 0.0), row["legs"].get(KEYWORD_LEG) == 1
    return [1.0, max(min(row["lead"], LEAD_MAX), -LEAD_MAX), body, float(is_first)]


def _logistic(inputs: Numbers, right: Numbers, weights: Numbers) -> Numbers:
    """Returns the coefficients of a weighted logistic regression, by Newton's method."""
    found = np.zeros(inputs.shape[1])
    ridge = np.diag([0.0, *[1.0] * (inputs.shape[1] - 1)])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-inputs @ found))
        gradient = inputs.T @ (weights * (right - chances)) - ridge @ found
        curve = (inputs.T * (weights * chances * (1 - chances))) @ inputs + ridge
        found += np.linalg.solve(curve, gradient)
    return found


def _levels(rows: Sequence[dict[str, Any]], field: str, levels: Sequence[str], truth: str) -> Iterator[str]:
    for family in dict.fromkeys(row["family"] for row in rows):
        asked = [row for row in rows if row["family"] == family]
        for level in levels:
            there = [row for row in asked if row[field] == level]
            right = sum(bool(row[truth]) for row in there)
            share = f"{right / len(there):.1%}" if there else ""
            yield f"| {family} | {level} | {len(there)} | {len(there) / len(asked):.0%} | {share} |"


def _tree(clone: Path, folder: Path) -> str:
    """Lays out the tree some hundred commits back, and returns its commit; a plain folder as it is."""
    if not (clone / ".git").exists():
        shutil.copytree(clone, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        return ""
    return lay_out(clone, folder)


def _of_commits(clone: Path, base: str, folder: Path) -> list[Asked]:
    commits = commits_after(clone, base, folder) if base else ()
    return _some([Asked(clone.name, "commit", commit.subject, commit.files) for commit in commits])


def _of_docstrings(repo: str, folder: Path) -> list[Asked]:
    found: dict[str, Asked] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix not in SUFFIXES or ASIDE.search(name) or not path.is_file():
            continue
        for symbol in chunk_file(name, path.read_text(encoding="utf-8", errors="replace")).symbols:
            said = sentences(symbol.docstring)
            if symbol.kind not in KINDS or not said or len(said[0]) > CHARS_MAX:
                continue
            of_name = stems_of(symbol.qualified_name)
            kept = [word for word in IDENTIFIER.findall(said[0]) if not stems_of(word) & of_name]
            if len(stems_of(" ".join(word for word in kept if word.lower() not in STOP_WORDS))) > WORDS_MIN:
                text = " ".join(kept)
                files = {*(found[text].files if text in found else ()), name}
                found[text] = Asked(repo, "docstring", text, tuple(sorted(files)))
    return _some(list(found.values()))


def _names(repo: str, folder: Path) -> list[Asked]:
    """Returns names of functions and types, each with the files that define it."""
    files: dict[str, set[str]] = defaultdict(set)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix in SUFFIXES and not ASIDE.search(name) and path.is_file():
            for symbol in chunk_file(name, path.read_text(encoding="utf-8", errors="replace")).symbols:
                if symbol.kind in KINDS and symbol.name.isidentifier():
                    files[symbol.name].add(name)
    return _some([Asked(repo, "name", name, tuple(sorted(found))) for name, found in sorted(files.items())])


def _of_benchmark(annotations: Path, trees: Iterable[str]) -> list[Asked]:
    """Returns the benchmark's questions about those of its corpora that are here; paths are below the root."""
    return [
        Asked(
            one.corpus.name,
            "benchmark",
            one.text,
            tuple(path.path.rpartition("/")[2] for path in one.targets),
        )
        for one in load_questions(annotations)
        if one.corpus.name in trees
    ]


def _without_answer(every: dict[str, list[Asked]], trees: Path) -> list[Asked]:
    """Returns sentences of each repository, asked of the next one of its main language; of any if none has it."""
    by_suffix: dict[str, list[str]] = defaultdict(list)
    for name in every:
        suffixes = Counter(path.suffix for path in (trees / name).rglob("*") if path.suffix in SUFFIXES)
        by_suffix[suffixes.most_common(1)[0][0] if suffixes else ""].append(name)
    others = [name for names in by_suffix.values() for name in names if len(names) == 1]
    groups = [names for names in by_suffix.values() if len(names) > 1] + ([others] if len(others) > 1 else [])
    return [
        Asked(other, "no answer", one.text, ())
        for names in groups
        for name, other in zip(names, [*names[1:], names[0]], strict=True)
        for one in every[name]
    ]


def _reworded(asked: Sequence[Asked]) -> list[Asked]:
    """Returns the sentences with every second word taken from another sentence: half of what they say."""
    mixed = []
    for one, other in zip(asked, [*asked[1:], *asked[:1]], strict=True):
        words, foreign = one.text.split(), other.text.split()
        text = " ".join(foreign[at % len(foreign)] if at % 2 else word for at, word in enumerate(words))
        mixed.append(Asked(one.repo, "reworded", text, one.files))
    return mixed


def _some(found: list[Asked]) -> list[Asked]:
    random.Random(11).shuffle(found)
    return found[:PER_FAMILY]


async def _ask(
    target: ServerTarget, questions: Sequence[Asked], trees: Path, *, index: bool
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    async with Prism(target) as prism:
        for repo in dict.fromkeys(one.repo for one in questions):
            name = f"{OWNER}/{repo}"
            if index:
                await index_folder(prism, trees / repo, name)
                _say(f"indexed {repo}")
            async with mcp_client(prism.target, name) as client:
                for one in (one for one in questions if one.repo == repo):
                    explained = await prism.search(one.text, name, 10, explain=True)
                    row = asdict(one) | _searched(explained, one.files)
                    if one.family in {"docstring", "reworded", "no answer"}:
                        _, answer = await call_tool(client, "check_exists", intent=one.text)
                        row |= _checked(answer, one.files)
                    rows.append(row)
            _say(f"asked {repo}")
    return rows


def _searched(reply: Any, files: Sequence[str]) -> dict[str, Any]:
    hits = reply.results
    best = hits[0] if hits else None
    other = next((hit for hit in hits if best and hit.file_path != best.file_path), None)
    return {
        "confidence": reply.confidence,
        "intent": str(reply.query_intent),
        "first": best.file_path if best else "",
        "right": bool(best and any(f"/{best.file_path}".endswith(f"/{path}") for path in files)),
        "raw": best.raw_score if best else 0.0,
        "lead": best.raw_score - (other.raw_score if other else 0.0) if best else 0.0,
        "signals": best.signals if best else {},
        "others": [(hit.file_path in files, hit.raw_score, hit.legs) for hit in hits[:5]],
        "legs": best.legs if best else {},
    }


def _checked(answer: dict[str, Any], files: Sequence[str]) -> dict[str, Any]:
    found = answer["existing"]
    return {
        "verdict": answer["verdict"],
        "exists": bool(found and found[0]["file_path"] in files),
        "existing": [(one["score"], one["name"], one["file_path"], one["reasons"]) for one in found],
    }


def _say(step: str) -> None:
    print(step, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="calibrate", description=__doc__)
    parser.add_argument("--clones", type=Path, required=True, help="folder with git clones")
    parser.add_argument("--only", nargs="*", default=[], help="their names; all by default")
    parser.add_argument("--trees", type=Path, required=True, help="folder for the files that are indexed")
    parser.add_argument("--out", type=Path, required=True, help="one line of JSON per question")
    parser.add_argument("--annotations", type=Path, help="folder of the benchmark's questions")
    parser.add_argument("--url", default="", help="a running stack; by default our own")
    parser.add_argument("--token", default="")
    parser.add_argument("--index", action="store_true", help="index on the running stack first")
    return parser.parse_args()


if __name__ == "__main__":
    main()
