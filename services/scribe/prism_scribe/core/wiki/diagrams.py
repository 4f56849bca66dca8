"""Mermaid diagrams whose labels come from a repository.

Source: mermaid.js.org/syntax/flowchart.html, "Entity codes to escape characters".
"""

import re
from collections.abc import Mapping, Sequence

NODES_MAX = 30
EDGES_MAX = 40
LABEL_CHARS_MAX = 60

_PLAIN = re.compile(r"[^A-Za-z0-9 _./:-]")


def flowchart(
    edges: Sequence[tuple[str, str, str]], labels: Mapping[str, str], direction: str = "LR"
) -> list[str]:
    """Returns a flowchart as a fenced block, with an empty line after it; nothing without edges.

    Edges are (source, target, label) by id. `labels` has the text of each id; an edge's label may be empty.
    """
    ids: dict[str, str] = {}
    drawn = []
    for source, target, label in edges[:EDGES_MAX]:
        ends = {source, target} - ids.keys()
        if len(ids) + len(ends) > NODES_MAX:
            continue
        for end in (source, target):
            ids.setdefault(end, f"n{len(ids)}")
        arrow = f'-->|"{_label(label)}"|' if label else "-->"
        drawn.append(f"  {ids[source]} {arrow} {ids[target]}")
    if not drawn:
        return []
    nodes = [f'  {short}["{_label(labels.get(id_, id_))}"]' for id_, short in ids.items()]
    return ["```mermaid", f"flowchart {direction}", *nodes, *drawn, "```", ""]


def _label(value: str) -> str:
    shown = value if len(value) <= LABEL_CHARS_MAX else "…" + value[-LABEL_CHARS_MAX + 1 :]
    return _PLAIN.sub(lambda found: f"#{ord(found[0])};", shown)
