"""Maps and architectures as text: one line per file, component or dependency."""

from collections.abc import Iterable, Iterator, Sequence

from prism_contracts.rpc.maps import (
    ArchitectureReply,
    ComponentDependency,
    ComponentDetail,
    ComponentSummary,
    Cycle,
    Divergence,
    EntryPoint,
    ModuleEntry,
    ModuleMapReply,
    Overview,
    Spread,
)
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers.receipts import receipt_line
from prism_gateway.mcp.tool import Answer, Json

# The cost of a map entry without path, summary and symbols, in text and data, in characters.
ENTRY_CHARS = 210
# The cost of a component, a dependency or an entry point.
ITEM_CHARS = 500
# The number of long lists of an overview, and of a component.
LISTS = 4


def fit_modules(reply: ModuleMapReply, max_tokens: int) -> int:
    """Returns the number of files that fit."""
    overheads = [
        ENTRY_CHARS + 2 * (len(entry.file_path) + len(entry.summary) + sum(map(len, entry.top_symbols)))
        for entry in reply.entries
    ]
    return fit([0] * len(overheads), overheads, chars(max_tokens), 0).kept if overheads else 0


def fit_architecture(max_tokens: int) -> int:
    """Returns the longest length of each list: the budget is divided among them, and most are shorter."""
    return max(1, chars(max_tokens) // (ITEM_CHARS * LISTS))


def module_map(reply: ModuleMapReply, max_tokens: int, *, cut_off: bool) -> Answer:
    """Returns files, the most depended-upon first."""
    structured: Json = reply.model_dump(
        mode="json", exclude_none=True, exclude={"entries": {"__all__": {"content"}}}
    )
    tiers = ", ".join(f"{count} {tier.value}" for tier, count in reply.tiers.items())
    foot = [f"{reply.total} files: {tiers}; {receipt_line(reply.receipt)}"]
    if cut_off:
        action = f"Cut to max_tokens={max_tokens}: raise it, or continue with next_cursor."
        structured |= {"truncated": True, "next_actions": [action]}
        foot.append(f"next: {action}")
    if reply.next_cursor:
        foot.append(f"next_cursor: {reply.next_cursor}")
    lines = [line for entry in reply.entries for line in _module_lines(entry)]
    return Answer(structured, "\n".join([*(lines or ["No source file matches."]), "", *foot]))


def architecture(reply: ArchitectureReply, *, cut_off: bool) -> Answer:
    """Returns all components, or one of them."""
    structured: Json = reply.model_dump(
        mode="json", exclude_none=True, exclude={"component": {"files": {"__all__": {"content"}}}}
    )
    lines = [*_overview_lines(reply.overview)] if reply.overview else []
    lines += [*_component_lines(reply.component)] if reply.component else []
    foot = [receipt_line(reply.receipt)]
    if cut_off:
        action = "Lists are cut to max_tokens: raise it, or ask for one component."
        structured |= {"truncated": True, "next_actions": [action]}
        foot.append(f"next: {action}")
    return Answer(structured, "\n".join([*lines, "", *foot]))


def _module_lines(entry: ModuleEntry) -> Iterator[str]:
    summary = f" {entry.summary}" if entry.summary else ""
    size = f"{entry.lines} lines"
    if entry.used_by:
        size += f", used by {entry.used_by} files"
    if entry.commits_90_days is not None:
        size += f", {entry.commits_90_days} commits in 90 days"
    yield f"{entry.relative_score:.3f} {entry.tier.value} {entry.file_path} ({size}){summary}"
    if entry.top_symbols:
        yield f"      {', '.join(entry.top_symbols)}"


def _overview_lines(shown: Overview) -> Iterator[str]:
    totals = shown.totals
    yield f"{totals['files_in_components']} of {totals['files']} files are in {totals['components']} components:"
    for component in shown.components:
        yield from _summary_lines(component)
    yield from _section("dependencies", totals["dependencies"], map(_dependency_line, shown.dependencies))
    yield from _section("entry points", totals["entry_points"], map(_entry_line, shown.entry_points))
    yield from _section(
        "cycles of components", totals["component_cycles"], map(_cycle_line, shown.component_cycles)
    )
    yield from _section("cycles of files", totals["file_cycles"], map(_cycle_line, shown.file_cycles))
    yield from _divergence_lines(shown.divergence)
    parts = (f"{part.folder} ({part.manifest}): {part.files} files" for part in shown.partitions)
    yield from _section("packages", totals["partitions"], parts)


def _component_lines(shown: ComponentDetail) -> Iterator[str]:
    totals = shown.totals
    yield from _summary_lines(shown.summary)
    files = (line for entry in shown.files for line in _module_lines(entry))
    yield from _section("files", totals["files"], files)
    used = (
        f"{use.references} references to {use.symbol or 'the file'} {use.file_path}:{use.line}"
        for use in shown.interface
    )
    yield from _section("used by other components", totals["interface"], used)
    yield from _section("uses", totals["uses"], map(_dependency_line, shown.uses))
    yield from _section("used by", totals["used_by"], map(_dependency_line, shown.used_by))
    modules = (f"{module}: {files} files" for module, files in shown.external_modules.items())
    yield from _section("imports from outside the repository", totals["external_modules"], modules)
    yield from _section("entry points", totals["entry_points"], map(_entry_line, shown.entry_points))
    yield from _section("cycles through it", totals["cycles"], map(_cycle_line, shown.cycles))


def _section(title: str, total: int, lines: Iterable[str]) -> Iterator[str]:
    if total:
        yield f"{title} ({total}):"
        yield from (f"  {line}" for line in lines)


def _summary_lines(component: ComponentSummary) -> Iterator[str]:
    yield (
        f"#{component.id} {component.name}: {component.files} files, {component.lines} lines, "
        f"{component.rank:.0%} of all rank"
    )
    yield f"      {', '.join(component.main_files)}"
    if component.main_symbols:
        yield f"      {', '.join(component.main_symbols)}"
    if component.description:
        yield f"      {component.description}"


def _dependency_line(one: ComponentDependency) -> str:
    source, target = one.example
    return f"{one.source} -> {one.target}: {one.references} references, {one.candidates} candidates (?), as {source} -> {target}"


def _entry_line(entry: EntryPoint) -> str:
    return f"{entry.kind.value} {entry.file_path}:{entry.line} {entry.symbol}".rstrip()


def _cycle_line(cycle: Cycle) -> str:
    return f"{cycle.members} members: {' -> '.join(cycle.path)}"


def _divergence_lines(shown: Divergence) -> Iterator[str]:
    yield f"folders match components: {shown.agreement:.2f} of 1 (normalized mutual information)"
    yield from _section("folders spread over components", len(shown.folders), _spread_lines(shown.folders))
    yield from _section(
        "components spread over folders", len(shown.components), _spread_lines(shown.components)
    )
    outliers = (
        f"{one.file_path} belongs to {one.component}, most of its folder to {one.folder_component}"
        for one in shown.outliers
    )
    yield from _section("files outside the component of their folder", len(shown.outliers), outliers)


def _spread_lines(spreads: Sequence[Spread]) -> Iterator[str]:
    for spread in spreads:
        over = ", ".join(f"{name} {count}" for name, count in spread.over.items())
        yield f"{spread.name}, {spread.files} files: {over}"
