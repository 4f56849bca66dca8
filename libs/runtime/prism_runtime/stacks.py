"""What the threads of a process are doing, written to standard error on a signal. The supervisor sends it to a process that hangs."""

import faulthandler
import signal

STACK_SIGNAL = signal.SIGUSR2


def show_on_signal() -> None:
    """Write the stacks of all threads when asked to, even while native code holds the interpreter."""
    faulthandler.register(STACK_SIGNAL, all_threads=True)
