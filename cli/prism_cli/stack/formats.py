"""The format of a data folder, checked before anything starts, so that no service misreads data of another
version.

`format.json` in the data folder holds two versions: `format` covers the folder and the records in NATS,
`layout` the points in the store. The embedder checks the third version, the model of the vectors.
"""

import re
import time
from collections.abc import Iterator
from pathlib import Path

from prism_cli.exits import CommandError
from prism_cli.stack.layout import DataDir, read_json, write_json
from prism_cli.stack.lock import UpLock

FORMAT = 1
LAYOUT = 3  # of prism_store.schema, which takes too long to import; a test compares the two
MARKER = "format.json"
SET_ASIDE = "set-aside"

_COLLECTION = re.compile(r"prism_[a-z0-9-]+_[0-9a-f]+_(?P<layout>[0-9]+)")


def check(data: DataDir) -> None:
    """Accept and mark the folder, or raise CommandError `data_dir_newer`, `data_dir_outdated`,
    `data_dir_unusable`.

    A folder without a mark is new or predates marks: its collections show the version of its index.
    """
    marker = data.root / MARKER
    mark = read_json(marker)
    if mark is None and marker.exists():
        raise CommandError(
            f"{marker} cannot be read.",
            "Restore it from a backup, or delete it. Prism then checks the collections.",
            code="data_dir_unusable",
        )
    if mark is not None and mark.get("format") != FORMAT:
        raise CommandError(
            f"{data.root} was written by a newer version of Prism (format {mark.get('format')}; this one reads {FORMAT}).",
            "Install that version, or choose another folder with --data-dir.",
            code="data_dir_newer",
        )
    others = sorted(set(_layouts(data)) - {LAYOUT})
    if others:
        raise CommandError(
            f"The index in {data.root} was built by another version of Prism (layout {others[0]}; this one reads {LAYOUT}).",
            "Run `prism up --rebuild`. It moves the index aside and rebuilds it; repositories, secrets and tokens are kept. "
            "To keep the index as it is, install the version that built it.",
            code="data_dir_outdated",
        )
    write_json(marker, {"format": FORMAT, "layout": LAYOUT})


def set_index_aside(data: DataDir) -> Path | None:
    """Move the collections of a stopped stack aside. Returns their new path, None if there are none.

    Raises CommandError if the stack runs.
    """
    lock = UpLock(data.lock_file)
    if not lock.take():
        raise CommandError(
            f"Prism runs on {data.root}.", "Stop it with `prism down` first.", code="already_running"
        )
    try:
        if not any(_layouts(data)):
            return None
        target = data.root / SET_ASIDE / f"qdrant-{time.strftime('%Y%m%dT%H%M%S')}"
        target.parent.mkdir(exist_ok=True)
        return data.qdrant.rename(target)
    finally:
        lock.release()


def _layouts(data: DataDir) -> Iterator[int]:
    """Returns the layout in the name of each collection, from the state file and the folders."""
    collections = data.qdrant / "collections"
    known = (read_json(data.qdrant / "state.json") or {}).get("collections", {})
    folders = collections.iterdir() if collections.is_dir() else ()
    for name in {*known, *(folder.name for folder in folders)}:
        if found := _COLLECTION.fullmatch(name):
            yield int(found["layout"])
