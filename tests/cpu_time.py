"""The CPU time of a piece of work, as it would be on an idle machine."""

import gc
import re
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

TRIES = 5
# Work whose time is known: some two million steps of the engine of regular expressions.
KNOWN, KNOWN_TEXT = re.compile("a*b"), "a" * 2_000
KNOWN_S = 0.0065


def idle_cpu_s(work: Callable[[], object], enough_s: float) -> float:
    """Returns the CPU seconds of this thread, the least of some tries until one takes less than `enough_s`.

    A busy machine shares its caches and cores, so the same instructions take longer there: a time that is too long
    is scaled by that of known work, measured in the same moments.
    """
    least = float("inf")
    for _ in range(TRIES):
        spent = _seconds_of(work)
        if spent >= enough_s:
            spent *= min(1.0, KNOWN_S / _seconds_of(_known))
        least = min(least, spent)
        if least < enough_s:
            break
    return least


def within_cpu_s(
    limit_s: float, work: Callable[Given, Answer], *args: Given.args, **kwargs: Given.kwargs
) -> Answer:
    """Returns what the work returns; fails if it takes more CPU time than `limit_s` on an idle machine."""
    answers: list[Answer] = []
    seconds = idle_cpu_s(lambda: answers.append(work(*args, **kwargs)), limit_s)
    assert seconds < limit_s, f"{seconds:.2f} s of CPU time, where {limit_s:g} s are allowed"
    return answers[-1]


def _seconds_of(work: Callable[[], object]) -> float:
    collects = gc.isenabled()
    gc.disable()  # a collection visits every object that other tests left
    try:
        started = time.thread_time()
        work()
        return time.thread_time() - started
    finally:
        if collects:
            gc.enable()


def _known() -> object:
    return KNOWN.search(KNOWN_TEXT)
