import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_workspace.core import front_matter

# YAML cannot hold other control characters, and callers cannot send them in a title or tag.
LINES = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=40)


@given(
    title=LINES, tags=st.lists(LINES, max_size=4), content=st.text(st.characters(exclude_categories=("Cs",)))
)
def test_what_was_written_is_read_again(title: str, tags: list[str], content: str) -> None:
    text = front_matter.write({"title": title, "tags": tuple(tags), "custom": True}, content)
    matter, read = front_matter.split(text)
    assert read == content
    expected = {"title": title, "tags": tags, "custom": True}
    assert front_matter.read(matter) == {name: value for name, value in expected.items() if value}


@pytest.mark.parametrize(
    "text", ["", "# A heading\n", "--- \nno end", "text\n---\na: b\n---\n", "----\na: b\n----\n"]
)
def test_a_text_without_front_matter_is_all_content(text: str) -> None:
    assert front_matter.split(text) == ("", text)


def test_lines_of_dashes_in_the_content_stay() -> None:
    text = front_matter.write({"title": "a"}, "---\nb: c\n---\nd\n")
    assert front_matter.split(text) == ("title: a\n", "---\nb: c\n---\nd\n")


@pytest.mark.parametrize("matter", ["a: [", "- a\n- b\n", "!!python/object:os.system {}", "\x00"])
def test_front_matter_that_is_no_mapping_is_read_as_empty(matter: str) -> None:
    assert front_matter.read(matter) == {}


def test_front_matter_is_read_up_to_its_limit() -> None:
    longest = "a: " + "x" * (front_matter.MATTER_BYTES_MAX - 3)
    assert front_matter.read(longest) == {"a": longest[3:]}
    assert front_matter.read(longest + "x") == {}
