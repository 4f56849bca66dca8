"""Processes that a killed supervisor left behind, where the kernel does not end them."""

from prism_cli.stack import machine
from prism_cli.stack.layout import DataDir
from prism_cli.stack.specs import MARKER


def clean(data: DataDir) -> list[int]:
    """End the remaining processes of a stack on this data folder, remove their files, and return what was
    ended.

    The process id in a file may belong to another program by now, so only the mark in the environment proves
    that a supervisor started it. For the holder of the lock only: otherwise these are the processes of a
    running stack.
    """
    found = machine.processes_with(MARKER, str(data.root))
    machine.kill(found)
    for path in (*data.run.glob("*.json"), *data.run.glob("*.ports"), *data.run.glob("*.partial")):
        path.unlink(missing_ok=True)
    data.up_file.unlink(missing_ok=True)
    return found
