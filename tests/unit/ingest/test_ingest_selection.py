from datetime import UTC, datetime

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import UPLOAD, History, HistoryFile, Repository
from prism_contracts.rpc.imports import SnapshotFile
from prism_ingest.core.plan import basis_of
from prism_ingest.core.selection import EVERYTHING, Selection, folder_of
from prism_source.classify import RULES_VERSION

PATHS = ("README.md", "lib/a.py", "src/a.py", "src/gen/b.py", "src2/c.py", "src/web/d.ts")


@pytest.mark.parametrize(
    ("selection", "paths"),
    [
        (EVERYTHING, PATHS),
        (Selection("src"), ("src/a.py", "src/gen/b.py", "src/web/d.ts")),
        (Selection("src/web"), ("src/web/d.ts",)),
        (Selection(include=("*.py",)), ("lib/a.py", "src/a.py", "src/gen/b.py", "src2/c.py")),
        (Selection(include=("src/**/*.py", "*.md")), ("README.md", "src/a.py", "src/gen/b.py")),
        (Selection(exclude=("src/gen/**", "*.md")), ("lib/a.py", "src/a.py", "src2/c.py", "src/web/d.ts")),
        (Selection("src", ("*.py",), ("gen",)), ("src/a.py",)),
        (Selection(exclude=("**",)), ()),
    ],
)
def test_files_are_selected_by_folder_and_globs(selection, paths) -> None:
    files = tuple(SnapshotFile(path=path, blob="1" * 40, size_bytes=1) for path in PATHS)
    assert selection.paths(PATHS) == paths
    assert tuple(file.path for file in selection.files(files)) == paths


def test_a_history_has_the_selected_files() -> None:
    history = History(
        files=tuple(HistoryFile(path=path, last=0, commits_90_days=1, commits_12_months=1) for path in PATHS)
    )
    found = Selection("src/web").history(history)
    assert found is not None
    assert [file.path for file in found.files] == ["src/web/d.ts"]
    assert EVERYTHING.history(history) is history


def test_every_selection_has_a_version_of_its_own() -> None:
    selections = [
        EVERYTHING,
        Selection("a"),
        Selection(include=("a",)),
        Selection(exclude=("a",)),
        Selection(include=("a", "b")),
        Selection(include=("a",), exclude=("b",)),
        Selection("a", include=("b",)),
    ]
    assert len({selection.version for selection in selections}) == len(selections)


def test_the_basis_of_all_files_is_that_of_older_indexes() -> None:
    assert basis_of("1", "m", 9, EVERYTHING.version) == f"1 m 9 {RULES_VERSION}"
    assert basis_of("1", "m", 9, Selection("a").version) != basis_of("1", "m", 9)


def test_uploads_choose_their_files() -> None:
    fetched = Repository(
        tenant="t", repo="r", name="a/b", source="https://x", created_at=datetime.now(UTC), exclude=("*.md",)
    )
    assert Selection.of(fetched) == Selection(exclude=("*.md",))
    assert Selection.of(fetched.model_copy(update={"source": UPLOAD})) == EVERYTHING


@pytest.mark.parametrize(("prefix", "folder"), [("", ""), ("/", ""), ("src/", "src"), ("/a/b//", "a/b")])
def test_a_folder_has_no_slashes_at_its_ends(prefix, folder) -> None:
    assert folder_of(prefix) == folder


@pytest.mark.parametrize("prefix", ["..", "a/../b", "a//b", "a/./b", "a\x00b"])
def test_a_folder_outside_the_repository_is_refused(prefix) -> None:
    with pytest.raises(PrismError) as refused:
        folder_of(prefix)
    assert refused.value.code is ErrorCode.INVALID_PATH
