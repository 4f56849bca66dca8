"""Package archives -> pairs of (description, code), and a manifest of the files read and their licences.

Reads the folder that fetch.py filled. In packages whose licence is not permissive only that licence is read;
packages and folders of the benchmark's repositories are not read at all.
"""

import argparse
import gzip
import hashlib
import json
import random
import re
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, TextIO

from archives import Package, packages
from extract import Pair, pairs
from languages import EXTENSIONS, LANGUAGE_PAIRS_MAX, PACKAGE_PAIRS_MAX, PACKAGE_PAIRS_MAX_DEFAULT
from licences import is_evaluation_package, is_permissive

# Bytes of source read per package; more for packages with rare languages.
PACKAGE_BYTES_MAX = 80_000_000
RARE_PACKAGE_BYTES_MAX = 400_000_000
RARE_PACKAGES = frozenset(
    {"kotlin", "scala", "elixir-lang", "mono", "opentk", "lottie-ios", "neovim", "swiftlang"}
)
FILE_LINES_MIN = 8
LINE_CHARS_MEAN_MAX = 150
CODE_CHARS_MIN = 60
SAME_DESCRIPTION_MAX = 2
WEAK_SHARE_MAX = 0.35
WEAK_PAIRS_FREE = 500  # weak pairs that a language may always have
_CPP_HEADER = re.compile(r"^\s*(class \w|namespace \w|template\s*<)", re.MULTILINE)

Row = dict[str, Any]


class Collector:
    """The pairs so far: no duplicates, and limits per language and package."""

    def __init__(self) -> None:
        self.documented: Counter[str] = Counter()  # pairs by language
        self.weak: Counter[str] = Counter()
        self._files: set[bytes] = set()
        self._descriptions: Counter[bytes] = Counter()
        self._codes: set[bytes] = set()
        self._rng = random.Random(0)

    def read(self, package: Package, rows: list[Row]) -> None:
        """Adds the package's pairs to `rows`, until a limit is reached or its licence turns out not to be permissive."""
        taken: Counter[str] = Counter()
        size = 0
        size_max = RARE_PACKAGE_BYTES_MAX if package.name in RARE_PACKAGES else PACKAGE_BYTES_MAX
        for path, data in package.sources():
            size += len(data)
            if size > size_max or (package.licence and not is_permissive(package.licence)):
                return
            for language, pair in self._file(path, data, taken):
                rows.append(_row(language, pair, package))

    def give_back(self, rows: list[Row]) -> None:
        """Removes pairs from the counts again."""
        for row in rows:
            (self.weak if row["k"] == "weak" else self.documented)[row["lang"]] -= 1

    def _file(self, path: str, data: bytes, taken: Counter[str]) -> Iterator[tuple[str, Pair]]:
        language = EXTENSIONS[PurePosixPath(path).suffix]
        package_max = PACKAGE_PAIRS_MAX.get(language, PACKAGE_PAIRS_MAX_DEFAULT)
        if taken[language] >= package_max or self.documented[language] >= LANGUAGE_PAIRS_MAX:
            return
        digest = hashlib.md5(data).digest()
        if digest in self._files:
            return
        self._files.add(digest)
        text = data.decode("utf-8", "replace").replace("\r", "")
        breaks = text.count("\n")
        if breaks < FILE_LINES_MIN or len(text) / (breaks + 1) > LINE_CHARS_MEAN_MAX:
            return
        if language == "c" and path.endswith(".h") and _CPP_HEADER.search(text):
            language = "cpp"
        for pair in pairs(language, path, text, self._rng):
            if self._is_new(language, pair):
                taken[language] += pair.kind == "doc"
                yield language, pair

    def _is_new(self, language: str, pair: Pair) -> bool:
        description = hashlib.md5(pair.description.lower().encode()).digest()
        code = hashlib.md5(re.sub(r"\W+", "", pair.code)[:600].encode()).digest()
        if self._descriptions[description] >= SAME_DESCRIPTION_MAX or code in self._codes:
            return False
        weak_max = WEAK_SHARE_MAX * self.documented[language] + WEAK_PAIRS_FREE
        if len(pair.code) < CODE_CHARS_MIN or (pair.kind == "weak" and self.weak[language] > weak_max):
            return False
        self._descriptions[description] += 1
        self._codes.add(code)
        (self.weak if pair.kind == "weak" else self.documented)[language] += 1
        return True


def build(root: Path, out: TextIO, manifest: TextIO) -> Collector:
    """Reads every package under `root`, writes pairs as JSON lines and one manifest line per package."""
    collector = Collector()
    manifest.write("source\tpackage\tversion\tlicence\tpairs\tused\n")
    for package in _in_order(root):
        if is_evaluation_package(package.name):
            _note(manifest, package, 0, "no: evaluation repository")
            continue
        rows: list[Row] = []
        try:
            collector.read(package, rows)
        except Exception as error:  # noqa: BLE001 -- a broken archive must not end a run of many minutes
            print("error", package.name, type(error).__name__, error, flush=True)
        if not is_permissive(package.licence):
            collector.give_back(rows)
            _note(manifest, package, 0, "no: licence")
        elif rows:
            out.writelines(json.dumps(row) + "\n" for row in rows)
            _note(manifest, package, len(rows), "yes")
    return collector


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archives", type=Path, help="the folder that fetch.py filled")
    parser.add_argument("pairs", type=Path, help="output, .jsonl.gz")
    parser.add_argument("manifest", type=Path, help="output, .tsv")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # warnings of ast about string escapes in the source
    start = time.monotonic()
    with gzip.open(options.pairs, "wt", compresslevel=3) as out, options.manifest.open("w") as manifest:
        collector = build(options.archives, out, manifest)
    print(
        f"{time.monotonic() - start:.0f} s, pairs with a doc comment: {dict(collector.documented.most_common())}"
    )
    print(f"weak pairs: {dict(collector.weak.most_common())}")


def _in_order(root: Path) -> list[Package]:
    """Shuffles packages, so that a language's limit is not used up alphabetically; rare languages first."""
    found = list(packages(root))
    random.Random(1).shuffle(found)
    return sorted(found, key=lambda package: package.name not in RARE_PACKAGES)


def _row(language: str, pair: Pair, package: Package) -> Row:
    return {
        "k": pair.kind,
        "lang": language,
        "pkg": f"{package.kind}:{package.name}",
        "path": pair.path,
        "name": pair.name,
        "q": pair.description,
        "code": pair.code,
        "win": int(pair.is_window),
    }


def _note(manifest: TextIO, package: Package, count: int, used: str) -> None:
    fields = (package.kind, package.name, package.version, package.licence, str(count), used)
    manifest.write("\t".join(fields) + "\n")


if __name__ == "__main__":
    main()
