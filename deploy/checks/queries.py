"""`python -m deploy.checks.queries [QUERY …]`: checks the queries of dashboards, rules and runbooks, or those given.

Each parses as PromQL, and names only metrics and labels that exist. Prints a line per problem; any ends with 1.
It runs in the environment of `make deploy-check`, which has the parser.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import yaml

from deploy.checks.known_metrics import OF_TARGETS, Metrics, known_metrics
from deploy.dashboards.queries import Query, queries_of_dashboards

DEPLOY = Path(__file__).parents[1]
RULES = DEPLOY / "prometheus" / "rules"
RUNBOOKS = DEPLOY.parent / "docs" / "runbooks"
BLOCK = re.compile(r"^```promql\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Functions whose arguments name a label that they write.
WRITES_LABEL = ("label_replace", "label_join")


def queries_of_runbooks(folder: Path = RUNBOOKS) -> Iterator[Query]:
    """Returns the queries of all runbooks, one a line."""
    for file in sorted(folder.glob("*.md")):
        for block in BLOCK.findall(file.read_text(encoding="utf-8")):
            yield from (Query(file.name, line) for line in block.splitlines())


def rules(folder: Path = RULES) -> Iterator[dict[str, Any]]:
    """Returns every rule, alerts and recorded ones."""
    for file in sorted(folder.glob("*.yaml")):
        for group in yaml.safe_load(file.read_text(encoding="utf-8"))["groups"]:
            yield from group["rules"]


def problems(query: Query, known: Metrics) -> Iterator[str]:
    """Returns what is wrong with a query."""
    try:
        tree = promql_parser.parse(query.expr)
    except ValueError as error:
        yield f"{query.place}: {error}"
        return
    yield from (f"{query.place}: {problem}" for problem in _of_node(tree, known))


def _of_node(node: Any, known: Metrics) -> Iterator[str]:
    if isinstance(node, promql_parser.VectorSelector):
        labels = known.get(node.name)
        if labels is None:
            yield f"no metric is called {node.name}"
            return
        for matcher in node.matchers.matchers:
            if matcher.name not in labels:
                yield f"{node.name} has no label {matcher.name}"
    if isinstance(node, promql_parser.AggregateExpr) and node.modifier:
        missing = set(node.modifier.labels) - _labels_below(node.expr, known)
        if missing:
            yield f"nothing below has the label {', '.join(sorted(missing))}"
    for child in _children(node):
        yield from _of_node(child, known)


def _labels_below(node: Any, known: Metrics) -> set[str]:
    found: set[str] = set()
    if isinstance(node, promql_parser.VectorSelector):
        found |= known.get(node.name, OF_TARGETS)
    if isinstance(node, promql_parser.Call) and node.func.name in WRITES_LABEL:
        found.add(node.args[1].val)
    for child in _children(node):
        found |= _labels_below(child, known)
    return found


def _children(node: Any) -> Iterator[Any]:
    for name in ("expr", "lhs", "rhs", "vector_selector"):
        if (child := getattr(node, name, None)) is not None:
            yield child
    yield from getattr(node, "args", None) or ()


def main(given: list[str]) -> int:
    """Returns the exit code."""
    recorded: Metrics = {}
    checked = [Query("given", expr) for expr in given]
    if not given:
        checked = [*queries_of_dashboards(), *queries_of_runbooks()]
        for rule in rules():
            checked.append(Query(rule.get("alert") or rule["record"], rule["expr"]))
    for rule in rules():
        if "record" in rule:
            recorded[rule["record"]] = OF_TARGETS
    known = known_metrics() | recorded
    found = [problem for query in checked for problem in problems(query, known)]
    print("\n".join([*found, f"{len(checked)} queries, {len(found)} problems"]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
