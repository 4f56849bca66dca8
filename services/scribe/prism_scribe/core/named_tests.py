"""The names that the tests of a file usually have, by its language."""

import posixpath
from collections.abc import Iterable

from prism_contracts.types import GLOB_CHARS_MAX

_SCRIPT = ("{}.test", "{}.spec")
_TYPE = ("{}Test", "{}Tests")
# By suffix of the file: the names of its tests, without their suffix.
_NAMES: dict[str, tuple[str, ...]] = {
    ".py": ("test_{}", "{}_test"),
    ".go": ("{}_test",),
    ".rb": ("{}_spec", "{}_test", "test_{}"),
    ".ex": ("{}_test",),
    ".c": ("test_{}", "{}_test"),
    ".cc": ("{}_test",),
    ".cpp": ("{}_test",),
    ".rs": ("{}_test", "test_{}"),
    **dict.fromkeys((".ts", ".tsx", ".js", ".jsx", ".mjs"), _SCRIPT),
    **dict.fromkeys((".java", ".kt", ".cs", ".php", ".swift", ".scala"), _TYPE),
}
_OF_GLOBS = frozenset("{}[]*?,\\!")
# A test in Elixir is a script.
_SUFFIXES = {".ex": ".exs"}


def names_of_tests(path: str) -> tuple[str, ...]:
    """Returns the names that the tests of a file would have; none for a test, or if its language has no custom."""
    stem, suffix = posixpath.splitext(posixpath.basename(path))
    names = [name.split("{}") for name in _NAMES.get(suffix, ())]
    if any(
        len(stem) > len(before + after) and stem.startswith(before) and stem.endswith(after)
        for before, after in names
    ):
        return ()
    return tuple(f"{before}{stem}{after}{_SUFFIXES.get(suffix, suffix)}" for before, after in names)


def glob_of_tests(paths: Iterable[str]) -> str:
    """Returns the glob of the tests that are named after these files; those of the first ones, if it is too long.

    Empty if there are none.
    """
    kept: list[str] = []
    room = GLOB_CHARS_MAX - len("{}")
    for name in dict.fromkeys(name for path in paths for name in names_of_tests(path)):
        room -= len(f"**/{name},")
        if room >= 0 and not _OF_GLOBS & set(name):
            kept.append(f"**/{name}")
    return "{" + ",".join(kept) + "}" if kept else ""


def nearest_test(path: str, found: Iterable[str]) -> str:
    """Returns the file that is named as a test of this one and shares most folders with it; empty if there is none."""
    names = set(names_of_tests(path))
    tests = [one for one in found if posixpath.basename(one) in names]
    return max(tests, key=lambda one: _shared(path, one), default="")


def _shared(path: str, other: str) -> int:
    return len(posixpath.commonpath([f"/{path}", f"/{other}"]))
