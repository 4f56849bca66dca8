import string

from hypothesis import given
from hypothesis import strategies as st

from prism_search.core.matching import Question
from prism_search.core.outline import Outline
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
def test_every_name_that_is_like_a_word_of_the_question_starts_with_one_of_its_heads(names, text):
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
def test_the_head_of_a_word_is_that_of_its_stem(word, ending):
    assert stem_head(word + ending) == head_code(stem((word + ending).lower())[:HEAD_CHARS])


def test_the_found_definitions_are_in_the_order_of_the_file_and_each_comes_once():
    outline = Outline(packed("get_user", "other", "user_getter"))
    names = [
        definition.name for definition in outline.touched(map(head_code, ("get", "use")), lambda _: True)
    ]
    assert names == ["get_user", "user_getter"]


def test_an_outline_of_nothing_finds_nothing():
    assert Outline("").touched({head_code("get")}, lambda _: True) == ()
    assert Outline("").definitions() == ()


def test_a_name_is_defined_in_full_or_not_at_all():
    outline = Outline("F\tfunction\t1\t2\tOuter.get_user\nT\tclass\t3\t9\tRoute")
    assert [name for name in ("get_user", "Route", "get", "user", "Outer") if outline.defines(name)] == [
        "get_user",
        "Route",
    ]


def test_kinds_are_told_from_names():
    outline = Outline("F\tfunction\t1\t2\tclass")
    assert outline.has_kind("function")
    assert not outline.has_kind("class")
