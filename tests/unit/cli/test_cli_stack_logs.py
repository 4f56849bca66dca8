from pathlib import Path

from prism_cli.stack.logs import rotate, tail
from prism_cli.stack.process import describe_exit


def test_large_log_is_rotated_and_its_writer_continues(tmp_path: Path):
    log = tmp_path / "x.log"
    with log.open("a") as writer:
        writer.write("0123456789")
        writer.flush()
        rotate(log, bytes_max=10)
        assert log.read_text() == "0123456789"
        writer.write("!")
        writer.flush()
        rotate(log, bytes_max=10)
        assert log.read_text() == ""
        writer.write("next")
        writer.flush()
    assert log.read_text() == "next"
    assert (tmp_path / "x.log.1").read_text() == "0123456789!"


def test_tail(tmp_path: Path):
    log = tmp_path / "x.log"
    assert tail(log, 3) == []
    log.write_bytes(b"a\nb\n\xff\n")
    assert tail(log, 2) == ["b", "\ufffd"]


def test_exit_statuses_are_described():
    assert describe_exit(3) == "exit code 3"
    assert describe_exit(-9) == "killed by SIGKILL"
    assert describe_exit(-200) == "killed by signal 200"
