"""The ranked answers over a small fixed corpus, compared with a golden file.

The corpus and its questions are in `tests/fixtures/quality`, in the format of `make quality`. After a change
of the ranking, `PRISM_GOLDEN=write pytest tests/system/test_quality.py` writes the golden file again: read
the diff.
"""

import json
import os
from pathlib import Path

import pytest
from running_stack import RunningStack

from bench.quality.questions import load_questions
from bench.quality.score import Place, mean, ndcg

FIXTURES = Path(__file__).parents[1] / "fixtures" / "quality"
GOLDEN = FIXTURES / "greenhouse.golden.json"
REPO = "bench/greenhouse"
QUESTIONS = load_questions(FIXTURES / "annotations")
ALL_CANDIDATES = 100


@pytest.fixture
async def greenhouse(shared_stack) -> RunningStack:
    """A stack with the corpus in a tenant of its own, because word frequencies cover all repositories of a
    tenant.
    """
    stack = await shared_stack.of_tenant("quality")
    stack.index(FIXTURES / "corpora" / "greenhouse", "--name", REPO)
    return stack


async def test_ranking_equals_the_golden_file(greenhouse) -> None:
    served = {}
    async with greenhouse.agent(REPO) as agent:
        for question in QUESTIONS:
            served[question] = places(await agent.ask("search_code", query=question.text, limit=10))
    found = rendered(served)
    if os.environ.get("PRISM_GOLDEN") == "write":
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")


def test_explained_signals_add_up_to_the_served_order(greenhouse) -> None:
    for question in QUESTIONS:
        body = {"query": question.text, "repo": REPO, "limit": ALL_CANDIDATES, "explain": True}
        with greenhouse.http() as http:
            hits = http.post("/api/v1/search", json=body).json()["results"]
        sums: dict[str, float] = {}
        for hit in hits:  # repeated hits of a file are more of its lines
            sums.setdefault(hit["file_path"], sum(hit["signals"].values()))
            assert hit["raw_score"] == pytest.approx(sums[hit["file_path"]], abs=1e-4)
        assert list(sums) == sorted(sums, key=lambda path: (-sums[path], path)), question.text


def places(answer) -> list[Place]:
    return [Place(hit["file_path"], hit["start_line"], hit["end_line"]) for hit in answer["results"]]


def rendered(served) -> str:
    """Returns the answers to each question with their score."""
    scores = {question: ndcg(answers, question.targets) for question, answers in served.items()}
    answered = {
        question.text: {
            "ndcg10": round(scores[question], 3),
            "answers": [f"{place.path}:{place.start_line}-{place.end_line}" for place in answers],
        }
        for question, answers in served.items()
    }
    whole = {"ndcg10": round(mean(scores).by_question, 3), "questions": answered}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
