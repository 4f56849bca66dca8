"""What a hostile tenant has and knows, beside another one on the same stack."""

import os
from typing import NamedTuple

import psutil
from running_stack import SERVICES, RunningStack

# Generated calls, half of them of tools.
CALLS = int(os.environ.get("FUZZ_CALLS", "3000"))
# A word that only the other tenant's files, symbols and branches have. The caller never sends it.
FOREIGN = "zorilla"
VICTIM, OWN = "acme/ledger", "mallory/notes"
FILES = {
    f"src/{FOREIGN}/accounts.py": f"""class {FOREIGN.title()}Account:
    def withdraw(self, cents):
        return {FOREIGN}_limit(cents)


def {FOREIGN}_limit(cents):
    return min(cents, 50)
""".encode(),
    "README.md": f"# Ledger\n\nKeeps the accounts of {FOREIGN}.\n".encode(),
}
OWN_FILES = {
    "src/accounts.py": b"class Account:\n    def withdraw(self, cents):\n        return limit(cents)\n\n\ndef limit(cents):\n    return cents\n",
    "README.md": b"# Notes\n\nHow to withdraw.\n",
}
# A process that keeps something of every call grows by more.
GROWTH_BYTES_MAX = 192 * 1024 * 1024


class Field(NamedTuple):
    """The stack as the hostile tenant sees it, and the ids of the other tenant that it knows."""

    stack: RunningStack
    known: tuple[str, ...]


def answers(stack: RunningStack) -> list[object]:
    """Returns what the tenant sees of its own index."""
    with stack.http() as http:
        found = http.post("/api/v1/grep", json={"pattern": FOREIGN, "repo": VICTIM}).json()
        repos = http.get("/api/v1/repos").json()["repositories"]
    assert found["matches"], found
    return [[(one["file_path"], one["line"]) for one in found["matches"]], [one["name"] for one in repos]]


def resident(stack: RunningStack) -> dict[str, int]:
    """Returns the resident bytes by service."""
    return {name: psutil.Process(stack.pid(name)).memory_info().rss for name in SERVICES}
