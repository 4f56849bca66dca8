"""Opens the console in Chromium, checks what only a browser can check, and writes pictures of its pages.

Checked on each page: no message of the browser (a broken rule of the content security policy is one), no wider
than the window, nothing serious for axe-core, keys, results while typing. It needs Playwright (`make pictures` installs it) and Chromium
(`apt-get install chromium`, or CHROMIUM=).
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Error, Page, sync_playwright

from bench.pictures.browsing import (
    WIDER,
    BrowserMessages,
    ConsoleStack,
    WorkTree,
    inaccessible,
    inject,
    launched,
    open_by_keyboard,
    show_card,
    wait_for_graph,
)

ROOT = Path(__file__).parents[2]
SETTLE_MS = 150
REPO = "acme/prism"
SIZES = ((1280, 800), (768, 900), (360, 740))
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
    "compare": f"/r/{REPO}/-/compare/{BRANCH}...HEAD",
    "not-held": f"/r/{REPO}/-/compare/HEAD...not-indexed",
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
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as work,
        ConsoleStack(Path(folder)).running() as stack,
        sync_playwright() as playwright,
    ):
        tree = _work_tree(Path(work))
        stack.prism("index", str(tree.folder), "--name", REPO, "--wait")
        _change(tree)
        stack.prism("index", str(tree.folder), "--name", REPO, "--ref", BRANCH, "--wait")
        stack.prism("tasks", "create", "Limit the retries of deliveries", "--repo", REPO)
        browser = launched(playwright)
        page = browser.new_page()
        page.goto(stack.link())
        wait_for_graph(page, tuple(stack.base + PAGES[name] for name in ("map", "branch")))
        problems = _visit_all(browser, stack, options.out, options.all)
    sys.stdout.write("".join(f"{problem}\n" for problem in problems) or "no problem\n")
    return len(problems)


def _work_tree(folder: Path) -> WorkTree:
    """Returns the indexed files as a repository of their own."""
    tree = WorkTree(folder / "services")
    shutil.copytree(INDEXED, tree.folder, ignore=shutil.ignore_patterns("__pycache__"))
    tree.begin()
    return tree


def _change(tree: WorkTree) -> None:
    """Change, add and remove a file on a branch."""
    tree.git("checkout", "-q", "-b", BRANCH)
    gateway = tree.folder / "gateway" / "prism_gateway"
    script = gateway / "console" / "static" / "console.js"
    script.write_text(script.read_text().replace("PAUSE_MS = 160", "PAUSE_MS = 200"))
    (gateway / "retries.py").write_text('"""How often a delivery is tried."""\n\nRETRIES_MAX = 3\n')
    (gateway / "console" / "prose.py").unlink()


def _visit_all(browser: Browser, stack: ConsoleStack, out: Path, every: Path | None) -> list[str]:
    problems: list[str] = []
    for theme in THEMES:
        for width, height in SIZES:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
            page = context.new_page()
            page.goto(stack.link())
            problems += _visit(page, stack.base, f"{theme}-{width}", width, out=out, every=every)
            context.close()
    return problems


def _visit(page: Page, base: str, look: str, width: int, *, out: Path, every: Path | None) -> list[str]:
    messages = BrowserMessages(page)
    for name, path in PAGES.items():
        messages.place = f"{name}-{look}"
        page.goto(base + path)
        page.wait_for_timeout(SETTLE_MS)
        if page.evaluate(WIDER):
            messages.add("wider than the window")
        for problem in inaccessible(page):
            messages.add(problem)
        if every:
            page.screenshot(path=every / f"{name}-{look}.png", full_page=True)
        if name in KEPT and width == KEPT_WIDTH:
            page.screenshot(path=out / f"console-{name}-{look.partition('-')[0]}.png")
    messages.problems = [one for one in messages.problems if not _is_expected(one)]
    if width == KEPT_WIDTH:
        messages.place = f"keys-{look}"
        try:
            open_by_keyboard(page, base, "revoke a token")
            show_card(page, base + PAGES["file"], "TokenBook")
        except Error as error:
            messages.add(str(error))
        if every:
            page.screenshot(path=every / f"card-{look}.png")
    # In this order: what the browser says about the script is no problem.
    return [*messages.problems, *(["an injected script ran"] if inject(page) else [])]


def _is_expected(problem: str) -> bool:
    """Whether it is the status of the page of a ref that Prism does not hold."""
    return problem.startswith("not-held") and "404" in problem


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
