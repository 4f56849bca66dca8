"""The separately built parts of a repository, found by the paths of their manifests."""

from collections import Counter
from collections.abc import Iterator, Sequence

from prism_atlas.core.folders import folder_of
from prism_contracts.rpc.maps import Partition

# If a folder has several, the first of this list is shown.
MANIFESTS = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "package.json",
    "deno.json",
    "deno.jsonc",
    "go.mod",
    "Cargo.toml",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "pubspec.yaml",
    "Package.swift",
    "CMakeLists.txt",
    "BUILD.bazel",
)
# Any file with such a suffix is a manifest.
MANIFEST_SUFFIXES = (".csproj", ".fsproj", ".gemspec", ".cabal", ".rockspec")


def partitions(paths: Sequence[str]) -> list[Partition]:
    """Returns the parts, largest first. A file belongs to the innermost manifest above it."""
    manifests: dict[str, str] = {}
    for path in sorted(filter(_is_manifest, paths), key=_priority):
        manifests.setdefault(folder_of(path), path)
    files = Counter(next((folder for folder in _around(path) if folder in manifests), None) for path in paths)
    found = [
        Partition(folder=folder, manifest=manifest, files=files[folder])
        for folder, manifest in manifests.items()
    ]
    return sorted(found, key=lambda partition: (-partition.files, partition.folder))


def _is_manifest(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name in MANIFESTS or name.endswith(MANIFEST_SUFFIXES)


def _priority(path: str) -> tuple[int, str]:
    name = path.rpartition("/")[2]
    return (MANIFESTS.index(name) if name in MANIFESTS else len(MANIFESTS)), path


def _around(path: str) -> Iterator[str]:
    """Yields the folders of a file, innermost first."""
    folder = folder_of(path)
    while folder != ".":
        yield folder
        folder = folder_of(folder)
    yield "."
