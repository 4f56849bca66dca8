"""The tests that Prism names for a function of a repository, from a graph built in this process."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from prism_atlas.core.answering.common import one_symbol
from prism_atlas.core.answering.impact import starts_of
from prism_atlas.core.assembly import Assembly, ProgramFile
from prism_atlas.core.impact import TouchedSymbol
from prism_atlas.core.named_tests import TitleTexts, listed_tests
from prism_atlas.core.reaching_tests import reaching_tests
from prism_chunker.core import chunk_file
from prism_contracts.rpc.graph import ImpactRequest
from prism_resolver.facts import FileFacts
from prism_resolver.manifests import PackageProvider, Packages, read_manifest
from prism_source.classify import classify_path, classify_text

SCOPE = "r/base"


class Repository:
    """The graph of a clone."""

    def __init__(self, clone: Path) -> None:
        self._name = clone.name
        assembly = Assembly()
        files = list(files_of(clone))
        manifests = [(path, read_manifest(path, text)) for path, text in files]
        providers = [PackageProvider(SCOPE, clone.name, one) for _, one in manifests if one is not None]
        assembly.set_packages(Packages(tuple(providers)))
        sources = [program_file(clone.name, path, text) for path, text in files]
        for source in sources:
            assembly.add(source)
        for source in sources:
            assembly.connect(source.facts)
        self.graph = assembly.graph()

    def tests_of(self, path: str, name: str) -> list[str]:
        """Returns the ids of the tests that reach a function, as pytest writes them, nearest first."""
        found = one_symbol(self.graph, self._name, name, path)
        request = ImpactRequest(tenant="bench", symbol=name, path=path)
        touched = [TouchedSymbol(int(node), signature=True) for node in found.nodes]
        tests = reaching_tests(self.graph, starts_of(self.graph, touched, request), candidates=True)
        listed = listed_tests(self.graph, tests, TitleTexts())
        return [f"{one.named.path}::{one.named.symbol.replace('.', '::')}" for one in listed]


def files_of(clone: Path) -> Iterator[tuple[str, str]]:
    """Yields the text files of a clone, each as path and text."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=clone, capture_output=True, check=True, text=True)
    for path in filter(None, listed.stdout.split("\0")):
        try:
            yield path, (clone / path).read_text()
        except (OSError, UnicodeDecodeError):
            continue


def program_file(repo: str, path: str, text: str) -> ProgramFile:
    """Returns a file as its parser sees it."""
    parsed = chunk_file(path, text)
    facts = FileFacts(
        id=path,
        scope=SCOPE,
        repo=repo,
        path=path,
        language=parsed.language,
        flags=classify_text(path, text, classify_path(path)).letters,
        symbols=parsed.symbols,
        references=parsed.references,
        bindings=parsed.bindings,
        blob=path,
    )
    return ProgramFile(facts, path, parsed.line_count)
