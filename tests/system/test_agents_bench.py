"""The benchmark of agents, with an agent that needs no model: tools, log, answers and score fit together."""

import json
import subprocess
import sys
from pathlib import Path

from bench.agents.questions import load

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "agents"
SECONDS_MAX = 150


def test_explorer_answers_the_questions_of_the_fixture(tmp_path: Path) -> None:
    explorer = f"{sys.executable} -m bench.agents.explorer {{state}} {{questions}} {{answers}}"
    command = [sys.executable, "-m", "bench.agents.main", "--arms", "prism", "--agent", explorer]
    places = ["--questions", FIXTURES / "questions.json", "--repos", FIXTURES, "--out", tmp_path]
    done = subprocess.run(
        [*command, *places], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    assert done.returncode == 0, done.stderr
    questions = load(FIXTURES / "questions.json")
    row = next(line for line in done.stdout.splitlines() if line.startswith("| prism |"))
    asked, score, calls, *_ = [cell.strip() for cell in row.split("|")[2:]]
    assert (asked, score, calls) == (str(len(questions)), "1.000", "1.00"), done.stdout
    logged = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert {call["question"] for call in logged} == {one.id for one in questions}
    assert all(call["chars"] > 0 for call in logged)
