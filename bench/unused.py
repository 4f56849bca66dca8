"""`python -m bench.unused`: what `find_unused` names in clones, as a list to read.

    python -m bench.unused --limit 20 CLONE…

Each line has a group, a place and what stands in the way. Whether a named definition is unused is for a person to judge:
docs/quality.md has the shares. The graph is built by the code of atlas and the text compared by the code of search,
without a stack.
"""

import argparse
import asyncio
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from bench.mutation.named import SCOPE, files_of, program_file
from prism_atlas.adapters.search import SearchClient
from prism_atlas.core.assembly import Assembly
from prism_atlas.core.graph import Graph
from prism_atlas.core.unused.page import render
from prism_atlas.operations.unused_code import UnusedCode, UnusedCodeFinder
from prism_contracts.rpc.common import ScopedRequest
from prism_contracts.rpc.files import FileRange
from prism_contracts.rpc.search import GrepMatch
from prism_contracts.rpc.unused import NameLinesReply, UnusedDefinition, UnusedGroup, UseDoubt
from prism_indexer.core.points import PROSE_LANGUAGES
from prism_resolver.manifests import PackageProvider, Packages, read_manifest
from prism_runtime.packing import pack_lines
from prism_search.core.references.name_lines import SoughtNames
from prism_search.handlers.name_lines import CODE_IN_PROSE

REPO = "bench/clone"


class CloneText(SearchClient):
    """The text of a clone, in place of the search service."""

    def __init__(self, texts: dict[str, str], languages: dict[str, str], flags: dict[str, str]) -> None:
        self._texts = texts
        self._languages = languages
        self._flags = flags

    async def name_lines(self, _: ScopedRequest, names: Sequence[str]) -> NameLinesReply:
        """Returns the lines that contain each name."""
        sought, found = SoughtNames(names), cast("dict[str, list[int]]", {})
        for path, text in self._texts.items():
            is_prose = self._languages[path] in PROSE_LANGUAGES and not path.endswith(CODE_IN_PROSE)
            for one in sought.lines(text, self._languages[path], is_prose=is_prose):
                found.setdefault(f"{one.name}\t{one.place.value}\t{path}", []).append(one.line)
        return NameLinesReply(lines=pack_lines(found))

    async def texts(self, _: ScopedRequest, ranges: Sequence[FileRange]) -> Sequence[str | None]:
        """Returns the text of each file."""
        return [self._texts.get(one.file_path) for one in ranges]

    async def first_match(self, _: ScopedRequest, pattern: str, language: str) -> GrepMatch | None:
        """Returns the first line that matches."""
        for path, text in self._texts.items():
            if self._languages[path] == language and not self._flags[path]:
                for number, line in enumerate(text.split("\n"), 1):
                    if re.search(pattern, line):
                        return GrepMatch(repo=REPO, file_path=path, line=number, text=line)
        return None


def main() -> None:
    """Print a list per clone."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=20, help="definitions per group")
    parser.add_argument("--group", choices=[*UnusedGroup], default="")
    options = parser.parse_args()
    for clone in options.clones:
        started = datetime.now(UTC)
        graph, found = unused_code(clone)
        took = (datetime.now(UTC) - started).total_seconds()
        rows = render(graph, found.rows)
        print(f"\n{clone.name}: {_counts(rows)}, {took:.1f} s")
        for group in UnusedGroup:
            if options.group in {"", group}:
                own = [row for row in rows if row.group is group]
                print("\n".join(_lines(own[: options.limit])))


def unused_code(clone: Path) -> tuple[Graph, UnusedCode]:
    """Returns the graph of a clone, and what nothing in it uses."""
    texts = dict(files_of(clone))
    assembly = Assembly()
    manifests = [read_manifest(path, text) for path, text in texts.items()]
    providers = [PackageProvider(SCOPE, clone.name, one) for one in manifests if one is not None]
    assembly.set_packages(Packages(tuple(providers)))
    sources = [program_file(clone.name, path, text) for path, text in texts.items()]
    for source in sources:
        assembly.add(source)
    for source in sources:
        assembly.connect(source.facts)
    graph = assembly.graph()
    languages = {source.facts.path: source.facts.language for source in sources}
    flags = {source.facts.path: source.facts.flags for source in sources}
    finder = UnusedCodeFinder(CloneText(texts, languages, flags))
    return graph, asyncio.run(finder.find(ScopedRequest(tenant="bench", repo=REPO), graph))


def _counts(rows: Sequence[UnusedDefinition]) -> str:
    counts = {group: sum(row.group is group for row in rows) for group in UnusedGroup}
    return ", ".join(f"{count} {group.value}" for group, count in counts.items())


def _lines(rows: Sequence[UnusedDefinition]) -> Iterator[str]:
    for row in rows:
        node = row.node
        doubts = "; ".join(map(_doubt, row.doubts))
        sure = " certain" if row.certain else ""
        kind = node.kind.value if node.kind else ""
        exported = " exported" if row.exported else ""
        yield f"{row.group.value}{sure}{exported} {node.file_path}:{node.line} {kind} {node.symbol} [{doubts}]"


def _doubt(doubt: UseDoubt) -> str:
    place = f" {doubt.file_path}:{doubt.line}" if doubt.file_path else ""
    return f"{doubt.reason.value}{place} {doubt.text[:40]}".strip()


if __name__ == "__main__":
    main()
