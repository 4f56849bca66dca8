import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.rpc.common import EnclosingSymbol
from prism_search.core.around import symbols_around
from prism_search.core.matching import Question
from prism_search.core.outline import Outline, innermost, outermost_callable, parse_definitions
from prism_search.core.query import parse_query
from prism_search.core.words import HEAD_CHARS, head_code, likeness, stem, stem_head, stems_of

WORDS = st.sampled_from(
    [
        "auth",
        "authentication",
        "Authenticator",
        "id",
        "ids",
        "get",
        "HTTP",
        "http2",
        "token",
        "tokens",
        "to",
        "x",
    ]
)
WORD = st.one_of(WORDS, st.text(string.ascii_letters + string.digits, min_size=1, max_size=9))
NAME = st.lists(WORD, min_size=1, max_size=4).map("_".join)


def packed(*names: str) -> str:
    return "\n".join(f"F\tfunction\t{line}\t{line}\tOuter.{name}" for line, name in enumerate(names, start=1))


@given(st.lists(NAME, max_size=12), st.lists(WORD, min_size=1, max_size=6).map(" ".join))
def test_heads_find_every_name_like_a_word(names, text):
    outline = Outline(packed(*names))
    question = Question(parse_query(text), {})
    alike = {
        definition
        for definition in outline.definitions()
        if any(likeness(stem, word) for stem in question.query.stems for word in stems_of(definition.name))
    }
    heads = set(question.stem_heads.values())
    assert alike <= set(outline.touched(heads, lambda _: True))
    assert alike == set(outline.touched(heads, question.matched_stems_of_name))


@given(
    st.text(string.ascii_letters, min_size=1, max_size=6),
    st.sampled_from(["", "s", "ies", "es", "sses", "ing", "ed", "y", "e", "zing", "sing"]),
)
def test_word_and_stem_have_the_same_head(word, ending):
    assert stem_head(word + ending) == head_code(stem((word + ending).lower())[:HEAD_CHARS])


def test_found_definitions_are_distinct_and_in_order():
    outline = Outline(packed("get_user", "other", "user_getter"))
    names = [
        definition.name for definition in outline.touched(map(head_code, ("get", "use")), lambda _: True)
    ]
    assert names == ["get_user", "user_getter"]


def test_empty_outline_finds_nothing():
    assert Outline("").touched({head_code("get")}, lambda _: True) == ()
    assert Outline("").definitions() == ()


def test_only_whole_names_are_defined():
    outline = Outline("F\tfunction\t1\t2\tOuter.get_user\nT\tclass\t3\t9\tRoute")
    assert [name for name in ("get_user", "Route", "get", "user", "Outer") if outline.defines(name)] == [
        "get_user",
        "Route",
    ]


def test_kinds_are_not_confused_with_names():
    outline = Outline("F\tfunction\t1\t2\tclass")
    assert outline.has_kind("function")
    assert not outline.has_kind("class")


def place(name: str, first: int, last: int) -> EnclosingSymbol:
    return EnclosingSymbol(name=name, start_line=first, end_line=last)


DEPOT, WEIGH, INNER, SEAL, TARE = (
    place("Depot", 3, 40), place("Depot.weigh", 5, 10), place("Depot.weigh.inner", 6, 8),
    place("Depot.seal", 12, 30), place("tare", 42, 42),
)  # fmt: skip


@pytest.mark.parametrize(
    ("first", "last", "enclosing", "touched"),
    [
        (5, 10, "Depot.weigh", [INNER]),
        (9, 10, "Depot.weigh", []),
        (7, 13, "Depot", [WEIGH, SEAL]),
        (1, 60, "", [DEPOT, TARE]),
        (42, 58, "", [TARE]),
        (50, 58, "", []),
    ],
)
def test_lines_are_in_the_smallest_symbol_around_all_of_them(first, last, enclosing, touched) -> None:
    found = symbols_around([TARE, SEAL, INNER, WEIGH, DEPOT], first, last)
    assert (found.enclosing.name, list(found.touched)) == (enclosing, touched)


def test_a_local_function_is_inside_the_outermost_function_around_it() -> None:
    definitions = parse_definitions(
        [
            "T\tclass\t1\t20\tDepot",
            "F\tmethod\t2\t10\tDepot.weigh",
            "F\tfunction\t3\t8\tDepot.weigh.add",
            "F\tfunction\t4\t5\tDepot.weigh.add.one",
            "F\tmethod\t12\t14\tDepot.weigh.later",
        ]
    )
    around = {line: innermost(definitions, line) for line in (2, 5, 13)}
    outer = {line: outermost_callable(definitions, one) for line, one in around.items() if one}
    assert {line: one and one.qualified_name for line, one in outer.items()} == {
        2: None,
        5: "Depot.weigh",
        13: None,
    }
