"""Whole stacks for system tests: one that the run shares, and one that tests may break."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from running_stack import RunningStack
from source_repos import FILES, GitRepo

# Tests clone from a local server and count imports, so polling is off.
CLONES_FROM_HERE = {
    "PRISM_CLONE_ALLOW_PRIVATE": "true",
    "PRISM_CLONE_SCHEMES": "https,http",
    "PRISM_POLL_INTERVAL_S": "0",
}


# The stacks that run for the whole of this folder.
STANDING: list[RunningStack] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_system_test(item):
            item.add_marker(pytest.mark.system)


def is_system_test(item: pytest.Item) -> bool:
    return Path(__file__).parent in item.path.parents


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Stops the stacks after the last test of this folder: at rest, each uses an eighth of a core."""
    if nextitem is None or not is_system_test(nextitem):
        while STANDING:
            STANDING.pop().down()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Adds the last log lines of its stack to the report of a failed test."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.failed:
        stacks = [
            value for value in getattr(item, "funcargs", {}).values() if isinstance(value, RunningStack)
        ]
        report.sections += [("logs of the stack", stack.logs()) for stack in stacks]


@pytest.fixture(scope="session")
def shared_stack(tmp_path_factory: pytest.TempPathFactory) -> RunningStack:
    """A stack for many tests: each uses its own repositories, and none harms the stack."""
    settings = {**CLONES_FROM_HERE, "PRISM_TASKS_COMPLETED_BY_MERGE": "true"}
    return standing(RunningStack(tmp_path_factory.mktemp("shared") / "data", **settings))


@pytest.fixture(scope="module")
def breakable_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """A stack that tests may harm if it recovers. It has the default settings, with a faster watchdog."""
    watchdog = {"PRISM_PROBE_EVERY_S": "1", "PRISM_SILENT_S_MAX": "search=5"}
    stack = RunningStack(tmp_path_factory.mktemp("breakable") / "data", **watchdog)
    stack.up()
    yield stack
    stack.down()


def standing(stack: RunningStack) -> RunningStack:
    """Starts a stack, which stops after the last test of this folder."""
    STANDING.append(stack)
    stack.up()
    return stack


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[..., GitRepo]:
    """Makes git repositories, with the files of `source_repos` by default."""

    def make(name: str = "repo", files: dict[str, str | bytes] | None = None) -> GitRepo:
        return GitRepo(tmp_path / name, FILES if files is None else files)

    return make


@pytest.fixture(scope="session")
def ledger_repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """The read-only repository that most questions are about."""
    return GitRepo(tmp_path_factory.mktemp("ledger") / "ledger", FILES)


@pytest.fixture(scope="session")
def ledger(shared_stack: RunningStack, ledger_repo: GitRepo) -> dict[str, Any]:
    """The job that indexed `ledger_repo` as `acme/ledger`."""
    return shared_stack.index(ledger_repo.folder, "--name", "acme/ledger")
