import re
import string

from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.token_secrets import digest_of, is_mistyped, new_secret, token_id

LETTERS = string.ascii_letters + string.digits


def test_a_secret_has_the_form_that_scanners_match():
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    assert all(re.fullmatch(r"prism_[0-9A-Za-z]{38}", secret) for secret in made)


@given(position=st.integers(6, 43), letter=st.sampled_from(LETTERS))
def test_one_wrong_letter_is_a_typo(position: int, letter: str):
    secret = new_secret()
    typed = secret[:position] + letter + secret[position + 1 :]
    assert is_mistyped(typed) is (typed != secret)


def test_the_checksum_is_stable():
    assert not is_mistyped("prism_000000000000000000000000000000002wjyrI")
    assert is_mistyped("prism_000000000000000000000000000000002wjyrJ")


@given(st.text(max_size=60))
def test_secrets_of_older_releases_are_no_typos(text: str):
    assert not is_mistyped(f"prism_{text}-")
    assert not is_mistyped("prism_" + "a" * 43)


def test_an_id_is_the_beginning_of_the_digest():
    assert digest_of("prism_x").startswith("d92c65b3935f")
    assert token_id("0123456789abcdef") == "0123456789ab"
    assert len(digest_of("\ud800")) == 64
