"""Matches a line in a child process, which is killed at its deadline. Called from threads."""

import json
import subprocess
import sys
import threading
import time

from prism_search.core.patterns import Pattern

# Each takes a core for seconds.
PROCESSES_MAX = 2
COMMAND = (sys.executable, "-P", "-m", "prism_search.worker")

_turns = threading.BoundedSemaphore(PROCESSES_MAX)


def match_in_process(pattern: Pattern, line: str, deadline: float) -> bool:
    """Whether the line has a match. Raises TimeoutError at the deadline (monotonic clock)."""
    if not _turns.acquire(timeout=max(0.0, deadline - time.monotonic())):
        raise TimeoutError
    try:
        asked = json.dumps(pattern.source).encode() + b"\n" + line.encode()
        left_s = deadline - time.monotonic()
        done = subprocess.run(COMMAND, input=asked, stdout=subprocess.PIPE, timeout=left_s, check=True)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError from error
    finally:
        _turns.release()
    return done.stdout.strip() == b"1"
