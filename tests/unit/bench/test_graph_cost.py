"""The processor time of a graph, on a folder of two files."""

import json

from bench.graph_cost import main


def test_times_of_a_folder_are_printed(tmp_path, capsys):
    (tmp_path / "Depot.java").write_text("class Depot { void open() {} }\n")
    (tmp_path / "Town.java").write_text("class Town { void go(Depot depot) { depot.open(); } }\n")
    main(["--once", "--extensions", ".java", "--", str(tmp_path)])
    times = json.loads(capsys.readouterr().out)
    assert times["parse"] > 0
    assert times["resolve"] > 0
