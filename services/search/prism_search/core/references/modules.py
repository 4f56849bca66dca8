"""Which file an import means, as far as paths tell: build files are not read.

A module is written relative to the importing file (`./m`, `.x`, `super::w`) or from some root (`a.b.c`, `x/y.h`). A root
is not known, so what is left of the file's path before the module's own parts decides how sure the answer is.
"""

import posixpath
import re
import sys
from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

ECMASCRIPT = frozenset({"javascript", "typescript", "tsx", "jsx", "vue", "svelte"})
C_FAMILY = frozenset({"c", "cpp", "objective-c", "objc", "cuda"})
# An import names a folder, and whatever lies in it is seen.
FOLDER_PACKAGES = frozenset({"go"})
# Files of one folder see each other's names.
SAME_FOLDER = frozenset({"go", "java", "kotlin", "scala", "groovy", "php"})
# A method is called without naming its object.
IMPLICIT_OBJECT = frozenset({"java", "kotlin", "scala", "groovy", "csharp", "cpp", "ruby", "swift", "dart"})
# A file of such a name stands for its folder.
FOLDER_FILES = frozenset({"__init__", "index", "mod", "init", "lib", "package", "main"})
# Folders that a language's import path begins below.
ROOTS = frozenset({"", "src", "lib", "python", "app", "include", "inc", "main", "java", "kotlin", "scala", "source", "packages"})  # fmt: skip
# How a language's standard library is named: nothing of it knows the code that uses it.
STANDARD: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(rf"(?:{'|'.join(sorted(sys.stdlib_module_names))})(?:\.|$)"),
    "go": re.compile(r"[^./]+(?:/|$)"),
    "rust": re.compile(r"(?:std|core|alloc)(?:::|$)"),
    "java": re.compile(r"javax?\."),
    "kotlin": re.compile(r"(?:kotlin|javax?)\."),
    "scala": re.compile(r"(?:scala|javax?)\."),
} | dict.fromkeys(ECMASCRIPT, re.compile(r"node:"))
SEPARATORS = re.compile(r"::|[./\\]")


class Sure(IntEnum):
    """How sure it is that an import means a file."""

    NO = 0
    MAYBE = 1
    YES = 2


class File(NamedTuple):
    """A file as an import sees it. `repo` is the repository's own name, without its owner."""

    path: str
    language: str
    repo: str = ""


def imports(importer: File, module: str, target: File) -> Sure:
    """Whether the module that a file imports is the target file, or the folder that it stands for or lies in."""
    if importer.language in C_FAMILY:
        return _below_root(importer, _parts(target.path), tuple(module.split("/")))
    if importer.language in FOLDER_PACKAGES:
        return _folder_package(module, target)
    start, named = _relative(importer, module)
    if start is not None:
        return Sure.YES if any(start + named == own for own in _names(target)) else Sure.NO
    return max((_below_root(importer, own, named) for own in _names(target)), default=Sure.NO)


def is_standard(language: str, module: str) -> bool:
    """Whether the module is one of the language's own."""
    known = STANDARD.get(language)
    return known is not None and known.match(module) is not None


def _relative(importer: File, module: str) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The folder that a relative module starts from, None for one from a root, and the module's parts."""
    folder = _parts(posixpath.dirname(importer.path))
    if importer.language == "python" and module.startswith("."):
        name = module.lstrip(".")
        up = len(module) - len(name) - 1
        return folder[: len(folder) - up], tuple(filter(None, name.split(".")))
    if module.startswith(("./", "../")) or module in {".", ".."}:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(importer.path), module))
        return (), _without_suffix(_parts(path))
    parts = tuple(filter(None, SEPARATORS.split(module)))
    if importer.language == "rust" and parts[:1] in {("super",), ("self",)}:
        own = _names(importer)[-1]  # the module that the file is
        ups = sum(part == "super" for part in parts)
        return own[: len(own) - ups], tuple(part for part in parts if part not in {"super", "self"})
    if importer.language == "rust" and parts[:1] == ("crate",):
        return None, parts[1:]
    if importer.language in ECMASCRIPT:
        return None, _without_suffix(tuple(part for part in module.split("/") if part not in {"@", "~"}))
    return None, parts


def _names(file: File) -> list[tuple[str, ...]]:
    """The paths by which the file can be imported: its own, and that of the folder that it stands for."""
    own = _without_suffix(_parts(file.path))
    names = [own]
    if own and own[-1] in FOLDER_FILES:
        names.append(own[:-1])
    if file.language in SAME_FOLDER:
        names.append(own[:-1])
    return names


def _below_root(importer: File, own: tuple[str, ...], named: tuple[str, ...]) -> Sure:
    """Whether the file's path ends as the module is named; sure, if it is so below a root or a folder of the importer."""
    if not named or own[len(own) - len(named) :] != named or len(named) > len(own):
        return Sure.NO
    root = own[: len(own) - len(named)]
    if root and is_standard(importer.language, ".".join(named)):
        return Sure.NO
    # Python looks beside the importing file only in scripts: in a package `import json` is another json.
    beside = importer.language != "python" and _parts(posixpath.dirname(importer.path))[: len(root)] == root
    return Sure.YES if not root or root[-1] in ROOTS or beside or len(named) > 1 else Sure.MAYBE


def _folder_package(module: str, target: File) -> Sure:
    """`host/owner/repository/folder` names the files of a folder; without the repository's name it may be another's."""
    folder = _parts(posixpath.dirname(target.path))
    parts = tuple(part for part in module.split("/") if not re.fullmatch(r"v\d+", part))
    if parts[len(parts) - len(folder) :] != folder or len(parts) <= len(folder):
        return Sure.NO
    before = parts[len(parts) - len(folder) - 1]
    if before == target.repo:
        return Sure.YES
    return Sure.MAYBE if folder and "." in parts[0] else Sure.NO


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in {"", "."})


def _without_suffix(parts: tuple[str, ...]) -> tuple[str, ...]:
    if not parts:
        return parts
    stem = re.sub(r"(?<=.)(\.d)?\.(m|c)?[a-z]\w{0,5}$", "", parts[-1])
    return (*parts[:-1], stem)
