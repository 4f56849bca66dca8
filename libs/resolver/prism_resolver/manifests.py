"""Packages: which folder of which repository provides one, who depends on it, and what an import of it means.

And path mappings, which say of modules without a package where they lie.

Read from the manifests that package managers read, or where no text is at hand, from what a parser saw in them. One that cannot be
read says nothing. Of some languages the name of a package begins its modules' names (npm, Go, Cargo, Composer), of others it says
only where to look for them (Python, Maven).
"""

import configparser
import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import re2  # type: ignore[import-untyped]

from prism_contracts.code import Symbol, SymbolFact
from prism_resolver.languages import ECMASCRIPT, FOLDER_PACKAGES, JVM
from prism_resolver.modules import Certainty, File, imports, key, names
from prism_resolver.path_mappings import (
    PATTERNS_MAX,
    ModulePatterns,
    PathMapping,
    PathMappings,
    is_config,
    read_config,
    read_paths,
    source_candidates,
    strings_in,
)

TEXT_CHARS_MAX = 1_000_000
NAMES_MAX = 5_000
# The name of a requirement begins it: https://packaging.python.org/en/latest/specifications/name-normalization
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
# As the signature of the key in a package.json has it.
_NPM_NAME = re.compile(r'"name":\s*"([^"]+)",?')
_GO_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
# RE2: with `re` the time grows with the square of a line of dots.
_GO_REQUIRE = re2.compile(r"(?m)^(?:require\s+|\s+)([\w.~-]+\.[\w.~-]+/\S+)\s+v")
# Where the sources of a package lie.
_SOURCES = ("src/", "", "lib/")


class Ecosystem(StrEnum):
    """What manages packages of a language."""

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
    """What a manifest says. `places`: paths below its folder where modules of these names lie; the empty name is the package. Of npm
    `exports` has them, as there they may be patterns.
    """

    folder: str
    ecosystem: Ecosystem
    name: str
    dependencies: frozenset[str]
    module_paths: Mapping[str, tuple[str, ...]] = {}
    exports: ModulePatterns | None = None
    mapping: PathMapping | None = None
    file: str = ""  # its name


class PackageProvider(NamedTuple):
    """A manifest and where it lies: the scope, and the repository's own name."""

    scope: str
    repo: str
    manifest: Manifest


class PackageModule(NamedTuple):
    """A module as a file of some language at the root of a package would import it; in Go the folder that it is."""

    provider: PackageProvider
    language: str
    module: str

    @property
    def key(self) -> str:
        """One of the `modules.keys` of the files that it may be."""
        if self.language in FOLDER_PACKAGES:
            return posixpath.basename(self._folder) or self.provider.repo
        return key(self.importer, self.module)

    @property
    def importer(self) -> File:
        """A file at the root of the package."""
        return File(posixpath.join(self.provider.manifest.folder, "_"), self.language, self.provider.repo)

    def is_file(self, scope: str, file: File) -> bool:
        """Whether a file is the module, or one of its files."""
        folder = self.provider.manifest.folder
        if scope != self.provider.scope or (folder and not file.path.startswith(f"{folder}/")):
            return False
        if self.language in FOLDER_PACKAGES:
            return posixpath.dirname(file.path) == self._folder
        # Whatever the folder of the package is called.
        importer, below = File("_", self.language), file.path[len(folder) :].lstrip("/")
        return imports(importer, self.module, file._replace(path=below)) is Certainty.YES

    @property
    def _folder(self) -> str:
        return posixpath.normpath(posixpath.join(self.provider.manifest.folder, self.module)).removeprefix(
            "."
        )


def is_manifest(path: str) -> bool:
    """Whether a file is one that `read_manifest` reads."""
    return posixpath.basename(path) in _READERS or is_config(path)


def read_manifest(path: str, text: str) -> Manifest | None:
    """What a manifest says; None if it is none, or cannot be read."""
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
        return None  # it has another form than its name says
    return found._replace(folder=folder, file=name) if len(found.dependencies) <= NAMES_MAX else None


def named_manifest(path: str, symbols: Sequence[Symbol | SymbolFact]) -> Manifest | None:
    """What the symbols that a parser saw in a file say of a package: of a package.json, its name."""
    folder, _, name = path.rpartition("/")
    if name != "package.json":
        return None
    signatures = (symbol.signature for symbol in symbols if symbol.qualified_name == "name")
    found = next(filter(None, map(_NPM_NAME.fullmatch, signatures)), None)
    return Manifest(folder, Ecosystem.NPM, found[1], frozenset()) if found else None


class Packages:
    """The packages of repositories, by scope: a repository and a layer of it."""

    def __init__(self, providers: Iterable[PackageProvider] = ()) -> None:
        self._providers: dict[tuple[Ecosystem, str], list[PackageProvider]] = {}
        self._dependencies: dict[tuple[str, Ecosystem], set[str]] = {}
        known = sorted(providers, key=lambda one: (one.scope, one.manifest.folder, one.manifest.file))
        for one in known:
            manifest = one.manifest
            if manifest.name:
                self._providers.setdefault((manifest.ecosystem, manifest.name), []).append(one)
            self._dependencies.setdefault((one.scope, manifest.ecosystem), set()).update(
                manifest.dependencies
            )
        self._mappings = PathMappings(
            (one.scope, posixpath.join(one.manifest.folder, one.manifest.file), one.manifest.mapping)
            for one in known
            if one.manifest.mapping
        )

    def is_only_provider(self, module: PackageModule) -> bool:
        """Whether nobody else provides a package of that name."""
        manifest = module.provider.manifest
        return len(self._providers[manifest.ecosystem, manifest.name]) == 1

    def containing(self, scope: str, path: str) -> Iterator[str]:
        """The names of the packages of a repository in whose folders a file lies."""
        for (_, name), known in self._providers.items():
            for one in known:
                folder = one.manifest.folder
                if one.scope == scope and (not folder or path.startswith(f"{folder}/")):
                    yield name

    def mapped(self, scope: str, file: File, module: str) -> Iterator[PackageModule]:
        """What a module is that a file imports, the likeliest first, if path mappings of its repository say where it lies."""
        if file.language in ECMASCRIPT:
            root = PackageProvider(scope, file.repo, Manifest("", Ecosystem.NPM, "", frozenset()))
            for path in self._mappings.candidate_paths(scope, file.path, module):
                yield PackageModule(root, file.language, f"./{path}")

    def module_names(self, scope: str, file: File) -> Iterator[str]:
        """As what path mappings have a file imported, where that is called otherwise than the file."""
        if file.language in ECMASCRIPT:
            yield from self._mappings.module_names(scope, ["/".join(name) or "." for name in names(file)])

    def candidates(self, scope: str, file: File, module: str) -> Iterator[PackageModule]:
        """What a module may be that a file imports, the likeliest first: of packages of its own repository, and of those that
        the repository depends on.
        """
        ecosystem = _ECOSYSTEMS.get(file.language)
        if ecosystem is None or module.startswith("."):
            return
        dependencies = self._dependencies.get((scope, ecosystem), set())
        for name, rest in _package_splits(ecosystem, module, dependencies):
            known = self._providers.get((ecosystem, name), ())
            for one in (one for one in known if one.scope == scope or name in dependencies):
                yield from (
                    PackageModule(one, file.language, place)
                    for place in _module_paths(one.manifest, module, rest)
                )


def _package_splits(
    ecosystem: Ecosystem, module: str, dependencies: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """The packages that a module may be of, and what of its name is left."""
    if ecosystem in {Ecosystem.PYTHON, Ecosystem.MAVEN}:
        yield from ((name, module) for name in sorted(dependencies))
        return
    if ecosystem is Ecosystem.CARGO:
        name, _, rest = module.partition("::")
        yield _cargo_name(name), rest.replace("::", "/")
        return
    if ecosystem is Ecosystem.COMPOSER:
        yield from ((name, module) for name in sorted(dependencies))
        return
    parts = module.split("/")
    for count in range(len(parts), 0, -1):
        yield "/".join(parts[:count]), "/".join(parts[count:])


def _module_paths(manifest: Manifest, module: str, rest: str) -> Iterator[str]:
    """Where a module may lie in its package, as a file at its root would import it."""
    match manifest.ecosystem:
        case Ecosystem.PYTHON | Ecosystem.MAVEN:
            yield module
        case Ecosystem.GO:
            yield rest
        case Ecosystem.CARGO:
            yield f"./src/{rest or 'lib'}"
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
    """What of `imports` leads to files of the package, and to no other package."""
    return {
        pattern: [target for target in strings_in(targets) if target.startswith("./")]
        for pattern, targets in (data.get("imports") or {}).items()
    }


def _tsconfig(text: str) -> Manifest:
    return _manifest(Ecosystem.NPM, "", ())._replace(mapping=read_config(text))


def _exports(exports: object) -> Iterator[tuple[str, object]]:
    """What of a package may be imported under which name: https://nodejs.org/api/packages.html#package-entry-points"""
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
    return _manifest(Ecosystem.CARGO, _cargo_name(data.get("package", {}).get("name", "")), dependencies)


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
    loaded = data.get("autoload", {}).get("psr-4", {})
    module_paths = {prefix.strip("\\"): tuple(strings_in(folders)) for prefix, folders in loaded.items()}
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
    "go.mod": _go_mod,
    "Cargo.toml": _cargo_toml,
    "pom.xml": _pom_xml,
    "composer.json": _composer_json,
}
