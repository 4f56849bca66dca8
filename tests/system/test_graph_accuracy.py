"""References of every symbol of small repositories, compared with those of resolvers.

The repositories are in `tests/fixtures/graph`: `ferry` in Python, `quay` in Java, `lock` in C. The truth next to each was printed by
its resolver in `bench/graph`.
"""

from pathlib import Path

import pytest

from bench.graph.ask import ask_outlines, ask_references, list_files
from bench.graph.compare import Comparison, Verdict, compare
from bench.graph.page import RECALL_MIN
from bench.graph.truth import Truth
from prism_contracts.code import EdgeStatus

FIXTURES = Path(__file__).parents[1] / "fixtures" / "graph"


@pytest.fixture(params=["ferry", "quay", "lock"])
async def comparison(request, shared_stack) -> Comparison:
    name = request.param
    stack = await shared_stack.of_tenant("graph")
    stack.index(FIXTURES / name, "--name", f"graph/{name}")
    async with stack.agent(f"graph/{name}") as agent:
        paths = [file.path for file in await list_files(agent.client)]
        defined = await ask_outlines(agent.client, paths)
        answers = await ask_references(agent.client, [one.symbol for one in defined if one.is_asked])
    truth = Truth.model_validate_json((FIXTURES / f"{name}.truth.json").read_bytes())
    return compare(truth, defined, answers)


async def test_references_agree_with_a_resolver(comparison) -> None:
    resolved = [one for one in comparison.judged if one.edge.status is EdgeStatus.RESOLVED]
    assert not [one for one in resolved if one.verdict is Verdict.WRONG]
    missing = [one for one in comparison.sought if one.status is not EdgeStatus.RESOLVED]
    assert len(missing) <= (1 - RECALL_MIN) * len(comparison.sought), missing
    assert not comparison.false_zeros
