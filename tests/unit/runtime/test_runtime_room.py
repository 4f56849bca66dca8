"""Room on the disk: refusals at the floor, waiting below half of it."""

import shutil

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_runtime import room
from prism_runtime.room import Room


@pytest.fixture
def free(tmp_path, monkeypatch):
    """The free space of every disk, as a list of one."""
    space = [1_000]
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(room.shutil, "disk_usage", lambda _: usage._replace(free=space[0]))
    monkeypatch.setattr(room, "KEPT_S", 0.0)
    return space


def test_writes_are_refused_below_the_floor(tmp_path, free):
    disk = Room(str(tmp_path), 100)
    disk.check()
    free[0] = 99
    with pytest.raises(PrismError) as refused:
        disk.check()
    assert refused.value.code is ErrorCode.DISK_FULL
    assert refused.value.body.details == {"free_bytes": 99, "needed_bytes": 100}
    free[0] = 100
    disk.check()


def test_running_work_may_use_half_of_the_floor(tmp_path, free):
    disk = Room(str(tmp_path), 100)
    free[0] = 50
    assert disk.is_short()
    assert not disk.is_critical()
    free[0] = 49
    assert disk.is_critical()


def test_without_a_folder_writes_are_allowed(free):
    free[0] = 0
    disk = Room("", 100)
    disk.check()
    assert not disk.is_critical()
