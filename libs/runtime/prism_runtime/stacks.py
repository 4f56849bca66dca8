"""Writes the stacks of all threads to standard error on a signal, which the supervisor sends to a hung
process.
"""

import faulthandler
import signal

STACK_SIGNAL = signal.SIGUSR2


def show_on_signal() -> None:
    """Write the stacks of all threads on the signal, even while native code holds the interpreter lock."""
    faulthandler.register(STACK_SIGNAL, all_threads=True)
