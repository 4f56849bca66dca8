"""Bindings of a whole file: its package, and the namespaces that it imports for all files of its project.

Their names are keywords, so no variable has one: `package` in Go, Java, Kotlin, Scala and PHP, `global using` in C#.
With RSpec, a file says which class it describes: `described_class`.
"""

from prism_chunker.core.languages.table import Language
from prism_chunker.core.names import text_of
from prism_chunker.core.parse import Syntax
from prism_contracts.code import GLOBAL_USING, PACKAGE, Binding

NAMES = {"package": PACKAGE, "everywhere": GLOBAL_USING, "described": "described_class"}
# Languages in which a file may be in several packages.
SEVERAL_PACKAGES = frozenset({"php"})
# Imports of one file for all others.
EVERYWHERE_MAX = 500
PATH_CHARS_MAX = 200


def read_file_bindings(language: Language, syntax: Syntax) -> tuple[Binding, ...]:
    """Returns the bindings of a file.

    Several clauses of Scala are one package: `package shop`, `package depot`. In PHP they are several namespaces.
    """
    found: list[Binding] = []
    for key, name in NAMES.items():
        nodes = [captures[key][0] for captures in syntax.matches_with(key)][:EVERYWHERE_MAX]
        paths = ["".join(text_of(node, syntax.source).split())[:PATH_CHARS_MAX] for node in nodes]
        if key == "package" and language.id not in SEVERAL_PACKAGES:
            paths = [".".join(paths)] if paths else []
        found += (
            Binding(name=name, type=path, line=node.start_point[0] + 1)
            for node, path in zip(nodes, paths, strict=False)
        )
    return tuple(found)
