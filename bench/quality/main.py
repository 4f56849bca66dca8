"""`python -m bench.quality.main`: index the benchmark's corpora, ask its questions, score the answers."""

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.quality.ablation import Answer
from bench.quality.ask import ask_all, index_corpora, wait_for_deep
from bench.quality.page import comparison, page, scores_of
from bench.quality.questions import Question, load_questions
from bench.quality.score import Scores
from bench.sections import AGENTS_SECTION, UNUSED_SECTION, with_section_of
from bench.stack import running_stack
from prism_cli.target import ServerTarget

LATEST = Path(__file__).parents[1] / "results" / "quality.json"
TOKEN = "PRISM_TOKEN"


def main() -> None:
    """Measure, and print the result."""
    options = _options()
    questions = _askable(load_questions(options.annotations), options.corpora)
    with _folder(options) as folder:
        with _target(options, questions, folder) as target:
            answers = asyncio.run(ask_all(target, questions, _say))
        deep = _ask_deep(questions, folder) if options.deep else []
    scores = scores_of(answers)
    figures = page(answers, deep)
    print(figures)
    if options.against:
        print(comparison(scores, _read(options.against, questions)))
    _write(scores, options.out)
    if options.page:
        for section in (AGENTS_SECTION, UNUSED_SECTION):
            figures = with_section_of(options.page, section, figures)
        options.page.write_text(figures, encoding="utf-8")


def _askable(questions: Sequence[Question], corpora: Path) -> list[Question]:
    """Returns the questions of available corpora, and prints the missing ones."""
    names = dict.fromkeys(question.corpus.name for question in questions)
    missing = [name for name in names if not (corpora / name).is_dir()]
    if len(missing) == len(names):
        sys.exit(f"None of the {len(names)} annotated corpora is in {corpora}.")
    if missing:
        _say(f"not in {corpora}, and so not asked about: {', '.join(missing)}")
    return [question for question in questions if question.corpus.name not in missing]


@contextmanager
def _folder(options: argparse.Namespace) -> Iterator[Path]:
    """The data folder of our own stack."""
    folder = Path(tempfile.mkdtemp(prefix="prism-quality-"))
    yield folder
    if not options.keep_stack:
        shutil.rmtree(folder)  # kept after a failure, with the logs


@contextmanager
def _target(
    options: argparse.Namespace, questions: Sequence[Question], folder: Path
) -> Iterator[ServerTarget]:
    """A stack that has indexed the corpora: a running one, or our own."""
    if options.url:
        yield ServerTarget(options.url, options.token)
        return
    with running_stack(folder, keep=options.keep_stack) as stack:
        if options.keep_stack:
            _say(f"the stack is kept for: --url {stack.target.url} --token {stack.target.token}")
            _say(f"stop it with: PRISM_DATA_DIR={folder} prism down")
        corpora = dict.fromkeys(question.corpus for question in questions)
        asyncio.run(index_corpora(stack.target, corpora, options.corpora, _say))
        yield stack.target


def _ask_deep(questions: Sequence[Question], folder: Path) -> list[Answer]:
    """Ask the same questions of the same index, after the deep tier was turned on and has
    added its vectors.
    """
    os.environ["PRISM_DEEP_ENABLED"] = "1"  # what `prism up` reads it from
    with running_stack(folder) as stack:
        asyncio.run(wait_for_deep(stack.target, {question.corpus for question in questions}, _say))
        return asyncio.run(ask_all(stack.target, questions, _say))


def _read(path: Path, questions: Sequence[Question]) -> Scores:
    kept: Mapping[str, Mapping[str, float]] = json.loads(path.read_text(encoding="utf-8"))
    return {
        question: kept[question.corpus.name][question.text]
        for question in questions
        if question.text in kept.get(question.corpus.name, {})
    }


def _write(scores: Scores, path: Path) -> None:
    kept: dict[str, dict[str, float]] = {}
    for question, value in scores.items():
        kept.setdefault(question.corpus.name, {})[question.text] = value
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality", description=__doc__)
    parser.add_argument(
        "--annotations", type=Path, required=True, help="folder of the questions; repos.json is beside it"
    )
    parser.add_argument("--corpora", type=Path, required=True, help="folder with a folder or clone a corpus")
    parser.add_argument("--keep-stack", action="store_true", help="leave the stack running, for --url")
    parser.add_argument("--url", default="", help="a running stack that has indexed the corpora")
    parser.add_argument(
        "--token", default=os.environ.get(TOKEN, ""), help=f"of that stack (default: {TOKEN})"
    )
    parser.add_argument("--against", type=Path, help="scores of an earlier run, to compare with")
    parser.add_argument("--out", type=Path, default=LATEST, help="where the scores of this run go")
    parser.add_argument("--page", type=Path, help="where the page goes")
    parser.add_argument(
        "--deep", action="store_true", help="ask again with the deep tier, and report the gain"
    )
    options = parser.parse_args()
    if options.deep and (options.url or options.keep_stack):
        parser.error("--deep starts its stack twice: omit --url and --keep-stack")
    return options


def _say(step: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {step}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
