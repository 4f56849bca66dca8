import json
import subprocess
import sys
from pathlib import Path

import pytest

from prism_cli.stack.forkserver import LOADED, REFUSED, Order

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="services are forked on Linux only")

NOBODY = 2**22 + 1  # above the highest process id of Linux


def forked(supervisor: int, order: Order) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "prism_cli.stack.forkserver", str(supervisor), order.module],
        input=json.dumps(order) + "\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_fork_without_the_supervisor_as_parent_runs_nothing(tmp_path: Path):
    log = tmp_path / "log"
    done = forked(NOBODY, Order("this", {}, str(tmp_path), str(log)))
    assert [int(line) for line in done.stdout.split()] == [LOADED, REFUSED]
    assert not log.exists()


def test_service_that_cannot_fork_is_refused(tmp_path: Path):
    """In its own process, which becomes the parent of the forks."""
    code = (
        "import os, pathlib, sys, time\n"
        "from prism_cli.stack.forks import Forks, Order\n"
        "forks, errors = Forks(), pathlib.Path(sys.argv[1])\n"
        "forks.begin(['this'], os.environ, errors)\n"
        "while forks.is_loading(): time.sleep(0.01)\n"
        "print(forks.start(Order('this', {}, '/no/such/folder', '/no/such/log')))\n"
        "os.wait()\n"
    )
    errors = tmp_path / "errors"
    done = subprocess.run(
        [sys.executable, "-c", code, errors], capture_output=True, text=True, check=True, timeout=15
    )
    assert done.stdout == "None\n"
    assert "FileNotFoundError" in errors.read_text()


def test_slow_load_is_awaited_and_a_hung_one_is_not(tmp_path: Path):
    """A module that computes for longer than a still one may, and one that sleeps forever."""
    (tmp_path / "computes.py").write_text(
        "import time\nends = time.process_time() + 1\nwhile time.process_time() < ends: pass\n"
    )
    (tmp_path / "sleeps.py").write_text("import time\ntime.sleep(60)\n")
    code = (
        "import os, pathlib, sys, time\n"
        "from prism_cli.stack import forks\n"
        "forks.STILL_SECONDS_MAX = 0.5\n"
        "for module in ('computes', 'sleeps'):\n"
        "    one = forks.Forks()\n"
        "    one.begin([module], os.environ | {'PYTHONPATH': sys.argv[1]}, pathlib.Path(os.devnull))\n"
        "    while one.is_loading(): time.sleep(0.01)\n"
        "    print(module, one.pid is not None)\n"
        "    one.end()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True, timeout=55
    )
    assert done.stdout == "computes True\nsleeps False\n"


def test_unloadable_module_ends_the_fork_server(tmp_path: Path):
    done = forked(NOBODY, Order("prism_cli.nothing", {}, str(tmp_path), str(tmp_path / "log")))
    assert done.returncode == 1
    assert "No module named 'prism_cli.nothing'" in done.stderr
