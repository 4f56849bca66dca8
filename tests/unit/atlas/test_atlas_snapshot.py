"""A snapshot survives a round trip through its mapped file; other files are refused."""

import pytest
from atlas_files import graph_of

from prism_atlas.core.columns import columns_of, read_columns, write_columns
from prism_atlas.core.report import ArchitectureReport
from prism_atlas.core.snapshot import GraphSnapshot

FILES = {"depot.py": "def close(): ...\n", "größe.py": "from depot import close\n\nclose()\n"}


@pytest.mark.parametrize("files", [FILES, {}], ids=["files", "nothing"])
def test_snapshot_survives_a_round_trip_through_its_file(files, tmp_path):
    snapshot = GraphSnapshot.of(graph_of(files))
    snapshot.write(tmp_path / "snapshot")
    read = GraphSnapshot.read(tmp_path / "snapshot")
    assert read.read_report() == ArchitectureReport.of(snapshot.analysis)
    again = columns_of(read)
    for name, column in columns_of(snapshot).items():
        assert again[name].tolist() == column.tolist(), name
        assert again[name].dtype == column.dtype
        assert not again[name].flags.writeable
    assert [path.name for path in tmp_path.iterdir()] == ["snapshot"]


def test_mapped_snapshot_outlives_its_file(tmp_path):
    GraphSnapshot.of(graph_of(FILES)).write(tmp_path / "snapshot")
    snapshot = GraphSnapshot.read(tmp_path / "snapshot")
    (tmp_path / "snapshot").unlink()
    assert [snapshot.graph.path(file) for file in range(2)] == sorted(FILES)


def test_truncated_file_or_other_format_is_refused(tmp_path):
    path = tmp_path / "snapshot"
    GraphSnapshot.of(graph_of(FILES)).write(path)
    whole = path.read_bytes()
    for length in (4, 100, len(whole) - 64):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"short|header|buffer"):
            GraphSnapshot.read(path)
    write_columns(path, "of old", {})
    with pytest.raises(ValueError, match="of old"):
        GraphSnapshot.read(path)
    assert read_columns(path, "of old") == {}
