"""Matches imports with files by their paths alone.

A module is relative to the importing file (`./m`, `.x`, `super::w`) or to some root (`a.b.c`, `x/y.h`). Roots
are not known, so the rest of the file's path before the module's own parts determines the certainty of a
match.
"""

import posixpath
import re
from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from prism_resolver.languages import C_FAMILY, ECMASCRIPT, FOLDER_PACKAGES, JVM, SAME_FOLDER, is_standard

# A file with such a name represents its folder.
FOLDER_FILES = frozenset({"__init__", "index", "mod", "init", "lib", "package", "main"})
# Usual root folders of import paths.
ROOTS = frozenset({"", "src", "lib", "python", "app", "include", "inc", "main", "java", "kotlin", "scala", "source", "packages"})  # fmt: skip
# Stripped from modules, whose names may contain other dots: `./user.model`.
SOURCE_SUFFIX = re.compile(r"\.(?:[mc]?[jt]sx?|vue|svelte|json)$")
# Languages that import a file by its path, with the extension.
FILE_IMPORTS = frozenset({"dart", "zig"})
_VERSION = re.compile(r"v\d+")
SEPARATORS = re.compile(r"::|[./\\]")


class Certainty(IntEnum):
    """How certain it is that an import means a file."""

    NO = 0
    MAYBE = 1
    YES = 2


class File(NamedTuple):
    """A file as seen by imports. `repo` is the name of the repository without its owner."""

    path: str
    language: str
    repo: str = ""


def imports(importer: File, module: str, target: File) -> Certainty:
    """Returns whether an imported module is the target file, the folder that it represents, or its folder."""
    if importer.language in C_FAMILY:
        named = _parts(posixpath.normpath(posixpath.join(posixpath.dirname(importer.path), module)))
        if named == _parts(target.path):
            return Certainty.YES
        is_own = not module.startswith("../") and not is_standard(importer.language, module)
        return _below_root(importer, _parts(target.path), _parts(module)) if is_own else Certainty.NO
    if importer.language in FOLDER_PACKAGES:
        return _folder_package(module, target)
    start, named = _relative(importer, module)
    if start is not None:
        return Certainty.YES if any(start + named == own for own in names(target)) else Certainty.NO
    certainty = max((_below_root(importer, own, named) for own in names(target)), default=Certainty.NO)
    # `lodash` is a package, unless a build file maps it.
    return (
        min(certainty, Certainty.MAYBE)
        if importer.language in ECMASCRIPT and module[:1] not in "@~"
        else certainty
    )


def import_texts(file: File, packages: Iterable[str] = ()) -> frozenset[str]:
    """Returns texts of which a file of another repository has one if it imports the file.

    `packages` are the names under which the repository publishes the file. Comments may contain such a text too.
    """
    *folders, name = file.path.split("/")
    first = next((folder for folder in folders if folder not in ROOTS), "")
    stem = SOURCE_SUFFIX.sub("", name).rpartition(".")[0] or name
    published = sorted(filter(None, packages)) or [file.repo]
    if file.language == "python":
        texts = {f"{word} {first or stem}" for word in ("from", "import")}
    elif file.language in ECMASCRIPT:
        texts = {f"{quote}{one}{end}" for one in published for quote in "'\"" for end in (quote, "/")}
    elif file.language in FOLDER_PACKAGES:
        texts = {f"{one}{end}" for one in published for end in ('"', "/")}
    elif file.language in C_FAMILY:
        texts = {f"{stem}.h"}
    elif file.language in JVM:
        below = 1 + max((at for at, folder in enumerate(folders) if folder in ROOTS), default=-1)
        texts = {".".join(folders[below:]) or stem}
    elif file.language == "rust":
        texts = {f"{one.replace('-', '_')}::" for one in published}
    else:
        texts = {first or stem, *published}
    return frozenset(filter(None, texts))


def key(importer: File, module: str) -> str:
    """Returns the last part of a module's name. The module can only mean files with this in `keys`."""
    if importer.language in C_FAMILY:
        return posixpath.basename(module)
    if importer.language in FOLDER_PACKAGES:
        parts = _package_parts(module)
    else:
        start, named = _relative(importer, module)
        parts = (*(start or ()), *named)
    return parts[-1] if parts else ""


def keys(file: File) -> frozenset[str]:
    """Returns the last parts of the modules that may mean a file."""
    if file.language in C_FAMILY:
        return frozenset({posixpath.basename(file.path)})
    if file.language in FOLDER_PACKAGES:
        folder = _parts(posixpath.dirname(file.path))
        return frozenset({folder[-1] if folder else file.repo})
    return frozenset(name[-1] if name else "" for name in names(file))


def names(file: File) -> list[tuple[str, ...]]:
    """Returns the paths by which a file can be imported, in parts: its own, and its folder's where that counts."""
    own = _without_suffix(_parts(file.path))
    names = [own]
    if own and own[-1] in FOLDER_FILES:
        names.append(own[:-1])
    if file.language in SAME_FOLDER:
        names.append(own[:-1])
    return names


def represents_folder(path: str) -> bool:
    """Returns whether a file represents its folder, and so may re-export anything defined below."""
    return path.rpartition("/")[2].partition(".")[0] in FOLDER_FILES


def _relative(importer: File, module: str) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Returns the folder where a relative module starts (None: at a root), and the module's parts."""
    folder = _parts(posixpath.dirname(importer.path))
    if importer.language == "python" and module.startswith("."):
        name = module.lstrip(".")
        up = len(module) - len(name) - 1
        return folder[: max(0, len(folder) - up)], tuple(filter(None, name.split(".")))
    is_file = importer.language in FILE_IMPORTS and _is_file_path(importer, module)
    if is_file or module.startswith(("./", "../")) or module in {".", ".."}:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(importer.path), module))
        return (), _without_suffix(_parts(path)) if is_file else _parts(SOURCE_SUFFIX.sub("", path))
    parts = tuple(filter(None, SEPARATORS.split(module)))
    if importer.language == "rust" and parts[:1] in {("super",), ("self",)}:
        own = names(importer)[-1]  # the module that the file is
        ups = sum(part == "super" for part in parts)
        return own[: max(0, len(own) - ups)], tuple(part for part in parts if part not in {"super", "self"})
    if importer.language == "rust" and parts[:1] == ("crate",):
        return None, parts[1:]
    if importer.language in ECMASCRIPT:
        return None, tuple(
            part for part in SOURCE_SUFFIX.sub("", module).split("/") if part not in {"@", "~"}
        )
    return None, parts


def _is_file_path(importer: File, module: str) -> bool:
    """Returns whether a module is a relative file path. A package has no file extension, or has a scheme."""
    return module.endswith(posixpath.splitext(importer.path)[1]) and ":" not in module


def _below_root(importer: File, own: tuple[str, ...], named: tuple[str, ...]) -> Certainty:
    """Matches the end of a path with a module; certain below a usual root or a parent of the importer."""
    if not named or own[len(own) - len(named) :] != named or len(named) > len(own):
        return Certainty.NO
    root = own[: len(own) - len(named)]
    if root and is_standard(importer.language, ".".join(named)):
        return Certainty.NO
    while root and root[-1] in ROOTS:
        root = root[:-1]
    # Only scripts in Python import files from their own folder: in a package, `import json` is another json.
    is_beside = _parts(posixpath.dirname(importer.path))[: len(root)] == root
    is_package = importer.language == "python" and len(named) == 1 and bool(root)
    return Certainty.YES if is_beside and not is_package else Certainty.MAYBE


def _folder_package(module: str, target: File) -> Certainty:
    """Matches `host/owner/repository/folder` with a folder; uncertain without the name of the repository."""
    folder, parts = _parts(posixpath.dirname(target.path)), _package_parts(module)
    if parts[len(parts) - len(folder) :] != folder or len(parts) <= len(folder):
        return Certainty.NO
    before = parts[len(parts) - len(folder) - 1]
    if before == target.repo:
        return Certainty.YES
    return Certainty.MAYBE if folder and "." in parts[0] else Certainty.NO


def is_version_suffix(part: str) -> bool:
    """Returns whether a part of a package path is a version: `v2` in `example.org/acme/parcels/v2/depot`."""
    return _VERSION.fullmatch(part) is not None


def package_name_of(module: str) -> str:
    """Returns the last part of a package path that is no version."""
    parts = _package_parts(module)
    return parts[-1] if parts else ""


def _package_parts(module: str) -> tuple[str, ...]:
    """Splits a package path, without its version."""
    return tuple(part for part in module.split("/") if part and not is_version_suffix(part))


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in {"", "."})


def _without_suffix(parts: tuple[str, ...]) -> tuple[str, ...]:
    if not parts:
        return parts
    stem = re.sub(r"(?<=.)(\.d)?\.(m|c)?[a-z]\w{0,5}$", "", parts[-1])
    return (*parts[:-1], stem)
