"""Figures measured by attacks, printed as a table at the end of a run."""

import statistics
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, Self

PAUSE_S = 0.05


class Row(NamedTuple):
    """The attack, the measured value, and the bound that the test asserts."""

    attack: str
    seen: str
    bound: str


class Figures:
    """The rows of one run."""

    def __init__(self) -> None:
        self._rows: list[Row] = []

    def add(self, attack: str, seen: str, bound: str) -> None:
        """Adds a row."""
        self._rows.append(Row(attack, seen, bound))

    def lines(self) -> list[str]:
        """Returns a Markdown table; empty without measurements."""
        if not self._rows:
            return []
        return [
            "",
            "| attack | seen | bound |",
            "|---|---|---|",
            *(f"| {' | '.join(row)} |" for row in self._rows),
        ]


class Meanwhile:
    """Calls a function repeatedly from a thread, as a bystander, and times it."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.seconds: list[float] = []
        self.failures: list[str] = []
        self._call = call
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def p95_ms(self) -> float:
        """Returns the milliseconds within which 95 of 100 calls were answered."""
        return 1000 * statistics.quantiles(self.seconds, n=20)[-1] if len(self.seconds) > 1 else float("inf")

    def _run(self) -> None:
        while not self._done.wait(PAUSE_S):
            started = time.perf_counter()
            try:
                self._call()
            except Exception as error:  # noqa: BLE001 - every failure of a bystander counts
                self.failures.append(f"{type(error).__name__}: {error}")
            self.seconds.append(time.perf_counter() - started)
