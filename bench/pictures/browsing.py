"""What pictures, tests and measurements of the console share: a stack, a browser, and checks that need one.

It runs in the environment of Playwright, which has no part of Prism: the stack is driven by its command.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Dialog, Page, Playwright

PRISM: Final = str(Path(sys.executable).parents[2] / "bin" / "prism")
INSTALL_CHROMIUM: Final = "apt-get install chromium, or set CHROMIUM"
ANSWER_MS_MAX: Final = 20_000
GRAPH_S_MAX: Final = 120
START_S_MAX: Final = 120
COMMAND_S_MAX: Final = 120
SERIOUS: Final = frozenset({"serious", "critical"})
NODES_SHOWN: Final = 3
AXE: Final = {"resultTypes": ["violations"]}
WIDER: Final = "document.documentElement.scrollWidth > innerWidth"


class CommandFailedError(Exception):
    """A command of Prism ended with an error."""


class ConsoleStack:
    """A stack of its own in a folder, driven by `prism`."""

    def __init__(self, folder: Path) -> None:
        self.environment = os.environ | {"PRISM_DATA_DIR": str(folder), "PRISM_CONFIG": os.devnull}
        self.base = ""

    def prism(self, *arguments: str) -> str:
        """Run a command. Returns what it prints. Raises CommandFailedError, and TimeoutExpired after two minutes."""
        done = subprocess.run(
            [PRISM, *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_S_MAX,
        )
        if done.returncode:
            raise CommandFailedError(f"prism {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    @contextmanager
    def held_import(self, folder: Path, name: str) -> Iterator[None]:
        """Starts an import that ends after the block: its files wait for the embedder, which is suspended.

        Raises CommandFailedError.
        """
        embedder = self.pid("embedder")
        os.kill(embedder, signal.SIGSTOP)
        command = subprocess.Popen(
            [PRISM, "index", str(folder), "--name", name, "--wait"],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield
            os.kill(embedder, signal.SIGCONT)
            if code := command.wait(timeout=COMMAND_S_MAX):
                raise CommandFailedError(f"prism index {folder}: {code}")
        finally:
            with suppress(ProcessLookupError):
                os.kill(embedder, signal.SIGCONT)
            command.kill()
            command.wait()

    @contextmanager
    def running(self) -> Iterator["ConsoleStack"]:
        """Starts the stack, and stops it."""
        self.prism("up", "--port", "0", "--detach")
        try:
            self.base = self.link().rsplit("/", 1)[0]
            yield self
        finally:
            self.prism("down")

    def link(self) -> str:
        """Returns a link that signs in once."""
        return self.prism("open", "--print").split()[-1]

    def pid(self, service: str) -> int:
        """Returns the process of a service."""
        services: list[dict[str, Any]] = json.loads(self.prism("status", "--json"))["services"]
        return int(next(one["pid"] for one in services if one["name"] == service))

    def is_ready(self) -> bool:
        """Whether the gateway answers."""
        try:
            with urllib.request.urlopen(f"{self.base}/readyz", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


class WorkTree:
    """A git repository in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *arguments: str) -> None:
        """Run git. Raises CalledProcessError."""
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(["git", *who, *arguments], cwd=self.folder, check=True, capture_output=True)

    def begin(self, message: str = "Begin") -> None:
        """Make the repository, and commit what is there."""
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)


class BrowserMessages:
    """What the browser said, with the page on which it did. A broken rule of the security policy is a message."""

    def __init__(self, page: Page) -> None:
        self.place = ""
        self.problems: list[str] = []
        page.on("console", lambda message: self.add(message.text))
        page.on("pageerror", lambda error: self.add(str(error)))
        page.on("dialog", self._close)

    def add(self, problem: str) -> None:
        """Note a problem of the page that is open."""
        self.problems.append(f"{self.place}: {problem}")

    def _close(self, dialog: Dialog) -> None:
        self.add(f"a dialog opened: {dialog.message}")
        dialog.dismiss()


def chromium() -> str | None:
    """Returns the path of the browser, if it is installed."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def launched(playwright: Playwright) -> Browser:
    """Returns the browser. Raises ValueError if it is not installed."""
    if not (found := chromium()):
        raise ValueError(f"No Chromium: {INSTALL_CHROMIUM}.")
    return playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])


def wait_for_graph(page: Page, urls: tuple[str, ...]) -> None:
    """Wait until the pages that need the graph have it. Raises TimeoutError."""
    ends_at = time.monotonic() + GRAPH_S_MAX
    for url in urls:
        page.goto(url)
        while "graph_not_built" in page.content():
            if time.monotonic() >= ends_at:
                raise TimeoutError(f"no graph for {url}")
            page.wait_for_timeout(1_000)
            page.goto(url)


def wait_until_ready(stack: ConsoleStack) -> None:
    """Wait until the gateway answers. Raises TimeoutError."""
    ends_at = time.monotonic() + START_S_MAX
    while not stack.is_ready():
        if time.monotonic() >= ends_at:
            raise TimeoutError("the gateway does not answer")
        time.sleep(0.1)


def inaccessible(page: Page) -> list[str]:
    """Returns what axe-core finds that keeps people out."""
    found = Axe().run(page, options=AXE).response["violations"]
    return [
        f"{one['id']} ({one['impact']}): {one['help']}: "
        f"{'; '.join(node['html'][:120] for node in one['nodes'][:NODES_SHOWN])}"
        for one in found
        if one["impact"] in SERIOUS
    ]


def open_by_keyboard(page: Page, base: str, question: str) -> None:
    """Go to the search page, ask, and open the first result, with keys alone."""
    page.goto(base + "/repos")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/search", timeout=ANSWER_MS_MAX)
    # The field takes the focus with the first frame. A key before that would keep it from it, one after it is typed.
    page.wait_for_selector(".big:focus", timeout=ANSWER_MS_MAX)
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type(question, delay=20)
    page.wait_for_selector(".hit", timeout=ANSWER_MS_MAX)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/-/blob/**", timeout=ANSWER_MS_MAX)


def show_card(page: Page, url: str, name: str) -> None:
    """Open the card of a name with the pointer, close it, and open it again with the keyboard."""
    page.goto(url)
    link = page.locator(f'a[href="?symbol={name}"]').first
    link.hover()
    page.wait_for_selector(".card", timeout=ANSWER_MS_MAX)
    page.keyboard.press("Escape")
    page.wait_for_selector(".card", state="detached", timeout=ANSWER_MS_MAX)
    link.focus()
    page.wait_for_selector(".card", timeout=ANSWER_MS_MAX)


def inject(page: Page) -> bool:
    """Try to run an inline script. Returns whether the security policy let it run."""
    return bool(
        page.evaluate(
            """() => { const made = document.createElement("script"); made.textContent = "window.injected = 1";
            document.body.append(made); return window.injected ?? 0 }"""
        )
    )
