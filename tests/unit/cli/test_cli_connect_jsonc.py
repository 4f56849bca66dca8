import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_cli.connect import jsonc
from prism_cli.connect.jsonc import UneditableError

KEYS = ("servers", "prism")
COMMENTS = ("", " ", "\n", "\t// {line}\n", "/* , } */", ' // "servers": {\n  ')
names = st.sampled_from(["servers", "prism", "a", 'quo"te', "é", ""])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
)


@st.composite
def commented(draw: st.DrawFn, value: Any) -> str:
    """A text of the value, with comments and trailing commas where editors accept them."""

    def gap() -> str:
        return draw(st.sampled_from(COMMENTS))

    def text(value: Any) -> str:
        if isinstance(value, dict):
            items = [f"{json.dumps(key)}{gap()}:{gap()}{text(inner)}" for key, inner in value.items()]
        elif isinstance(value, list):
            items = [text(inner) for inner in value]
        else:
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        comma = "," if items and draw(st.booleans()) else ""
        inside = ",".join(f"{gap()}{item}{gap()}" for item in items) + comma + gap()
        return f"{{{inside}}}" if isinstance(value, dict) else f"[{inside}]"

    return gap() + text(value) + gap()


@given(st.data(), st.dictionaries(names, values, max_size=4), values)
def test_only_the_value_changes(data: st.DataObject, document: dict[str, Any], value: Any):
    text = data.draw(commented(document))
    holder = document.get("servers", {})
    if not isinstance(holder, dict):
        with pytest.raises(UneditableError):
            jsonc.with_value(text, KEYS, value)
        return
    edited = jsonc.with_value(text, KEYS, value)
    assert jsonc.decode(edited) == document | {"servers": holder | {"prism": value}}
    assert jsonc.with_value(edited, KEYS, value) == edited
    if "prism" not in holder:
        kept = iter(edited)
        # White space before the new item may change.
        written = "".join(text.rstrip("} \n\t").split())
        assert all(character in kept for character in written), "something was lost"


def test_an_item_follows_the_layout_of_the_one_before_it():
    text = '{\n\t"servers": {\n\t\t"x": {"y": 1} // note\n\t}\n}\n'
    assert jsonc.with_value(text, KEYS, {"url": "u"}) == (
        '{\n\t"servers": {\n\t\t"x": {"y": 1}, // note\n\t\t"prism": {\n\t\t\t"url": "u"\n\t\t}\n\t}\n}\n'
    )


def test_trailing_commas_and_line_ends_are_kept():
    text = '{\r\n  "a": 1, // one\r\n  // end\r\n}\r\n'
    assert jsonc.with_value(text, ("b",), 2) == '{\r\n  "a": 1, // one\r\n  // end\r\n  "b": 2,\r\n}\r\n'


@pytest.mark.parametrize("text", ["", " \n", "// settings\n", "/* a */ // b", "{}", "{ }\n"])
def test_a_text_without_a_value_gets_one(text: str):
    edited = jsonc.with_value(text, KEYS, 1)
    assert jsonc.decode(edited) == {"servers": {"prism": 1}}
    assert text.strip("{} \n") in edited


@pytest.mark.parametrize(
    "text", ['{"a": 1', "[1]", '"x"', "{a: 1}", "{'a': 1}", "{} {}", '{"servers": []}', "{" * 100_000]
)
def test_other_texts_are_refused(text: str):
    with pytest.raises(UneditableError):
        jsonc.with_value(text, KEYS, 1)
