"""Layers: files that only use the sources of a repository. They are tests, examples and documentation.

In: a graph. Out: the layer of each file. A layer is one component, whatever its files use.
"""

import re

import numpy as np

from prism_atlas.core.graph import NONE, Graph, Numbers
from prism_contracts.code import Flag

LAYERS = ("tests", "examples", "documentation")
_EXAMPLES = re.compile(r"(?:^|/)(?:_?examples?|samples?|demos?)/")


def layers_of(graph: Graph) -> Numbers:
    """Returns the layer of each file, of LAYERS; NONE for sources."""
    paths = (graph.strings[path] for path in graph.files.path.tolist())
    is_example = np.array([_EXAMPLES.search(path) is not None for path in paths], np.bool_)
    conditions = [graph.flagged(Flag.TEST), is_example, graph.flagged(Flag.DOCUMENTATION)]
    return np.select(conditions, range(len(LAYERS)), NONE).astype(np.int32)
