"""`forkserver.py SUPERVISOR_PID MODULE…`: loads what the services have in common once, and forks each of them from that.

A service of its own Python reads a second of modules from disk and holds some 90 MB of them; forked ones share most of
these pages. Orders come on standard input as JSON lines (see `Order`); what is answered is the process id of the service, or
`REFUSED`, a line each. A service is forked twice over, so that it becomes the child of the supervisor, which the kernel hands
orphans to (prctl(2), PR_SET_CHILD_SUBREAPER).

Only where a fork of a process that has loaded much is safe: on Linux. No module may start a thread when it is loaded.
"""

import ctypes
import gc
import importlib
import json
import os
import runpy
import sys
import time
from pathlib import Path
from typing import NamedTuple

from prism_cli.stack.child import EXIT_ORPHANED, tie_to_parent

ADOPTED_SECONDS_MAX = 2.0
ADOPTED_TICK_S = 0.001
COMM_BYTES_MAX = 15
# In the place of a process id: what was ordered cannot be forked here.
REFUSED = 0


class Order(NamedTuple):
    """A service to be started: `python -m MODULE` with an environment, a folder and a log of its own."""

    module: str
    env: dict[str, str]
    folder: str
    log: str


def main(arguments: list[str]) -> None:
    """Load, and start what is ordered, until nobody orders any more."""
    supervisor, modules = int(arguments[1]), arguments[2:]
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever a module prints when it is loaded is no answer
    gc.disable()
    for module in modules:
        importlib.import_module(module)
    # What is loaded stays: no collection writes to its pages, which would end their being shared.
    gc.collect()
    gc.freeze()
    while order := _read():
        if _is_service(supervisor, answers):
            _become(order, answers)
            return


def _read() -> Order | None:
    """The next order, None if nobody orders any more."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)  # no more than this: nothing is held back that a fork would have too
        if not byte:
            return None
        line += byte
    return Order(*json.loads(line))


def _is_service(supervisor: int, answers: int) -> bool:
    """Fork; true in the new process, when it is a child of the supervisor."""
    between = os.fork()
    if between:
        _, status = os.waitpid(between, 0)
        if status:
            _refuse(answers)
        return False
    try:
        is_between = bool(os.fork())
    except OSError:
        os._exit(EXIT_ORPHANED)
    if is_between:
        os._exit(0)
    ends = time.monotonic() + ADOPTED_SECONDS_MAX
    while os.getppid() != supervisor:
        if time.monotonic() > ends:
            _refuse(answers)
            os._exit(EXIT_ORPHANED)
        time.sleep(ADOPTED_TICK_S)
    tie_to_parent(supervisor)
    return True


def _refuse(answers: int) -> None:
    os.write(answers, b"%d\n" % REFUSED)


def _become(order: Order, answers: int) -> None:
    """Run the module as a program. What it inherited from the fork server is let go of first."""
    try:
        os.setsid()
        os.chdir(order.folder)
        log = os.open(order.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError:
        _refuse(answers)
        raise
    os.environ.clear()
    os.environ.update(order.env)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.write(answers, b"%d\n" % os.getpid())
    for handle in (nothing, log, answers):
        os.close(handle)
    gc.enable()
    _call_itself(order.module)
    sys.argv = [order.module]
    # As `python -m` would: under the name of the program, over the modules that are loaded.
    del sys.modules[order.module]
    runpy.run_module(order.module, run_name="__main__", alter_sys=True)


def _call_itself(module: str) -> None:
    """Be called what it would be called if it had been started by itself: by `ps`, and in 15 bytes by `top`."""
    Path("/proc/self/comm").write_text(module.removesuffix(".main")[:COMM_BYTES_MAX])
    # Where the kernel reads the command line of a process from, see proc(5).
    begin, end = map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[45:47])
    argv = b"\0".join(map(os.fsencode, (sys.executable, "-P", "-m", module)))
    if len(argv) < end - begin:
        ctypes.memmove(begin, argv.ljust(end - begin, b"\0"), end - begin)


if __name__ == "__main__":
    main(sys.argv)
