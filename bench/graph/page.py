"""The text of docs/graph.md, and the list of differences, for the search for their causes."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bench.graph.compare import Comparison, Judged, Sought, Verdict
from bench.graph.habits import Habit, habit
from bench.graph.truth import Truth
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy

PRECISION_MIN = 0.95
RECALL_MIN = 0.80

HEAD = """# Accuracy of references

Written by `make graph-accuracy` ([bench/graph](../bench/graph)). Each repository is indexed as a whole on a
stack of its own, and `find_references` is asked over MCP, to the last page, for every function, method and
type in it. What a resolver of the language reports for the same files is the ground truth: jedi for Python,
the TypeScript compiler for TypeScript and JavaScript, go/types for Go, libclang for C and C++, javac for
Java. Dependencies of a repository are not installed, so their definitions count as outside.

An edge is a line that uses a symbol. Definitions of one qualified name in a file are one symbol. A resolved
edge is **right** if the truth has it, **wrong** if in the truth the line means something else, in the
repository or outside, and **unjudged** if the truth does not know; precision is right / (right + wrong).
Recall is over all edges of the truth to functions, methods and types, including definitions for which Prism
has no symbol. A **false zero** is a used symbol for which Prism returned no edge and no unexplained line.
"""


TRUTH = f"""The truth comes from {{resolvers}}. For a repository with more than {{uses_max}} uses of its functions' and
types' names, files are drawn at random (seed {{seed}}) until they have as many; edges from other files are
left out. The targets are a precision of {PRECISION_MIN:.2f} of resolved edges, a recall of {RECALL_MIN:.2f}
with them alone, and no false zero.
"""

BY_STRATEGY = """## By strategy

Over all returned edges. A candidate is marked as one; its precision shows how reliable such a name is.
"""

BY_KIND = """## By kind of edge

Precision by the kind that Prism reports, recall by the kind in the truth.
"""

BY_HABIT = """## By habit

How code uses a name, by the text of its line. *Right* are true edges that are resolved, *candidates* those that are
shown as possible, *missed* those without an edge, *wrong* resolved edges from lines that mean something else.
"""

_PRECISION = "resolved, wrong, unjudged, precision"
_RECALL = "edges there are, recall of resolved, with candidates"
REPOSITORY_COLUMNS = f"language, repository, revision, files, symbols, {_PRECISION}, {_RECALL}, false zeros"
STRATEGY_COLUMNS = "language, strategy, edges, right, wrong, unjudged, precision"
KIND_COLUMNS = f"language, kind, {_PRECISION}, {_RECALL}"
HABIT_COLUMNS = "habit, language, right, candidates, missed, wrong, recall of resolved"
WORDS = frozenset({"language", "repository", "revision", "strategy", "kind", "habit"})


class Measured(NamedTuple):
    """A compared repository."""

    title: str  # of its languages
    name: str
    revision: str
    files: int  # of its languages
    asked: int
    truth: Truth
    comparison: Comparison
    lines: Mapping[str, Sequence[str]]  # texts of the truth's files, by path


def page(measured: Sequence[Measured], uses_max: int, seed: int) -> str:
    """Returns the page."""
    by_title: dict[str, list[Measured]] = {}
    for one in measured:
        by_title.setdefault(one.title, []).append(one)
    zeros = sum(len(one.comparison.false_zeros) for one in measured)
    resolvers = ", ".join(sorted({one.truth.resolver for one in measured}))
    parts = [
        HEAD,
        TRUTH.format(resolvers=resolvers, uses_max=f"{uses_max:,}", seed=seed),
        f"**{sum(one.asked for one in measured):,} symbols, {zeros} false zeros.**\n",
        _table(REPOSITORY_COLUMNS, [row for one in by_title.values() for row in _repositories(one)]),
        BY_STRATEGY,
        _table(STRATEGY_COLUMNS, _by_strategy(by_title)),
        BY_KIND,
        _table(KIND_COLUMNS, _by_kind(by_title)),
        BY_HABIT,
        _table(HABIT_COLUMNS, _by_habit(by_title)),
    ]
    return "\n".join(parts)


def differences(one: Measured) -> Iterator[str]:
    """Returns wrong and missing edges and false zeros, one line each, tab-separated."""
    for judged in one.comparison.judged:
        if judged.verdict is Verdict.WRONG:
            edge, asked = judged.edge, judged.asked
            means = " ".join(_places(use.means) or "outside" for use in judged.uses)
            place = f"{edge.path}:{edge.line}"
            found = f"{edge.kind} {edge.strategy}"
            yield "\t".join(
                (one.name, f"wrong {edge.status}", found, f"{asked.path} {asked.name}", place, means)
            )
    for sought in one.comparison.sought:
        if sought.status is not EdgeStatus.RESOLVED:
            use, asked_for = sought.use, sought.asked
            title = "missing" if sought.status is None else "only candidate"
            found = f"{use.kind} {'' if asked_for else 'no symbol'}"
            meant = _places([sought.meaning])
            yield "\t".join((one.name, title, found, f"{meant}", f"{use.path}:{use.line}", use.name))
    for symbol in one.comparison.false_zeros:
        yield "\t".join((one.name, "false zero", "", f"{symbol.path} {symbol.name}", "", ""))


def _places(means: Iterable[tuple[object, ...]]) -> str:
    return " ".join(f"{path}:{line} {name}" for path, line, name, _ in means)


def _repositories(measured: Sequence[Measured]) -> Iterator[tuple[str, ...]]:
    for one in measured:
        facts = (f"`{one.revision}`", f"{len(one.truth.files):,} / {one.files:,}", f"{one.asked:,}")
        yield (one.title, one.name, *facts, *_figures([one]), str(len(one.comparison.false_zeros)))
    if len(measured) > 1:
        files = sum(len(one.truth.files) for one in measured), sum(one.files for one in measured)
        facts = ("", f"{files[0]:,} / {files[1]:,}", f"{sum(one.asked for one in measured):,}")
        zeros = str(sum(len(one.comparison.false_zeros) for one in measured))
        yield (measured[0].title, "*all*", *facts, *_figures(measured), zeros)


def _figures(measured: Sequence[Measured]) -> tuple[str, ...]:
    judged = [edge for one in measured for edge in one.comparison.judged]
    sought = [edge for one in measured for edge in one.comparison.sought]
    return (*_precision(filter(_is_resolved, judged)), *_recall(sought))


def _precision(judged: Iterable[Judged]) -> tuple[str, ...]:
    counts = Counter(one.verdict for one in judged)
    right, wrong = counts[Verdict.RIGHT], counts[Verdict.WRONG]
    figures = (f"{counts.total():,}", f"{wrong:,}", f"{counts[Verdict.UNJUDGED]:,}")
    return (*figures, _share(right, right + wrong))


def _recall(sought: Sequence[Sought]) -> tuple[str, ...]:
    counts = Counter(one.status for one in sought)
    resolved = counts[EdgeStatus.RESOLVED]
    shown = resolved + counts[EdgeStatus.CANDIDATE]
    return f"{len(sought):,}", _share(resolved, len(sought)), _share(shown, len(sought))


def _by_strategy(by_title: dict[str, list[Measured]]) -> Iterator[tuple[str, ...]]:
    for title, measured in by_title.items():
        for strategy in Strategy:
            own = [
                edge for one in measured for edge in one.comparison.judged if edge.edge.strategy is strategy
            ]
            edges, wrong, unjudged, share = _precision(own)
            right = f"{sum(one.verdict is Verdict.RIGHT for one in own):,}"
            if own:
                yield title, f"`{strategy}`", edges, right, wrong, unjudged, share


def _by_kind(by_title: dict[str, list[Measured]]) -> Iterator[tuple[str, ...]]:
    for title, measured in by_title.items():
        for kind in EdgeKind:
            judged = [edge for one in measured for edge in one.comparison.judged if edge.edge.kind is kind]
            sought = [edge for one in measured for edge in one.comparison.sought if edge.use.kind == kind]
            if judged or sought:
                yield title, kind, *_precision(filter(_is_resolved, judged)), *_recall(sought)


def _by_habit(by_title: dict[str, list[Measured]]) -> Iterator[tuple[str, ...]]:
    counts: dict[tuple[Habit, str], Counter[EdgeStatus | Verdict | None]] = defaultdict(Counter)
    for title, measured in by_title.items():
        for one in measured:
            for sought in one.comparison.sought:
                found = habit(sought.use, sought.meaning.kind, _line(one, sought.use.path, sought.use.line))
                counts[found, title][sought.status] += 1
            for judged in filter(_is_resolved, one.comparison.judged):
                if judged.verdict is Verdict.WRONG and judged.uses:
                    use = judged.uses[0]
                    kind = use.means[0].kind if use.means else ""
                    found = habit(use, kind, _line(one, use.path, use.line))
                    counts[found, title][Verdict.WRONG] += 1
    for form in Habit:
        for title in by_title:
            own = counts[form, title]
            right, candidates, missed = own[EdgeStatus.RESOLVED], own[EdgeStatus.CANDIDATE], own[None]
            figures = (right, candidates, missed, own[Verdict.WRONG])
            if any(figures):
                share = _share(right, right + candidates + missed)
                yield form, title, *(f"{figure:,}" for figure in figures), share


def _line(one: Measured, path: str, line: int) -> str:
    lines = one.lines.get(path, ())
    return lines[line - 1] if line <= len(lines) else ""


def _is_resolved(judged: Judged) -> bool:
    return judged.edge.status is EdgeStatus.RESOLVED


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else ""


def _table(head: str, rows: Iterable[Sequence[str]]) -> str:
    titles = head.split(", ")
    rule = ["---" if title in WORDS else "--:" for title in titles]
    return "".join(f"| {' | '.join(row)} |\n" for row in (titles, rule, *rows))
