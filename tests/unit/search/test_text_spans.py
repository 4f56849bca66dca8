"""Tests which lines only mention a name, in comments and strings."""

import pytest
from cpu_time import within_cpu_s

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
        ("python", "x = f'rate {x}'\n"),
        ("python", 'x = f"""\n{x} rate"""\n'),
        ("javascript", "go(`${x} rate`);\n"),
        ("rust", 'println!("rate {}", x);\n'),
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
        ("php", 'say("$depot->rate");\n'),
        ("bash", 'echo "x $(rate 1)"\n'),
        ("python", "x = f'{x} {rate} {y}'\n"),
        ("javascript", "x = `${x\n} rate() ${y}`;\n"),
        ("swift", 'say("\\(rate)")\n'),
        ("bash", "echo $# rate\n"),
        ("java", 'x = "rate\n'),
        ("java", "go(); /* rate\n"),
        ("python", 'x = """rate\n'),
        ("go", "x := `rate\n"),
        ("java", "/* a */ rate(); /* b */\n"),
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


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", '"""A page.\n\nThe rate.\n"""\nrate()\n'),
        ("java", "/* The\nrate.\n*/\nrate();\n"),
        ("go", "x := `a\nrate\n`\nrate()\n"),
    ],
)
def test_a_text_over_several_lines_is_read_beyond_the_end(language, text):
    at = text.index("rate")
    assert TextSpans(text, language, text.index("\n", at) + 1).hold([at], 4)
    assert not TextSpans(text, language).hold([text.rindex("rate")], 4)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", '\\"""\n' * 40_000),
        ("python", '"' + '\\"' * 100_000),
        ("python", '\'"""' * 50_000),
        ("java", "/*" * 100_000),
        ("javascript", "`" * 200_001),
        ("python", '"""' + "rate\n" * 40_000 + '"""'),
    ],
)
def test_work_is_linear_in_the_text(language, text):
    def hold_all() -> None:
        spans = TextSpans(text, language)
        for at in range(0, len(text), 5):
            spans.hold([at], 4)

    within_cpu_s(2, hold_all)
