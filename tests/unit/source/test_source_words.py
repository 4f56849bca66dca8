"""Parts of identifiers, and words that a question is not about."""

import pytest

from prism_source.words import PART, STOP_WORDS


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("read_file", ["read", "file"]),
        ("readFile", ["read", "File"]),
        ("HTTPServer2", ["HTTP", "Server", "2"]),
        ("XMLHttpRequest", ["XML", "Http", "Request"]),
    ],
)
def test_identifiers_are_split_at_humps_digits_and_underscores(name: str, parts: list[str]) -> None:
    assert PART.findall(name) == parts


def test_a_question_keeps_what_it_is_about() -> None:
    words = ["how", "does", "the", "cache", "get", "its", "files", "from", "the", "store"]
    assert [word for word in words if word not in STOP_WORDS] == ["cache", "files", "store"]
