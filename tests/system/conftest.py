"""One stack that the whole run shares, and one for tests that break things."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from running_stack import RunningStack
from source_repos import FILES, GitRepo

# Tests clone from a server on this machine, and count the imports: nobody polls it meanwhile.
CLONES_FROM_HERE = {
    "PRISM_CLONE_ALLOW_PRIVATE": "true",
    "PRISM_CLONE_SCHEMES": "https,http",
    "PRISM_POLL_INTERVAL_S": "0",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.system)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failure shows the last lines of the logs of its stack."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.failed:
        stacks = [
            value for value in getattr(item, "funcargs", {}).values() if isinstance(value, RunningStack)
        ]
        report.sections += [("logs of the stack", stack.logs()) for stack in stacks]


@pytest.fixture(scope="session")
def shared_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """A stack that many tests use at once: each with repositories of its own, none harms it."""
    stack = RunningStack(tmp_path_factory.mktemp("shared") / "data", **CLONES_FROM_HERE)
    stack.up()
    yield stack
    stack.down()


@pytest.fixture(scope="session")
def breakable_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """A second one that tests may harm, as long as it recovers. Its settings are those of every user, but for a quicker watchdog."""
    watchdog = {"PRISM_PROBE_EVERY_S": "1", "PRISM_SILENT_S_MAX": "search=5"}
    stack = RunningStack(tmp_path_factory.mktemp("breakable") / "data", **watchdog)
    stack.up()
    yield stack
    stack.down()


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[..., GitRepo]:
    """Makes git repositories; without files it has ours."""

    def make(name: str = "repo", files: dict[str, str | bytes] | None = None) -> GitRepo:
        return GitRepo(tmp_path / name, FILES if files is None else files)

    return make


@pytest.fixture(scope="session")
def ledger_repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """The repository that most questions are about. Nobody changes it."""
    return GitRepo(tmp_path_factory.mktemp("ledger") / "ledger", FILES)


@pytest.fixture(scope="session")
def ledger(shared_stack: RunningStack, ledger_repo: GitRepo) -> dict[str, Any]:
    """The job that indexed it, as `acme/ledger`."""
    return shared_stack.index(ledger_repo.folder, "--name", "acme/ledger")
