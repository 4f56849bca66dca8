"""Names of spans are few: each is written in the source, or made of words of which there are few.

A backend keeps statistics for each name. An id, a path or a tenant in one of them would make a name of its own
for each.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from prism_contracts import topics
from prism_contracts.all_rpcs import ALL_RPCS
from prism_contracts.base import Lane
from prism_gateway.scopes import OPEN_ROUTES, ROUTES
from prism_runtime import traced_messages, tracing

ROOT = Path(__file__).parents[3]
STARTS = {"span", "call", "batch", "resumed", "update_name"}
# Names that are put together, and of what.
COMPOSED = {
    "traced_messages.py: subject": "subjects of requests, which have no ids",
    "traced_messages.py: name": "the next one, or `publish` and a subject",
    "traced_messages.py: f'process {_named(subject)}'": "subjects of events; those of dead letters are cut",
    "batcher.py: self._name": "constants: see test_every_batch_has_a_constant_name",
    "gate.py: f'{SYSTEM} {operation}'": "constants: test_qdrant_requests.py has the list",
    "metrics.py: f'git {operation}'": "an enumeration, which is also a label of prism_git_operations",
    "context.py: f'search {name}'": "constants, which are also labels of prism_search_step_seconds",
    "traced_calls.py: scope['method']": "until the route is known",
    "traced_calls.py: f'{method} {route}'": "templates of routes, and methods of HTTP",
    "traced_calls.py: f'tool {facts.tool}'": "tools",
}


def calls() -> Iterator[tuple[Path, ast.Call]]:
    """Each call in the source of the services and libraries, but for the module that starts spans."""
    for folder in ("libs", "services"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.name != Path(tracing.__file__).name:
                nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                yield from ((path, node) for node in nodes if isinstance(node, ast.Call))


def test_a_name_is_a_constant_or_put_together_of_few_words() -> None:
    starts = {f"{owner}.{start}" for owner in ("tracing", "span") for start in STARTS}
    names = [(path, call.args[0]) for path, call in calls() if ast.unparse(call.func) in starts]
    constants = {name.value for _, name in names if isinstance(name, ast.Constant)}
    assert {"parse", "plan import", "build graph"} <= constants
    composed = {
        f"{path.name}: {ast.unparse(name)}" for path, name in names if not isinstance(name, ast.Constant)
    }
    assert composed == COMPOSED.keys()


def test_every_batch_has_a_constant_name() -> None:
    made = [call for _, call in calls() if ast.unparse(call.func) == "Batcher"]
    assert made
    for call in made:
        (name,) = (word.value for word in call.keywords if word.arg == "name")
        assert isinstance(name, ast.Constant), ast.unparse(call)


def test_traced_subjects_and_templates_of_routes_have_no_ids() -> None:
    for topic in topics.ALL_TOPICS:
        for lane in Lane:
            assert re.fullmatch(r"prism\.(live|bulk)\.[a-z]+\.[a-z]+", topic.subject(lane))
            assert topic.subject(lane).startswith(traced_messages.TRACED)
    for call in ALL_RPCS:
        assert re.fullmatch(r"prism\.rpc\.[a-z-]+\.[a-z_]+", call.subject)
    for route in (*ROUTES, *OPEN_ROUTES):
        assert re.fullmatch(r"[A-Z]+ /[a-z_{}:/-]*", route), route
