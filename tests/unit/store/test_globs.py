import re
from collections.abc import Iterator

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prism_contracts.errors import ErrorCode, PrismError
from prism_store.globs import BRACES_MAX, GLOB_CHARS_MAX, compile_glob, literal_prefix


def expand(glob: str) -> list[str]:
    """Expands a glob with braces into globs without, naively."""
    found = re.search(r"\{([^{}]*)\}", glob)
    if not found:
        return [glob]
    return [
        one
        for part in found[1].split(",")
        for one in expand(glob[: found.start()] + part + glob[found.end() :])
    ]


def heads(glob: str, path: str, *, starts: bool) -> Iterator[tuple[str, int]]:
    """Yields what the first part of a glob may match: the rest of the glob, and how many characters were
    matched.
    """
    if glob.startswith("**/") and starts:  # any number of folders, including none
        yield from ((glob[3:], size) for size in range(len(path) + 1) if size == 0 or path[size - 1] == "/")
    elif glob.startswith("**"):
        yield from ((glob[2:], size) for size in range(len(path) + 1))
    elif glob[0] == "*":
        yield from ((glob[1:], size) for size in range(len(path.partition("/")[0]) + 1))
    elif glob[0] == "[":
        inside, _, rest = glob[1:].partition("]")
        if path and path[0] != "/" and (path[0] in inside) != (inside[0] == "!"):
            yield rest, 1
    elif path and (path[0] == glob[0] or (glob[0] == "?" and path[0] != "/")):
        yield glob[1:], 1


def matches(glob: str, path: str, *, starts: bool = True) -> bool:
    """Returns whether a glob without braces matches the whole path, by trying every way."""
    if not glob:
        return not path
    return any(
        matches(rest, path[size:], starts=glob[: len(glob) - len(rest)].endswith("/"))
        for rest, size in heads(glob, path, starts=starts)
    )


def reference(glob: str, path: str) -> bool:
    """Checks the special cases in the docstring of compile_glob."""
    return any(matches(one if "/" in glob else "**/" + one, path) for one in expand(glob))


pieces = st.sampled_from(
    ["a", "b", ".", "/", "*", "**", "?", "[ab]", "[!a]", "{a,b}", "{a,b?}", "**/", "/**/"]
)
paths = st.lists(st.text("ab.", min_size=1, max_size=3), min_size=1, max_size=3).map("/".join)


@settings(max_examples=500)
@given(st.lists(pieces, min_size=1, max_size=5).map("".join), paths)
def test_matches_equal_the_naive_reference(glob, path):
    assume(re.search(r"[*?\[{]", glob) and not glob.startswith(("/", "./")) and not glob.endswith("/"))
    assume("***" not in glob)
    assert bool(compile_glob(glob).fullmatch(path)) == reference(glob, path)


@settings(max_examples=300)
@given(st.lists(pieces, min_size=1, max_size=5).map("".join), paths)
def test_every_match_starts_with_the_literal_prefix(glob, path):
    if compile_glob(glob).fullmatch(path):
        assert path.startswith(literal_prefix(glob))


@pytest.mark.parametrize(
    ("glob", "taken", "left"),
    [
        ("*.py", ["a.py", "src/a.py"], ["a.pyc", "a.py/b"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "lib/src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py", "xsrc/a.py"]),
        ("src/**", ["src/a", "src/x/y"], ["src", "srcs/a"]),
        ("**/test_*.py", ["test_a.py", "x/y/test_a.py"], ["x/a_test.py"]),
        ("**", ["a", "a/b"], []),
        ("a**/b", ["a/b", "ax/b", "a/x/b"], ["ab", "xa/b"]),
        ("src", ["src", "src/a.py", "lib/src/a.py"], ["srcs/a.py", "asrc"]),
        ("src/", ["src/a.py"], ["srcs"]),
        ("src*/", ["src1/a.py", "x/src/a"], ["src1"]),
        ("src/a.py", ["src/a.py", "x/src/a.py"], ["src/a.pyc"]),
        ("{src,lib}/**/*.{py,pyi}", ["src/a.py", "lib/x/a.pyi"], ["bin/a.py", "src/a.c"]),
        ("{a,{b,c}}.py", ["a.py", "b.py", "x/c.py"], ["d.py"]),
        ("[a-c]?.py", ["bx.py"], ["dx.py", "b.py", "b/.py"]),
        ("[!a-c].py", ["d.py"], ["a.py", "/.py"]),
        ("[!-a].py", ["b.py", "0.py"], ["-.py", "a.py"]),
        ("[!a-].py", ["b.py"], ["-.py", "a.py"]),
        ("[]x].py", ["].py", "x.py"], ["y.py"]),
        ("[!]x].py", ["y.py"], ["].py", "x.py"]),
        ("x[.-0]y", ["x.y", "x0y"], ["x/y"]),
        ("x[/]y", [], ["x/y", "xy"]),
        ("[\\]x", ["\\x"], ["x"]),
        ("[[x]y", ["[y", "xy"], ["y"]),
        ("a.b*", ["a.b", "a.bc"], ["axb"]),
        ("(a|b)*", ["(a|b)"], ["a", "b"]),
        ("./src/*.py", ["src/a.py"], ["x/src/a.py"]),
        ("/src/*.py", ["src/a.py"], ["x/src/a.py"]),
        ("é*", ["été", "x/é"], ["e"]),
        ("", ["a", "a/b"], []),
        (".", ["a", "a/b"], []),
        ("/", ["a", "a/b"], []),
        ("./", ["a", "a/b"], []),
        ("!*.py", ["a.c", "x/a.c"], ["a.py", "x/a.py"]),
        ("!tests/**", ["src/a.py", "a/tests/b.py"], ["tests/a.py"]),
        ("!", [], ["a", "a/b"]),
    ],
)
def test_globs_match_as_expected(glob, taken, left):
    pattern = compile_glob(glob)
    assert [path for path in taken if not pattern.fullmatch(path)] == []
    assert [path for path in left if pattern.fullmatch(path)] == []


@pytest.mark.parametrize(
    "glob", ["{a,b*", "a}*", "[z-a]*", "x" * (GLOB_CHARS_MAX + 1), "{a}" * (BRACES_MAX + 1)]
)
def test_invalid_globs_are_refused(glob):
    with pytest.raises(PrismError) as caught:
        compile_glob(glob)
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT


def test_a_glob_at_its_limits_is_accepted():
    assert compile_glob("x" * GLOB_CHARS_MAX).fullmatch("x" * GLOB_CHARS_MAX)
    assert compile_glob("{a,b}" * BRACES_MAX).fullmatch("ab" * (BRACES_MAX // 2))


@pytest.mark.parametrize("glob", ["*a" * 400 + "*b", "**/" * 300 + "b", "{a,aa}" * 20 + "*" * 100 + "b"])
def test_a_hostile_glob_takes_linear_time(glob):
    assert not compile_glob(glob).fullmatch("a" * 2_000)
    assert not compile_glob(glob).fullmatch("a/" * 1_000 + "a")
