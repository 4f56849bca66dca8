"""All rules: each takes the manifests of an overlay, and yields a sentence per problem."""

from collections.abc import Callable, Iterable

from deploy.checks import edge_rules, network_rules, pod_rules, reference_rules, settings_rules
from deploy.checks.manifests import Manifests

Rule = Callable[[Manifests], Iterable[str]]
RULES: tuple[Rule, ...] = (
    *pod_rules.RULES,
    *settings_rules.RULES,
    *reference_rules.RULES,
    *network_rules.RULES,
    *edge_rules.RULES,
)


def problems(manifests: Manifests) -> dict[str, list[str]]:
    """Returns what each rule finds, by its name; rules that find nothing are left out."""
    found = {rule.__name__: list(rule(manifests)) for rule in RULES}
    return {name: lines for name, lines in found.items() if lines}
