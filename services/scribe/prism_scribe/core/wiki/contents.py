"""Plans the pages of a wiki: the same repository gives the same pages with the same keys."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from prism_contracts.code import CALLABLE_KINDS, Symbol
from prism_contracts.records import WikiPageKind, WikiTocEntry
from prism_contracts.rpc.maps import ComponentDetail, ComponentSummary, EntryKind
from prism_scribe.core.wiki.orientation import Orientation

COMPONENTS_MAX = 24
# A component with less weight and fewer files is configuration, which has no page.
TRIVIAL_RANK_MAX = 0.005
TRIVIAL_FILES_MAX = 3
SLUG_CHARS_MAX = 60
# Files outlined for the pages on types and terms, the most depended-upon first.
OUTLINED_MAX = 24
# Main files of a component that are outlined for its page.
COMPONENT_OUTLINED_MAX = 8
FLOWS_MAX = 6
FLOWS_OF_COMPONENT_MAX = 2
# Components whose functions flows begin at, if there is no entry point.
FLOW_COMPONENTS_MAX = 4
FLOW_DEPTH = 3
FLOW_WIDTH = 6
HIERARCHIES_MAX = 12

_FIRST_KINDS = (EntryKind.MAIN, EntryKind.COMMAND, EntryKind.ROUTE, EntryKind.SCRIPT, EntryKind.ROOT)
_MAIN_NAMES = frozenset({"mod", "lib", "main", "index", "__init__", "doc", "package-info"})
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def plan(orientation: Orientation) -> tuple[WikiTocEntry, ...]:
    """Returns the pages in reading order. A component of tests or examples alone has no page."""
    entries = [WikiTocEntry(key="overview", title="Overview", kind=WikiPageKind.OVERVIEW)]
    components = [one for one in orientation.overview.components if _has_own_file(orientation, one)]
    components = [one for one in components if not _is_trivial(one)] or components
    slugs: set[str] = set()
    for component in components[:COMPONENTS_MAX]:
        key = f"component-{_slug(component.name, slugs)}"
        title = component_title(component.name)
        entries.append(
            WikiTocEntry(key=key, title=title, kind=WikiPageKind.COMPONENT, subject=component.name)
        )
    if orientation.overview.components or orientation.overview.entry_points:
        entries.append(WikiTocEntry(key="flows", title="Entry points and flows", kind=WikiPageKind.FLOWS))
    if outlined(orientation):
        entries.append(WikiTocEntry(key="types", title="Data types", kind=WikiPageKind.TYPES))
    entries.append(WikiTocEntry(key="run-and-test", title="How to run and test", kind=WikiPageKind.GUIDE))
    if orientation.conventions or orientation.rules:
        entries.append(WikiTocEntry(key="conventions", title="Conventions", kind=WikiPageKind.CONVENTIONS))
    if outlined(orientation):
        entries.append(WikiTocEntry(key="glossary", title="Glossary", kind=WikiPageKind.GLOSSARY))
    return tuple(entries)


def component_title(name: str) -> str:
    """Returns a title: the name of a component without the folders that every newcomer skips."""
    return name.removeprefix("src/") or name


def flow_starts(
    orientation: Orientation, components: Sequence[ComponentDetail], symbols: Mapping[str, Sequence[Symbol]]
) -> list[tuple[str, int]]:
    """Returns where flows begin, as (path, line): entry points, one of each file, programs first.

    A library has few of its own: what its components offer comes next, the most used functions first. A small
    one has a single component: then the functions of its main files.
    """
    own = [entry for entry in orientation.own_entry_points() if orientation.is_own(entry.file_path)]
    own.sort(key=lambda entry: _FIRST_KINDS.index(entry.kind))
    by_file: dict[str, tuple[str, int]] = {}
    for entry in own:
        by_file.setdefault(entry.file_path, (entry.file_path, entry.line if entry.symbol else 0))
    starts = [*by_file.values(), *_offered(orientation, components, symbols)]
    return (starts or _functions(orientation, symbols))[:FLOWS_MAX]


def _functions(orientation: Orientation, symbols: Mapping[str, Sequence[Symbol]]) -> list[tuple[str, int]]:
    return [
        (path, symbol.name_line)
        for path in outlined(orientation)
        for symbol in symbols.get(path, ())
        if symbol.kind in CALLABLE_KINDS and symbol.exported and symbol.parent < 0
    ]


def _offered(
    orientation: Orientation, components: Sequence[ComponentDetail], symbols: Mapping[str, Sequence[Symbol]]
) -> list[tuple[str, int]]:
    callables = {
        (path, symbol.qualified_name)
        for path, some in symbols.items()
        for symbol in some
        if symbol.kind in CALLABLE_KINDS
    }
    starts: list[tuple[str, int]] = []
    for component in components:
        offered = [
            (one.file_path, one.line)
            for one in component.interface
            if (one.file_path, one.symbol) in callables and orientation.is_own(one.file_path)
        ]
        starts += offered[:FLOWS_OF_COMPONENT_MAX]
    return starts[:FLOWS_MAX]


def describes(path: str, place: str) -> bool:
    """Whether what a file says is about a folder as a whole: `__init__.py`, `mod.rs`, `ui/ui.go`. Or it is the place."""
    at = PurePosixPath(path)
    is_main = at.stem.lower() in _MAIN_NAMES or at.stem.lower() == PurePosixPath(place).name.lower()
    return path == place or (str(at.parent) == place and is_main)


def main_files(orientation: Orientation, name: str, paths: Sequence[str]) -> list[str]:
    """Returns the source files of a component, those in the folder that it is named after first."""
    own = [path for path in paths if orientation.is_own(path)]
    return sorted(own, key=lambda path: not path.startswith(name))


def outlined(orientation: Orientation) -> list[str]:
    """Returns the files whose types and terms are described."""
    own = [entry.file_path for entry in orientation.modules if orientation.is_own(entry.file_path)]
    return own[:OUTLINED_MAX]


def outlined_of_component(orientation: Orientation, paths: Sequence[str]) -> list[str]:
    """Returns the files of a component that are outlined for its page."""
    return [path for path in paths if orientation.is_own(path)][:COMPONENT_OUTLINED_MAX]


def _has_own_file(orientation: Orientation, component: ComponentSummary) -> bool:
    return any(orientation.is_own(path) for path in component.main_files)


def _is_trivial(component: ComponentSummary) -> bool:
    return component.rank < TRIVIAL_RANK_MAX and component.files <= TRIVIAL_FILES_MAX


def _slug(name: str, taken: set[str]) -> str:
    base = _NOT_SLUG.sub("-", name.lower()).strip("-")[:SLUG_CHARS_MAX].strip("-") or "part"
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    taken.add(slug)
    return slug
