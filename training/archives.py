"""Package archives in, source files with the package's licence out. Nothing is installed and no package code
runs.

Reads four folders, as fetch.py fills them: deb/*.deb, src/*.tar.* (Debian source packages), pypi/*.whl,
npm/*.tgz.
"""

import email.parser
import json
import re
import subprocess
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from languages import EXTENSIONS
from licences import is_evaluation_path, licence_of_debian_copyright, licence_of_text

SOURCE_BYTES_MIN = 400
SOURCE_BYTES_MAX = 400_000
_LICENCE_BYTES_READ = 20_000
_LICENCE_CHARS_MAX = 60
_SKIP = re.compile(
    r"(^|/)(tests?|testing|testdata|specs?|__tests__|vendor|_vendor|vendored|node_modules|third[_-]?party|3rdparty|fixtures?|"
    r"examples?|samples?|benchmarks?|locale|i18n|generated|\.git|debian)(/|$)|\.min\.|"
    r"(_pb2|\.pb|_test|\.test|\.spec|_spec|zz_generated[\w.]*)\.\w+$|bundle",
    re.IGNORECASE,
)
_NPM_FILE = re.compile(r"(.+)-(\d+\.\d+.*)\.tgz$")


@dataclass
class Package:
    """One package. `licence` is known after its files were read (for wheels and Debian sources: before the
    first).
    """

    kind: str  # deb, src, pypi, npm
    name: str
    version: str
    archives: list[Path]
    licence: str = field(default="", init=False)

    def sources(self) -> Iterator[tuple[str, bytes]]:
        """Yields path and bytes of each source file worth reading."""
        for archive in self.archives:
            if self.kind == "pypi":
                yield from self._wheel(archive)
            elif self.kind == "deb":
                yield from self._deb(archive)
            else:
                with tarfile.open(archive, mode="r|*") as members:
                    yield from self._tar(members)

    def _wheel(self, archive: Path) -> Iterator[tuple[str, bytes]]:
        with zipfile.ZipFile(archive) as wheel:
            for entry in wheel.infolist():
                if entry.filename.endswith(".dist-info/METADATA"):
                    self.licence = _licence_of_metadata(wheel.read(entry).decode("utf-8", "replace"))
            for entry in wheel.infolist():
                if _is_wanted(entry.filename, entry.file_size):
                    yield entry.filename, wheel.read(entry)

    def _deb(self, archive: Path) -> Iterator[tuple[str, bytes]]:
        command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            try:
                with tarfile.open(fileobj=process.stdout, mode="r|") as members:
                    yield from self._tar(members)
            finally:
                process.kill()

    def _tar(self, members: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
        for member in members:
            if not member.isfile():
                continue
            name = member.name.lstrip("./")
            if self._is_about_licence(name):
                self._read_licence(name, _read(members, member))
            elif _is_wanted(name, member.size):
                yield name, _read(members, member)

    def _is_about_licence(self, name: str) -> bool:
        return (
            _is_debian_copyright(name)
            or name == "package/package.json"
            or (_is_licence_text(name) and not self.licence)
        )

    def _read_licence(self, name: str, data: bytes) -> None:
        if _is_debian_copyright(name):
            self.licence = licence_of_debian_copyright(data.decode("utf-8", "replace")) or self.licence
        elif name == "package/package.json":
            described = json.loads(data)
            self.version = described.get("version", "") or self.version
            self.licence = _licence_of_json(described.get("license", ""))
        else:
            self.licence = licence_of_text(data[:_LICENCE_BYTES_READ].decode("utf-8", "replace"))


def packages(root: Path) -> Iterator[Package]:
    """Returns all packages under a folder that fetch.py filled, in a fixed order."""
    for path in sorted((root / "deb").glob("*.deb")):
        name, version, *_ = path.name.split("_")
        yield Package("deb", name, version, [path])
    yield from _source_packages(root / "src")
    for path in sorted((root / "pypi").glob("*.whl")):
        name, version, *_ = path.name.split("-")
        yield Package("pypi", name, version, [path])
    for path in sorted((root / "npm").glob("*.tgz")):
        if match := _NPM_FILE.match(path.name):
            yield Package("npm", match.group(1), match.group(2), [path])


def _source_packages(folder: Path) -> Iterator[Package]:
    parts = defaultdict(list)
    for path in sorted(folder.glob("*.tar.*")):
        if path.suffix != ".asc":
            parts[path.name.split("_")[0]].append(path)
    for name, paths in parts.items():
        paths.sort(
            key=lambda path: (".debian." not in path.name, path)
        )  # debian/ first: it names the licence
        version = paths[-1].name.split("_")[1].split(".orig")[0].split(".tar")[0]
        yield Package("src", name, version, paths)


def _is_wanted(name: str, size: int) -> bool:
    known = PurePosixPath(name).suffix in EXTENSIONS and SOURCE_BYTES_MIN < size < SOURCE_BYTES_MAX
    return known and not _SKIP.search(name) and not is_evaluation_path(name)


def _is_debian_copyright(name: str) -> bool:
    in_binary = name.startswith("usr/share/doc/") and PurePosixPath(name).name == "copyright"
    return in_binary or re.search(r"(^|/)debian/copyright$", name) is not None


def _is_licence_text(name: str) -> bool:
    return re.match(r"(LICEN[CS]E|COPYING)", PurePosixPath(name).name) is not None and name.count("/") <= 1


def _licence_of_metadata(text: str) -> str:
    headers = email.parser.HeaderParser().parsestr(text)
    classifiers = [item for item in headers.get_all("Classifier") or [] if item.startswith("License")]
    named = ", ".join(item.split("::")[-1].strip() for item in classifiers)
    return (
        headers.get("License-Expression")
        or named
        or (headers.get("License") or "")[:_LICENCE_CHARS_MAX].replace("\n", " ")
    )


def _licence_of_json(value: object) -> str:
    if isinstance(value, dict):
        return str(value.get("type", ""))
    return value if isinstance(value, str) else ""


def _read(members: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = members.extractfile(member)
    return stream.read() if stream else b""
