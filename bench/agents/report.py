"""The table: score, calls and tokens by arm and by kind of question, with intervals of the ratios."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

from bench.agents.ask import Call
from bench.agents.questions import Question

CHARS_PER_TOKEN = 4
ROUNDS = 2_000
SEED = 16
# Calls that read the list of tools are counted apart: a client pays for the list once.
LISTS = frozenset({"tools", "help"})


class Cost(NamedTuple):
    """What the answer to one question cost."""

    score: float
    calls: int
    tokens: float


def costs(
    questions: Sequence[Question], scored: Mapping[str, float], log: Iterable[Call], arm: str
) -> dict[str, Cost]:
    """Returns the costs of an arm by question."""
    calls: dict[str, list[Call]] = defaultdict(list)
    for call in log:
        if call.arm == arm and call.verb not in LISTS:
            calls[call.question].append(call)
    return {
        one.id: Cost(
            scored.get(one.id, 0.0),
            len(calls[one.id]),
            sum(call.chars for call in calls[one.id]) / CHARS_PER_TOKEN,
        )
        for one in questions
    }


def table(questions: Sequence[Question], arms: Mapping[str, Mapping[str, Cost]], base: str = "rg") -> str:
    """Returns the page as Markdown: a row per arm, ratios to `base`, then a row per kind."""
    return "\n".join([*_arms(arms), "", *_ratios(arms, base), "", *_kinds(questions, arms)])


def _arms(arms: Mapping[str, Mapping[str, Cost]]) -> Iterator[str]:
    yield "| arm | questions | score | calls | tokens, mean | median | answered in one call |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for arm, found in arms.items():
        every = list(found.values())
        once = sum(one.calls == 1 for one in every)
        yield (
            f"| {arm} | {len(every)} | {fmean(one.score for one in every):.3f} | "
            f"{fmean(one.calls for one in every):.2f} | {fmean(one.tokens for one in every):,.0f} | "
            f"{median(one.tokens for one in every):,.0f} | {once} |"
        )


def _ratios(arms: Mapping[str, Mapping[str, Cost]], base: str) -> Iterator[str]:
    if base not in arms:
        return
    yield f"| beside {base} | calls | 95 % | tokens, mean | 95 % | tokens, median |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for arm, found in arms.items():
        if arm == base:
            continue
        pairs = [(found[id_], arms[base][id_]) for id_ in found if id_ in arms[base]]
        calls = _interval(pairs, lambda one: one.calls)
        tokens = _interval(pairs, lambda one: one.tokens)
        middle = median(one.tokens for one, _ in pairs) / max(median(other.tokens for _, other in pairs), 1)
        yield (
            f"| {arm} | {calls[0]:.2f} | {calls[1]:.2f} to {calls[2]:.2f} | "
            f"{tokens[0]:.2f} | {tokens[1]:.2f} to {tokens[2]:.2f} | {middle:.2f} |"
        )


def _interval(pairs: Sequence[tuple[Cost, Cost]], of: Callable[[Cost], float]) -> tuple[float, float, float]:
    """Returns the ratio of sums, and its 95 % interval over resampled questions."""
    chance = random.Random(SEED)
    rounds = sorted(_ratio(chance.choices(pairs, k=len(pairs)), of) for _ in range(ROUNDS))
    return _ratio(pairs, of), rounds[round(0.025 * ROUNDS)], rounds[round(0.975 * ROUNDS) - 1]


def _ratio(pairs: Sequence[tuple[Cost, Cost]], of: Callable[[Cost], float]) -> float:
    return sum(of(one) for one, _ in pairs) / max(sum(of(other) for _, other in pairs), 1e-9)


def _kinds(questions: Sequence[Question], arms: Mapping[str, Mapping[str, Cost]]) -> Iterator[str]:
    yield f"| calls / tokens by kind | questions | {' | '.join(arms)} |"
    yield f"| --- | ---: |{' --- |' * len(arms)}"
    by_kind: dict[str, list[str]] = defaultdict(list)
    for one in questions:
        by_kind[one.kind].append(one.id)
    for kind, ids in by_kind.items():
        cells = (
            f"{fmean(found[id_].calls for id_ in ids):.1f} / {fmean(found[id_].tokens for id_ in ids):,.0f}"
            for found in arms.values()
        )
        yield f"| {kind} | {len(ids)} | {' | '.join(cells)} |"
