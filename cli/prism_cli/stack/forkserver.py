"""`forkserver.py SUPERVISOR_PID MODULE…`: loads the common modules of the services once, and forks each
service.

A service with its own Python spends a second to read modules from disk and holds some 90 MB of them; forks
share most of these pages. The first line of the output is `LOADED`. Orders arrive on standard input as JSON
lines (see `Order`). Each answer is a line with the process id of the service, or `REFUSED`. A service is
forked twice, so that it becomes a child of the supervisor, to which the kernel assigns orphans (prctl(2),
PR_SET_CHILD_SUBREAPER).

Linux only: elsewhere a process that has loaded much cannot fork safely. No module may start a thread when it
is loaded.
"""

import gc
import importlib
import json
import os
import runpy
import sys
import time
from typing import NamedTuple

from setproctitle import getproctitle, setproctitle, setthreadtitle

from prism_cli.stack.child import EXIT_ORPHANED, tie_to_parent

ADOPTED_SECONDS_MAX = 2.0
ADOPTED_TICK_S = 0.001
FORKSERVER_NAME = "prism_forks"
# Instead of a process id: this order cannot be forked here.
REFUSED = 0
# The first answer: all modules are loaded.
LOADED = -1


class Order(NamedTuple):
    """A service to start: `python -m MODULE` with its own environment, folder and log."""

    module: str
    env: dict[str, str]
    folder: str
    log: str


def main(arguments: list[str]) -> None:
    """Load the modules, and serve orders until standard input ends."""
    supervisor, modules = int(arguments[1]), arguments[2:]
    answers = os.dup(1)
    os.dup2(2, 1)  # the output of a module that prints when it is loaded is not an answer
    gc.disable()
    for module in modules:
        importlib.import_module(module)
    _find_command_line()
    # Loaded modules stay: no collection writes to their pages, which would end the sharing.
    gc.collect()
    gc.freeze()
    setthreadtitle(FORKSERVER_NAME)
    os.write(answers, b"%d\n" % LOADED)
    while order := _read():
        if _is_service(supervisor, answers):
            _become(order, answers)
            return


def _find_command_line() -> None:
    """Let setproctitle find the memory of the command line while the environment is the first one: it looks
    before that, and each service replaces it.
    """
    # Otherwise it overwrites the environment in /proc, by which processes that were left behind are recognized.
    os.environ["SPT_NOENV"] = "1"
    getproctitle()


def _read() -> Order | None:
    """Returns the next order, None at the end of the input."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)  # exactly this much: nothing stays in a buffer that a fork would inherit
        if not byte:
            return None
        line += byte
    return Order(*json.loads(line))


def _is_service(supervisor: int, answers: int) -> bool:
    """Fork. Returns true in the new process, once it is a child of the supervisor."""
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
    """Run the module as a program, after releasing what it inherited from the fork server."""
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
    _show_command_line(order.module)
    sys.argv = [order.module]
    # As `python -m` does: as `__main__`, over the loaded modules.
    del sys.modules[order.module]
    runpy.run_module(order.module, run_name="__main__", alter_sys=True)


def _show_command_line(module: str) -> None:
    """Show the command line of a process that was started on its own in `ps`, and its module in `top`."""
    setproctitle(f"{sys.executable} -P -m {module}")
    setthreadtitle(module.removesuffix(".main"))


if __name__ == "__main__":
    main(sys.argv)
