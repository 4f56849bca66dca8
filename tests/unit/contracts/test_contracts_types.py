"""Valid names, commits and texts of a caller."""

import pytest
from pydantic import TypeAdapter, ValidationError

from prism_contracts import types
from prism_contracts.errors import SHOWN_CHARS_MAX, ErrorCode, PrismError, invalid_argument, shown

HOSTILE = ["\x1b[31m", "a\nb", "a\x00b", "a\u009bb", "\ud800", "a b", "*", ">", "a*b", "a>b"]


def holds(kind: object, value: str) -> bool:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    "name", ["a", "acme/app", "org/.github", "group/sub/app", "a.b/c-d_e+f", "ümlaut/näme", "a/b.", "~me/x@2"]
)
def test_a_repository_may_have_a_plain_name(name) -> None:
    assert holds(types.RepoName, name)


@pytest.mark.parametrize(
    "name",
    [*HOSTILE, "", "/a", "a/", "a//b", "..", "a/..", "../a", "a..b", ".", "a/./b", "a\\b", "a:b", " a"],
)
def test_a_repository_may_have_no_other_name(name) -> None:
    assert not holds(types.RepoName, name)


@pytest.mark.parametrize("commit", ["a" * 40, "0" * 64, "4f7c2b9", "tree:" + "f" * 64])
def test_a_commit_is_an_object_id(commit) -> None:
    assert holds(types.CommitId, commit)


@pytest.mark.parametrize("commit", [*HOSTILE, "", "main", "a" * 65, "tree:", "A" * 40, "a" * 40 + "\n"])
def test_nothing_else_is_a_commit(commit) -> None:
    assert not holds(types.CommitId, commit)


@pytest.mark.parametrize("ref", ["", "main", "feature/ü", "v1.0", "pull/12", "refs/heads/main", "a@b"])
def test_a_ref_is_what_git_allows(ref) -> None:
    assert holds(types.RefName, ref)


@pytest.mark.parametrize("ref", ["a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "a\x7fb", "\ud800"])
def test_nothing_else_is_a_ref(ref) -> None:
    assert not holds(types.RefName, ref)


@pytest.mark.parametrize("blob", ["", "a" * 40, "0" * 64])
def test_a_blob_is_a_hash_or_none(blob) -> None:
    assert holds(types.BlobHash, blob)


@pytest.mark.parametrize("blob", ["zz", "a" * 39, "a" * 41, "A" * 40])
def test_nothing_else_is_a_blob(blob) -> None:
    assert not holds(types.BlobHash, blob)


@pytest.mark.parametrize(
    ("kind", "chars_max"),
    [
        (types.RepoName, types.REPO_CHARS_MAX),
        (types.RepoKey, types.REPO_CHARS_MAX),
        (types.RefName, types.REF_CHARS_MAX),
        (types.FilePath, types.PATH_CHARS_MAX),
        (types.Glob, types.GLOB_CHARS_MAX),
        (types.Query, types.QUERY_CHARS_MAX),
        (types.Pattern, types.PATTERN_CHARS_MAX),
        (types.SymbolName, types.SYMBOL_CHARS_MAX),
        (types.Cursor, types.CURSOR_CHARS_MAX),
        (types.JobId, types.ID_CHARS_MAX),
        (types.Language, types.LANGUAGE_CHARS_MAX),
    ],
)
def test_a_text_is_limited(kind, chars_max) -> None:
    assert holds(kind, "a" * chars_max)
    assert not holds(kind, "a" * (chars_max + 1))


@pytest.mark.parametrize("number", [-1, types.COUNT_MAX + 1])
def test_a_count_has_a_range(number) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(types.Count).validate_python(number)


def body_of(kind: object, value: object):
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(dict[str, kind]).validate_python({"name": value})
    return invalid_argument(caught.value.errors(), "Correct it.")


def test_an_error_describes_a_valid_name() -> None:
    body = body_of(types.RepoName, "a/../b")
    assert body.code is ErrorCode.INVALID_ARGUMENT
    assert body.message == "name: should be owner/name, of letters, digits and . _ - + @ ~, without `..`"
    assert body.details == {"fields": ["name"]}


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("query", ErrorCode.QUERY_TOO_LONG),
        ("pattern", ErrorCode.QUERY_TOO_LONG),
        ("cursor", ErrorCode.INVALID_CURSOR),
        ("path", ErrorCode.INVALID_PATH),
        ("diff", ErrorCode.PAYLOAD_TOO_LARGE),
        ("symbol", ErrorCode.INVALID_ARGUMENT),
    ],
)
def test_a_text_that_is_too_long_has_a_code(field, code) -> None:
    problem = {"loc": (field,), "type": "string_too_long", "msg": "is too long"}
    assert invalid_argument([problem], "").code is code
    assert invalid_argument([problem, {**problem, "loc": ("x",)}], "").code is ErrorCode.INVALID_ARGUMENT


def test_an_error_names_no_field_that_is_long_or_unprintable() -> None:
    problem = {"loc": ("x\x1b" * 9_999,), "type": "extra_forbidden", "msg": ""}
    body = invalid_argument([problem] * 99, "")
    assert len(body.message) < 1_000
    assert "\x1b" not in body.model_dump_json()


def test_an_error_quotes_the_head_of_a_text() -> None:
    assert shown("a" * SHOWN_CHARS_MAX) == "a" * SHOWN_CHARS_MAX
    assert shown("a" * (SHOWN_CHARS_MAX + 1)) == "a" * SHOWN_CHARS_MAX + "…"
    assert shown("a\x1b[31mb\ud800") == "a [31mb "


def test_no_error_carries_control_characters() -> None:
    assert PrismError(ErrorCode.INTERNAL, "a\x1b[31m\nb").body.message == "a [31m b"
