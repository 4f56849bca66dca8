"""Lines that contain names, and where in a file each stands."""

import pytest

from prism_contracts.rpc.unused import NamedIn
from prism_search.core.references.name_lines import SoughtNames


def places(text, language="python", *, names=("weigh",), is_prose=False):
    return [
        (one.line, one.place.value) for one in SoughtNames(names).lines(text, language, is_prose=is_prose)
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("weigh(1)\n", NamedIn.CODE),
        ("run('weigh')\n", NamedIn.STRING),
        ("x = 1  # weigh\n", NamedIn.COMMENT),
        ('def f():\n    """weigh."""\n', NamedIn.COMMENT),
        ('run("""\nweigh\n""")\n', NamedIn.STRING),
        ('run(f"{weigh}")\n', NamedIn.CODE),
    ],
)
def test_a_name_stands_in_code_a_string_or_a_comment(text, place):
    assert [found for _, found in places(text)] == [place.value]


def test_prose_is_a_place_of_its_own():
    assert places("Call `weigh`.\n", "markdown", is_prose=True) == [(1, "prose")]


def test_names_are_whole_words():
    assert places("weigher = reweigh\nweigh\n") == [(2, "code")]


def test_a_line_counts_once_per_place():
    assert places("weigh(weigh, 'weigh')\n") == [(1, "code"), (1, "string")]


def test_the_last_line_needs_no_end():
    assert places("\n\nweigh") == [(3, "code")]


def test_names_with_signs_are_pieces_of_text():
    assert places("empty?\nopen!\n", "ruby", names=("open!", "empty?")) == [(1, "code"), (2, "code")]


def test_components_in_markdown_are_code():
    assert places("# Gauge\n\n<Gauge />\n", "markdown", names=("Gauge",), is_prose=True) == [
        (1, "prose"),
        (3, "code"),
    ]
