import re

from hypothesis import given
from hypothesis import strategies as st

from prism_indexer.core import words as words_module
from prism_indexer.core.words import distinct_words
from prism_store.words import ALL_WORDS, PART_CHARS_MAX, WORD_CHARS_MAX, WORD_CHARS_MIN, lower, windows

UNICODE = st.text(st.characters(codec="utf-8"))
TIGHT = st.text("abİΣ\u017f_ .\n", max_size=300)


@given(st.lists(st.one_of(UNICODE, TIGHT), max_size=3), st.data())
def test_every_part_of_every_word_is_found(texts, data):
    words = distinct_words(texts)
    runs = [run for text in texts for run in re.findall(r"\w+", text) if len(run) >= WORD_CHARS_MIN]
    if not runs:
        assert words == []
        return
    run = data.draw(st.sampled_from(runs))
    start = data.draw(st.integers(0, len(run) - 1))
    part = lower(run[start : data.draw(st.integers(start + 1, len(run)))])[:PART_CHARS_MAX]
    assert any(part in word for word in words)


@given(st.lists(UNICODE, max_size=3))
def test_words_are_sorted_distinct_and_short(texts):
    words = distinct_words(texts)
    assert words == sorted(set(words))
    assert all(WORD_CHARS_MIN <= len(word) <= WORD_CHARS_MAX for word in words)


@given(UNICODE, UNICODE)
def test_lowering_is_character_by_character(text, other):
    assert lower(text + other) == lower(text) + lower(other)


def test_words_are_runs_of_word_characters_of_three_and_more():
    assert distinct_words(["def getUserName(id): é_ß 12", "getUserName"]) == ["def", "getusername", "é_ß"]


@given(st.integers(1, 1_000))
def test_windows_cover_a_word_and_overlap_by_half(size):
    word = "".join(chr(0x4E00 + index) for index in range(size))
    parts = windows(word)
    assert all(len(part) <= WORD_CHARS_MAX for part in parts)
    for start in range(size):
        part = word[start : start + PART_CHARS_MAX]
        assert any(part in window for window in parts)


def test_a_word_at_the_limit_is_whole_and_one_past_it_two_windows():
    assert windows("x" * WORD_CHARS_MAX) == ["x" * WORD_CHARS_MAX]
    assert list(map(len, windows("x" * (WORD_CHARS_MAX + 1)))) == [WORD_CHARS_MAX, PART_CHARS_MAX + 1]


def test_a_file_with_too_many_words_is_always_looked_at(monkeypatch):
    monkeypatch.setattr(words_module, "WORDS_MAX", 3)
    assert distinct_words(["aaa bbb ccc"]) == ["aaa", "bbb", "ccc"]
    assert distinct_words(["aaa bbb", "ccc ddd"]) == [ALL_WORDS]
    assert not re.search(r"\w", ALL_WORDS)  # no file has it as a word
