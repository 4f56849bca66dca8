"""Other tools on the same corpus, in the same run: ripgrep for exact search, semble for questions.

Neither is a service: both read a user's folder directly, so the ratios show the cost of network, tenants and store.
"""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench.corpus import Corpus
from bench.measure_search import HITS, WARM_UP
from bench.questions import make_names, make_questions
from bench.spread import Spread, spread

SEMBLE_SCRIPT = Path(__file__).with_name("peers") / "semble_bm25.py"
PEERS = Path(sys.prefix) / "peers" / "bin"
SEMBLE_PYTHON = PEERS / "python"


@dataclass(frozen=True)
class Ripgrep:
    """The names that `grep_code` was asked for, by `rg` in the folder."""

    version: str
    literal: Spread


@dataclass(frozen=True)
class Semble:
    """The questions that `search_code` was asked, in one process, without vectors."""

    version: str
    files: int
    chunks: int
    index_s: float
    index_cpu_s: float
    rss: int
    search: Spread


def ripgrep_binary() -> str | None:
    """Returns `rg` on the path, else the one that `make bench` and `make exactness` install, else None."""
    return shutil.which("rg") or shutil.which("rg", path=PEERS)


def ripgrep(corpus: Corpus, count: int, seed: int) -> Ripgrep | None:
    """None if `rg` is not installed."""
    binary = ripgrep_binary()
    if binary is None:
        return None
    times = [_timed_rg(binary, name, corpus) for name in make_names(corpus, count + WARM_UP, seed)]
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
    return Ripgrep(version.split("\n", 1)[0], spread(times[WARM_UP:]))


def semble(corpus: Corpus, count: int, seed: int) -> Semble | None:
    """None if there is no environment with semble in it: `make bench` makes one."""
    if not SEMBLE_PYTHON.exists():
        return None
    questions = make_questions(corpus, count + WARM_UP, seed)
    asked = {"folder": str(corpus.folder), "questions": questions, "hits": HITS, "warm_up": WARM_UP}
    command = [str(SEMBLE_PYTHON), str(SEMBLE_SCRIPT)]
    shown = json.loads(
        subprocess.run(command, input=json.dumps(asked), stdout=subprocess.PIPE, text=True, check=True).stdout
    )
    return Semble(search=spread(shown.pop("search_s")), **shown)


def _timed_rg(binary: str, name: str, corpus: Corpus) -> float:
    started = time.perf_counter()
    command = [binary, "--line-number", "--fixed-strings", "--", name, str(corpus.folder)]
    subprocess.run(command, capture_output=True, check=False)  # 1 says that no file it looks at has it
    return time.perf_counter() - started
