import subprocess
import sys

from prism_runtime.stacks import STACK_SIGNAL

LOOPING = """
from prism_runtime.stacks import show_on_signal

def spin_for_ever():
    print("ready", flush=True)
    while True:
        pass

show_on_signal()
spin_for_ever()
"""


def test_a_looping_process_shows_what_it_is_doing():
    process = subprocess.Popen(
        [sys.executable, "-c", LOOPING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.send_signal(STACK_SIGNAL)
        shown = [process.stderr.readline() for _ in range(2)]
    finally:
        process.kill()
        process.communicate()
    assert "most recent call first" in shown[0]
    assert "in spin_for_ever" in shown[1]
