"""A whole stack with hostile contents, and pages of Chromium that are signed in to its console."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from watchdog import Watchdog

if find_spec("playwright"):
    from browser_town import BRANCH, REPO, HostileTown, made_town
    from playwright.sync_api import Browser, Page, expect, sync_playwright

    from bench.pictures.browsing import (
        ANSWER_MS_MAX,
        INSTALL_CHROMIUM,
        BrowserMessages,
        ConsoleStack,
        chromium,
        launched,
        wait_for_graph,
    )

    MISSING = "" if chromium() else INSTALL_CHROMIUM
    expect.set_options(timeout=ANSWER_MS_MAX)
else:
    MISSING = "make test-console"
if TYPE_CHECKING:
    from typing import Any

    from playwright.sync_api import StorageState

collect_ignore_glob = ["test_*.py"] if MISSING else []

WATCHDOG = pytest.StashKey[Watchdog]()
DESKTOP, PHONE = (1280, 800), (360, 740)
FILES = 150


def pytest_terminal_summary(terminalreporter: "Any") -> None:
    if MISSING:
        terminalreporter.write_line(f"NOT RUN: tests of the console in Chromium ({MISSING})", yellow=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if MISSING and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> "Iterator[None]":
    with Watchdog().watching() as watchdog:
        item.stash[WATCHDOG] = watchdog
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> "Any":
    report = yield
    watchdog = item.stash[WATCHDOG]
    if watchdog.has_bitten:
        report.sections.append(("Watchdog", watchdog.reason))
    return report


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[HostileTown]":
    """A running stack whose files, branches, commits, documents, tasks and tokens have hostile names."""
    with ConsoleStack(tmp_path_factory.mktemp("stack")).running() as stack:
        yield made_town(stack, tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="session")
def browser(town: "HostileTown") -> "Iterator[Browser]":
    """Chromium, once the graph of the repository is built."""
    with sync_playwright() as playwright:
        made = launched(playwright)
        page = made.new_page()
        page.goto(town.stack.link())
        base = f"{town.stack.base}/r/{REPO}/-"
        wait_for_graph(page, (f"{base}/map/HEAD", f"{base}/branch/{BRANCH.replace('/', '~')}"))
        page.close()
        yield made
        made.close()


@pytest.fixture(scope="session")
def cookies(browser: "Browser", town: "HostileTown") -> "StorageState":
    """A session that all tests share: a link for each costs a process."""
    page = browser.new_page()
    page.goto(town.stack.link())
    kept = page.context.storage_state()
    page.close()
    return kept


@pytest.fixture
def signed_in(browser: "Browser", town: "HostileTown", cookies: "StorageState") -> "Iterator[OpenPage]":
    """A page that is signed in, with what the browser says."""
    context = browser.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]}, storage_state=cookies)
    page = context.new_page()
    yield OpenPage(page, BrowserMessages(page), town)
    context.close()


class OpenPage:
    """A page of the console in the browser."""

    def __init__(self, page: "Page", messages: "BrowserMessages", town: "HostileTown") -> None:
        self.page = page
        self.messages = messages
        self.town = town
        self.base = town.stack.base

    def goto(self, path: str, size: tuple[int, int] = DESKTOP) -> None:
        """Open a page in a size."""
        self.messages.place = path
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        self.page.goto(self.base + path)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with enough files that their import is seen as it goes on."""
    for number in range(FILES):
        lines = (f"def part_{number}_{line}(value):\n    return value + {line}\n\n\n" for line in range(30))
        (tmp_path / f"part_{number}.py").write_text("".join(lines))
    return tmp_path
