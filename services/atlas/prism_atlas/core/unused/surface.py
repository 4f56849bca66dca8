"""Which definitions other repositories can import: those of packages that a manifest publishes as a library."""

import json
import re
from collections.abc import Mapping

import numpy as np

from prism_atlas.core.graph import NONE, Graph, Mask
from prism_contracts.rpc.maps import EntryKind
from prism_resolver.languages import ECMASCRIPT

MANIFESTS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", "package.json"})
NESTING_MAX = 4
# Folders whose code is run or read, and not imported by others.
ASIDE = frozenset(
    {
        "tests",
        "test",
        "docs",
        "doc",
        "examples",
        "example",
        "scripts",
        "benchmarks",
        "bench",
        "tools",
        "internal",
    }
)
_PYTHON = re.compile(r"(?m)^\s*\[(?:project|tool\.poetry|tool\.flit[.\w]*|metadata|options)\]|\bsetup\(")
_ENTRY_FIELDS = ("main", "module", "exports", "types", "typings", "browser")
_LIBRARY_ROOT = "src/lib.rs"


def manifests_of(graph: Graph) -> list[str]:
    """Returns the paths of the manifests that `public_symbols` reads."""
    return [path for path in _paths(graph) if path.rpartition("/")[2] in MANIFESTS]


def public_symbols(graph: Graph, manifests: Mapping[str, str]) -> Mask:
    """Returns by symbol whether other repositories can import it. `manifests` are texts by path."""
    libraries = _Libraries(graph, manifests)
    languages = [graph.strings[number] for number in graph.files.language.tolist()]
    is_public = np.array(
        [libraries.hold(path, language) for path, language in zip(_paths(graph), languages, strict=True)],
        np.bool_,
    )
    symbols = graph.symbols
    found: Mask = symbols.exported & is_public[symbols.file]
    # A member is at most as visible as its type.
    inner = np.flatnonzero(symbols.parent != NONE)
    for _ in range(NESTING_MAX):
        found[inner] &= found[symbols.parent[inner]]
    return found


class _Libraries:
    """The libraries of a repository."""

    def __init__(self, graph: Graph, manifests: Mapping[str, str]) -> None:
        paths = _paths(graph)
        self._packages = {path.rpartition("/")[0] for path in paths if path.endswith("__init__.py")}
        self._crates = {
            path.removesuffix(_LIBRARY_ROOT).rstrip("/")
            for path in paths
            if f"/{path}".endswith(f"/{_LIBRARY_ROOT}")
        }
        mains = graph.entries.node[graph.entries.kind == list(EntryKind).index(EntryKind.MAIN)]
        self._programs = {_folder(graph.path(graph.file_of(node))) for node in mains.tolist()}
        npm = {path: text for path, text in manifests.items() if path.endswith("package.json")}
        self._npm = {_folder(path): _is_npm_library(text) for path, text in npm.items()}
        self._python = {
            _folder(path) for path, text in manifests.items() if path not in npm and _PYTHON.search(text)
        }

    def hold(self, path: str, language: str) -> bool:
        """Whether a file belongs to a library."""
        folder = _folder(path)
        if ASIDE & set(folder.split("/")):
            return False
        if language == "python":
            return self._is_python_library(folder)
        if language in ECMASCRIPT:
            return self._is_npm_library(folder)
        if language == "go":
            return folder not in self._programs and "cmd" not in folder.split("/")
        if language == "rust":
            crate, inside, _ = f"/{path}".rpartition("/src/")
            is_program = "/bin/" in path or path.endswith("src/main.rs")
            return bool(inside) and crate.strip("/") in self._crates and not is_program
        return True

    def _is_python_library(self, folder: str) -> bool:
        if any(folder in {root, f"{root}/src".lstrip("/")} for root in self._python):
            return True
        return folder in self._packages and any(
            not root or folder.startswith(f"{root}/") for root in self._python
        )

    def _is_npm_library(self, folder: str) -> bool:
        """Whether the nearest manifest above a folder is that of a library."""
        while folder not in self._npm:
            if not folder:
                return False
            folder = _folder(folder)
        return self._npm[folder]


def _is_npm_library(text: str) -> bool:
    try:
        manifest = json.loads(text)
    except ValueError:
        return True
    if not isinstance(manifest, dict) or manifest.get("private") is True:
        return False
    return any(field in manifest for field in _ENTRY_FIELDS)


def _paths(graph: Graph) -> list[str]:
    return [graph.path(file) for file in range(len(graph.files))]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
