"""The results as a table for people and as JSON for programs. Reports figures; asserts nothing."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.measure_graph import GraphFigures, ToolFigures
from bench.measure_index import Edits, FirstIndex, NoOp, StackMemory
from bench.measure_lanes import Lanes
from bench.measure_layers import Layers
from bench.measure_peers import Ripgrep, Semble
from bench.measure_push import Pushes
from bench.measure_search import Alone, Crowd, Parts
from bench.spread import Spread

MIB = 1024 * 1024
MACHINE_COLUMNS = 160


@dataclass(frozen=True)
class Questions:
    """What was asked of a corpus of some 100,000 chunks, for which the targets hold."""

    index: FirstIndex
    alone: Alone
    crowd: Crowd
    parts: Parts


@dataclass(frozen=True)
class Peers:
    """Other tools on the same corpus; None if not installed."""

    ripgrep: Ripgrep | None
    semble: Semble | None


@dataclass(frozen=True)
class Results:
    """All figures of one run."""

    machine: dict[str, Any]
    load_before: list[float]
    load_after: list[float]
    yardstick_ms: list[float]  # before, between and after
    corpus: dict[str, Any]
    restarts: int
    index: FirstIndex
    memory: StackMemory
    graph: GraphFigures
    no_op: NoOp
    edits: Edits
    pushes: Pushes
    layers: Layers
    lanes: Lanes
    asked: Questions
    peers: Peers


@dataclass(frozen=True)
class Row:
    """A line of the table. `met` is None without a target."""

    name: str
    value: str
    target: str = ""
    met: bool | None = None


def write_json(results: Results, path: Path) -> None:
    """Write the results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_plain(results), indent=1, default=str) + "\n")


def show(results: Results) -> None:
    """Print the tables."""
    console = Console(width=None if Console().is_terminal else MACHINE_COLUMNS)
    console.print(_facts(results), soft_wrap=True)
    console.print(table(rows(results)))
    console.print(_cpu_table(results.index))
    console.print(_parts_table(results.asked.parts))
    for text in results.asked.crowd.error_texts:
        console.print(Text(f"error: {text}"), soft_wrap=True)
    if results.peers.ripgrep is None:
        console.print(
            "Missing: the line that compares grep_code with ripgrep. Run `make bench`, which installs `rg`."
        )
    if results.peers.semble is None:
        console.print("Missing: the lines that compare with semble. Run `make bench`, which installs it.")


def rows(results: Results) -> list[Row]:
    """Returns the measured figures beside their targets."""
    return [
        *_index_rows(results.index),
        *_memory_rows(results.index, results.memory),
        *_graph_rows(results.graph),
        *_again_rows(results.no_op, results.edits),
        *_push_rows(results.pushes),
        *layer_rows(results.layers),
        *lane_rows(results.lanes),
        *_search_rows(results.asked),
        *_ripgrep_rows(results.peers.ripgrep, results.asked.alone),
        *_semble_rows(results.peers.semble, results.asked),
    ]


def _index_rows(index: FirstIndex) -> list[Row]:
    rate = f"{index.files / index.wall_s:.0f} files/s, {index.chunks / index.wall_s:.0f} chunks/s"
    return [
        Row(
            f"first index of {index.files:,} files, {index.chunks:,} chunks",
            f"{index.wall_s:.1f} s",
            "60 s",
            index.wall_s <= 60,
        ),
        Row("  rate", rate),
        Row(
            "  CPU of the stack",
            f"{index.stack_cpu_s:.1f} s, {1000 * index.stack_cpu_s / max(1, index.files):.1f} ms a file",
        ),
    ]


def _memory_rows(index: FirstIndex, memory: StackMemory) -> list[Row]:
    return [
        Row("peak memory of the stack until the graph is built, PSS", _mib(memory.peak.pss), "2 GB", memory.peak.pss <= 2e9),
        Row("  while files go in, PSS (RSS)", f"{_mib(index.peak.pss)} ({_mib(index.peak.rss)})"),
        Row("  atlas, PSS", _mib(memory.atlas_peak_bytes), "1 GB", memory.atlas_peak_bytes <= 1e9),
        Row("at rest before, PSS (RSS)", _both(index.rest_before), "700 MB", index.rest_before.pss <= 700e6),
        Row("  a minute after the index: the graph is being built", _both(index.rest_after)),
        Row("  some minutes after the last work", _both(memory.rest), "700 MB", memory.rest.pss <= 700e6),
    ]  # fmt: skip


def _graph_rows(graph: GraphFigures) -> list[Row]:
    return [
        Row("graph, from the end of the index", f"{graph.built_s:.1f} s", "60 s", graph.built_s <= 60),
        Row("  one changed file, from the end of its index", _p95(graph.edit), "p95 2 s", graph.edit.p95 <= 2_000),
        *(
            Row(f"{tool} over MCP, 1 client", _graph_tool(figures), "p50 20, p95 60 ms", figures.times.p50 <= 20 and figures.times.p95 <= 60)
            for tool, figures in graph.tools.items()
        ),
    ]  # fmt: skip


def _graph_tool(figures: ToolFigures) -> str:
    ambiguous = f", {figures.ambiguous} ambiguous" if figures.ambiguous else ""
    return _p99(figures.times) + ambiguous


def _again_rows(no_op: NoOp, edits: Edits) -> list[Row]:
    return [
        Row(f"no-op reindex of {no_op.unchanged:,} files", f"{no_op.wall_s:.2f} s (CPU of the stack {no_op.stack_cpu_s:.2f} s)", "5 s", no_op.wall_s <= 5),
        Row("one file saved to found (the whole folder is looked at)", _p95(edits.saved_to_hit)),
        Row("  from the POST to found", _p95(edits.post_to_hit)),
        Row("  from saved to the job's end", _p95(edits.saved_to_done)),
    ]  # fmt: skip


def _push_rows(pushes: Pushes) -> list[Row]:
    cpu, no_op_cpu = (
        f", CPU of the stack {pushes.stack_cpu_s:.2f} s",
        f", CPU of the stack {pushes.no_op_stack_cpu_s:.2f} s",
    )
    return [
        Row(f"push of {pushes.files} files, webhook to searchable", _p95(pushes.searchable) + cpu, "p95 5 s", pushes.searchable.p95 <= 5_000),
        Row("push without changes, webhook to served", _p95(pushes.no_op) + no_op_cpu, "1 s", pushes.no_op.p95 <= 1_000),
    ]  # fmt: skip


def layer_rows(layers: Layers) -> list[Row]:
    """Returns the cost of overlays and branches."""
    saved, branch, many = layers.saved, layers.branch, layers.many
    ratio = many.layer.p95 / max(many.base_alone.p95, 0.01)
    return [
        Row("file saved to found, `prism watch`", _p95(saved), "p95 1 s", saved.p95 <= 1_000),
        Row(f"branch with {branch.files} files changed, webhook to searchable", _p95(branch.searchable), "p95 5 s", branch.searchable.p95 <= 5_000),
        Row("  points that it adds", f"{branch.points_added:.2f} %", "1.1 %", branch.points_added <= 1.1),
        Row(f"{many.layers} branches over {many.base_files:,} files, all points : those of the base", f"{many.points_ratio:.3f}", "1.5", many.points_ratio <= 1.5),
        Row("  from the first webhook until all are served", f"{many.pushed_to_served_s:.1f} s"),
        Row("  search_code over MCP, the base alone before", _p95(many.base_alone)),
        Row("  the base beside them", _p95(many.base)),
        Row("  at one of them", f"{_p95(many.layer)}, ratio to the p95 of the base alone {ratio:.2f}", "1.5", ratio <= 1.5),
    ]  # fmt: skip


def lane_rows(lanes: Lanes) -> list[Row]:
    """Live before bulk."""
    beside = lanes.beside_import
    return [
        Row("one file edited to found", _p95(lanes.alone)),
        Row(f"  while another tenant imports {lanes.files_imported:,} files", _p95(beside), "p95 2 s", beside.p95 <= 2_000),
    ]  # fmt: skip


def _search_rows(asked: Questions) -> list[Row]:
    alone, crowd = asked.alone, asked.crowd
    search = alone.search
    return [
        Row(f"{asked.index.files:,} files, {asked.index.chunks:,} chunks, indexed in {asked.index.wall_s:.1f} s", ""),
        Row("search_code over MCP, 1 client", _p99(search), "p50 15, p95 40 ms", search.p50 <= 15 and search.p95 <= 40),
        Row(f"search_code over MCP, {crowd.clients} clients", f"{_p95(crowd.search)}, {crowd.errors} errors, {crowd.questions_per_s:.0f}/s", "p95 200 ms, 0 errors", crowd.search.p95 <= 200 and not crowd.errors),
        Row("  CPU of one question", _cpu_of_question(alone)),
        Row("search_code over MCP, asked before", _p99(alone.again), "p95 5 ms", alone.again.p95 <= 5),
        Row("grep_code over MCP, 1 client", _p99(alone.grep), "p95 100 ms", alone.grep.p95 <= 100),
        Row("read_file over MCP, 1 client", _p99(alone.read)),
        Row("questions without an answer", str(alone.empty_answers)),
    ]  # fmt: skip


def _cpu_of_question(alone: Alone) -> str:
    parts = {name: value for name, value in alone.search_cpu_ms.items() if value >= 0.1}
    by_cost = sorted(parts.items(), key=lambda item: -item[1])
    stack = sum(value for name, value in parts.items() if name != "client")
    return f"{stack:.1f} ms: " + ", ".join(f"{name} {value:.1f}" for name, value in by_cost)


def _ripgrep_rows(grep: Ripgrep | None, alone: Alone) -> list[Row]:
    if grep is None:
        return []
    ratio = alone.grep.p50 / grep.literal.p50
    return [Row(f"{grep.version}, the same literals", f"{_p95(grep.literal)}; grep_code / rg {ratio:.2f}")]


def _semble_rows(semble: Semble | None, asked: Questions) -> list[Row]:
    """By the whole folder: its chunks are smaller ones, and prose and data are no files to it."""
    if semble is None:
        return []
    index, alone = asked.index, asked.alone
    cpu, search = index.stack_cpu_s / semble.index_cpu_s, alone.search.p50 / semble.search.p50
    return [
        Row(f"semble {semble.version} without its model, one process: {semble.files:,} files, {semble.chunks:,} chunks", ""),
        Row("  index", f"{semble.index_s:.1f} s, CPU {semble.index_cpu_s:.1f} s; Prism / semble: wall {index.wall_s / semble.index_s:.1f}, CPU {cpu:.1f}"),
        Row("  the same questions, by function call", f"{_p95(semble.search)}; search_code over MCP / semble {search:.1f}"),
        Row("  memory, RSS", _mib(semble.rss)),
    ]  # fmt: skip


def _facts(results: Results) -> Text:
    machine, corpus = results.machine, results.corpus
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in corpus["kinds"].items())
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_bytes'] / 2**30:.0f} GiB, Python {machine['python']}, commit {machine['commit']}",
        f"corpus: {corpus['files']:,} files, {corpus['bytes'] / MIB:.0f} MiB: {kinds}",
        f"load average before {results.load_before}, after {results.load_after}",
        f"CPU ms of a fixed piece of work before, in between and after: {results.yardstick_ms}",
    ]
    if max(results.load_before) > machine["cores"] / 2:
        lines.append("The machine was busy before: wall times are an upper bound, CPU seconds hold.")
    if results.restarts:
        lines.append(f"Services died {results.restarts} times during the run.")
    return Text("\n".join(lines))


def table(found: list[Row]) -> Table:
    """Print rows."""
    made = Table(box=None, padding=(0, 2, 0, 0), title_justify="left")
    for column in ("figure", "measured", "target", ""):
        made.add_column(column, header_style="dim")
    for row in found:
        made.add_row(row.name, row.value, row.target, _mark(row.met))
    return made


def _cpu_table(index: FirstIndex) -> Table:
    title = "First index: CPU, and memory at the peak (PSS)"
    table = Table(title=title, box=None, padding=(0, 2, 0, 0), title_justify="left")
    for column in ("process", "CPU s", "ms a file", "memory"):
        table.add_column(column, header_style="dim", justify="left" if column == "process" else "right")
    for name, seconds in sorted(index.cpu_s.items(), key=lambda item: -item[1]):
        memory = index.peak.by_service.get(name)
        per_file = f"{1000 * seconds / max(1, index.files):.2f}"
        table.add_row(name, f"{seconds:.1f}", per_file, "" if memory is None else _mib(memory))
    return table


def _parts_table(parts: Parts) -> Table:
    table = Table(
        title="One question over REST, medians", box=None, padding=(0, 2, 0, 0), title_justify="left"
    )
    table.add_column("part", header_style="dim")
    table.add_column("ms", header_style="dim", justify="right")
    table.add_row("the whole answer", f"{parts.rest.p50:.2f}")
    table.add_row("  HTTP, gateway, bus", f"{parts.around:.2f}")
    for name, value in parts.service.items():
        table.add_row(f"  search service: {name}", f"{value:.2f}")
    return table


def _mark(met: bool | None) -> Text:
    return Text("") if met is None else Text("met", style="green") if met else Text("missed", style="red")


def _mib(size: int) -> str:
    return f"{size / MIB:.0f} MiB"


def _both(memory: Any) -> str:
    return f"{_mib(memory.pss)} ({_mib(memory.rss)})"


def _p95(times: Spread) -> str:
    return f"p50 {times.p50:.1f}, p95 {times.p95:.1f} ms (n={times.asked})"


def _p99(times: Spread) -> str:
    return f"p50 {times.p50:.1f}, p95 {times.p95:.1f}, p99 {times.p99:.1f} ms (n={times.asked})"


def _plain(value: Any) -> Any:
    """Returns named tuples and dataclasses as objects."""
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
