"""Chunk a folder of samples, and print for each its language, how it was parsed, and how many symbols it has.

`make image-test` runs it by the image's Python, on standard input. Usage: `python -P - FOLDER`. The output is a
JSON object by file name.
"""

import json
import sys
from pathlib import Path

from prism_chunker.core.file import chunk_file

GOLDEN = ".golden"


def main() -> None:
    """Print what is in the samples."""
    found = {}
    for path in sorted(Path(sys.argv[1]).iterdir()):
        if path.suffix != GOLDEN:
            parsed = chunk_file(path.name, path.read_text())
            found[path.name] = (parsed.language, parsed.parse, len(parsed.symbols))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
