"""Small programs for the tests, parsed by the chunker's own parser."""

from collections.abc import Mapping

from prism_chunker.core import chunk_file
from prism_resolver.facts import FileFacts, with_qualifier_uses
from prism_resolver.manifests import PackageProvider, Packages, read_manifest
from prism_resolver.program import Program
from prism_resolver.resolution import edges


def facts_of(path: str, text: str, scope: str = "r/base") -> FileFacts:
    parsed = chunk_file(path, text)
    facts = FileFacts(
        id=f"{scope}:{path}",
        scope=scope,
        repo="parcels",
        path=path,
        language=parsed.language,
        flags="",
        symbols=parsed.symbols,
        references=parsed.references,
        bindings=parsed.bindings,
    )
    return with_qualifier_uses(facts)


def edges_of(files: Mapping[str, str] | list[FileFacts]) -> set[str]:
    """Returns every edge as `path:line name -> path of the target:symbol strategy`; candidates with a
    question mark.
    """
    facts = [facts_of(*file) for file in files.items()] if isinstance(files, Mapping) else files
    program = Program()
    for file in facts:
        program.add(file)
    by_id = {file.id: file for file in facts}
    found = set()
    for file in facts:
        for edge in edges(program, file):
            reference, home = file.references[edge.reference], by_id[edge.target.file]
            symbol = home.symbols[edge.target.symbol].qualified_name if edge.target.symbol >= 0 else "*"
            mark = "?" if edge.status == "candidate" else ""
            found.add(
                f"{file.path}:{reference.line} {reference.name} -> {home.path}:{symbol} {edge.strategy}{mark}"
            )
    return found


def edges_between_files(*repositories: dict[str, str]) -> set[str]:
    """Returns every edge between two files of repositories with manifests, as `repository:path ->
    repository:path strategy`.
    """
    program_files, providers = [], []
    for number, files in enumerate(repositories):
        scope = f"r{number}/base"
        for path, text in files.items():
            manifest = read_manifest(path, text)
            if manifest:
                providers.append(PackageProvider(scope, "parcels", manifest))
            else:
                program_files.append(facts_of(path, text, scope))
    program = Program(packages=Packages(providers))
    for file in program_files:
        program.add(file)
    names = {file.id: f"{file.scope[1]}:{file.path}" for file in program_files}
    return {
        f"{names[file.id]} -> {names[edge.target.file]} {edge.strategy}"
        f"{'?' if edge.status == 'candidate' else ''}"
        for file in program_files
        for edge in edges(program, file)
        if edge.target.file != file.id
    }
