"""What a Markdown text names, and what it only seems to name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_workspace.core.mentions import MENTIONS_MAX, SCANNED_CHARS_MAX, Mention, mentions


def places(text: str) -> list[str]:
    """Returns the mentions of a text as `repo: path::symbol:first-last`, without the empty parts."""
    return [
        (f"{one.repo}: " if one.repo else "")
        + one.path
        + ("::" if one.path and one.symbol else "")
        + one.symbol
        + (f":{one.start_line}" if one.start_line else "")
        + (f"-{one.end_line}" if one.end_line > one.start_line else "")
        for one in mentions(text)
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`src/main.py`", "src/main.py"),
        ("`./src/main.py`", "src/main.py"),
        ("`main.py`", "main.py"),
        ("`Dockerfile`", "Dockerfile"),
        ("`src/main.py:12`", "src/main.py:12"),
        ("`src/main.py:12-20`", "src/main.py:12-20"),
        ("`src/main.py#L12-L20`", "src/main.py:12-20"),
        ("`src/main.py:20-12`", "src/main.py:20"),
        ("`tests/test_main.py::test_open`", "tests/test_main.py::test_open"),
        ("`acme/depot: src/main.py:7`", "acme/depot: src/main.py:7"),
        ("`Acme/Depot:src/main.py`", "acme/depot: src/main.py"),
        ("See acme/depot: src/main.py first.", "acme/depot: src/main.py"),
        ("See src/main.py:12.", "src/main.py:12"),
        ("(src/main.py)", "src/main.py"),
        ("[here](src/main.py#L3)", "src/main.py:3"),
        (
            "[here](https://forge.example/acme/depot/blob/main/src/main.py#L3-L5)",
            "acme/depot: src/main.py:3-5",
        ),
        ("[here](https://forge.example/a/b/c/-/blob/main/src/main.py)", "a/b/c: src/main.py"),
        ("`Session.get`", "Session.get"),
        ("`Session::get`", "Session.get"),
        ("`Session#get`", "Session.get"),
        ("`Session.get()`", "Session.get"),
        ("`Session.get(url, timeout=3)`", "Session.get"),
        ("`self.read_all()`", "read_all"),
        ("`parse_json`", "parse_json"),
        ("`parseJson`", "parseJson"),
        ("`MAX_SIZE`", "MAX_SIZE"),
        ("`HTTPPool`", "HTTPPool"),
        ("`APIRouter`", "APIRouter"),
        ("`Router()`", "Router"),
        ("`commit()`", "commit"),
        ("Call Session::get here.", "Session.get"),
        ("| a |\n| - |\n| `APIRouter` |", "APIRouter"),
        ("# The `APIRouter`", "APIRouter"),
        ("> - `APIRouter`", "APIRouter"),
    ],
)
def test_a_place_is_found(text, found):
    assert places(text) == [found]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The Router commits parse_json and Session.get, e.g. in Node.js.",
        "`get`",
        "`the router`",
        "`git commit -m x`",
        "`x`",
        "`id`",
        "`GET`",
        "`True`",
        "`Response`",
        "`T::Item`",
        "`print(x)`",
        "`String`",
        "`example.com`",
        "`1.2.3`",
        "`v1.2`",
        "`application/json`",
        "`acme/depot`",
        "`--max-tokens`",
        "`/etc/hosts.conf`",
        "`../src/main.py`",
        "`src/../main.py`",
        "`src/*.py`",
        "`C:\\temp\\a.py`",
        "https://example.com/src/main.py",
        "[x](https://example.com/src/main.py)",
        "[x](mailto:a@b.py)",
        "[x](#anchor)",
        "[x](../images/a.png)",
        "![x](images/a.png)",
        "and/or, 24/7, 1.5/2.5",
        "```python\nfrom a.b import APIRouter\n```",
        "    indented_code.call()",
        "<!-- `APIRouter` -->",
        "[x](http://[bad)",
    ],
)
def test_nothing_is_found(text):
    assert places(text) == []


def test_a_name_beside_a_path_may_be_of_that_file():
    assert places("`Error` in `src/error.rs` and `map`") == ["src/error.rs", "src/error.rs::Error"]
    assert places("`Session::get` (src/a.py:3)") == ["Session.get", "src/a.py:3", "src/a.py::Session.get"]
    assert places("acme/depot: src/a.py has `Depot`") == [
        "acme/depot: src/a.py",
        "acme/depot: src/a.py::Depot",
    ]
    assert places("`Error`\n\n`src/error.rs`") == ["src/error.rs"]
    assert places("`main.py` and `src/b.py`") == ["main.py", "src/b.py"]


def test_each_mention_counts_once_and_in_its_order():
    text = "`APIRouter`\n\n`src/b.py`\n\nThen `APIRouter` again.\n\n[b](src/b.py)"
    assert mentions(text) == (Mention(symbol="APIRouter"), Mention(path="src/b.py"))


def test_the_number_of_mentions_is_limited():
    text = "\n".join(f"`name_{number}`" for number in range(MENTIONS_MAX + 1))
    assert len(mentions(text)) == MENTIONS_MAX


def test_the_rest_of_a_long_text_is_not_read():
    assert len(mentions("\n\n".join(["`a_b`", "x" * SCANNED_CHARS_MAX, "`c_d`"]))) == 1


@given(st.text(alphabet="`[]()<>*_#/:.\\-! \nabAB01\0é|", max_size=200))
def test_every_text_has_an_answer(text):
    assert len(mentions(text)) <= MENTIONS_MAX


@pytest.mark.parametrize(
    "text", ["[" * 50_000, "`" * 50_000, "> " * 20_000, "a/" * 50_000, "a::" * 50_000, "*a_ " * 20_000]
)
def test_a_hostile_text_is_read_once(text):
    assert len(mentions(text)) <= 1
