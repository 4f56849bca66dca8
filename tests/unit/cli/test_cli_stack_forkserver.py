import json
import subprocess
import sys
from pathlib import Path

import pytest

from prism_cli.stack.forkserver import REFUSED, Order

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
    assert int(done.stdout) == REFUSED
    assert not log.exists()


def test_service_that_cannot_fork_is_refused(tmp_path: Path):
    """In its own process, which becomes the parent of the forks."""
    code = (
        "import os, pathlib, sys\n"
        "from prism_cli.stack.forks import Forks, Order\n"
        "forks, errors = Forks(), pathlib.Path(sys.argv[1])\n"
        "forks.begin(['this'], os.environ, errors)\n"
        "print(forks.start(Order('this', {}, '/no/such/folder', '/no/such/log')))\n"
        "os.wait()\n"
    )
    errors = tmp_path / "errors"
    done = subprocess.run(
        [sys.executable, "-c", code, errors], capture_output=True, text=True, check=True, timeout=15
    )
    assert done.stdout == "None\n"
    assert "FileNotFoundError" in errors.read_text()


def test_unloadable_module_ends_the_fork_server(tmp_path: Path):
    done = forked(NOBODY, Order("prism_cli.nothing", {}, str(tmp_path), str(tmp_path / "log")))
    assert done.returncode == 1
    assert "No module named 'prism_cli.nothing'" in done.stderr
