"""Turns the contents that a job needs into file events."""

from collections.abc import Iterator, Mapping
from functools import partial

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileEvent
from prism_ingest.core.contents import failed, file_event
from prism_ingest.core.edits import flags_of
from prism_ingest.operations.planning import Opened
from prism_source.limits import SourceLimits
from prism_source.snapshot import Snapshot

# These errors on reading a file that the tree names mean that the mirror is damaged.
DAMAGE = frozenset({ErrorCode.FILE_NOT_FOUND, ErrorCode.SOURCE_UNREADABLE})


def snapshot_events(opened: Opened, snapshot: Snapshot, limits: SourceLimits) -> Iterator[FileEvent]:
    """Yields one event per needed file of a snapshot. Raises a PrismError if the mirror is damaged."""
    # A plan from before a restart may have listed the files in another order, so they are matched by path.
    positions = {file.path: position for position, file in enumerate(snapshot.files)}
    for ordinal in opened.needed:
        file = opened.plan.files[ordinal]
        position = positions[file.path]
        try:
            data = snapshot.read(position)
        except PrismError as error:
            if error.code in DAMAGE:
                raise
            yield failed(opened.job, ordinal, file, error.code.value, error.body.message)
        else:
            flags = partial(snapshot.flags, position)
            yield file_event(opened.job, ordinal, file, data, limits=limits, flags_of=flags)


def edit_events(opened: Opened, contents: Mapping[str, bytes], limits: SourceLimits) -> Iterator[FileEvent]:
    """Yields one event per needed file of an edit, given the contents by path."""
    for ordinal in opened.needed:
        file = opened.plan.files[ordinal]
        data = contents[file.path]
        yield file_event(opened.job, ordinal, file, data, limits=limits, flags_of=flags_of(file))
