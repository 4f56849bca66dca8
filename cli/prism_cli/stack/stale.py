"""What an earlier supervisor left behind, when it was killed where the kernel does not clean up after it."""

from prism_cli.stack import machine
from prism_cli.stack.layout import DataDir
from prism_cli.stack.specs import MARKER


def clean(data: DataDir) -> list[int]:
    """End what is left of a stack on this data folder, remove the files that spoke of it, and say what was ended.

    A process id in a file may be somebody else's by now, so the proof is the mark in the environment that a
    supervisor gave. Only for the holder of the lock: else these are the processes of a running stack.
    """
    found = machine.processes_with(MARKER, str(data.root))
    machine.kill(found)
    for path in (*data.run.glob("*.json"), *data.run.glob("*.ports"), *data.run.glob("*.partial")):
        path.unlink(missing_ok=True)
    data.up_file.unlink(missing_ok=True)
    return found
