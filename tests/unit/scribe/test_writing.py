"""What a model may be asked for, and what is left of what it writes."""

from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from prism_scribe.core.writing import plain, require_bounded

Short = Annotated[str, Field(max_length=20)]


class Bounded(BaseModel):
    """Every string and list ends."""

    text: Short
    lines: list[Short] = Field(max_length=3)
    inner: "Inner | None" = None


class Inner(BaseModel):
    """Inside of another."""

    text: Short


class EndlessText(BaseModel):
    """A string without a maximum."""

    text: str


class EndlessList(BaseModel):
    """A list without a maximum."""

    lines: list[Short]


class EndlessInner(BaseModel):
    """An item without a maximum."""

    lines: list[EndlessText] = Field(max_length=3)


class EndlessMap(BaseModel):
    """A mapping."""

    lines: dict[str, int]


def test_a_bounded_type_may_be_asked_for() -> None:
    require_bounded(Bounded)


@pytest.mark.parametrize("output", [EndlessText, EndlessList, EndlessInner, EndlessMap])
def test_a_type_that_need_not_end_is_refused(output: type[BaseModel]) -> None:
    with pytest.raises(ValueError, match=r"needs|mapping"):
        require_bounded(output)


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("See [the page](https://evil.example/?q=secret).", "See the page."),
        ("![x](https://evil.example/p.png?d=1)done", "xdone"),
        ("[a][1] is\n[1]: https://evil.example", "a is"),
        ("Go to https://evil.example/x now", "Go to now"),
        ("Go to <https://evil.example> or www.evil.example/x", "Go to or"),
        ("javascript:alert(1) runs", "runs"),
        ("<img src=x onerror=alert(1)>It retries.", "It retries."),
        ("[[a](b)](https://evil.example)", "a"),
        ("It\u200b re\u202etries\u202c.", "It retries."),
        ("```\ncode\n```", "code"),
        ("a\x00b\x1b[31mc", "ab[31mc"),
        ("if a < b and c > d", "if a < b and c > d"),
        ("List[int] maps (a) to b", "List[int] maps (a) to b"),
        ("\U000e0041\U000e0042hidden", "hidden"),
    ],
)
def test_links_markup_and_hidden_characters_are_taken_out(written: str, left: str) -> None:
    assert plain(written) == left
