"""The first page: what the repository is, its parts and how they hang together, and where to begin reading."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import PurePosixPath

from prism_contracts.code import CALLING_LANGUAGES
from prism_contracts.records import WikiPageKind, WikiTocEntry
from prism_contracts.rpc.guidance import ContextSection
from prism_contracts.rpc.maps import ComponentDependency, ComponentSummary, EntryKind
from prism_scribe.core.wiki import diagrams, markdown, prose
from prism_scribe.core.wiki.contents import component_title, describes, main_files
from prism_scribe.core.wiki.dependencies import depended_on
from prism_scribe.core.wiki.orientation import Evidence, Orientation, Prose
from prism_scribe.core.wiki.pages import guide, layout

LANGUAGES_MAX = 5
# Types of code that is elsewhere, which everything imports: no place to begin.
DECLARATIONS = (".d.ts", ".d.mts", ".d.cts", ".pyi")
MODULES_MAX = 10
SYMBOLS_MAX = 4
DOCUMENTS_MAX = 12
PACKAGES_MAX = 15
# In the diagram, the uses of each component that have the most references.
EDGES_OF_COMPONENT_MAX = 3
EDGES_MAX = 16
LIBRARIES_MAX = 24
FEATURES_MAX = 8
EXAMPLE_LINES_MIN = 4
# A shorter introduction says its points in the list below.
SHORT_CHARS_MAX = 100
ENTRIES_MAX = 8

_FEATURES = re.compile(
    r"^\W*(?:key |main |core )?(?:features|highlights|what (?:is|it)\b|why\b)", re.IGNORECASE
)
_INTRODUCING = (ContextSection.README, ContextSection.VISION, None)
_FENCE_LANGUAGES = {
    "js": "javascript", "ts": "typescript", "py": "python", "rb": "ruby", "rs": "rust", "golang": "go", "ex": "elixir",
    "exs": "elixir", "cs": "csharp", "c#": "csharp", "kt": "kotlin", "jsx": "javascript", "c++": "cpp", "pycon": "python",
}  # fmt: skip
_SHELLS = frozenset({"bash", "fish", "powershell", "html", "scss", "sql", "hcl", "nix"})
_EXAMPLE = re.compile(r"example|hello|quick|usage|start|basic|how to use|synopsis", re.IGNORECASE)
_INSTALLS = re.compile(r"\bdef deps\b|^\s*\{:\w+, *\"|^\s*(?:pip|npm|composer|go get|cargo add|gem|dotnet) ")
_SECTION_NAMES = {
    ContextSection.VISION: "what it is for",
    ContextSection.README: "introduction",
    ContextSection.ARCHITECTURE: "architecture",
    ContextSection.DECISIONS: "decision",
    ContextSection.CONTRIBUTING: "how to contribute",
    ContextSection.CHANGELOG: "changes",
}


def lines(orientation: Orientation, _: Evidence, toc: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    return [
        f"# {markdown.text(orientation.repo)}",
        "",
        *_introduction(orientation),
        *markdown.section("A first example", _example(orientation)),
        *markdown.section("Layout", [*_size(orientation), "", *layout.lines(orientation)]),
        *markdown.section("Where to begin reading", _modules(orientation)),
        *markdown.section("How to run and test", _commands(orientation)),
        *markdown.section("Libraries that it uses", _libraries(orientation)),
        *markdown.section("Components", _components(orientation, toc)),
        *markdown.section("Entry points", _entry_points(orientation, toc)),
        *markdown.section("Packages", _packages(orientation)),
        *markdown.section("Documents", _documents(orientation)),
        *markdown.section("Pages of this wiki", _pages(toc)),
    ]


def _introduction(orientation: Orientation) -> Iterator[str]:
    for section in (ContextSection.README, ContextSection.VISION):
        documents = [one for one in orientation.documents if one.section is section]
        for document in sorted(documents, key=lambda one: _nearness(one.path, orientation.repo)):
            if quote := prose.first_paragraph(document):
                yield from markdown.quote(quote.text, quote.path, quote.line)
                yield from _announced(document, quote)
                yield from _features(document)
                return


def _announced(document: Prose, quote: prose.Quote) -> Iterator[str]:
    """Yields the list that a short introduction is followed by."""
    following = [one.start_line for one in document.headings if one.start_line > quote.line]
    end = min([*following, len(document.lines) + 1]) - 1
    if len(quote.text) > SHORT_CHARS_MAX:
        return
    items = prose.list_items(document, quote.line + 1, end, FEATURES_MAX)
    if items:
        yield from (
            f"- {markdown.text(item.text)} ({markdown.place(item.path, item.line)})" for item in items
        )
        yield ""


def _features(document: Prose) -> Iterator[str]:
    """Yields the list of features that an introduction has."""
    for heading in document.headings:
        if _FEATURES.search(heading.name):
            items = prose.list_items(document, heading.start_line + 1, heading.end_line, FEATURES_MAX)
            if items:
                yield f"{markdown.text(heading.name)}, by {markdown.place(document.path, heading.start_line)}:"
                yield ""
                yield from (f"- {markdown.text(item.text)}" for item in items)
                yield ""
                return


def _example(orientation: Orientation) -> list[str]:
    """Returns an example of use from the documents, in a language of the source: the first below a title that says so."""
    own = Counter(file.language for path, file in orientation.files.items() if orientation.is_own(path))
    languages = {one for one, _ in own.most_common(LANGUAGES_MAX) if one in CALLING_LANGUAGES - _SHELLS}
    documents = [one for one in orientation.documents if one.section in _INTRODUCING]
    documents.sort(key=lambda one: (one.section is None, _nearness(one.path, orientation.repo)))
    found = [
        (document, block)
        for document in documents
        for block in prose.code_blocks(document, 1, len(document.lines))
        if _is_example(block, languages)
    ]
    if not found:
        return []
    document, block = next(
        (one for one in found if one[0] is found[0][0] and _EXAMPLE.search(_title_above(*one))), found[0]
    )
    end = block.line + len(block.lines) - 1
    return [
        f"From {markdown.place(document.path, block.line, end)}:",
        "",
        *markdown.block(block.lines, block.language),
    ]


def _title_above(document: Prose, block: prose.CodeBlock) -> str:
    above = [one.name for one in document.headings if one.start_line <= block.line]
    return above[-1] if above else ""


def _is_example(block: prose.CodeBlock, languages: AbstractSet[str]) -> bool:
    """Whether a block uses code: it names a language of the source, and has several statements."""
    named = _FENCE_LANGUAGES.get(block.language.lower(), block.language.lower())
    lines = [line for line in block.lines if line.strip()]
    is_install = any(map(_INSTALLS.search, lines[:2]))
    return named in languages and len(lines) >= EXAMPLE_LINES_MIN and not is_install


def _nearness(path: str, repo: str) -> tuple[int, bool]:
    """Returns an order of documents: of the repository itself, of the package with its name, of other packages."""
    folders = PurePosixPath(path).parts[:-1]
    return len(folders), repo.rpartition("/")[2] not in folders


def _size(orientation: Orientation) -> list[str]:
    indexed = [file for file in orientation.files.values() if file.skipped is None]
    tests = sum(file.flags.test for file in indexed)
    own = [file for file in indexed if orientation.is_own(file.file_path)]
    by_language = Counter(file.language for file in own if file.language in CALLING_LANGUAGES)
    languages = [
        f"{layout.language_name(language)} ({markdown.counted(count, 'file')})"
        for language, count in by_language.most_common(LANGUAGES_MAX)
    ]
    totals = orientation.overview.totals
    size = f"{markdown.counted(len(indexed), 'file')} are indexed, with about {markdown.roughly(sum(file.lines for file in indexed))} lines"
    sentences = [f"{size}; {tests:,} of them are tests."]
    if languages:
        others = len(by_language) - len(languages)
        more = f" and {markdown.counted(others, 'other language')}" if others else ""
        sentences.append(f"Without tests, examples and documents, its code is {', '.join(languages)}{more}.")
    if components := totals.get("components", 0):
        grouped = totals.get("files_in_components", 0)
        sentences.append(
            f"{markdown.counted(grouped, 'source file')} with code are in {markdown.counted(components, 'component')}."
        )
    return [" ".join(sentences)]


def _components(orientation: Orientation, toc: Sequence[WikiTocEntry]) -> list[str]:
    keys = {entry.subject: entry.key for entry in toc if entry.kind is WikiPageKind.COMPONENT}
    shown = [one for one in orientation.overview.components if one.name in keys]
    if not shown:
        return []
    rows = [
        (
            markdown.page_link(keys[one.name], component_title(one.name)),
            about(orientation, one),
            f"{one.files}",
            markdown.roughly(one.lines),
            f"{one.rank:.0%}",
        )
        for one in shown
    ]
    explained = (
        "A component is a folder with its source files, or a part of a large folder. Tests are in none. "
        "Weight is the share of all references, counted through the files that depend on it."
    )
    table = markdown.table(("component", "what is in it", "files", "lines", "weight"), rows)
    edges = _main_edges(orientation.overview.dependencies, keys.keys())
    return [explained, "", *table, *component_diagram(edges), *_cycles(orientation)]


def about(orientation: Orientation, component: ComponentSummary) -> str:
    """Returns what the main file of a component says, with its place; else the names of its main symbols."""
    for path in main_files(orientation, component.name, component.main_files):
        summary = prose.sentence(orientation.summary(path))
        if summary and describes(path, component.name):
            return f"{markdown.text(summary)} ({markdown.place(path, 1)})"
    return markdown.joined([markdown.code(name) for name in component.main_symbols[:SYMBOLS_MAX]])


def component_diagram(dependencies: Sequence[ComponentDependency]) -> list[str]:
    """Returns a diagram of components, with an explanation."""
    edges = [(one.source, one.target, str(one.references)) for one in dependencies]
    labels = {name: component_title(name) for one in dependencies for name in (one.source, one.target)}
    chart = diagrams.flowchart(edges, labels)
    if not chart:
        return []
    return [
        "An arrow means: uses. Its number counts references that are resolved with certainty.",
        "",
        *chart,
    ]


def _main_edges(
    dependencies: Sequence[ComponentDependency], names: AbstractSet[str]
) -> list[ComponentDependency]:
    kept: Counter[str] = Counter()
    found = []
    for one in sorted(dependencies, key=lambda one: -one.references):
        if one.references and {one.source, one.target} <= names and kept[one.source] < EDGES_OF_COMPONENT_MAX:
            kept[one.source] += 1
            found.append(one)
    return found[:EDGES_MAX]


def _cycles(orientation: Orientation) -> list[str]:
    cycles = orientation.overview.component_cycles
    total = orientation.overview.totals.get("component_cycles", len(cycles))
    if not cycles:
        return []
    first = " → ".join(markdown.code(component_title(name)) for name in cycles[0].path)
    return [f"Components use each other in {markdown.counted(total, 'cycle')}, such as {first}."]


def _modules(orientation: Orientation) -> list[str]:
    own = [
        entry
        for entry in orientation.modules
        if orientation.is_own(entry.file_path) and not entry.file_path.endswith(DECLARATIONS)
    ][:MODULES_MAX]
    rows = [
        (
            markdown.place(entry.file_path, 1),
            markdown.text(prose.sentence(entry.summary)),
            markdown.joined([markdown.code(name) for name in entry.top_symbols[:SYMBOLS_MAX]]),
        )
        for entry in own
    ]
    if not rows:
        return []
    return [
        "Most of the other code depends on these files, directly or through others:",
        "",
        *markdown.table(("file", "its first description", "main symbols"), rows),
    ]


def _libraries(orientation: Orientation) -> list[str]:
    lines = []
    for path, text in orientation.manifests.items():
        found = depended_on(path, text)
        shown = [
            f"{markdown.code(one.name)} ({markdown.place(path, one.line)})" for one in found[:LIBRARIES_MAX]
        ]
        if shown:
            lines.append(f"- {markdown.code(path)} declares {markdown.joined(shown, len(found))}.")
    return lines


def _commands(orientation: Orientation) -> list[str]:
    table = guide.in_short(orientation)
    more = f"More commands, and what the documents say: {markdown.page_link('run-and-test', 'How to run and test')}."
    return [*table, more] if table else [more]


def _entry_points(orientation: Orientation, toc: Sequence[WikiTocEntry]) -> list[str]:
    entries = orientation.own_entry_points()
    if not entries:
        return [
            "Prism found no program, command or route: this is likely a library. Flows begin at what its examples call."
        ]
    own = [entry for entry in entries if orientation.is_own(entry.file_path)]
    # Files that no other uses are of interest if nothing else is known.
    entries = [entry for entry in entries if entry.kind is not EntryKind.ROOT] or entries
    found = [
        f"- {entry.kind.value}: "
        + (f"{markdown.code(entry.symbol)} in " if entry.symbol else "")
        + markdown.place(entry.file_path, entry.line)
        + (
            f". {markdown.text(said)}"
            if (said := prose.sentence(orientation.summary(entry.file_path)))
            else ""
        )
        for entry in entries[:ENTRIES_MAX]
    ]
    lead = "Here programs, commands and requests start" if own else "All of them belong to examples"
    found = [f"{lead}:", "", *found]
    if len(entries) > ENTRIES_MAX:
        found.append(f"- and {len(entries) - ENTRIES_MAX} more")
    if any(entry.kind is WikiPageKind.FLOWS for entry in toc):
        found += ["", f"What they call is in {markdown.page_link('flows', 'Entry points and flows')}."]
    return found


def _packages(orientation: Orientation) -> list[str]:
    packages = orientation.overview.partitions
    if len(packages) <= 1:
        return []
    rows = [
        (markdown.code(one.folder), markdown.place(one.manifest, 1), f"{one.files}")
        for one in packages[:PACKAGES_MAX]
    ]
    total = orientation.overview.totals.get("partitions", len(packages))
    lead = f"The repository has {markdown.counted(total, 'package')}, each with a manifest of its own"
    rest = f"; these are the largest {len(rows)}:" if total > len(rows) else ":"
    return [lead + rest, "", *markdown.table(("folder", "manifest", "files"), rows)]


def _documents(orientation: Orientation) -> list[str]:
    return [
        f"- {markdown.place(one.path, 1)}: {_SECTION_NAMES[one.section] if one.section else 'guide'}, "
        f"{markdown.counted(len(one.lines), 'line')}"
        for one in orientation.documents[:DOCUMENTS_MAX]
    ]


def _pages(toc: Sequence[WikiTocEntry]) -> list[str]:
    return [f"- {markdown.page_link(entry.key, entry.title)}" for entry in toc if entry.key != "overview"]
