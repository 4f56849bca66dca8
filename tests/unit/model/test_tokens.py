import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Library

from prism_model.tokens import TEXTS_MAX, Tokenizer, Vocabulary, split_identifiers, split_words

NAMES = ["[UNK]", *"abcdefghijklmnopqrstuvwxyz0123456789", *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxy")]
ENTRIES = [*NAMES, "status", "code", "user", "get", "##name", "=statuscode", "=getuser"]


def vocabulary(entries=ENTRIES):
    model = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 40,
        "vocab": {name: token for token, name in enumerate(entries)},
    }
    return Vocabulary.parse(json.dumps({"model": model}).encode())


def named(bags, row):
    part = slice(bags.starts[row], bags.starts[row + 1])
    return {
        ENTRIES[token]: int(count) for token, count in zip(bags.tokens[part], bags.counts[part], strict=True)
    }


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("getUserName", ["get", "user", "name"]),
        ("HTTPServer2", ["http", "server", "2"]),
        ("HTTP", ["http"]),
        ("utf8Decode", ["utf", "8", "decode"]),
        ("X", ["x"]),
    ],
)
def test_identifiers_fall_into_words(identifier, expected):
    assert split_words(identifier) == expected


def test_only_ascii_letters_and_digits_form_words():
    assert split_identifiers("parse_json(naïve, 日本x)\n\tend\x0bnow\ud800z") == [
        *(b"parse", b"json", b"na", b"ve", b"x", b"end", b"now", b"z")
    ]


def test_joined_pairs_inside_and_across_identifiers():
    bags = Tokenizer(vocabulary()).bags(
        ["statusCode", "status code", "status\n_code status", "getUser code", "status", "code"]
    )
    assert named(bags, 0) == named(bags, 1) == {"status": 1, "code": 1, "=statuscode": 1}
    assert named(bags, 2) == {"status": 2, "code": 1, "=statuscode": 1}
    assert named(bags, 3) == {"get": 1, "user": 1, "code": 1, "=getuser": 1}
    assert named(bags, 4) == {"status": 1}
    assert named(bags, 5) == {"code": 1}


def test_any_two_words_that_spell_a_joined_entry_are_one():
    bags = Tokenizer(vocabulary()).bags(["stat uscode"])
    assert named(bags, 0)["=statuscode"] == 1


def test_words_fall_into_the_longest_pieces_or_are_unknown():
    bags = Tokenizer(vocabulary()).bags(["username", "codez", "a" * 41])
    assert named(bags, 0) == {"user": 1, "##name": 1}
    assert named(bags, 1) == named(bags, 2) == {"[UNK]": 1}


def test_bags_are_sets_in_order_with_counts():
    bags = Tokenizer(vocabulary()).bags(["b a b", "", "code"])
    assert bags.starts.tolist() == [0, 2, 2, 3]
    assert [ENTRIES[token] for token in bags.tokens] == ["a", "b", "code"]
    assert bags.counts.tolist() == [1, 2, 1]


def test_the_number_of_texts_is_limited():
    tokenizer = Tokenizer(vocabulary())
    assert len(tokenizer.bags(["a"] * TEXTS_MAX).tokens) == TEXTS_MAX
    with pytest.raises(ValueError, match="at most"):
        tokenizer.bags(["a"] * (TEXTS_MAX + 1))


def test_a_vocabulary_without_joined_entries():
    bags = Tokenizer(vocabulary(NAMES)).bags(["status code"])
    assert bags.counts.sum() == len("statuscode")


@given(
    st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=45)
    | st.text("0123456789", min_size=1, max_size=45)
)
def test_pieces_are_those_of_the_tokenizers_library(shipped, word):
    ours, library = shipped
    assert list(ours.pieces(word)) == library.encode(word, add_special_tokens=False).ids


@pytest.fixture(scope="session")
def shipped(fast_folder):
    path = fast_folder / "tokenizer.json"
    return Vocabulary.parse(path.read_bytes()), Library.from_file(str(path))


def test_every_shipped_entry_is_reachable_by_the_same_id(shipped):
    ours, library = shipped
    names = library.get_vocab()
    words = [name for name in names if name.isalnum()]
    assert [ours.pieces(word) for word in words] == [(names[word],) for word in words]
    assert np.unique(list(ours.joined.values())).size == 9_000
