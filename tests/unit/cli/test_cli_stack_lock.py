import os
from pathlib import Path

from prism_cli.stack.lock import UpLock, holder


def test_only_one_process_holds_the_lock(tmp_path: Path):
    path = tmp_path / "up.lock"
    first, second = UpLock(path), UpLock(path)
    assert first.take()
    assert not second.take()
    assert holder(path) == os.getpid()
    first.release()
    assert holder(path) is None
    assert second.take()
    second.release()


def test_contents_of_the_lock_file_do_not_hold_the_lock(tmp_path: Path):
    path = tmp_path / "up.lock"
    assert holder(path) is None
    path.write_text('{"pid": 1}')
    assert holder(path) is None
    assert UpLock(path).take()


def test_holder_without_a_process_id_holds_the_lock(tmp_path: Path):
    path = tmp_path / "up.lock"
    lock = UpLock(path)
    assert lock.take()
    path.write_text("")
    assert holder(path) == 0
    lock.release()


def test_deleting_the_lock_file_does_not_free_the_folder(tmp_path: Path):
    path = tmp_path / "up.lock"
    first, second = UpLock(path), UpLock(path)
    assert first.take()
    path.unlink()
    assert not second.take()
    assert holder(path) == 0
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "supervisor.json").write_text('{"pid": 42}')
    assert holder(path) == 42
    first.release()
    assert holder(path) is None
