from pathlib import Path

from prism_cli.stack.logs import WINDOW_BYTES, LogFile, rotate, tail
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


def test_the_last_lines_continue_in_the_rotated_part(tmp_path: Path):
    log = tmp_path / "x.log"
    (tmp_path / "x.log.1").write_text("a\nb\nc\n")
    log.write_text("d\ne\n")
    assert LogFile(log).last(1) == ["e"]
    assert LogFile(log).last(4) == ["b", "c", "d", "e"]
    assert LogFile(log).last(9) == ["a", "b", "c", "d", "e"]
    assert LogFile(log).last(0) == []


def test_the_last_lines_of_a_large_log_are_whole(tmp_path: Path):
    log = tmp_path / "x.log"
    lines = [f"{number} {'é' * 50}" for number in range(3000)]
    log.write_text("\n".join(lines) + "\n")
    assert log.stat().st_size > WINDOW_BYTES
    for count in (1, 500, 2000, 3000, 4000):
        assert LogFile(log).last(count) == lines[-count:]


def test_new_lines_are_complete_and_survive_a_rotation(tmp_path: Path):
    log = tmp_path / "x.log"
    log.write_text("old\n")
    reader = LogFile(log)
    with log.open("a") as writer:

        def write(text: str) -> None:
            writer.write(text)
            writer.flush()

        write("one\ntw")
        assert reader.appended() == ["one"]
        write("o\n")
        write("three\n")
        rotate(log, bytes_max=1)
        write("4\n")
        assert reader.appended() == ["two", "three", "4"]
        rotate(log, bytes_max=1)
        assert reader.appended() == []
        write("5\n")
        assert reader.appended() == ["5"]


def test_a_log_that_is_missing_has_no_lines(tmp_path: Path):
    reader = LogFile(tmp_path / "x.log")
    assert (reader.last(5), reader.appended()) == ([], [])
    (tmp_path / "x.log").write_text("first\n")
    assert reader.appended() == ["first"]
