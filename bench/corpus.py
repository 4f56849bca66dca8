"""The corpus: source files of the installed Python, laid out in a folder, the same ones at every run.

Files come from the standard library and the packages beside it: first Python, then other code, then prose and data.
Each content is taken once. Of files over 40 KiB one in eight is taken, which brings sizes near those of repositories:
installed packages have 17 KB a file, 31 public repositories 7.4 and Apache Kafka 10.3. What is still missing is made of
Python files whose own names are renamed, so that no blob occurs twice. Where there is more than asked for, the digest of
the path chooses, so that a small corpus looks like a large one.
"""

import hashlib
import re
import sysconfig
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

FILE_BYTES_MAX = 1024 * 1024  # what ingest takes by default
LARGE_BYTES = 40 * 1024
LARGE_TAKEN = 8  # one in so many
PYTHON = "python"
VARIANT = "renamed variant"
TIERS = (
    (PYTHON, frozenset({".py"})),
    (
        "other code",
        frozenset(
            [
                ".pyi",
                ".pyx",
                ".pxd",
                ".c",
                ".h",
                ".cpp",
                ".hpp",
                ".cc",
                ".js",
                ".ts",
                ".css",
                ".html",
                ".proto",
                ".f",
                ".f90",
                ".sh",
            ]
        ),
    ),
    (
        "prose and data",
        frozenset(
            [
                ".md",
                ".rst",
                ".txt",
                ".toml",
                ".json",
                ".yaml",
                ".yml",
                ".cfg",
                ".ini",
                ".xml",
                ".csv",
                ".dectest",
            ]
        ),
    ),
)
DEFINED = re.compile(r"^\s*(?:async\s+def|def|class)\s+(\w{3,})", re.MULTILINE)
NAME = re.compile(r"\w+")
KEPT_NAME = re.compile(r"__\w+__|test\w*")


@dataclass(frozen=True)
class Source:
    """A file to copy: its source and its destination."""

    origin: Path
    path: str
    kind: str


@dataclass(frozen=True)
class Corpus:
    """The corpus on disk."""

    folder: Path
    files: int
    bytes: int
    kinds: dict[str, int]

    def paths(self, suffix: str = ".py") -> list[str]:
        """Paths relative to the folder, sorted."""
        found = self.folder.rglob(f"*{suffix}")
        return sorted(path.relative_to(self.folder).as_posix() for path in found)


def make_corpus(folder: Path, files: int) -> Corpus:
    """Lay out this many files of distinct contents."""
    kinds: Counter[str] = Counter()
    size = 0
    for path, kind, data in _contents(files):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        kinds[kind] += 1
        size += len(data)
    return Corpus(folder, kinds.total(), size, dict(kinds))


def _contents(files: int) -> Iterator[tuple[str, str, bytes]]:
    seen: set[bytes] = set()
    python: list[tuple[Source, bytes]] = []
    for source, data in _distinct(_sources(), seen):
        if len(seen) > files:
            return
        if source.kind == PYTHON:
            python.append((source, data))
        yield source.path, source.kind, data
    missing = files - len(seen)
    for number, (path, data) in enumerate(_variants(python, seen)):
        if number == missing:
            return
        yield path, VARIANT, data


def _distinct(sources: Iterable[Source], seen: set[bytes]) -> Iterator[tuple[Source, bytes]]:
    for source in sources:
        data = _text_of(source.origin)
        digest = hashlib.sha256(data).digest()
        is_taken = len(data) <= LARGE_BYTES or digest[0] % LARGE_TAKEN == 0
        if data and is_taken and digest not in seen:
            seen.add(digest)
            yield source, data


def _sources() -> Iterator[Source]:
    """Yields every candidate, tier by tier, in an order that depends on the paths only."""
    roots = _roots()
    for kind, suffixes in TIERS:
        found = [
            Source(origin, f"{name}/{origin.relative_to(root).as_posix()}", kind)
            for name, root in roots.items()
            for origin in root.rglob("*")
            if origin.suffix.lower() in suffixes and _is_wanted(origin, root)
        ]
        yield from sorted(found, key=lambda source: hashlib.sha256(source.path.encode()).digest())


def _roots() -> dict[str, Path]:
    return {"stdlib": Path(sysconfig.get_path("stdlib")), "installed": Path(sysconfig.get_path("purelib"))}


def _is_wanted(origin: Path, root: Path) -> bool:
    inside = origin.relative_to(root).parts
    return not {"site-packages", "__pycache__"}.intersection(inside) and not inside[0].startswith("prism")


def _text_of(origin: Path) -> bytes:
    """Returns the bytes of a text file within the size limit; None for others."""
    if not origin.is_file() or origin.stat().st_size > FILE_BYTES_MAX:
        return b""
    data = origin.read_bytes()
    return b"" if b"\0" in data else data


def _variants(python: list[tuple[Source, bytes]], seen: set[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yields Python files with renamed functions and classes, round after round."""
    for round_ in count(1):
        before = len(seen)
        for source, original in python:
            data = _renamed(original, f"_v{round_}")
            digest = hashlib.sha256(data).digest()
            if digest not in seen:
                seen.add(digest)
                yield f"variant{round_}/{source.path}", data
        if len(seen) == before:
            raise RuntimeError("The installed files have no names that could be changed.")


def _renamed(data: bytes, ending: str) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    own = {name for name in DEFINED.findall(text) if not KEPT_NAME.fullmatch(name)}
    renamed = NAME.sub(lambda found: found[0] + ending if found[0] in own else found[0], text)
    return renamed.encode("utf-8", "surrogateescape")
