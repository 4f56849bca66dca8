"""`child.py PARENT_PID PROGRAM ARGUMENT…`: become PROGRAM, tied to the life of the parent.

Run by its path with `python -I -S`, so that it costs 20 ms and imports nothing of Prism. On Linux the kernel
kills the program when the parent dies, even by SIGKILL (the setting survives exec). Elsewhere the next
`prism up` finds and ends what was left. See prctl(2), PR_SET_PDEATHSIG: it is tied to the parent's *thread*,
so children are only started from the main thread.
"""

import os
import signal
import sys

PR_SET_PDEATHSIG = 1
EXIT_ORPHANED = 71
ARGUMENTS_MIN = 3


def main(arguments: list[str]) -> None:
    """Tie this process to its parent, and replace it with the program."""
    if len(arguments) < ARGUMENTS_MIN:
        sys.exit(__doc__)
    tie_to_parent(int(arguments[1]))
    os.execv(arguments[2], arguments[2:])  # noqa: S606 - a program given by the supervisor, without a shell


def tie_to_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent dies."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have died before the kernel knew.
    if os.getppid() != parent:
        os._exit(EXIT_ORPHANED)


if __name__ == "__main__":
    main(sys.argv)
