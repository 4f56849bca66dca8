"""Indexing corpora and asking about them: the answers over MCP as an agent gets them, candidates over REST."""

import asyncio
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from mcp import Client

from bench.measure_index import index_folder
from bench.measure_search import call_tool, mcp_client
from bench.quality.ablation import Answer, Candidate
from bench.quality.questions import Corpus, Question
from bench.quality.score import CUTOFF, Place
from prism_cli.client import Prism
from prism_cli.target import ServerTarget
from prism_contracts.rpc.search import SEARCH_LIMIT_MAX, Hit

OWNER = "bench"
DEEP_S_MAX = 3_600.0
DEEP_LOOK_S = 1.0

Say = Callable[[str], None]


async def index_corpora(target: ServerTarget, corpora: Iterable[Corpus], folder: Path, say: Say) -> None:
    """Index each corpus as its own repository. Raises RuntimeError if a job fails."""
    async with Prism(target) as prism:
        for corpus in corpora:
            with laid_out(corpus, folder / corpus.name) as files:
                job = await index_folder(prism, files, _repo(corpus))
            say(f"indexed {corpus.name}: {job.counts.indexed} files, {job.counts.chunks} chunks")


async def wait_for_deep(target: ServerTarget, corpora: Iterable[Corpus], say: Say) -> None:
    """Wait until every indexed file has its deep vector. Raises TimeoutError after `DEEP_S_MAX`."""
    async with asyncio.timeout(DEEP_S_MAX), Prism(target) as prism:
        for corpus in corpora:
            while (coverage := await prism.coverage(_repo(corpus))).deep < coverage.indexed:  # noqa: ASYNC110 - the other side is a server
                await asyncio.sleep(DEEP_LOOK_S)
            say(f"deep vectors of {corpus.name}: {coverage.deep} files")


@contextmanager
def laid_out(corpus: Corpus, folder: Path) -> Iterator[Path]:
    """A folder with the corpus's files: those of the revision below the root for a git clone, else the folder.

    Paths keep the root. Raises CalledProcessError if the clone does not have the revision.
    """
    if not (folder / ".git").exists():
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="prism-quality-") as files:
        archive = ["git", "-C", str(folder), "archive", corpus.revision, "--", corpus.root]
        packed = subprocess.run(archive, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "-x", "-C", files], input=packed, check=True)
        yield Path(files)


async def ask_all(target: ServerTarget, questions: Sequence[Question], say: Say) -> list[Answer]:
    """Ask every question in sequence, scoped to its corpus's repository."""
    answers: list[Answer] = []
    async with Prism(target) as prism:
        for name, asked in groupby(questions, key=lambda question: question.corpus.name):
            answers += await _ask_corpus(prism, list(asked))
            say(f"asked {name}")
    return answers


async def _ask_corpus(prism: Prism, questions: Sequence[Question]) -> list[Answer]:
    repo = _repo(questions[0].corpus)
    async with mcp_client(prism.target, repo) as client:
        return [await _ask(prism, client, question, repo) for question in questions]


async def _ask(prism: Prism, client: Client, question: Question, repo: str) -> Answer:
    _, content = await call_tool(client, "search_code", query=question.text, limit=CUTOFF)
    candidates = _candidates(await _explained(prism, question.text, repo))
    return Answer(question, tuple(_served(content)), content["confidence"], tuple(candidates))


async def _explained(prism: Prism, text: str, repo: str) -> Sequence[Hit]:
    return (await prism.search(text, repo, SEARCH_LIMIT_MAX, explain=True)).results


def _served(content: dict[str, Any]) -> Iterator[Place]:
    for hit in content["results"]:
        yield Place(hit["file_path"], hit["start_line"], hit["end_line"])


def _candidates(hits: Iterable[Hit]) -> Iterator[Candidate]:
    """Keep one per file: later ones are more lines of the same file."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.file_path, hit)
    for hit in first.values():
        yield Candidate(Place(hit.file_path, hit.start_line, hit.end_line), hit.signals, hit.legs)


def _repo(corpus: Corpus) -> str:
    return f"{OWNER}/{corpus.name}"
