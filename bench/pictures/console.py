"""Opens the console in Chromium, checks what only a browser can check, and writes pictures of its pages.

Checked on each page: no message of the browser (a broken rule of the content security policy is one), no wider
than the window, nothing serious for axe-core, keys, results while typing. It needs Playwright (`make pictures` installs it) and Chromium
(`apt-get install chromium`, or CHROMIUM=).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

PRISM = str(Path(sys.executable).parents[2] / "bin" / "prism")
ROOT = Path(__file__).parents[2]
SETTLE_MS = 150
RESULTS_MS_MAX = 5_000
GRAPH_S_MAX = 180
REPO = "acme/prism"
SIZES = ((1280, 800), (768, 900), (360, 740))
SERIOUS = frozenset({"serious", "critical"})
NODES_SHOWN = 3
AXE = {"resultTypes": ["violations"]}
THEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
# Written to docs/pictures, in one size; the others are looked at in the folder of the run.
KEPT_WIDTH = 1280
BRANCH = "retries"
QUESTION = "how is a token revoked"
INDEXED = ROOT / "services"
PAGES = {
    "repositories": "/repos",
    "search": f"/search?q={QUESTION.replace(' ', '+')}",
    "exact": "/search?q=revoked_at&mode=exact",
    "repository": f"/r/{REPO}",
    "folder": f"/r/{REPO}/-/tree/HEAD/gateway/prism_gateway",
    "file": f"/r/{REPO}/-/blob/HEAD/gateway/prism_gateway/tokens.py#L60-L70",
    "symbol": f"/r/{REPO}/-/symbol/HEAD?name=TokenBook.find",
    "map": f"/r/{REPO}/-/map/HEAD",
    "branches": f"/r/{REPO}/-/branches",
    "branch": f"/r/{REPO}/-/branch/{BRANCH}",
    "documents": "/documents",
    "tasks": "/tasks",
    "usage": "/usage",
    "audit": "/audit",
    "tokens": "/tokens",
    "health": "/health",
}
KEPT = ("search", "symbol", "map", "branch")


def main() -> int:
    """Take all pictures. Returns how many problems the browser had."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--all", type=Path, help="folder for every page, size and theme")
    options = parser.parse_args()
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        sys.exit("No Chromium: `apt-get install chromium`, or set CHROMIUM.")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as work:
        environment = os.environ | {"PRISM_DATA_DIR": folder, "PRISM_CONFIG": os.devnull}
        _prism(environment, "up", "--port", "0", "--detach")
        try:
            tree = _work_tree(Path(work))
            _prism(environment, "index", str(tree), "--name", REPO, "--wait")
            _change(tree)
            _prism(environment, "index", str(tree), "--name", REPO, "--ref", BRANCH, "--wait")
            _prism(environment, "tasks", "create", "Limit the retries of deliveries", "--repo", REPO)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                _wait_for_graph(browser, environment)
                problems = _visit_all(browser, environment, options.out, options.all)
        finally:
            _prism(environment, "down")
    sys.stdout.write("".join(f"{problem}\n" for problem in problems) or "no problem\n")
    return len(problems)


def _work_tree(folder: Path) -> Path:
    """Returns the indexed files as a repository of their own."""
    tree = folder / "services"
    shutil.copytree(INDEXED, tree, ignore=shutil.ignore_patterns("__pycache__"))
    _git(tree, "init", "-q", "-b", "main")
    _git(tree, "add", "-A")
    _git(tree, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "Begin")
    return tree


def _change(tree: Path) -> None:
    """Change, add and remove a file on a branch."""
    _git(tree, "checkout", "-q", "-b", BRANCH)
    gateway = tree / "gateway" / "prism_gateway"
    script = gateway / "console" / "static" / "console.js"
    script.write_text(script.read_text().replace("PAUSE_MS = 160", "PAUSE_MS = 200"))
    (gateway / "retries.py").write_text('"""How often a delivery is tried."""\n\nRETRIES_MAX = 3\n')
    (gateway / "console" / "prose.py").unlink()


def _git(tree: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=tree, check=True, capture_output=True)


def _wait_for_graph(browser: Browser, environment: dict[str, str]) -> None:
    page = browser.new_page()
    page.goto(_prism(environment, "open", "--print").split()[-1])
    base = page.url.removesuffix("/repos")
    for _ in range(GRAPH_S_MAX):
        waits = []
        for name in ("map", "branch"):
            page.goto(base + PAGES[name])
            waits.append("graph_not_built" in page.content())
        if not any(waits):
            break
        page.wait_for_timeout(1_000)
    page.close()


class _Messages:
    """What the browser said, with the page on which it did."""

    def __init__(self, page: Page) -> None:
        self.place = ""
        self.problems: list[str] = []
        page.on("console", lambda message: self.add(message.text))
        page.on("pageerror", lambda error: self.add(str(error)))

    def add(self, problem: str) -> None:
        self.problems.append(f"{self.place}: {problem}")


def _visit_all(browser: Browser, environment: dict[str, str], out: Path, every: Path | None) -> list[str]:
    problems: list[str] = []
    for theme in THEMES:
        for width, height in SIZES:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
            page = context.new_page()
            page.goto(_prism(environment, "open", "--print").split()[-1])
            problems += _visit(page, f"{theme}-{width}", width, out, every)
            context.close()
    return problems


def _visit(page: Page, look: str, width: int, out: Path, every: Path | None) -> list[str]:
    messages, base = _Messages(page), page.url.removesuffix("/repos")
    for name, path in PAGES.items():
        messages.place = f"{name}-{look}"
        page.goto(base + path)
        page.wait_for_timeout(SETTLE_MS)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            messages.add("wider than the window")
        for problem in _inaccessible(page):
            messages.add(problem)
        if every:
            page.screenshot(path=every / f"{name}-{look}.png", full_page=True)
        if name in KEPT and width == KEPT_WIDTH:
            page.screenshot(path=out / f"console-{name}-{look.partition('-')[0]}.png")
    if width == KEPT_WIDTH:
        messages.place = f"keys-{look}"
        for problem in (*_use_keys(page, base), *_use_card(page, base)):
            messages.add(problem)
        if every:
            page.screenshot(path=every / f"card-{look}.png")
    # In this order: what the browser says about the script is no problem.
    return [*messages.problems, *(_inject(page) if width == KEPT_WIDTH else [])]


def _inaccessible(page: Page) -> list[str]:
    """Returns what axe-core finds that keeps people out."""
    found = Axe().run(page, options=AXE).response["violations"]
    return [
        f"{one['id']} ({one['impact']}): {one['help']}: "
        f"{'; '.join(node['html'][:120] for node in one['nodes'][:NODES_SHOWN])}"
        for one in found
        if one["impact"] in SERIOUS
    ]


def _use_keys(page: Page, base: str) -> list[str]:
    """Search with the keyboard alone, and open the first result."""
    page.goto(base + "/repos")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/search")
    page.keyboard.press("/")
    page.keyboard.type("revoke a token", delay=20)
    try:
        page.wait_for_selector(".hit", timeout=RESULTS_MS_MAX)
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/-/blob/**", timeout=RESULTS_MS_MAX)
    except Exception as error:  # noqa: BLE001 - reported with the others
        return [f"keys: {error}"]
    return []


def _use_card(page: Page, base: str) -> list[str]:
    """Open the card of a name with the pointer, close it, and open it again with the keyboard."""
    page.goto(base + PAGES["file"])
    name = page.locator('a[href="?symbol=TokenBook"]').first
    try:
        name.hover()
        page.wait_for_selector(".card", timeout=RESULTS_MS_MAX)
        page.keyboard.press("Escape")
        page.wait_for_selector(".card", state="detached", timeout=RESULTS_MS_MAX)
        name.focus()
        page.wait_for_selector(".card", timeout=RESULTS_MS_MAX)
    except Exception as error:  # noqa: BLE001 - reported with the others
        return [f"card: {error}"]
    return []


def _inject(page: Page) -> list[str]:
    """Run an inline script, which the content security policy refuses."""
    ran = page.evaluate(
        """() => { const made = document.createElement("script"); made.textContent = "window.injected = 1";
        document.body.append(made); return window.injected ?? 0 }"""
    )
    return ["an injected script ran"] if ran else []


def _prism(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run([PRISM, *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"prism {' '.join(arguments)}: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
