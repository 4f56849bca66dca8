"""Valid paths, and valid display forms of invalid ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.limits import PATH_BYTES_MAX
from prism_source.paths import decode_path, path_problem, validate_path


@pytest.mark.parametrize(
    "path",
    [
        "a",
        "src/main.py",
        ".github/workflows/ci.yml",
        "with space/a b.py",
        "ünïcode/日本.py",
        "a..b/...c",
        "dev-disk-by\\x2dlabel.swap",
        "aa:b/c",
        "ab:c",
        "x" * PATH_BYTES_MAX,
    ],
)
def test_valid_paths_are_unchanged(path):
    assert validate_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "\\etc",
        "C:/windows",
        "c:x",
        "..",
        "a/../b",
        "a\\..\\b",
        "a/..\\b",
        "./a",
        "a/./b",
        "a//b",
        "a/",
        "a\0b",
        "a\nb",
        "a\x85b",
        "a\ud800b",
        "x" * (PATH_BYTES_MAX + 1),
        "é" * (PATH_BYTES_MAX // 2 + 1),
    ],
)
def test_invalid_paths_are_refused_with_a_next_action(path):
    with pytest.raises(PrismError) as caught:
        validate_path(path)
    assert caught.value.code is ErrorCode.INVALID_PATH
    assert caught.value.body.next_action
    caught.value.body.model_dump_json()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"caf\xe9.txt", "caf\\xe9.txt"),
        (b"a\nb", "a\\x0ab"),
        (b"ok/file", "ok/file"),
    ],
)
def test_names_that_are_not_valid_are_shown_escaped(raw, shown):
    assert decode_path(raw)[0] == shown


@given(st.binary(max_size=60))
def test_any_name_is_shown_as_a_valid_path(raw):
    shown, problem = decode_path(raw)
    assert path_problem(shown) == ""
    assert problem or shown.encode() == raw
