"""Tests which lines only mention a name, in comments and strings."""

import pytest

from prism_search.core.references.text_spans import TextSpans


def is_mention(text: str, language: str, name: str = "rate") -> bool:
    return TextSpans(text, language).hold([text.index(name)], len(name))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "x = 1  # the rate\n"),
        ("python", 'x = "rate"\n'),
        ("python", '"""A page.\n\nThe rate {x}.\n"""\n'),
        ("javascript", "/* first\n rate */ go();\n"),
        ("javascript", "go(`rate`);\n"),
        ("go", "// rate of it\n"),
        ("rust", 'let x: &\'a str = "rate";\n'),
        ("ruby", "x = 1 # rate\n"),
        ("sql", "select 1 -- rate\n"),
    ],
)
def test_a_name_in_a_comment_or_a_string_is_a_mention(language, text):
    assert is_mention(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "rate(1)  # a call\n"),
        ("python", "x = f'{rate}'\n"),
        ("python", 'x = f"""{rate}"""\n'),
        ("python", "x = '#' + rate\n"),
        ("python", "x = 'a' + rate + 'b'\n"),
        ("javascript", "go(`${rate}`);\n"),
        ("javascript", 'go("//", rate);\n'),
        ("rust", "fn f<'a>(rate: &'a str) {}\n"),
        ("kotlin", 'say("$rate")\n'),
        ("swift", 'say("\\(rate)")\n'),
        ("bash", "echo $# rate\n"),
        ("unknown", "# rate\n"),
    ],
)
def test_a_name_in_code_or_a_placeholder_is_not_a_mention(language, text):
    assert not is_mention(text, language)


def test_every_piece_must_be_text():
    text = "rate('rate')\n"
    mentions = TextSpans(text, "python")
    assert mentions.hold([6], 4)
    assert not mentions.hold([0, 6], 4)
