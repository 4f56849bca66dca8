"""Draws definitions of a clone for reading: each line with the name of one, and what the graph says of it.

`python -m bench.graph.sample CLONE --language kotlin --count 20 --seed 1` prints, for every line that contains the name,
`resolved`, `candidate`, `elsewhere` (resolved, to another definition), `definition` or nothing. People judge the lines.
"""

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from prism_chunker.core import chunk_file
from prism_contracts.code import EdgeStatus, SymbolKind
from prism_resolver.facts import FileFacts, with_qualifier_uses
from prism_resolver.manifests import PackageProvider, Packages, read_manifest
from prism_resolver.program import Program
from prism_resolver.resolution import edges
from prism_resolver.unit import is_shared
from prism_resolver.values import SymbolRef

SCOPE = "clone"
# A name in more lines takes too long to read, and one in a single line has no use.
LINES_MIN, LINES_MAX = 2, 16
FILE_BYTES_MAX = 1_000_000
LINE_CHARS_MAX = 160
_WORD = re.compile(r"\w+")
_NOT_DRAWN = frozenset({SymbolKind.NAMESPACE, SymbolKind.MODULE, SymbolKind.CONSTRUCTOR, SymbolKind.KEY})

# The lines of a file, by its path.
Texts = dict[str, list[str]]
Place = tuple[str, int]
# The edges of each line and name.
Edges = Mapping[tuple[Place, str], Sequence[tuple[SymbolRef, EdgeStatus]]]


def main() -> None:
    """Print the definitions that are drawn, with their lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--language", required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    texts = dict(_texts(options.clone))
    files, program = _program(texts)
    uses = _uses(files, program)
    lines = _lines(texts)
    drawn = _drawn(files, lines, options.language)
    for number, (file, at) in enumerate(
        random.Random(options.seed).sample(drawn, min(options.count, len(drawn))), 1
    ):
        symbol = file.symbols[at]
        print(f"\n{number}. {symbol.kind.value} {symbol.qualified_name}  {file.path}:{symbol.name_line}")
        for place in lines[symbol.name]:
            said = _said(place, uses, program, file, at)
            print(
                f"  {said:<11}{place[0]}:{place[1]}  {texts[place[0]][place[1] - 1].strip()[:LINE_CHARS_MAX]}"
            )


def _texts(clone: Path) -> Iterator[tuple[str, list[str]]]:
    for path in sorted(clone.rglob("*")):
        if ".git" not in path.parts and path.is_file() and path.stat().st_size <= FILE_BYTES_MAX:
            data = path.read_bytes()
            if b"\0" not in data:
                yield path.relative_to(clone).as_posix(), data.decode("utf-8", "replace").split("\n")


def _program(texts: Texts) -> tuple[list[FileFacts], Program]:
    files, providers = [], []
    for path, rows in texts.items():
        text = "\n".join(rows)
        parsed = chunk_file(path, text)
        facts = FileFacts(
            id=path,
            scope=SCOPE,
            repo="clone",
            path=path,
            language=parsed.language,
            flags="",
            symbols=parsed.symbols,
            references=parsed.references,
            bindings=parsed.bindings,
        )
        files.append(with_qualifier_uses(facts))
        if manifest := read_manifest(path, text):
            providers.append(PackageProvider(SCOPE, "clone", manifest))
    program = Program(packages=Packages(providers))
    for file in files:
        program.add(file)
    return files, program


def _uses(files: Sequence[FileFacts], program: Program) -> Edges:
    found = defaultdict(list)
    for file in files:
        for edge in edges(program, file):
            if edge.target.symbol >= 0:
                name = program.definition(edge.target).name
                place = file.path, file.references[edge.reference].line
                found[place, name].append((edge.target, edge.status))
    return found


def _lines(texts: Texts) -> dict[str, list[Place]]:
    """Returns the lines that contain each word."""
    found: dict[str, list[Place]] = defaultdict(list)
    for path, rows in texts.items():
        for number, row in enumerate(rows, 1):
            for word in dict.fromkeys(_WORD.findall(row)):
                found[word].append((path, number))
    return found


def _drawn(
    files: Sequence[FileFacts], lines: dict[str, list[Place]], language: str
) -> list[tuple[FileFacts, int]]:
    return [
        (file, at)
        for file in files
        if file.language == language
        for at, symbol in enumerate(file.symbols)
        if symbol.kind not in _NOT_DRAWN and LINES_MIN <= len(lines[symbol.name]) <= LINES_MAX
    ]


def _said(place: Place, uses: Edges, program: Program, file: FileFacts, at: int) -> str:
    """Returns what the graph says of a line about a definition; overloads of one name count as one."""
    symbol = file.symbols[at]
    named = [
        ref
        for ref in program.named(symbol.name)
        if program.definition(ref).qualified_name == symbol.qualified_name
    ]
    own = {ref for ref in named if ref.file == file.id or is_shared(file.language, symbol.signature)}
    if place in {
        (program.units[ref.file].file.path, program.units[ref.file].name_lines[ref.symbol]) for ref in own
    }:
        return "definition"
    edges_here = uses.get((place, symbol.name), ())
    status = {status for target, status in edges_here if target in own}
    if EdgeStatus.RESOLVED in status:
        return "resolved"
    if status:
        return "candidate"
    return "elsewhere" if any(status is EdgeStatus.RESOLVED for _, status in edges_here) else ""


if __name__ == "__main__":
    main()
