"""The page of a component: what its authors say, its main files, what others use of it, its functions, what it needs."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from prism_contracts.records import WikiPageKind, WikiTocEntry
from prism_contracts.rpc.maps import ComponentDependency, ComponentDetail, Interface, ModuleEntry
from prism_resolver.prose import first_sentence
from prism_scribe.core.wiki import markdown, prose
from prism_scribe.core.wiki.contents import component_title, describes, main_files
from prism_scribe.core.wiki.orientation import Evidence, Orientation
from prism_scribe.core.wiki.pages.overview import component_diagram
from prism_scribe.core.wiki.walkthrough import walkthrough

FILES_MAX = 14
SYMBOLS_MAX = 4
INTERFACE_MAX = 14
EXTERNALS_MAX = 12
NEIGHBORS_MAX = 8
TESTS_MAX = 10
ENTRIES_MAX = 8
QUOTES_MAX = 4
PAIR = 2
_RELATIVE = (".",)


def lines(orientation: Orientation, evidence: Evidence, toc: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    shown = evidence.component
    assert shown is not None
    own = [entry for entry in shown.files if orientation.is_own(entry.file_path)]
    return [
        f"# {markdown.text(component_title(shown.summary.name))}",
        "",
        *_introduction(orientation, shown),
        *markdown.section("What its authors write about it", _quotes(orientation, shown, own)),
        *markdown.section("Main files", _files(own, shown)),
        *markdown.section("What other components use of it", _interface(orientation, shown, evidence)),
        *markdown.section("Inside its main functions", _inside(shown, own, evidence)),
        *markdown.section("What it uses, and what uses it", _neighbors(shown, toc)),
        *markdown.section("Libraries", _externals(shown)),
        *markdown.section("Entry points", _entries(orientation, shown)),
        *markdown.section("Tests", _tests(orientation, shown, own)),
        *markdown.section("Recent changes", _changes(own)),
    ]


def _introduction(orientation: Orientation, shown: ComponentDetail) -> Iterator[str]:
    summary = shown.summary
    yield (
        f"{markdown.counted(summary.files, 'source file')} with about {markdown.roughly(summary.lines)} lines, which carry "
        f"{summary.rank:.0%} of the weight of all references in the repository."
    )
    yield ""
    paths = [*summary.main_files, *(entry.file_path for entry in shown.files)]
    for path in main_files(orientation, summary.name, list(dict.fromkeys(paths))):
        said = _said(shown.files, path)
        if said and describes(path, summary.name):
            yield from markdown.quote(said, path, 1)
            return


def _said(files: Sequence[ModuleEntry], path: str) -> str:
    return next((prose.sentence(entry.summary) for entry in files if entry.file_path == path), "")


def _quotes(orientation: Orientation, shown: ComponentDetail, own: Sequence[ModuleEntry]) -> list[str]:
    paths = [shown.summary.name, *(entry.file_path for entry in own[:FILES_MAX])]
    folder = str(PurePosixPath(own[0].file_path).parent) if own else ""
    if folder not in {"", "."}:
        paths.insert(1, folder)
    quotes: list[prose.Quote] = []
    for path in dict.fromkeys(paths):
        if "/" in path or "." in path:
            quotes += prose.mentions(orientation.documents, path, QUOTES_MAX)
    places = {(quote.path, quote.line): quote for quote in quotes}
    return [
        f"- {markdown.text(quote.text)} ({markdown.place(quote.path, quote.line)})"
        for quote in list(places.values())[:QUOTES_MAX]
    ]


def _files(own: Sequence[ModuleEntry], shown: ComponentDetail) -> list[str]:
    rows = [
        (
            markdown.place(entry.file_path, 1),
            markdown.text(prose.sentence(entry.summary)),
            f"{entry.lines:,}",
            markdown.joined([markdown.code(name) for name in entry.top_symbols[:SYMBOLS_MAX]]),
        )
        for entry in own[:FILES_MAX]
    ]
    table = markdown.table(("file", "its first description", "lines", "main symbols"), rows)
    if own and len(own) > FILES_MAX:
        rest = len(own) - FILES_MAX
        table.append(f"{markdown.counted(rest, 'more file')} of the {shown.summary.files} are less used.")
    return table


def _interface(orientation: Orientation, shown: ComponentDetail, evidence: Evidence) -> list[str]:
    used = [one for one in shown.interface if one.symbol and not orientation.is_test(one.file_path)]
    rows = [
        (
            markdown.code(one.symbol),
            markdown.place(one.file_path, one.line),
            _documented(one, evidence),
            f"{one.references}",
        )
        for one in used[:INTERFACE_MAX]
    ]
    if not rows:
        return []
    return [
        "These symbols have the most references from other components:",
        "",
        *markdown.table(("symbol", "defined in", "what it says of itself", "references"), rows),
    ]


def _inside(shown: ComponentDetail, own: Sequence[ModuleEntry], evidence: Evidence) -> list[str]:
    found = walkthrough(evidence, [entry.file_path for entry in own], shown.summary.rank)
    if not found:
        return []
    lead = (
        "These functions make most decisions and connect most of the others. A long one shows only its comments, "
        f"decisions and formulas; {markdown.ELLIPSIS} marks lines that are left out."
    )
    return [lead, "", *found]


def _documented(one: Interface, evidence: Evidence) -> str:
    symbol = evidence.symbol(one.file_path, one.symbol)
    if symbol is None:
        return ""
    return markdown.text(first_sentence(symbol.docstring)) or markdown.code(symbol.signature)


def _neighbors(shown: ComponentDetail, toc: Sequence[WikiTocEntry]) -> list[str]:
    keys = {entry.subject: entry.key for entry in toc if entry.kind is WikiPageKind.COMPONENT}

    def link(name: str) -> str:
        title = component_title(name)
        return markdown.page_link(keys[name], title) if name in keys else markdown.code(title)

    uses = [one for one in shown.uses if one.references][:NEIGHBORS_MAX]
    used_by = [one for one in shown.used_by if one.references][:NEIGHBORS_MAX]
    found = [f"- It uses {link(one.target)}: {_references(one)}" for one in uses]
    found += [f"- {link(one.source)} uses it: {_references(one)}" for one in used_by]
    if not found:
        return ["No reference to or from another component is resolved with certainty."]
    cycles = [one for one in shown.cycles if one.members > 1]
    if cycles:
        first = " → ".join(markdown.code(path) for path in cycles[0].path)
        more = f" ({markdown.counted(cycles[0].members, 'file')} in all)" if cycles[0].members > PAIR else ""
        found.append(f"- Files here depend on each other in a cycle{more}: {first}.")
    return [*found, "", *component_diagram([*uses, *used_by])]


def _references(one: ComponentDependency) -> str:
    source, target = one.example
    return (
        f"{markdown.counted(one.references, 'reference')}, most of them from {markdown.code(source)} "
        f"to {markdown.code(target)}."
    )


def _externals(shown: ComponentDetail) -> list[str]:
    modules = [
        (name, count) for name, count in shown.external_modules.items() if not name.startswith(_RELATIVE)
    ]
    if not modules:
        return []
    names = [f"{markdown.code(name)} ({count})" for name, count in modules[:EXTERNALS_MAX]]
    total = shown.totals.get("external_modules", len(modules))
    return [f"It imports {markdown.joined(names, total)}, with the number of files that do so."]


def _entries(orientation: Orientation, shown: ComponentDetail) -> list[str]:
    own = [entry for entry in shown.entry_points if orientation.is_own(entry.file_path)]
    return [
        f"- {entry.kind.value}: "
        + (f"{markdown.code(entry.symbol)} in " if entry.symbol else "")
        + markdown.place(entry.file_path, entry.line)
        for entry in own[:ENTRIES_MAX]
    ]


def _tests(orientation: Orientation, shown: ComponentDetail, own: Sequence[ModuleEntry]) -> list[str]:
    inside = [entry.file_path for entry in shown.files if orientation.is_test(entry.file_path)]
    stems = {PurePosixPath(entry.file_path).stem for entry in own}
    named = [path for path in orientation.files if orientation.is_test(path) and _tested(path) in stems]
    tests = list(dict.fromkeys([*named, *inside]))
    if not tests:
        return []
    shown_tests = [markdown.place(path, 1) for path in tests[:TESTS_MAX]]
    return [
        f"These tests have the name of one of its files, or belong to it: {markdown.joined(shown_tests, len(tests))}."
    ]


def _tested(path: str) -> str:
    """Returns the name of the file that a test is named after: `session` for `test_session.py`."""
    stem = PurePosixPath(path).name.partition(".")[0]
    return stem.removeprefix("test_").removesuffix("_test").removesuffix("Test").removesuffix("_spec")


def _changes(own: Sequence[ModuleEntry]) -> list[str]:
    changed = [entry for entry in own if entry.commits_90_days]
    changed.sort(key=lambda entry: -(entry.commits_90_days or 0))
    if not changed:
        return []
    names = [f"{markdown.place(entry.file_path, 1)} ({entry.commits_90_days})" for entry in changed[:5]]
    return [f"Commits in the last 90 days: {markdown.joined(names)}."]
