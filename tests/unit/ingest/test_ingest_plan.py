from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.base import Lane, generation, text_version
from prism_contracts.code import SkipReason
from prism_contracts.records import Job, LayerState
from prism_contracts.rpc.files import ManifestEntry
from prism_contracts.rpc.imports import SnapshotFile
from prism_ingest.core.plan import (
    LIVE_FILES_MAX,
    Plan,
    basis_of,
    known_commit,
    lane_of,
    make_plan,
    plan_changes,
)
from prism_source.classify import classify_path

CHUNKER, MODEL = "1", "m"
OLD, NEW = "1" * 40, "2" * 40


def file(path: str, blob: str = OLD, skipped: SkipReason | None = None) -> SnapshotFile:
    return SnapshotFile(path=path, blob=blob, size_bytes=1, skipped=skipped)


def indexed(path: str, blob: str = OLD, status: str = "indexed") -> ManifestEntry:
    address = generation(blob, CHUNKER, MODEL) if status == "indexed" else ""
    return ManifestEntry(path=path, blob=blob, generation=address, status=status)


def plan(files, index, chunker: str = CHUNKER, model: str = MODEL) -> Plan:
    return make_plan(files, index, chunker, model)


def test_secret_files_are_needed_once_not_withheld():
    files, index = [file("a")], [indexed("a", status="skipped").model_copy(update={"reason": "secret_file"})]
    assert plan(files, index).still_skipped == 1
    assert make_plan(files, index, CHUNKER, MODEL, withholds=False).needed == (0,)


def test_a_forced_plan_needs_every_file_and_removes_the_others():
    files = [file("a"), file("b", skipped=SkipReason.BINARY)]
    index = [indexed("a"), indexed("b", status="skipped"), indexed("c")]
    assert plan(files, index) == Plan((), (), ("c",), 1, 1)
    forced = make_plan(files, index, CHUNKER, MODEL, is_forced=True)
    assert forced == Plan((0,), (1,), ("c",), 0, 0)


def test_new_redaction_rules_need_every_file_again():
    files, index = [file("a")], [indexed("a")]
    assert plan(files, index, text_version(CHUNKER, "2")).needed == (0,)


@pytest.mark.parametrize(
    ("path", "flags", "needed"),
    [
        ("test-a/a.py", "", (0,)),
        ("test-a/a.py", "t", ()),
        ("src/a.py", "t", (0,)),
        ("src/a.py", "g", ()),  # its text says that it is generated
        ("test-a/a.py", "gmt", ()),
        ("test-a/a.py", None, ()),
    ],
)
def test_a_file_whose_path_has_another_role_is_needed_again(path, flags, needed):
    index = [indexed(path).model_copy(update={"flags": flags})]
    files = [file(path).model_copy(update={"flags": classify_path(path)})]
    assert plan(files, index).needed == needed


def test_other_rules_for_paths_need_a_comparison_of_all_files(monkeypatch):
    before = basis_of("1", "m", 9)
    monkeypatch.setattr("prism_ingest.core.plan.RULES_VERSION", "next")
    assert basis_of("1", "m", 9) != before


def test_an_empty_index_needs_every_file():
    got = plan([file("a"), file("b", skipped=SkipReason.BINARY), file("c")], [])
    assert got == Plan(needed=(0, 2), skipped=(1,), removed=(), unchanged=0, still_skipped=0, added=(0, 1, 2))
    assert got.expected == 3


def test_an_unchanged_snapshot_needs_nothing():
    got = plan(
        [file("a"), file("b", skipped=SkipReason.BINARY)], [indexed("a"), indexed("b", status="skipped")]
    )
    assert got == Plan(needed=(), skipped=(), removed=(), unchanged=1, still_skipped=1)
    assert got.expected == 0


def test_changed_files_are_needed_and_missing_ones_removed():
    got = plan([file("a", NEW), file("b")], [indexed("a"), indexed("b"), indexed("z"), indexed("d")])
    assert got == Plan(
        needed=(0,), skipped=(), removed=("d", "z"), unchanged=1, still_skipped=0, changed=(0,)
    )


@pytest.mark.parametrize(("chunker", "model"), [("2", MODEL), (CHUNKER, "n")])
def test_a_new_chunker_or_model_needs_every_file_again(chunker, model):
    files, index = [file("a"), file("b")], [indexed("a"), indexed("b")]
    assert plan(files, index, chunker, model).needed == (0, 1)
    skipped = plan([file("c", skipped=SkipReason.BINARY)], [indexed("c", status="skipped")], chunker, model)
    assert skipped.expected == 0


@pytest.mark.parametrize("status", ["failed", "removed"])
def test_a_failed_or_removed_file_is_needed_again(status):
    assert plan([file("a")], [indexed("a", status=status)]).needed == (0,)


@pytest.mark.parametrize("status", ["indexed", "skipped", "failed"])
def test_a_missing_file_is_removed_whatever_its_status(status):
    assert plan([], [indexed("a", status=status)]).removed == ("a",)


def test_a_tombstone_is_not_removed_again():
    assert plan([], [indexed("a", status="removed")]).expected == 0


def test_a_file_skipped_for_its_content_is_not_needed_again():
    entry = indexed("a", status="skipped")
    assert plan([file("a")], [entry]) == Plan((), (), (), 0, 1)
    assert plan([file("a", NEW)], [entry]).needed == (0,)


def test_a_file_that_becomes_unsearchable_is_skipped():
    got = plan([file("a", skipped=SkipReason.TOO_LARGE)], [indexed("a")])
    assert (got.skipped, got.removed, got.expected) == ((0,), (), 1)


paths = st.sampled_from("abcdef")
blobs = st.sampled_from([OLD, NEW])
snapshots = st.lists(
    st.builds(file, paths, blobs, st.sampled_from([None, SkipReason.BINARY])),
    unique_by=lambda f: f.path,
)
indexes = st.lists(
    st.builds(indexed, paths, blobs, st.sampled_from(["indexed", "skipped", "failed", "removed"])),
    unique_by=lambda entry: entry.path,
)


@given(snapshots, indexes)
def test_every_file_is_planned_once(files, index):
    got = plan(files, index)
    assert len(got.needed) + len(got.skipped) + got.unchanged + got.still_skipped == len(files)
    assert not set(got.needed) & set(got.skipped)
    present = {f.path for f in files}
    assert set(got.removed) == {e.path for e in index if e.status != "removed"} - present


@given(snapshots, indexes)
def test_a_completed_plan_leaves_nothing_to_do(files, index):
    got = plan(files, index)
    after = {entry.path: entry for entry in index if entry.path not in got.removed}
    for position in got.needed:
        after[files[position].path] = indexed(files[position].path, files[position].blob)
    for position in got.skipped:
        after[files[position].path] = indexed(files[position].path, files[position].blob, "skipped")
    assert plan(files, after.values()).expected == 0


SERVED = LayerState(
    commit="c", version=7, job="j", indexed_at=datetime(2026, 1, 1, tzinfo=UTC), basis=basis_of("1", "m", 9)
)


def next_job(version: int = 8):
    return Job.model_construct(version=version)


@pytest.mark.parametrize(
    ("served", "version", "basis", "commit"),
    [
        (SERVED, 8, SERVED.basis, "c"),
        (None, 8, SERVED.basis, ""),
        (SERVED.model_copy(update={"basis": ""}), 8, SERVED.basis, ""),
        (SERVED, 9, SERVED.basis, ""),  # an import began in between, and may have written
        (SERVED, 8, basis_of("2", "m", 9), ""),
        (SERVED, 8, basis_of("1", "n", 9), ""),
        (SERVED, 8, basis_of("1", "m", 8), ""),
    ],
)
def test_a_diff_is_enough_only_against_an_exact_commit(served, version, basis, commit) -> None:
    assert known_commit(served, next_job(version), basis) == commit


def test_a_plan_of_changes_needs_changed_files_only() -> None:
    files = (
        SnapshotFile(path="a.py", blob=OLD, size_bytes=1),
        SnapshotFile(path="b.png", blob=NEW, size_bytes=1, skipped=SkipReason.BINARY),
    )
    changes = plan_changes(files, ["gone.py"])
    assert (changes.needed, changes.skipped, changes.removed, changes.expected) == (
        (0,),
        (1,),
        ("gone.py",),
        3,
    )


@pytest.mark.parametrize(("files", "lane"), [(LIVE_FILES_MAX, Lane.LIVE), (LIVE_FILES_MAX + 1, Lane.BULK)])
def test_a_large_push_goes_to_the_bulk_lane(files, lane) -> None:
    changes = plan_changes((), [f"{number}.py" for number in range(files)])
    assert lane_of(Lane.LIVE, changes) is lane
    assert lane_of(Lane.BULK, changes) is Lane.BULK
