"""Plans the pages of a wiki: the same repository gives the same pages with the same keys."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath

from prism_contracts.code import CALLABLE_KINDS, CALLING_LANGUAGES, Symbol
from prism_contracts.records import WikiPageKind, WikiTocEntry
from prism_contracts.rpc.files import OutlineReply
from prism_contracts.rpc.maps import ComponentSummary, EntryKind
from prism_scribe.core.wiki import prose
from prism_scribe.core.wiki.commands import is_manifest
from prism_scribe.core.wiki.orientation import Orientation

COMPONENTS_MAX = 24
# A component with less weight and fewer files is configuration, which has no page.
TRIVIAL_RANK_MAX = 0.005
TRIVIAL_FILES_MAX = 3
SLUG_CHARS_MAX = 60
# Files outlined for the page on terms, the most depended-upon first.
OUTLINED_MAX = 24
# Files that are read for the pages on types, settings, errors and interfaces, the most depended-upon first.
SURVEYED_MAX = 300
SURVEYED_LINES_MAX = 120_000
# Main files of a component that are read for its page.
COMPONENT_OUTLINED_MAX = 14
FLOWS_MAX = 20
FLOWS_OF_FILE_MAX = 3
PROGRAMS_MAX = 4
COMMANDS_MAX = 12
# So many types with a method of one name that runs are commands.
COMMAND_TYPES_MIN = 3
FLOW_DEPTH = 4
FIRST_STARTS = 12  # before those that are in no other flow
FURTHER_STARTS_MAX = 4
FURTHER_CALLS_MIN = 4
# Constants and variants are among them, and are left out.
FLOW_WIDTH = 16
HIERARCHIES_MAX = 12

# What is in no folder, as atlas names it.
TOP = "."
TOP_TITLE = "top folder"

_FIRST_KINDS = (EntryKind.MAIN, EntryKind.COMMAND, EntryKind.ROUTE, EntryKind.SCRIPT, EntryKind.ROOT)
_MAIN_NAMES = frozenset({"mod", "lib", "main", "index", "__init__", "doc", "package-info"})
_RUNS = re.compile(r"^(?:run|execute|handle|call|invoke|perform)$", re.IGNORECASE)
_COMMAND_TYPE = re.compile(r"(?:Command|Cmd)$")
_BUILDS = re.compile(
    r"^(?:setup|conftest|noxfile|tasks|build|Package|mix|Rakefile|gulpfile|\w+\.config)\.\w+$"
)
_CALLS = re.compile(r"([A-Za-z_]\w*)[!?]?\(")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def plan(orientation: Orientation) -> tuple[WikiTocEntry, ...]:
    """Returns the pages in reading order. A component of tests or examples alone has no page."""
    entries = [WikiTocEntry(key="overview", title="Overview", kind=WikiPageKind.OVERVIEW)]
    components = [one for one in orientation.overview.components if _has_own_file(orientation, one)]
    components = [one for one in components if not _is_trivial(one) and not _only_builds(one)] or components
    slugs: set[str] = set()
    for component in components[:COMPONENTS_MAX]:
        key = f"component-{_slug(component.name, slugs)}"
        title = component_title(component.name)
        entries.append(
            WikiTocEntry(key=key, title=title, kind=WikiPageKind.COMPONENT, subject=component.name)
        )
    if orientation.overview.components or orientation.overview.entry_points:
        entries.append(WikiTocEntry(key="flows", title="Entry points and flows", kind=WikiPageKind.FLOWS))
    if surveyed(orientation):
        entries += [
            WikiTocEntry(key="types", title="Data types", kind=WikiPageKind.TYPES),
            WikiTocEntry(key="settings", title="Settings and limits", kind=WikiPageKind.SETTINGS),
            WikiTocEntry(key="errors", title="Errors", kind=WikiPageKind.ERRORS),
            WikiTocEntry(key="extending", title="How to extend", kind=WikiPageKind.EXTENDING),
        ]
    entries.append(WikiTocEntry(key="run-and-test", title="How to run and test", kind=WikiPageKind.GUIDE))
    if orientation.documents:
        title = "What the documents say"
        entries.append(WikiTocEntry(key="documents", title=title, kind=WikiPageKind.DOCUMENTS))
    if orientation.conventions or orientation.rules:
        entries.append(WikiTocEntry(key="conventions", title="Conventions", kind=WikiPageKind.CONVENTIONS))
    if outlined(orientation):
        entries.append(WikiTocEntry(key="glossary", title="Glossary", kind=WikiPageKind.GLOSSARY))
    return tuple(entries)


def component_title(name: str) -> str:
    """Returns a title: the name of a component without the folders that every newcomer skips."""
    return TOP_TITLE if name == TOP else name.removeprefix("src/") or name


def flow_starts(orientation: Orientation, outlines: Mapping[str, OutlineReply]) -> list[tuple[str, int]]:
    """Returns where flows begin, as (path, line): programs and commands, then what the examples of documents call.

    A library without examples begins at the functions of its main files.
    """
    starts = [*_programs(orientation), *_commands(outlines), *_called_in_documents(orientation, outlines)]
    return (list(dict.fromkeys(starts)) or _functions(orientation, outlines))[:FLOWS_MAX]


def further_starts(
    outlines: Mapping[str, OutlineReply],
    texts: Mapping[str, Sequence[str]],
    reached: Collection[tuple[str, int]],
) -> list[tuple[str, int]]:
    """Returns the functions that call most of the others but are in no flow, as (path, line).

    What a program finds by its name while it runs, such as the class of a worker, has no call that leads to it.
    """
    names = Counter(
        symbol.name
        for outline in outlines.values()
        for symbol in outline.symbols
        if symbol.kind in CALLABLE_KINDS
    )
    scored: list[tuple[int, str, int]] = []
    for path, outline in outlines.items():
        text = texts.get(path, ())
        for symbol in outline.symbols:
            if symbol.kind in CALLABLE_KINDS and symbol.exported and (path, symbol.name_line) not in reached:
                called = {
                    name
                    for line in text[symbol.name_line : symbol.end_line]
                    for name in _CALLS.findall(line)
                    if names[name] == 1 and name != symbol.name
                }
                if len(called) >= FURTHER_CALLS_MIN:
                    scored.append((-len(called), path, symbol.name_line))
    return [(path, line) for _, path, line in sorted(scored)[:FURTHER_STARTS_MAX]]


def _programs(orientation: Orientation) -> list[tuple[str, int]]:
    """Returns the entry points of programs, one of each file. Files that nothing uses are none."""
    own = [entry for entry in orientation.own_entry_points() if orientation.is_own(entry.file_path)]
    own = [entry for entry in own if entry.kind is not EntryKind.ROOT]
    own.sort(key=lambda entry: _FIRST_KINDS.index(entry.kind))
    by_file: dict[str, tuple[str, int]] = {}
    for entry in own:
        by_file.setdefault(entry.file_path, (entry.file_path, entry.line if entry.symbol else 0))
    return list(by_file.values())[:PROGRAMS_MAX]


def _commands(outlines: Mapping[str, OutlineReply]) -> list[tuple[str, int]]:
    """Returns the methods that run commands, which have a type for each."""
    methods = [
        # The type may be defined in another file, as in Rust and Go.
        (path, symbol, symbol.qualified_name.rpartition(".")[0])
        for path, outline in outlines.items()
        for symbol in outline.symbols
        if "." in symbol.qualified_name and _RUNS.match(symbol.name) and not symbol.bodiless
    ]
    types = Counter(symbol.name for _, symbol, _ in methods)
    found = [
        (path, symbol.name_line)
        for path, symbol, owner in methods
        if _COMMAND_TYPE.search(owner) or types[symbol.name] >= COMMAND_TYPES_MIN
    ]
    return found[:COMMANDS_MAX]


def _called_in_documents(
    orientation: Orientation, outlines: Mapping[str, OutlineReply]
) -> list[tuple[str, int]]:
    """Returns the exported functions that examples call, those of most documents first.

    A method counts if the examples name its type, or if no other type has a method of that name.
    """
    called, named = prose.calls_in_code(orientation.documents), prose.names_in_code(orientation.documents)
    by_name: dict[str, list[tuple[int, str, Symbol, str]]] = {}
    for position, (path, outline) in enumerate(outlines.items()):
        for symbol in outline.symbols:
            if (
                symbol.kind in CALLABLE_KINDS
                and symbol.exported
                and symbol.name in called
                and not symbol.bodiless
            ):
                owner = outline.symbols[symbol.parent].name.rpartition(".")[2] if symbol.parent >= 0 else ""
                by_name.setdefault(symbol.name, []).append((position, path, symbol, owner))
    scored: list[tuple[float, int, str, int]] = []
    for name, places in by_name.items():
        fitting = [one for one in places if not one[3] or named[one[3]]] or (
            places if len(places) == 1 else []
        )
        for position, path, symbol, owner in fitting:
            # A name that many types share is a weaker sign.
            score = (called[name] + min(named[owner], called[name])) / len(fitting)
            scored.append((-score, position, path, symbol.name_line))
    of_file: Counter[str] = Counter()
    found = []
    for _, _, path, line in sorted(scored):
        if of_file[path] < FLOWS_OF_FILE_MAX:
            of_file[path] += 1
            found.append((path, line))
    return found


def _functions(orientation: Orientation, outlines: Mapping[str, OutlineReply]) -> list[tuple[str, int]]:
    return [
        (path, symbol.name_line)
        for path in outlined(orientation)
        for symbol in (outlines[path].symbols if path in outlines else ())
        if symbol.kind in CALLABLE_KINDS and symbol.exported and not symbol.name.startswith("_")
    ]


def describes(path: str, place: str) -> bool:
    """Whether what a file says is about a folder as a whole: `__init__.py`, `mod.rs`, `ui/ui.go`. Or it is the place."""
    at = PurePosixPath(path)
    is_main = at.stem.lower() in _MAIN_NAMES or at.stem.lower() == PurePosixPath(place).name.lower()
    return path == place or str(at.with_suffix("")) == place or (str(at.parent) == place and is_main)


def main_files(orientation: Orientation, name: str, paths: Sequence[str]) -> list[str]:
    """Returns the source files of a component, those in the folder that it is named after first."""
    own = [path for path in paths if orientation.is_own(path)]
    return sorted(own, key=lambda path: not path.startswith(name))


def outlined(orientation: Orientation) -> list[str]:
    """Returns the files whose types and terms are described."""
    own = [entry.file_path for entry in orientation.modules if orientation.is_own(entry.file_path)]
    return own[:OUTLINED_MAX]


def surveyed(orientation: Orientation) -> list[str]:
    """Returns the source files that are read whole, the most depended-upon first, then by path."""
    ranked = [entry.file_path for entry in orientation.modules]
    found: list[str] = []
    lines = 0
    for path in dict.fromkeys([*ranked, *sorted(orientation.files)]):
        known = orientation.files.get(path)
        if known is None or known.language not in CALLING_LANGUAGES or not orientation.is_own(path):
            continue
        lines += known.lines
        if len(found) >= SURVEYED_MAX or lines > SURVEYED_LINES_MAX:
            break
        found.append(path)
    return found


def outlined_of_component(orientation: Orientation, paths: Sequence[str]) -> list[str]:
    """Returns the files of a component that are outlined for its page."""
    return [path for path in paths if orientation.is_own(path)][:COMPONENT_OUTLINED_MAX]


def _has_own_file(orientation: Orientation, component: ComponentSummary) -> bool:
    return any(orientation.is_own(path) for path in component.main_files)


def _only_builds(component: ComponentSummary) -> bool:
    """Whether the top folder has only build code."""
    return component.name == TOP and all(
        is_manifest(path) or _BUILDS.search(path) for path in component.main_files
    )


def _is_trivial(component: ComponentSummary) -> bool:
    return component.rank < TRIVIAL_RANK_MAX and component.files <= TRIVIAL_FILES_MAX


def _slug(name: str, taken: set[str]) -> str:
    base = (
        _NOT_SLUG.sub("-", "top" if name == TOP else name.lower()).strip("-")[:SLUG_CHARS_MAX].strip("-")
        or "part"
    )
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    taken.add(slug)
    return slug
