"""How often Python looks for cycles in a process that is busy with messages."""

import gc

THRESHOLD_OBJECTS = 50_000


def collect_rarely() -> None:
    """Messages are trees of fresh objects without cycles: the collector would look at each of them several times."""
    gc.freeze()
    gc.set_threshold(THRESHOLD_OBJECTS)
