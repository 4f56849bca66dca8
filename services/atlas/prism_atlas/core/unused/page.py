"""Puts definitions without a use in order and on pages: by group, then clusters by place, the outermost first."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from prism_atlas.core.graph import NONE, Graph, Mask
from prism_atlas.core.rendering import render_node, render_nodes
from prism_atlas.core.traversal import within
from prism_atlas.core.unused.evidence import OPEN, UseEvidence
from prism_atlas.core.unused.reach import UseLinks
from prism_contracts.rpc.unused import DoubtReason, UnusedDefinition, UnusedGroup, UseDoubt

USERS_SHOWN_MAX = 5
ORDER = tuple(UnusedGroup)


class Listed(NamedTuple):
    """A definition to list."""

    node: int
    group: UnusedGroup
    evidence: UseEvidence
    doubts: tuple[UseDoubt, ...]
    exported: bool
    users: tuple[int, ...] = ()  # among the listed ones, or tests
    root: int = NONE  # the outermost of its cluster; NONE if it is that itself


def outermost(graph: Graph, nodes: Iterable[int]) -> list[int]:
    """Returns the nodes that are in none of the others."""
    listed = set(nodes)
    return [node for node in sorted(listed) if not _ancestors(graph, node) & listed]


def users_of(
    graph: Graph, links: UseLinks, nodes: Sequence[int], others: Mask
) -> Mapping[int, tuple[int, ...]]:
    """Returns by definition what uses it: among the definitions, or the `others`; what is in one counts as that one."""
    owner: dict[int, int] = {}
    for node in nodes:
        owner |= dict.fromkeys(within(graph, node).tolist(), node)
    found: dict[int, set[int]] = {node: set() for node in nodes}
    inside = np.zeros(links.nodes, np.bool_)
    inside[list(owner)] = True
    inside[graph.nodes :] = True
    inside[: len(others)] |= others
    source, target = links.pairs_within(inside)
    names: dict[int, set[int]] = {}
    for user, used in zip(source.tolist(), target.tolist(), strict=True):
        if used >= graph.nodes:
            names.setdefault(used, set()).add(user)
    for user, used in zip(source.tolist(), target.tolist(), strict=True):
        if used in owner:
            for one in names.get(user, ()) if user >= graph.nodes else (user,):
                if owner.get(one, one) != owner[used]:
                    found[owner[used]].add(owner.get(one, one))
    return {node: tuple(sorted(users)) for node, users in found.items()}


def in_order(rows: Iterable[Listed]) -> list[Listed]:
    """Returns the definitions by group; in a group each cluster by the place of its outermost definition, which is first."""
    found: list[Listed] = []
    by_group: dict[UnusedGroup, dict[int, Listed]] = {group: {} for group in ORDER}
    for row in rows:
        by_group[row.group][row.node] = row
    for group in ORDER:
        found += _clusters(by_group[group])
    return found


def _clusters(rows: dict[int, Listed]) -> list[Listed]:
    used_by = {node: [one for one in row.users if one in rows] for node, row in rows.items()}
    uses: dict[int, list[int]] = {}
    for node, users in used_by.items():
        for user in users:
            uses.setdefault(user, []).append(node)
    found: list[Listed] = []
    seen: set[int] = set()
    roots = [node for node in rows if not used_by[node]]
    for root in (*roots, *rows):  # what is left after the roots uses itself in a circle
        if root in seen:
            continue
        waiting = [root]
        seen.add(root)
        for node in waiting:
            found.append(rows[node]._replace(root=NONE if node == root else root))
            below = [one for one in uses.get(node, ()) if one not in seen]
            seen.update(below)
            waiting += below
    return found


def render(graph: Graph, rows: Sequence[Listed]) -> tuple[UnusedDefinition, ...]:
    """Returns the definitions of a page."""
    places = {row.node: position for position, row in enumerate(rows)}
    return tuple(
        UnusedDefinition(
            node=render_node(graph, row.node),
            group=row.group,
            certain=_is_certain(row),
            exported=row.exported,
            members=len(within(graph, row.node)) - 1,
            users=render_nodes(graph, row.users[:USERS_SHOWN_MAX]),
            total_users=len(row.users),
            below=places.get(row.root, -1),
            namesakes=row.evidence.namesakes,
            references_elsewhere=row.evidence.references_elsewhere,
            text_lines=row.evidence.text_lines,
            mentions=row.evidence.mentions,
            doubts=row.doubts,
        )
        for row in rows
    )


def _is_certain(row: Listed) -> bool:
    return row.group in {UnusedGroup.UNUSED, UnusedGroup.TESTS_ONLY} and not row.doubts


def group_with(doubts: Iterable[UseDoubt], group: UnusedGroup) -> UnusedGroup:
    """Returns the group of a definition with these doubts."""
    return UnusedGroup.UNCLEAR if any(doubt.reason in OPEN for doubt in doubts) else group


def _ancestors(graph: Graph, node: int) -> set[int]:
    found: set[int] = set()
    while (node := int(graph.symbols.parent[node])) != NONE:
        found.add(node)
    return found


EXPORTED_DOUBT = UseDoubt(reason=DoubtReason.EXPORTED)
