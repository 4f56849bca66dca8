"""Markdown of documents as HTML."""

import re

import pytest

from prism_gateway.console.prose import CHARS_MAX, markdown


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "[x](javascript:alert(1))",
        "[x](  JaVaScRiPt:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "![x](javascript:alert(1))",
        '<https://a.example/" onclick=alert(1)>',
        '[x](https://a.example "t\\" onclick=alert(1)")',
        "| a |\n|:-:|\n| <b onclick=alert(1)> |",
        '```"><script>\nx\n```',
        "&lt;script&gt;",
    ],
)
def test_a_payload_is_shown_as_text(text: str) -> None:
    html = markdown(text)
    tags = re.findall(r"<[^>]*>", html)
    for tag in tags:
        assert re.fullmatch(
            r"</?(?:p|a|code|pre|table|thead|tbody|tr|th|td|em|strong)(?: (?:href|rel|title|class)=\"[^\"<>]*\")*>",
            tag,
        ), tag
        assert "javascript:" not in tag.lower()
        assert "data:" not in tag.lower()


def test_an_image_of_another_site_is_a_link() -> None:
    html = markdown("![A map](https://a.example/map.png)")
    assert html == '<p><a href="https://a.example/map.png" rel="noopener noreferrer nofollow">A map</a></p>\n'


def test_a_table_has_no_inline_style() -> None:
    assert "style" not in markdown("| a | b |\n|:-:|--:|\n| 1 | 2 |")


def test_a_very_long_text_is_shown_as_it_is() -> None:
    assert markdown("<b>" * CHARS_MAX).startswith("<pre>&lt;b&gt;")
