"""Lists every redaction of a folder with its rule, to be judged by eye: `make redaction-check DIR=...`.

The list shows the secrets themselves. It goes to the terminal and nowhere else.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from prism_source.limits import FILE_BYTES_MAX
from prism_source.secrets import redact
from prism_source.text import decode, skip_reason

LINE_CHARS_MAX = 160


def main(folder: Path) -> None:
    """Print one line for each redacted line, and the counts."""
    files, redacted, rules = 0, 0, Counter[str]()
    for path, text in _texts(folder):
        files += 1
        found = redact(text)
        redacted += bool(found.rules)
        rules.update(found.rules)
        for line in _changes(text, found.text):
            print(f"{path.relative_to(folder)}:{line}")
    print(f"{files:,} text files, {redacted} with redactions; files by rule: {dict(rules)}")


def _texts(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        data = path.read_bytes() if path.stat().st_size <= FILE_BYTES_MAX else b"\0"
        if ".git" not in path.parts and skip_reason(len(data), data) is None:
            yield path, decode(data).text


def _changes(before: str, after: str) -> Iterator[str]:
    pairs = zip(before.split("\n"), after.split("\n"), strict=True)
    for number, (old, new) in enumerate(pairs, 1):
        if "[REDACTED:" in new and old != new:
            yield f"{number}: {old.strip()[:LINE_CHARS_MAX]}\n    -> {new.strip()[:LINE_CHARS_MAX]}"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
