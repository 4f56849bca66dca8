"""References of every symbol of a small repository, compared with those of jedi.

The repository is `tests/fixtures/graph/ferry`; the truth next to it was printed by
`bench/graph/resolve_python.py`.
"""

from pathlib import Path

import pytest

from bench.graph.ask import ask_outlines, ask_references, list_files
from bench.graph.compare import Comparison, Verdict, compare
from bench.graph.page import RECALL_MIN
from bench.graph.truth import Truth
from prism_contracts.code import EdgeStatus

FIXTURES = Path(__file__).parents[1] / "fixtures" / "graph"
REPO = "graph/ferry"
TRUTH = Truth.model_validate_json((FIXTURES / "ferry.truth.json").read_bytes())


@pytest.fixture
async def comparison(shared_stack) -> Comparison:
    stack = await shared_stack.of_tenant("graph")
    stack.index(FIXTURES / "ferry", "--name", REPO)
    async with stack.agent(REPO) as agent:
        paths = [file.path for file in await list_files(agent.client)]
        defined = await ask_outlines(agent.client, paths)
        answers = await ask_references(agent.client, [one.symbol for one in defined if one.is_asked])
    return compare(TRUTH, defined, answers)


async def test_references_agree_with_a_resolver(comparison) -> None:
    resolved = [one for one in comparison.judged if one.edge.status is EdgeStatus.RESOLVED]
    assert not [one for one in resolved if one.verdict is Verdict.WRONG]
    missing = [one for one in comparison.sought if one.status is not EdgeStatus.RESOLVED]
    assert len(missing) <= (1 - RECALL_MIN) * len(comparison.sought), missing
    assert not comparison.false_zeros
