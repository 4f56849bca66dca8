"""Start-up of a child process that runs in the background of a latency-sensitive service."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_NICENESS = 19


def step_back() -> None:
    """Lower the priority of this process."""
    os.nice(_NICENESS)


def end_with_parent() -> None:
    """Have the kernel kill this process when its parent dies. Linux only; elsewhere a no-op."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
