"""Code of repositories as HTML."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_gateway.console.code import CUT, LINE_CHARS_MAX, WORDS_MAX, lines_of, words_of

LANGUAGES = ["python", "go", "sql", "clojure", "html", "markdown", ""]
PAYLOADS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'</code></pre><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;",
    "<!--><script>alert(1)</script>-->",
]
TAGS = re.compile(r'</?(?:i|mark)>|<i class="[a-z]">|<a(?: class="[a-z]")? href="\?symbol=\w+">|</a>')


def text_of(html: str) -> str:
    """Returns what a reader sees, and fails on any tag that is not ours."""
    rest = TAGS.sub("", html)
    assert "<" not in rest
    assert ">" not in rest
    for name, char in (("&lt;", "<"), ("&gt;", ">"), ("&#34;", '"'), ("&#39;", "'"), ("&amp;", "&")):
        rest = rest.replace(name, char)
    return rest


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_is_shown_as_text(payload: str, language: str) -> None:
    for text in (payload, f"x = '{payload}'", f"# {payload}", f"def f():\n    {payload}\n"):
        lines = lines_of(text, 1, language, [payload, "alert"], is_linked=True)
        assert "\n".join(text_of(line.html) for line in lines) == text


@given(st.text(max_size=300), st.sampled_from(LANGUAGES), st.lists(st.text(max_size=8), max_size=4))
def test_every_text_reads_as_it_is(text: str, language: str, words: list[str]) -> None:
    lines = lines_of(text, 7, language, words)
    assert [line.number for line in lines] == list(range(7, 7 + text.count("\n") + 1))
    assert "\n".join(text_of(line.html) for line in lines) == text


def test_words_strings_and_comments_have_their_classes() -> None:
    (line,) = lines_of("return render('x', 12)  # why", 3, "python")
    assert line.html == (
        '<i class="k">return</i> <i class="f">render</i>(<i class="s">&#39;x&#39;</i>, <i class="m">12</i>)'
        '  <i class="c"># why</i>'
    )


def test_a_string_over_lines_is_closed_on_each() -> None:
    lines = lines_of('"""one\ntwo"""\nx', 1, "python")
    assert [str(line.html) for line in lines] == [
        '<i class="s">&#34;&#34;&#34;one</i>',
        '<i class="s">two&#34;&#34;&#34;</i>',
        "x",
    ]


def test_names_link_to_their_symbol() -> None:
    (line,) = lines_of("close(session)", 1, "go", is_linked=True)
    assert line.html == '<a class="f" href="?symbol=close">close</a>(<a href="?symbol=session">session</a>)'


def test_the_words_of_a_question_are_marked_in_any_case() -> None:
    (line,) = lines_of("RevokeToken()", 1, "go", words_of("how is a token revoked or Revoke"))
    assert line.html == '<i class="f"><mark>Revoke</mark><mark>Token</mark></i>()'


def test_a_long_line_is_cut() -> None:
    for text in ("x" * (2 * LINE_CHARS_MAX), "f(1)," * LINE_CHARS_MAX):
        (line,) = lines_of(text, 1, "go")
        assert line.html.endswith(CUT)
        assert text_of(line.html.removesuffix(CUT)) == text[:LINE_CHARS_MAX]
        (line,) = lines_of(text[:LINE_CHARS_MAX], 1, "go")
        assert CUT not in line.html


def test_few_words_of_a_long_question_are_marked() -> None:
    assert len(words_of(" ".join(f"word{number}" for number in range(1_000)))) == WORDS_MAX


@pytest.mark.parametrize(
    "piece",
    ["'", '"', "/*", "*/*", '"""', "`", "<!--", "<!--->", "\\", "'\\", "((", "a" * 40, "-", "#", "0."],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_text_takes_time_in_proportion(piece: str, language: str) -> None:
    text = (piece * (1_500 // len(piece)) + "\n") * 40
    began = time.process_time()
    lines_of(text, 1, language, ["aaaa", "b"])
    assert time.process_time() - began < 2.0
