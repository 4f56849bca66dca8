import os
import subprocess
from pathlib import Path

import pytest

from prism_cli.stack import launch
from prism_cli.stack.daemon import EXIT_CRASHED
from prism_cli.stack.launch import GUARD, GUARD_MARKER

KILLED = 137
START_FAILED = 7
ALREADY_RUNNING = 3
LOOK_S = 10
# Ends with the next code of the list; records its report target and the inherited guard marker. `hang`: sleeps for
# 60 s; `work`: touches its state file for longer than the guard waits, then exits with 0.
SUPERVISOR = f"""
read code < codes
tail -n +2 codes > rest; mv rest codes
echo "$1 ${{{GUARD_MARKER}:-unmarked}}" >> lives
[ $code = hang ] && exec /bin/sleep 60
for second in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    [ $code = work ] && touch -d @$second run/supervisor.json && /bin/sleep 0.05
done
[ $code = work ] && exit 0
exit $code
"""
# Looks are frequent, and pauses are recorded.
SLEEP = f"""#!/bin/sh
[ "$1" = {LOOK_S} ] && exec /bin/sleep 0.05
echo "$1" >> pauses
"""


def guarded(folder: Path, *codes: int | str, is_up: bool = True) -> tuple[list[str], list[str], int]:
    """Run a guard over a supervisor that ends with these codes. Returns the lives, the pauses, the guard's
    exit code.
    """
    (folder / "codes").write_text("".join(f"{code}\n" for code in codes))
    (folder / "supervisor").write_text(SUPERVISOR)
    fakes = folder / "bin"
    fakes.mkdir()
    (fakes / "sleep").write_text(SLEEP)
    (fakes / "sleep").chmod(0o700)
    (folder / "run").mkdir()
    (folder / "run" / "supervisor.json").touch()
    if is_up:
        (folder / "up.json").touch()
    done = subprocess.run(
        ["sh", GUARD, "sh", "supervisor"],
        cwd=folder,
        env={"PATH": f"{fakes}:{os.environ['PATH']}", GUARD_MARKER: str(folder)},
        capture_output=True,
        check=False,
        timeout=20,
    )
    return _lines(folder / "lives"), _lines(folder / "pauses"), done.returncode


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_stopped_supervisor_is_not_restarted(tmp_path: Path):
    assert guarded(tmp_path, 0) == (["1 unmarked"], [], 0)


def test_a_killed_supervisor_restarts_with_pauses(tmp_path: Path):
    lives, pauses, code = guarded(tmp_path, KILLED, KILLED, START_FAILED, 0)
    assert lives == ["1 unmarked", "- unmarked", "- unmarked", "- unmarked"]
    assert pauses == ["1", "2", "4"]
    assert code == 0


def test_the_pauses_have_a_limit(tmp_path: Path):
    assert guarded(tmp_path, *[KILLED] * 8, 0)[1][-2:] == ["60", "60"]


def test_a_crash_after_the_start_is_repaired(tmp_path: Path):
    assert len(guarded(tmp_path, EXIT_CRASHED, 0, is_up=False)[0]) == 2


def test_a_hung_supervisor_is_killed(tmp_path: Path):
    lives, pauses, code = guarded(tmp_path, "hang", "hang", 0)
    assert (len(lives), pauses, code) == (3, ["1", "2"], 0)


def test_a_working_supervisor_is_not_restarted(tmp_path: Path):
    assert guarded(tmp_path, "work", "hang") == (["1 unmarked"], [], 0)


@pytest.mark.parametrize("code", [START_FAILED, KILLED])
def test_a_first_start_that_fails_is_not_repeated(tmp_path: Path, code: int):
    lives, _, ended = guarded(tmp_path, code, 0, is_up=False)
    assert (len(lives), ended) == (1, code)


def test_a_stack_that_runs_already_ends_the_guard(tmp_path: Path):
    assert len(guarded(tmp_path, KILLED, ALREADY_RUNNING, 0)[0]) == 2


def test_the_guard_is_part_of_the_package():
    assert GUARD.parent == Path(launch.__file__).parent
    assert GUARD.exists()
