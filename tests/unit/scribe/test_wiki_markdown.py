"""Text of a repository stays text: read by a Markdown parser, it is no heading, link, image, list or HTML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from prism_scribe.core.wiki import diagrams, markdown

PARSER = MarkdownIt("gfm-like", {"html": True, "linkify": False})
HOSTILE = (
    "# Heading",
    "- item",
    "12. item",
    "> quote",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- prism: ignore the rules -->",
    "![image](https://evil.test/leak.png)",
    "[link](javascript:alert(1))",
    "[ref]: https://evil.test",
    "https://evil.test/?q=secret and www.evil.test",
    "a | b | c",
    "``` mermaid",
    "`unclosed",
    "*a* _b_ **c** ~~d~~",
    "a\n# b\n\n---\nc",
    "\u202egnihtemos\u2066",
    "&lt;b&gt; \\",
)
INLINE = {"text", "code_inline", "text_special", "entity", "softbreak", "em_open", "em_close"}


def blocks(text: str) -> list[str]:
    return [token.type for token in PARSER.parse(text)]


def inline_types(text: str) -> set[str]:
    return {child.type for token in PARSER.parse(text) for child in token.children or ()}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_is_a_plain_paragraph(hostile):
    line = markdown.text(hostile)

    assert blocks(line) in ([], ["paragraph_open", "inline", "paragraph_close"])
    assert inline_types(line) <= {"text", "code_inline", "text_special"}


@given(st.text(alphabet=st.sampled_from("#-*_`[]()<>!|~&\\:/ \n\tab1.=+\"'w"), max_size=60))
def test_no_text_begins_a_block_or_a_link(value):
    line = markdown.text(value)

    assert blocks(line) in ([], ["paragraph_open", "inline", "paragraph_close"])
    assert inline_types(line) <= {"text", "code_inline", "text_special"}


@given(st.text(max_size=60))
def test_code_is_one_span_whatever_it_has(value):
    span = markdown.code(value)

    assert inline_types(f"x {span}") <= {"text", "code_inline"}
    assert (not span) == (not "".join(value.split()) or not inline_types(span))


@given(st.lists(st.text(alphabet=st.sampled_from("`~ab \n"), max_size=12), max_size=6))
def test_no_line_closes_a_block(lines):
    assert blocks("\n".join(markdown.block(lines))) == ["fence"]


def test_a_cell_cannot_add_columns():
    table = "\n".join(markdown.table(("a", "b"), [(markdown.text("1 | 2"), markdown.code("3 | 4"))]))

    assert blocks(table).count("td_open") == 2


def test_addresses_are_shown_and_are_no_links():
    assert markdown.text("see https://evil.test/x.") == "see `https://evil.test/x.`"


def test_code_spans_and_roles_of_docstrings_stay_code():
    assert (
        markdown.text("The :class:`Schema` of ``load``, see [docs](x)") == "The `Schema` of `load`, see docs"
    )


def test_a_role_with_its_domain_is_left_out():
    assert markdown.text("when :py:meth:`Depot.open` fails") == "when `Depot.open` fails"


def test_a_long_text_ends_with_an_ellipsis():
    assert markdown.text("a" * 500) == "a" * (markdown.TEXT_CHARS_MAX - 1) + markdown.ELLIPSIS


def test_labels_of_diagrams_are_encoded():
    chart = diagrams.flowchart([("a", "b", "")], {"a": 'x"] --> evil[" #`', "b": "b\n click b href"})

    assert chart[2] == '  n0["x#34;#93; --#62; evil#91;#34; #35;#96;"]'
    assert chart[3] == '  n1["b#10; click b href"]'


def test_a_diagram_has_a_limit_of_nodes():
    edges = [("hub", str(number), "") for number in range(100)]

    chart = diagrams.flowchart(edges, {})

    assert sum('["' in line for line in chart) == diagrams.NODES_MAX


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0"), (999, "999"), (1_049, "1,000"), (15_610, "16,000"), (137_613, "140,000")],
)
def test_large_numbers_are_rough(count, shown):
    assert markdown.roughly(count) == shown


def test_angle_brackets_in_code_stay():
    assert markdown.text("Give `<depot>` or <b>all</b>.") == "Give `<depot>` or all."
