"""Attacks on a whole stack, each with an invariant. They take minutes: `make attack` runs them, `make test`
does not.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from figures import Figures
from running_stack import RunningStack
from source_repos import FILES, GitRepo

FIGURES = pytest.StashKey[Figures]()
# The attackers' git servers are local; the default settings would require a public address.
ATTACKABLE = {
    "PRISM_CLONE_ALLOW_PRIVATE": "true",
    "PRISM_CLONE_SCHEMES": "https,http,ssh",
    "PRISM_POLL_INTERVAL_S": "0",
}


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FIGURES] = Figures()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.attack)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the measurements, whether the test passed or not."""
    for line in config.stash[FIGURES].lines():
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def figures(pytestconfig: pytest.Config) -> Figures:
    return pytestconfig.stash[FIGURES]


@pytest.fixture(scope="session")
def victim_repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    return GitRepo(tmp_path_factory.mktemp("victim") / "ledger", FILES)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, victim_repo: GitRepo) -> Iterator[RunningStack]:
    """A stack with one small repository of the default tenant."""
    stack = RunningStack(tmp_path_factory.mktemp("attacked") / "data", **ATTACKABLE)
    stack.up()
    stack.index(victim_repo.folder, "--name", "acme/ledger")
    yield stack
    stack.down()


@pytest.fixture
def own_stack(tmp_path: Path) -> Iterator[Callable[..., RunningStack]]:
    """Makes stacks for tests that break their data folder."""
    with contextlib.ExitStack() as cleaning:

        def make(folder: Path | None = None, **settings: str) -> RunningStack:
            stack = RunningStack((folder or tmp_path) / "data", **{**ATTACKABLE, **settings})
            cleaning.callback(stack.prism, "down")
            return stack

        yield make
