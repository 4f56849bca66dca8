"""A repository, documents, tasks and tokens whose names and texts try to become markup or script."""

import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bench.pictures.browsing import ConsoleStack, WorkTree

REPO = "acme/hostile"
BRANCH = "feature/<img-src=x-onerror=window.hostile=1>"
PLAIN = "plain"
# Each sets `window.hostile`, or opens a dialog, wherever one of them becomes markup.
PAYLOADS = (
    "<img src=x onerror=window.hostile=1>",
    '"><svg onload=window.hostile=1>',
    "</code></pre><script>window.hostile=1</script>",
    "'-alert(1)-'",
    "javascript:alert(1)",
    "{{7*7}}${7*7}",
    "<style>*{display:none}</style>",
    "&lt;b&gt;\u202egnirts",
)
NAMES = (
    "src/payment.py",
    "src/<img src=x onerror=window.hostile=1>.py",
    'src/"><svg onload=window.hostile=1>.py',
    "docs/<script>alert(2)<!.md",
    "docs/javascript:alert(1).md",
    "docs/{{7*7}}.txt",
    "tests/test_payment.py",
)
CODE = '''"""{payloads}"""


def charge_card(cents: int) -> str:
    """Charge a card: '"><svg onload=window.hostile=1>."""
    return "</code></pre><script>window.hostile=1</script>"


def pay() -> str:
    return charge_card(7)
'''
TEST = "from src.payment import charge_card\n\n\ndef test_a_card_is_charged():\n    assert charge_card(1)\n"


@dataclass(frozen=True)
class HostileTown:
    """The stack, and the work tree that it indexed."""

    stack: ConsoleStack
    tree: WorkTree
    document: str

    @property
    def pages(self) -> dict[str, str]:
        """Every page, by a short name."""
        at = f"/r/{REPO}"
        branch, plain = quote(BRANCH.replace("/", "~"), safe="~"), PLAIN
        return {
            "repositories": "/repos",
            "add": "/repos/new",
            "search": "/search?q=charge+a+card",
            "exact": f"/search?q={quote('<script>')}&mode=exact",
            "symbol search": "/search?q=charge_card&mode=symbol",
            "empty search": f"/search?q={quote(PAYLOADS[1])}&mode=exact",
            "repository": at,
            "remove": f"{at}/-/remove",
            "folder": f"{at}/-/tree/HEAD",
            "folder of names": f"{at}/-/tree/HEAD/src",
            "file": f"{at}/-/blob/HEAD/src/payment.py",
            "hostile file": f"{at}/-/blob/HEAD/{quote(NAMES[1])}",
            "hostile document of code": f"{at}/-/blob/HEAD/{quote(NAMES[3])}",
            "symbol": f"{at}/-/symbol/HEAD?name=charge_card&path=src/payment.py",
            "map": f"{at}/-/map/HEAD",
            "branches": f"{at}/-/branches",
            "branch": f"{at}/-/branch/{branch}",
            "plain branch": f"{at}/-/branch/{plain}",
            "compare": f"{at}/-/compare/{plain}...{branch}",
            "choose refs": f"{at}/-/compare",
            "wiki": f"{at}/-/wiki",
            "documents": "/documents",
            "document": f"/documents/{self.document}",
            "tasks": "/tasks",
            "wikis": "/wiki",
            "usage": "/usage?days=1&by=source",
            "audit": "/audit",
            "tokens": "/tokens",
            "health": "/health",
        }


def made_town(stack: ConsoleStack, folder: Path) -> HostileTown:
    """Fill a stack with hostile contents."""
    tree = WorkTree(folder)
    for name in NAMES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CODE.replace("{payloads}", " ".join(PAYLOADS)))
    (folder / NAMES[-1]).write_text(TEST)
    tree.begin(PAYLOADS[0])
    _index(stack, folder)
    for branch, name, text in (
        (BRANCH, NAMES[0], CODE.replace("{payloads}", "changed " + PAYLOADS[2])),
        (PLAIN, NAMES[2], f"# {PAYLOADS[4]}\n"),
    ):
        tree.git("switch", "-q", "-c", branch, "main")
        (folder / name).write_text(text)
        tree.git("commit", "-q", "-a", "-m", f"{PAYLOADS[1]} on a branch")
        _index(stack, folder, "--ref", branch)
    for payload in PAYLOADS[:3]:
        stack.prism("tasks", "create", payload, "--repo", REPO)
    stack.prism("tokens", "create", "--label", PAYLOADS[0], "--scope", "read")
    written = folder.with_name("document.md")
    written.write_text(f"# {PAYLOADS[0]}\n\n[link]({PAYLOADS[4]}) {' '.join(PAYLOADS)}\n")
    return HostileTown(stack, tree, _document(stack, written))


def _index(stack: ConsoleStack, folder: Path, *more: str) -> None:
    stack.prism("index", str(folder), "--name", REPO, "--wait", *more)


def _document(stack: ConsoleStack, written: Path) -> str:
    """Write a document with a hostile title. Returns its id."""
    made = stack.prism("documents", "write", str(written), "--title", PAYLOADS[1], "--json")
    return str(json.loads(made)["document_id"])
