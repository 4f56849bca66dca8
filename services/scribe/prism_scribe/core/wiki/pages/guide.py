"""How to build, run and test: the commands that manifests declare, and what the documents say."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from prism_contracts.records import WikiTocEntry
from prism_contracts.rpc.guidance import ContextSection
from prism_scribe.core.wiki import commands, helpers_of_tests, markdown, prose, single_tests
from prism_scribe.core.wiki.orientation import Evidence, Orientation, Prose

COMMANDS_MAX = 30
SECTIONS_MAX = 8
BLOCKS_MAX = 3
TEST_FOLDERS_MAX = 6
STEPS_MAX = 8
EXAMPLES_MAX = 12
_LOCKS = {
    "pnpm-lock.yaml": "pnpm run",
    "yarn.lock": "yarn run",
    "bun.lock": "bun run",
    "bun.lockb": "bun run",
}
_SCRIPT = re.compile(r"^npm run")
_EXAMPLE = re.compile(r"^examples?/[^/]+\.(?:rs|go|py|rb|js|ts|java|ex|exs|php|kt|swift|c|cc|cpp)$")

_ABOUT_RUNNING = re.compile(
    r"\b(?:install\w*|set.?up|getting started|quick.?start|get it|get started|usage|build(?:ing|s)?|run(?:ning|s)?|"
    r"develop(?:ment|ing)?|compil(?:e|ing|ation)|test(?:s|ing)?|requirements?|prerequisites?|deploy\w*)\b",
    re.IGNORECASE,
)
_QUOTED = (ContextSection.README, ContextSection.CONTRIBUTING, ContextSection.ARCHITECTURE, None)
GUIDES_MAX = 4
GUIDE_SECTIONS_MAX = 3


def lines(orientation: Orientation, evidence: Evidence, _: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    documents = [one for one in orientation.documents if one.section in _QUOTED]
    documents.sort(key=lambda one: (one.path.count("/"), _QUOTED.index(one.section)))
    guides = [one for one in documents if one.section is None and prose.sections(one, _ABOUT_RUNNING)]
    dropped = {one.path for one in guides[GUIDES_MAX:]}
    said = [line for one in documents if one.path not in dropped for line in _sections(one)]
    found = [
        *markdown.section("In short", in_short(orientation)),
        *markdown.section("The tests of one file", _one_test(orientation)),
        *markdown.section("What the documents say", said[:-1]),
        *_commands(orientation),
        *markdown.section("Examples", _examples(orientation)),
        *markdown.section("Where the tests are", _tests(orientation)),
        *markdown.section("What tests can use", helpers_of_tests.lines(orientation, evidence)),
    ]
    lead = "Prism runs nothing of a repository: what follows is quoted, not tried."
    return ["# How to run and test", "", lead, "", *(found or ["No document or manifest says how."])]


def _sections(document: Prose) -> Iterator[str]:
    most = SECTIONS_MAX if document.section else GUIDE_SECTIONS_MAX
    for heading in prose.sections(document, _ABOUT_RUNNING)[:most]:
        blocks = [*prose.code_blocks(document, heading.start_line, heading.end_line)][:BLOCKS_MAX]
        quote = prose.first_paragraph(document, heading.start_line + 1, heading.end_line)
        steps = _steps(document, heading.start_line + 1, heading.end_line) if not blocks else []
        if not blocks and not steps and (not quote or quote.text.endswith(":")):
            continue
        yield f"### {markdown.text(heading.name)}"
        yield ""
        yield f"From {markdown.place(document.path, heading.start_line, heading.end_line)}:"
        yield ""
        if quote:
            yield f"> {markdown.text(quote.text)}"
            yield ""
        for block in blocks:
            yield from markdown.block(block.lines, block.language)
            yield ""
        if steps:
            yield from [*steps, ""]


def _steps(document: Prose, start: int, end: int) -> list[str]:
    return [f"- {markdown.text(item.text)}" for item in prose.list_items(document, start, end, STEPS_MAX)]


def in_short(orientation: Orientation) -> list[str]:
    """Returns a table with one command for each purpose, from what people use rather than CI."""
    chosen: dict[str, tuple[str, commands.Command]] = {}
    declared = list(_declared(orientation))
    if len([path for path in orientation.files if PurePosixPath(path).name == "go.mod"]) > 1:
        # `./...` has no files of other modules: CI says how all are tested.
        declared.sort(key=lambda item: commands.is_usual(item[0]))
    for path, found in declared:
        for one in found:
            if kind := commands.purpose(one.command):
                chosen.setdefault(kind, (path, one))
    rows = [
        (kind, markdown.code(chosen[kind][1].command), markdown.place(chosen[kind][0], chosen[kind][1].line))
        for kind in commands.PURPOSES
        if kind in chosen
    ]
    return markdown.table(("to", "command", "declared in"), rows)


def _declared(orientation: Orientation) -> Iterator[tuple[str, list[commands.Command]]]:
    """Yields the commands of each manifest, those of CI last and without what people have, too."""
    seen: set[str] = set()
    runner = _script_runner(orientation)
    for path in sorted(orientation.manifests, key=commands.is_workflow):
        found = commands.declared(path, orientation.manifests[path])
        named = [one._replace(command=_SCRIPT.sub(runner, one.command)) for one in found]
        new = [one for one in named if one.command not in seen or not commands.is_workflow(path)]
        seen |= {one.command for one in named}
        yield path, new


def _script_runner(orientation: Orientation) -> str:
    """Returns the command that runs scripts of package.json, by the lock file beside it."""
    return next((runner for lock, runner in _LOCKS.items() if lock in orientation.files), "npm run")


def _examples(orientation: Orientation) -> list[str]:
    found = [path for path in sorted(orientation.files) if _EXAMPLE.match(path)]
    is_cargo = "Cargo.toml" in orientation.manifests
    shown = [
        f"- {markdown.place(path, 1)}"
        + (
            f": {markdown.code(f'cargo run --example {PurePosixPath(path).stem}')}"
            if is_cargo and path.endswith(".rs")
            else ""
        )
        for path in found[:EXAMPLES_MAX]
    ]
    return [*shown, *([f"- and {len(found) - EXAMPLES_MAX} more"] if len(found) > EXAMPLES_MAX else [])]


def _commands(orientation: Orientation) -> Iterator[str]:
    for path, found in _declared(orientation):
        shown = found[:COMMANDS_MAX]
        if any(one.about for one in shown):
            heads = ("command", "what it does", "declared in")
            rows = [
                (markdown.code(one.command), _about(one), markdown.place(path, one.line)) for one in shown
            ]
            table = markdown.table(heads, rows)
        else:
            table = [f"- {markdown.code(one.command)} ({markdown.place(path, one.line)})" for one in shown]
        if len(found) > COMMANDS_MAX:
            table.append(f"{markdown.counted(len(found) - COMMANDS_MAX, 'more command')} follow there.")
        yield from markdown.section(f"Commands of {markdown.code(path)}", table)


def _about(one: commands.Command) -> str:
    return markdown.text(one.about) if one.is_prose else markdown.code(one.about)


def _one_test(orientation: Orientation) -> list[str]:
    found = single_tests.one_tests(orientation)
    rows = [
        f"- {markdown.code(one.command)}: {markdown.place(one.path, 1)}, with the tool of {markdown.place(one.sign, 1)}"
        for one in found
    ]
    return ["By the usage of the tool, with one file as an example:", "", *rows] if rows else []


def _tests(orientation: Orientation) -> list[str]:
    counts: dict[str, int] = {}
    for path in orientation.files:
        if orientation.is_test(path) and not helpers_of_tests.DATA.search(path):
            folder = str(PurePosixPath(path).parent)
            counts[folder] = counts.get(folder, 0) + 1
    if len(counts) > TEST_FOLDERS_MAX:
        counts = _by_top_folder(counts)
    largest = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if not largest:
        return []
    names = [
        f"{markdown.code(folder)} ({markdown.counted(count, 'file')})"
        for folder, count in largest[:TEST_FOLDERS_MAX]
    ]
    return [f"Tests are in {markdown.joined(names, len(largest))}."]


def _by_top_folder(counts: dict[str, int]) -> dict[str, int]:
    tops: dict[str, int] = {}
    for folder, count in counts.items():
        top = "/".join(PurePosixPath(folder).parts[:2])
        tops[top] = tops.get(top, 0) + count
    return tops
