"""Packages: which folder of which repository provides one, who depends on it, and what its imports mean.

Also reads path mappings, which locate modules without a package.

The source is the manifests of package managers or, without their text, the facts of the parser. A manifest
that cannot be read is ignored. In some ecosystems a module's name starts with the name of its package (npm,
Go, Cargo, Composer); in others the package only determines where to search for modules (Python, Maven).
"""

import configparser
import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import re2  # type: ignore[import-untyped]

from prism_contracts.code import Symbol, SymbolFact
from prism_resolver.languages import ECMASCRIPT, FOLDER_PACKAGES, JVM
from prism_resolver.modules import Certainty, File, imports, key, names
from prism_resolver.path_mappings import (
    DENO_CONFIGS,
    PATTERNS_MAX,
    ModulePatterns,
    PathMapping,
    PathMappings,
    is_config,
    parse_jsonc,
    read_config,
    read_paths,
    source_candidates,
    strings_in,
)

TEXT_CHARS_MAX = 1_000_000
NAMES_MAX = 5_000
# A requirement starts with its name: https://packaging.python.org/en/latest/specifications/name-normalization
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
# The signature of the symbol `name` in a package.json.
_NPM_NAME = re.compile(r'"name":\s*"([^"]+)",?')
_GO_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
# RE2, because `re` takes quadratic time on a line of dots.
_GO_REQUIRE = re2.compile(r"(?m)^(?:require\s+|\s+)([\w.~-]+\.[\w.~-]+/\S+)\s+v")
# Source folders of a package.
_SOURCES = ("src/", "", "lib/")


class Ecosystem(StrEnum):
    """A package ecosystem."""

    PYTHON = "python"
    NPM = "npm"
    GO = "go"
    CARGO = "cargo"
    MAVEN = "maven"
    COMPOSER = "composer"


_ECOSYSTEMS: Mapping[str, Ecosystem] = {
    "python": Ecosystem.PYTHON,
    "go": Ecosystem.GO,
    "rust": Ecosystem.CARGO,
    "php": Ecosystem.COMPOSER,
    **dict.fromkeys(ECMASCRIPT, Ecosystem.NPM),
    **dict.fromkeys(JVM, Ecosystem.MAVEN),
}


class Manifest(NamedTuple):
    """The contents of a manifest.

    `module_paths` maps module names to paths below its folder; the empty name is the package itself. npm
    manifests use `exports` instead, where names may be patterns.
    """

    folder: str
    ecosystem: Ecosystem
    name: str
    dependencies: frozenset[str]
    module_paths: Mapping[str, tuple[str, ...]] = {}
    exports: ModulePatterns | None = None
    mapping: PathMapping | None = None
    file: str = ""  # its name
    library: str = ""  # the name by which code imports the package, if it has one of its own
    renames: Mapping[str, str] = {}  # local name of a dependency -> the package


class PackageProvider(NamedTuple):
    """A manifest with its scope and the name of its repository (without the owner)."""

    scope: str
    repo: str
    manifest: Manifest


class PackageModule(NamedTuple):
    """A module of a package, as a file at the root of the package imports it; in Go, its folder."""

    provider: PackageProvider
    language: str
    module: str

    @property
    def key(self) -> str:
        """A key of the files that it may be, see `modules.keys`."""
        if self.language in FOLDER_PACKAGES:
            return posixpath.basename(self._folder) or self.provider.repo
        return key(self.importer, self.module)

    @property
    def importer(self) -> File:
        """A fictitious file at the root of the package."""
        return File(posixpath.join(self.provider.manifest.folder, "_"), self.language, self.provider.repo)

    def contains(self, scope: str, path: str) -> bool:
        """Returns whether a file is in the folder of the package."""
        folder = self.provider.manifest.folder
        return scope == self.provider.scope and (not folder or path.startswith(f"{folder}/"))

    def is_file(self, scope: str, file: File) -> bool:
        """Returns whether a file is the module, or one of its files."""
        folder = self.provider.manifest.folder
        if scope != self.provider.scope or (folder and not file.path.startswith(f"{folder}/")):
            return False
        if self.language in FOLDER_PACKAGES:
            return posixpath.dirname(file.path) == self._folder
        # Compare relative to the package, so that the name of its folder does not matter.
        importer, below = File("_", self.language), file.path[len(folder) :].lstrip("/")
        return imports(importer, self.module, file._replace(path=below)) is Certainty.YES

    @property
    def _folder(self) -> str:
        return posixpath.normpath(posixpath.join(self.provider.manifest.folder, self.module)).removeprefix(
            "."
        )


def is_manifest(path: str) -> bool:
    """Returns whether `read_manifest` reads a file."""
    return posixpath.basename(path) in _READERS or is_config(path)


def read_manifest(path: str, text: str) -> Manifest | None:
    """Parses a manifest; None if it is none, or cannot be read."""
    folder, _, name = path.rpartition("/")
    read = _tsconfig if is_config(name) else _READERS.get(name)
    if read is None or len(text) > TEXT_CHARS_MAX:
        return None
    try:
        found = read(text)
    except (
        ValueError,
        TypeError,
        AttributeError,
        KeyError,
        RecursionError,
        configparser.Error,
        ET.ParseError,
    ):
        return None  # the content does not have the format of the name
    return found._replace(folder=folder, file=name) if len(found.dependencies) <= NAMES_MAX else None


def named_manifest(path: str, symbols: Sequence[Symbol | SymbolFact]) -> Manifest | None:
    """Builds a manifest from the parsed symbols of a file: for a package.json, its name."""
    folder, _, name = path.rpartition("/")
    if name != "package.json":
        return None
    signatures = (symbol.signature for symbol in symbols if symbol.qualified_name == "name")
    found = next(filter(None, map(_NPM_NAME.fullmatch, signatures)), None)
    return Manifest(folder, Ecosystem.NPM, found[1], frozenset()) if found else None


class Packages:
    """The packages of repositories, by scope (a repository, or a layer of it)."""

    def __init__(self, providers: Iterable[PackageProvider] = ()) -> None:
        self._providers: dict[tuple[Ecosystem, str], list[PackageProvider]] = {}
        self._dependencies: dict[tuple[str, Ecosystem], set[str]] = {}
        self._own: dict[tuple[str, Ecosystem], set[str]] = {}
        self._by_folder: dict[tuple[str, str], list[PackageProvider]] = {}
        self._renames: dict[tuple[str, Ecosystem, str], str] = {}
        known = sorted(providers, key=lambda one: (one.scope, one.manifest.folder, one.manifest.file))
        for one in known:
            manifest = one.manifest
            for name in filter(None, dict.fromkeys((manifest.name, manifest.library))):
                self._providers.setdefault((manifest.ecosystem, name), []).append(one)
                self._own.setdefault((one.scope, manifest.ecosystem), set()).add(name)
            for local, package in manifest.renames.items():
                self._renames.setdefault((one.scope, manifest.ecosystem, local), package)
            if manifest.ecosystem is Ecosystem.NPM and manifest.exports:
                self._by_folder.setdefault((one.scope, manifest.folder), []).append(one)
            self._dependencies.setdefault((one.scope, manifest.ecosystem), set()).update(
                manifest.dependencies
            )
        self._mappings = PathMappings(
            (one.scope, posixpath.join(one.manifest.folder, one.manifest.file), one.manifest.mapping)
            for one in known
            if one.manifest.mapping
        )

    def is_own(self, scope: str, name: str) -> bool:
        """Returns whether a repository provides a package of npm."""
        return any(one.scope == scope for one in self._providers.get((Ecosystem.NPM, name), ()))

    def is_foreign_crate(self, scope: str, name: str) -> bool:
        """Returns whether the manifests of a repository list a crate that no repository provides."""
        package = self._renames.get((scope, Ecosystem.CARGO, name), name)
        return self._is_foreign(scope, Ecosystem.CARGO, package)

    def is_foreign_package(self, scope: str, module: str) -> bool:
        """Returns whether the manifests of a repository list a Python package that has the name of a module and that no
        repository provides.
        """
        return self._is_foreign(scope, Ecosystem.PYTHON, _python_name(module))

    def _is_foreign(self, scope: str, ecosystem: Ecosystem, package: str) -> bool:
        listed = self._dependencies.get((scope, ecosystem), set())
        return package in listed and (ecosystem, package) not in self._providers

    def dependencies(self, scope: str) -> Collection[str]:
        """Returns the packages of npm that the manifests of a repository list."""
        return self._dependencies.get((scope, Ecosystem.NPM), frozenset())

    def is_only_provider(self, module: PackageModule) -> bool:
        """Returns whether the package of a module has only one provider."""
        manifest = module.provider.manifest
        return len(self._providers[manifest.ecosystem, manifest.name]) == 1

    def containing(self, scope: str, path: str) -> Iterator[str]:
        """Yields the names of a repository's packages whose folders contain a file."""
        for (_, name), known in self._providers.items():
            for one in known:
                folder = one.manifest.folder
                if one.scope == scope and (not folder or path.startswith(f"{folder}/")):
                    yield name

    def mapped(self, scope: str, file: File, module: str) -> Iterator[PackageModule]:
        """Yields what an imported module may be by the path mappings of the repository, likeliest first."""
        if file.language in ECMASCRIPT:
            root = PackageProvider(scope, file.repo, Manifest("", Ecosystem.NPM, "", frozenset()))
            for path in self._mappings.candidate_paths(scope, file.path, module):
                yield PackageModule(root, file.language, f"./{path}")

    def module_names(self, scope: str, file: File) -> Iterator[str]:
        """Yields the names under which path mappings import a file, where they differ from its own."""
        if file.language in ECMASCRIPT:
            yield from self._mappings.module_names(scope, ["/".join(name) or "." for name in names(file)])

    def candidates(self, scope: str, file: File, module: str) -> Iterator[PackageModule]:
        """Yields what an imported module may be, likeliest first.

        Searches the packages of the file's own repository, and those that the repository depends on.
        """
        ecosystem = _ECOSYSTEMS.get(file.language)
        if ecosystem is Ecosystem.NPM and module.startswith("."):
            yield from self._main_files(scope, file, module)
        if ecosystem is None or module.startswith("."):
            return
        dependencies = self._dependencies.get((scope, ecosystem), set())
        # A namespace of PHP does not say of which package it is, so that of the file is one of them.
        listed = dependencies | self._own.get((scope, ecosystem), set())
        for spelled, rest in _package_splits(ecosystem, module, listed):
            name = self._renames.get((scope, ecosystem, spelled), spelled)
            known = self._providers.get((ecosystem, name), ())
            for one in (
                one for one in known if one.scope == scope or {name, one.manifest.name} & dependencies
            ):
                yield from (
                    PackageModule(one, file.language, place)
                    for place in _module_paths(one.manifest, module, rest)
                )

    def _main_files(self, scope: str, file: File, module: str) -> Iterator[PackageModule]:
        """Yields what a relative module may be that is the folder of a package: `require("..")`."""
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), module))
        for one in self._by_folder.get((scope, "" if folder == "." else folder), ()):
            yield from (
                PackageModule(one, file.language, place) for place in _module_paths(one.manifest, module, "")
            )


def _package_splits(ecosystem: Ecosystem, module: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields the packages that a module may belong to, each with the rest of the module's name.

    `names` are the packages of the repository and those that it depends on.
    """
    if ecosystem in {Ecosystem.PYTHON, Ecosystem.MAVEN, Ecosystem.COMPOSER}:
        yield from ((name, module) for name in sorted(names))
        return
    if ecosystem is Ecosystem.CARGO:
        name, _, rest = module.partition("::")
        yield _cargo_name(name), rest.replace("::", "/")
        return
    parts = module.split("/")
    for count in range(len(parts), 0, -1):
        yield "/".join(parts[:count]), "/".join(parts[count:])


def _module_paths(manifest: Manifest, module: str, rest: str) -> Iterator[str]:
    """Yields where a module may be in its package, as imports of a file at the root of the package."""
    match manifest.ecosystem:
        case Ecosystem.PYTHON | Ecosystem.MAVEN:
            yield module
        case Ecosystem.GO:
            yield rest
        case Ecosystem.CARGO:
            root = next(iter(manifest.module_paths.get("", ())), "src/lib.rs")
            folder, _, file = root.rpartition("/")
            yield posixpath.join(".", folder, rest or file.removesuffix(".rs"))
        case Ecosystem.COMPOSER:
            yield from _composer_paths(manifest, module)
        case Ecosystem.NPM:
            for place in manifest.exports.targets(rest) if manifest.exports else ():
                yield from source_candidates(place)
            yield from (f"./{folder}{rest}" for folder in _SOURCES)


def _composer_paths(manifest: Manifest, module: str) -> Iterator[str]:
    named = module.strip("\\")
    for prefix, folders in sorted(manifest.module_paths.items(), key=lambda one: -len(one[0])):
        if f"{named}\\".startswith(f"{prefix}\\"):
            rest = named[len(prefix) :].replace("\\", "/").strip("/")
            yield from (posixpath.normpath(f"./{folder}/{rest}") for folder in folders)


# Manifests.


def _manifest(
    ecosystem: Ecosystem,
    name: str,
    dependencies: Iterable[str],
    module_paths: Mapping[str, tuple[str, ...]] | None = None,
) -> Manifest:
    return Manifest("", ecosystem, name, frozenset(dependencies), module_paths or {})


def _pyproject(text: str) -> Manifest:
    data = tomllib.loads(text)
    project, poetry = data.get("project", {}), data.get("tool", {}).get("poetry", {})
    requirements = [
        *project.get("dependencies", ()),
        *_flat(project.get("optional-dependencies", {})),
        *_flat(data.get("dependency-groups", {})),
        *poetry.get("dependencies", {}),
        *(name for group in poetry.get("group", {}).values() for name in group.get("dependencies", {})),
    ]
    name = str(project.get("name") or poetry.get("name") or "")
    return _manifest(Ecosystem.PYTHON, _python_name(name), _requirements(requirements))


def _setup_cfg(text: str) -> Manifest:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    requirements = parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        requirements += [
            line for _, lines in parser.items("options.extras_require") for line in lines.splitlines()
        ]
    name = parser.get("metadata", "name", fallback="")
    return _manifest(Ecosystem.PYTHON, _python_name(name), _requirements(requirements))


def _requirements_txt(text: str) -> Manifest:
    return _manifest(Ecosystem.PYTHON, "", _requirements(text.splitlines()))


def _package_json(text: str) -> Manifest:
    data = json.loads(text)
    groups = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    module_paths: dict[str, tuple[str, ...]] = {}
    for sub, value in islice(_exports(data.get("exports")), PATTERNS_MAX):
        module_paths[sub] = tuple(strings_in(value))
    entries = (data.get(field) for field in ("source", "module", "main", "types"))
    module_paths[""] = (*module_paths.get("", ()), *(entry for entry in entries if isinstance(entry, str)))
    dependencies = (name for group in groups for name in data.get(group) or ())
    mapped = _own_paths(data)
    return _manifest(Ecosystem.NPM, str(data.get("name") or ""), dependencies)._replace(
        exports=ModulePatterns.of(module_paths), mapping=PathMapping(read_paths(mapped)) if mapped else None
    )


def _own_paths(data: Mapping[str, Any]) -> Mapping[str, list[str]]:
    """Returns the `imports` whose targets are files of the package, not other packages."""
    return {
        pattern: [target for target in strings_in(targets) if target.startswith("./")]
        for pattern, targets in (data.get("imports") or {}).items()
    }


def _deno_json(text: str) -> Manifest:
    """Parses a deno.json: the name and exports of a package, and what its imports map to its own files."""
    data = parse_jsonc(text)
    exported = islice(_exports(data.get("exports")), PATTERNS_MAX)
    module_paths = {sub: tuple(strings_in(value)) for sub, value in exported}
    imports = data.get("imports") or {}
    mapped = {
        f"{pattern}*" if pattern.endswith("/") else pattern: [
            f"{target}*" if target.endswith("/") else target
        ]
        for pattern, target in imports.items()
        if isinstance(target, str) and target.startswith("./")
    }
    foreign = (name for name in imports if name not in mapped and not name.endswith("/"))
    return _manifest(Ecosystem.NPM, str(data.get("name") or ""), foreign)._replace(
        exports=ModulePatterns.of(module_paths), mapping=PathMapping(read_paths(mapped)) if mapped else None
    )


def _tsconfig(text: str) -> Manifest:
    return _manifest(Ecosystem.NPM, "", ())._replace(mapping=read_config(text))


def _exports(exports: object) -> Iterator[tuple[str, object]]:
    """Yields names and targets of the exports: https://nodejs.org/api/packages.html#package-entry-points"""
    if isinstance(exports, dict) and any(name.startswith(".") for name in exports):
        for name, value in exports.items():
            yield name.lstrip(".").lstrip("/"), value
    else:
        yield "", exports


def _go_mod(text: str) -> Manifest:
    name = _GO_MODULE.search(text)
    return _manifest(Ecosystem.GO, name[1].strip('"') if name else "", _GO_REQUIRE.findall(text))


def _cargo_toml(text: str) -> Manifest:
    data = tomllib.loads(text)
    tables = [data, *data.get("target", {}).values(), data.get("workspace", {})]
    groups = ("dependencies", "dev-dependencies", "build-dependencies")
    dependencies = (
        _cargo_name(name) for table in tables for group in groups for name in table.get(group, {})
    )
    renames = {
        _cargo_name(local): _cargo_name(one["package"])
        for table in tables
        for group in groups
        for local, one in table.get(group, {}).items()
        if isinstance(one, dict) and "package" in one
    }
    library = data.get("lib", {})
    found = _manifest(
        Ecosystem.CARGO,
        _cargo_name(data.get("package", {}).get("name", "")),
        (*dependencies, *renames.values()),
        {"": (library["path"],)} if "path" in library else None,
    )
    return found._replace(library=_cargo_name(library.get("name", "")), renames=renames)


def _pom_xml(text: str) -> Manifest:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("a manifest has no entities of its own")
    root = ET.fromstring(text)  # noqa: S314 - without entities there is nothing to expand
    group = _child(root, "groupId") or _child(_element(root, "parent"), "groupId")
    dependencies = (
        f"{_child(one, 'groupId')}:{_child(one, 'artifactId')}".replace("${project.groupId}", group)
        for one in root.iter()
        if _tag(one) == "dependency"
    )
    artifact = _child(root, "artifactId")
    return _manifest(Ecosystem.MAVEN, f"{group}:{artifact}" if artifact else "", dependencies)


def _composer_json(text: str) -> Manifest:
    data = json.loads(text)
    loaded = [data.get(group, {}).get("psr-4", {}) for group in ("autoload", "autoload-dev")]
    module_paths: dict[str, tuple[str, ...]] = {}
    for prefix, folders in (one for group in loaded for one in group.items()):
        module_paths[prefix.strip("\\")] = (*module_paths.get(prefix.strip("\\"), ()), *strings_in(folders))
    dependencies = (name for group in ("require", "require-dev") for name in data.get(group) or ())
    return _manifest(Ecosystem.COMPOSER, str(data.get("name") or ""), dependencies, module_paths)


def _flat(groups: Mapping[str, Iterable[Any]]) -> Iterator[Any]:
    return (one for group in groups.values() for one in group)


def _requirements(lines: Iterable[object]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, str) and (found := _REQUIREMENT.match(line)):
            yield _python_name(found[1])


def _python_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _cargo_name(name: str) -> str:
    return name.replace("-", "_")


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _element(element: ET.Element | None, name: str) -> ET.Element | None:
    return next((one for one in element if _tag(one) == name), None) if element is not None else None


def _child(element: ET.Element | None, name: str) -> str:
    found = _element(element, name)
    return (found.text or "").strip() if found is not None else ""


_READERS: Mapping[str, Callable[[str], Manifest]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "requirements.txt": _requirements_txt,
    "package.json": _package_json,
    **dict.fromkeys(DENO_CONFIGS, _deno_json),
    "go.mod": _go_mod,
    "Cargo.toml": _cargo_toml,
    "pom.xml": _pom_xml,
    "composer.json": _composer_json,
}
