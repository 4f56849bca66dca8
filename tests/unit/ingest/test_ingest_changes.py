"""What an import changed, as it is stored and listed by file."""

from datetime import UTC, datetime, timedelta

import pytest

from prism_contracts.base import Lane
from prism_contracts.code import FileStatus
from prism_contracts.names import MESSAGE_BYTES_MAX
from prism_contracts.records import UNCOMMITTED, Job, JobState
from prism_contracts.rpc.files import ManifestEntry
from prism_contracts.rpc.imports import SnapshotFile
from prism_contracts.types import PATH_CHARS_MAX
from prism_ingest.core import changes
from prism_ingest.core.changes import by_file, entries_of
from prism_ingest.core.plan import make_plan, plan_changes

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OLD, NEW = "a" * 40, "b" * 40
EURO = "\u20ac"  # three bytes


def job(**fields) -> Job:
    values = {
        "job": "j",
        "tenant": "t",
        "repo": "r",
        "repo_name": "acme/app",
        "lane": Lane.BULK,
        "version": 3,
    }
    values |= {"state": JobState.COMPLETE, "commit": "c", "created_at": NOW, "updated_at": NOW}
    return Job(**values | fields)


def file(path: str, blob: str = NEW, **fields) -> SnapshotFile:
    return SnapshotFile(path=path, blob=blob, size_bytes=1, **fields)


def indexed(path: str, blob: str, status: FileStatus = FileStatus.INDEXED) -> ManifestEntry:
    return ManifestEntry(path=path, blob=blob, generation="g", status=status)


@pytest.mark.parametrize("is_forced", [False, True])
def test_a_plan_knows_which_files_are_new_or_have_other_content(is_forced) -> None:
    files = (file("a.py"), file("b.py"), file("c.py", OLD), file("d.py"), file("e.bin", skipped="binary"))
    index = (
        indexed("b.py", OLD), indexed("c.py", OLD), indexed("d.py", OLD, FileStatus.REMOVED),
        indexed("e.bin", OLD, FileStatus.SKIPPED), indexed("f.py", OLD),
    )  # fmt: skip
    plan = make_plan(files, index, "chunker", "model", is_forced=is_forced)
    assert [files[position].path for position in plan.added] == ["a.py", "d.py"]
    assert [files[position].path for position in plan.changed] == ["b.py", "e.bin"]
    assert plan.removed == ("f.py",)


def test_a_plan_of_changes_compares_with_what_is_known() -> None:
    files = (file("a.py"), file("b.py"), file("c.py", OLD))
    plan = plan_changes(files, ("d.py",), {"b.py": "", "c.py": OLD})
    assert (plan.added, plan.changed, plan.needed) == ((0,), (1,), (0, 1, 2))
    unknown = plan_changes(files, ())
    assert (unknown.added, unknown.changed) == ((), (0, 1, 2))


def test_an_import_with_edits_is_of_no_commit() -> None:
    (entry,) = entries_of(
        job(dirty=True, finished_at=NOW + timedelta(1)), added=["b"], changed=["c"], removed=["a"]
    )
    assert (entry.commit, entry.at, entry.total) == (UNCOMMITTED, NOW + timedelta(1), 3)
    assert (entry.added, entry.changed, entry.removed) == (("b",), ("c",), ("a",))
    assert entries_of(job(), added=[], changed=[], removed=[]) == []


def test_a_large_import_has_several_entries_and_then_only_a_count(monkeypatch) -> None:
    monkeypatch.setattr(changes, "FILES_PER_ENTRY", 10)
    monkeypatch.setattr(changes, "ENTRIES_MAX", 3)
    paths = [f"{number:03}" for number in range(45)]
    entries = entries_of(job(), added=paths[:20], changed=paths[20:], removed=[])
    assert [len(one.added) + len(one.changed) for one in entries] == [10, 10, 10]
    assert {one.total for one in entries} == {45}
    assert [one.path for entry in entries for one in by_file(entry, "", None)] == paths[:30]


def test_an_entry_fits_a_message_whatever_its_paths() -> None:
    paths = [f"{number:05}{EURO * (PATH_CHARS_MAX - 5)}" for number in range(500)]
    for entry in entries_of(job(), added=paths, changed=[], removed=[]):
        assert len(entry.model_dump_json().encode()) < MESSAGE_BYTES_MAX


@pytest.mark.parametrize(
    ("path", "since", "found"),
    [
        ("", None, ["lib/a.py", "src/a.py", "src/b.py"]),
        ("src", None, ["src/a.py", "src/b.py"]),
        ("src/", NOW, ["src/a.py", "src/b.py"]),
        ("src/a.py", NOW.replace(tzinfo=None), ["src/a.py"]),
        ("sr", None, []),
        ("", NOW + timedelta(seconds=1), []),
    ],
)
def test_a_path_is_a_file_or_a_folder(path, since, found) -> None:
    (entry,) = entries_of(job(), added=["src/b.py"], changed=["src/a.py"], removed=["lib/a.py"])
    assert [one.path for one in by_file(entry, path, since)] == found
