"""Tests the verdict whether code for an intent exists already."""

from dataclasses import replace

import pytest

from prism_chunker.core import chunk_file
from prism_contracts.rpc.guidance import Verdict
from prism_search.core.existing import CodeFile, PlannedCode, find_existing, read_intent
from prism_search.core.matching import Question
from prism_search.core.query import parse_query
from prism_search.core.word_places import WordChunk, word_places

LABELS = '''"""Labels of parcels."""


def parse_label_header(text: str, separator: str) -> dict:
    """Parse the header of a label into fields."""
    return {}


def _parse_label_footer(text):
    return None


def print_label(label):
    """Send a label to the printer."""


LABEL_HEADER = "x"
'''


def asked(text: str, files: list[CodeFile], limit: int = 5):
    intent = read_intent(text)
    query = parse_query(intent.words)
    return find_existing(Question(query, dict.fromkeys(query.stems, 1.0)), intent, files, limit)


def code(key: str, text: str, flags: str = "", near=()) -> CodeFile:
    return CodeFile(key, flags, chunk_file(f"{key}.py", text).symbols, near, [(1, text)])


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("def parse(text: str, limit: int = 3) -> dict", "parse", {"text", "limit"}),
        ("async def parse(self, text)", "parse", {"text"}),
        ("func (d *Depot) Weigh(parcel Parcel, exact bool) (int, error)", "Weigh", {"parcel", "exact"}),
        ("public static Rate parse(final String text, int limit)", "parse", {"text", "limit"}),
        ("fn weigh<'a>(parcel: &'a Parcel) -> u32", "weigh", {"parcel"}),
        ("parse()", "parse", set()),
    ],
)
def test_signature_is_read_as_name_and_parameters(text, name, parameters) -> None:
    intent = read_intent(text)
    assert intent.words.split()[0] == name
    assert intent.parameters == parameters


@pytest.mark.parametrize(
    "text",
    [
        "weigh a parcel (again)",
        "call weigh() for each parcel that came in today",
        "a parcel is weighed by weigh()",
    ],
)
def test_words_are_not_read_as_a_signature(text) -> None:
    assert read_intent(text) == PlannedCode(text, frozenset())


def test_matching_name_and_docstring_are_likely() -> None:
    (best, *_) = asked("parse the header of a label", [code("labels", LABELS, near=[(4, 6, 0.6)])])
    assert (best.symbol.name, best.verdict) == ("parse_label_header", Verdict.LIKELY)
    assert best.reasons == ("name: header, label, pars", "similar meaning (0.60)")


def test_partial_match_is_maybe_even_if_near() -> None:
    files = [code("labels", LABELS, near=[(4, 6, 0.9)])]
    (best, *_) = asked("parse label header quickly backwards in three colours", files)
    assert (best.symbol.name, best.verdict) == ("parse_label_header", Verdict.MAYBE)
    assert best.score > 0.45


def test_shared_parameters_are_a_reason() -> None:
    (best, *_) = asked("def parse_label_header(text, separator)", [code("labels", LABELS)])
    assert "parameters: separator, text" in best.reasons


def test_nearness_alone_is_no_evidence() -> None:
    assert asked("weigh elephants", [code("labels", LABELS, near=[(1, 20, 0.9)])]) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def print_parcel_label_of_depot(label)", "print_label"),
        ("header fields quickly backwards", "parse_label_header"),
    ],
)
def test_words_of_a_name_or_a_first_sentence_are_worth_a_look_in_tests_too(text, name) -> None:
    (best, *_) = asked(text, [code("labels", LABELS, flags="t")])
    assert (best.symbol.name, best.verdict) == (name, Verdict.MAYBE)


def test_weak_matches_have_no_verdict() -> None:
    found = asked("print invoices for elephants in three colours", [code("labels", LABELS)])
    assert [(one.symbol.name, one.verdict) for one in found] == [("print_label", Verdict.NONE)]


SHELF = '''
def store_parcel(parcel):
    """Put a parcel where it belongs.

    Finds the shelf that has most room left. Raises an error if all of them are full! Whoever carries it
    has to be strong.

    :param parcel: weighed twice before it comes here
    """
    # Ask the clerk for the key of the room.
    return rooms.key(parcel)


def _tidy(x):
    """Sort parcels by weight and size."""
'''


@pytest.mark.parametrize(
    "intent",
    [
        "put a parcel where it belongs",
        "Finds the shelf that has most room left.",
        "finds the shelf that has most room left, raises an error if all of them are full",
        "ask the clerk for the key of the room",
    ],
)
def test_fully_matching_sentences_are_likely(intent) -> None:
    best = asked(intent, [code("shelf", SHELF)])[0]
    assert (best.symbol.name, best.verdict) == ("store_parcel", Verdict.LIKELY)


def test_part_of_a_long_sentence_is_no_verdict() -> None:
    (best, *_) = asked("find the shelf with fewest books of poems", [code("shelf", SHELF)])
    assert (best.symbol.name, best.verdict) == ("store_parcel", Verdict.NONE)


def test_code_that_only_uses_the_intent_is_no_match() -> None:
    using = "def close_shop(shop):\n    sweep_floor_of_shop(shop)\n    return sweep(floor=shop)\n"
    assert all(one.verdict is Verdict.NONE for one in asked("sweep the floor", [code("shop", using)]))


@pytest.mark.parametrize(
    ("flags", "verdict"), [("", Verdict.LIKELY), ("t", Verdict.MAYBE), ("g", Verdict.MAYBE)]
)
def test_docstring_match_is_likely_except_in_tests(flags, verdict) -> None:
    best = asked("sort parcels by weight and size", [code("shelf", SHELF, flags)])[0]
    assert (best.symbol.name, best.verdict) == ("_tidy", verdict)
    assert "docstring or signature: parcel, size, sort, weight" in best.reasons


@pytest.mark.parametrize("flags", ["t", "g", "v"])
def test_code_ranks_above_tests_and_generated_files(flags) -> None:
    files = [code("a", LABELS, flags), code("b", LABELS)]
    assert asked("parse label header", files)[0].key == "b"


def test_exported_symbols_rank_above_private_ones() -> None:
    text = "def _weigh_parcel(p): ...\n"
    files = [code("a", text), code("b", text.replace("_weigh", "weigh"))]
    assert [one.symbol.name for one in asked("weigh parcel", files)] == ["weigh_parcel", "_weigh_parcel"]


def test_values_are_left_out_and_names_listed_once() -> None:
    found = asked("parse label header", [code("a", LABELS), code("b", LABELS)])
    assert [one.symbol.name for one in found] == ["parse_label_header", "_parse_label_footer"]


def test_limit_is_respected() -> None:
    assert len(asked("parse label header", [code("a", LABELS)], limit=1)) == 1


CODECS = '''class Codec:
    """Codec implements the encoder and the decoder for YAML encoding."""

    def encode(self, values):
        """Encode values as YAML."""
'''


@pytest.mark.parametrize(
    ("rarest", "text", "verdict"),
    [
        ("ini", "codec that encodes and decodes INI", Verdict.MAYBE),
        ("yaml", "codec that encodes and decodes YAML", Verdict.LIKELY),
        ("codec", "codec that encodes and decodes INI", Verdict.LIKELY),  # INI is a common word there
    ],
)
def test_definition_without_the_rarest_word_of_the_intent_does_not_probably_do_it(
    rarest: str, text: str, verdict: Verdict
) -> None:
    query = parse_query(text)
    question = Question(query, dict.fromkeys(query.stems, 2.0) | {rarest: 3.0})
    near = [(1, 5, 0.65)]
    found = find_existing(question, read_intent(text), [code("codec", CODECS, near=near)], 5)
    assert found[0].symbol.name == "Codec"
    assert found[0].verdict is verdict
    assert ("nothing of: ini" in found[0].reasons) == (verdict is Verdict.MAYBE)


@pytest.mark.parametrize(
    ("flags", "path", "aside"),
    [
        ("t", "tests/helpers.py", "in tests"),
        ("", "docs/examples/labels.py", "in examples"),
        ("", "src/labels.py", ""),
    ],
)
def test_copy_in_tests_or_examples_is_named_as_one(flags, path, aside) -> None:
    file = replace(code("labels", LABELS, flags), path=path)
    found = asked("parse the header of a label into fields", [file])
    assert found[0].symbol.name == "parse_label_header"
    assert found[0].aside == aside
    assert found[0].verdict is not Verdict.NONE


def test_lines_of_several_repositories_are_places_of_their_own() -> None:
    chunks = [
        WordChunk(repo, "labels.py", "", 1, "def label(): ...", {1}) for repo in ("acme/app", "acme/web")
    ]
    found = word_places("label", [*chunks, chunks[0]])
    assert [(one.repo, one.line) for one in found] == [("acme/app", 1), ("acme/web", 1)]
