"""Where a name comes from that the repository does not define."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from prism_contracts.code import Reference, ReferenceKind
from prism_contracts.rpc.symbols import ImportSource
from prism_search.core.references.edges import SourceFile

SOURCES_MAX = 5
_SEPARATOR = re.compile(r"::|[./]")


def import_sources(name: str, files: Iterable[SourceFile]) -> list[ImportSource]:
    """Returns the modules that files import a name from, those of most files first."""
    counts = Counter(module for file in files for module in set(_modules(name, file.references)))
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [ImportSource(module=module, files=count) for module, count in ranked[:SOURCES_MAX]]


def _modules(name: str, references: Iterable[Reference]) -> Iterator[str]:
    """Yields the modules of `from m import name`, and those of `m.name` where `m` is imported as a whole."""
    references = list(references)
    whole = {}
    for one in references:
        if one.kind is not ReferenceKind.IMPORT or not one.qualifier:
            continue
        if _is_whole(one):
            whole[one.alias or one.name] = one.qualifier
        if name in (one.name, one.alias):
            yield one.qualifier
    for one in references:
        if one.kind is not ReferenceKind.IMPORT and one.name == name and one.qualifier:
            module = whole.get(_SEPARATOR.split(one.qualifier, maxsplit=1)[0])
            if module:
                yield module


def _is_whole(one: Reference) -> bool:
    """Returns whether an import binds a module: `import asyncio`, `import * as fs from 'fs'`."""
    return one.name in {"*", one.qualifier, _SEPARATOR.split(one.qualifier)[-1]}
