"""Class names are unique in the product, so that a search for a name finds one class."""

import ast
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[3]
PRODUCT = ("libs", "services", "cli")
# Names that are the same on both sides of a boundary by design -> the reason.
SAME_BY_DESIGN = {
    "WhoAmI": "the REST reply, and the arguments of the MCP tool `whoami`",
}
SAME_BY_DESIGN_SHARE_MAX = 0.01


def classes(text: str) -> list[str]:
    """Returns the names of all classes, nested ones included, private ones excepted."""
    return [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def places_of_classes() -> dict[str, list[str]]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *PRODUCT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    places = defaultdict(list)
    for file in filter(lambda name: name.endswith(".py"), listed.stdout.split()):
        for name in classes((ROOT / file).read_text(encoding="utf-8")):
            places[name].append(file)
    return places


def doubles(places: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_class_name_is_defined_twice():
    found = {
        name: files for name, files in doubles(places_of_classes()).items() if name not in SAME_BY_DESIGN
    }
    assert not found, "\n".join(f"{name}: {', '.join(files)}" for name, files in sorted(found.items()))


def test_the_list_of_exceptions_is_short_and_current():
    places = places_of_classes()
    assert len(SAME_BY_DESIGN) <= len(places) * SAME_BY_DESIGN_SHARE_MAX
    assert set(SAME_BY_DESIGN) <= set(doubles(places))
    assert all(SAME_BY_DESIGN.values())


def test_the_check_finds_nested_classes():
    assert classes("class A:\n    class B: ...\nclass _C: ...") == ["A", "B"]
    assert doubles({"A": ["one.py", "two.py"], "B": ["one.py"]}) == {"A": ["one.py", "two.py"]}
