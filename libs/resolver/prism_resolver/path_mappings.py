"""Path mappings of configuration files, for modules that are neither relative nor named by a package.

In TypeScript, `paths` and `baseUrl` of a tsconfig.json (https://www.typescriptlang.org/tsconfig/#paths); in
Node, `imports` of a package.json (https://nodejs.org/api/packages.html#subpath-imports). A pattern has at
most one `*`, whose match replaces the `*` of a target. Paths are relative to the repository; callers check
that a file exists.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import pyjson5

PATTERNS_MAX = 2_000
TARGETS_MAX = 20
# Configurations in a chain of `extends`, and names that one configuration lists.
CONFIGS_MAX = 20
_CONFIG = re.compile(r"[jt]sconfig(?:[.-][\w.-]+)?\.json")
# By precedence in a folder.
_CONFIGS_OF_FOLDERS = ("tsconfig.json", "jsconfig.json")
# Folders of build output.
_BUILT = re.compile(r"^(?:dist|build|lib|out|cjs|esm|es)(?:/(?:cjs|esm|es|src))?/")
_SUFFIX = re.compile(r"(?:\.d)?\.[mc]?[jt]sx?$")


class PathMapping(NamedTuple):
    """The settings of one configuration file, with paths relative to its folder. None: not set here."""

    paths: Mapping[str, tuple[str, ...]] | None = None
    base_url: str | None = None
    extends: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


class ModulePatterns(NamedTuple):
    """Targets by exact module name, and by the text around a pattern's `*`, longest prefix first."""

    exact: Mapping[str, Sequence[str]]
    wild: Sequence[tuple[str, str, Sequence[str]]]

    @classmethod
    def of(cls, targets: Mapping[str, Sequence[str]]) -> "ModulePatterns":
        """Builds it from targets by pattern."""
        exact = {pattern: found for pattern, found in targets.items() if "*" not in pattern}
        wild = [
            (before, after, found)
            for pattern, found in targets.items()
            for before, star, after in [pattern.partition("*")]
            if star
        ]
        return cls(exact, sorted(wild, key=lambda one: -len(one[0])))

    def targets(self, module: str) -> Sequence[str]:
        """Returns the targets of the best matching pattern."""
        if module in self.exact:
            return self.exact[module]
        for before, after, targets in self.wild:
            if (rest := _wildcard_match(before, module, after)) is not None:
                return [target.replace("*", rest, 1) for target in targets]
        return ()


class _FolderMapping(NamedTuple):
    """The mapping that applies in a folder, with paths relative to the repository."""

    patterns: ModulePatterns
    base: str | None

    def candidate_paths(self, module: str) -> Iterator[str]:
        """Yields the paths that a module may be: those of a pattern, then the one below the base."""
        yield from self.patterns.targets(module)
        if self.base is not None:
            yield posixpath.join(self.base, module)


# Configurations of Deno, whose `imports` map modules; the preferred name comes first.
DENO_CONFIGS = ("deno.json", "deno.jsonc", "import_map.json")


class PathMappings:
    """The path mappings of repositories, by scope."""

    def __init__(self, known: Iterable[tuple[str, str, PathMapping]] = ()) -> None:
        """Takes mappings, each with its scope and the path of its file."""
        self._configs = {(scope, path): mapping for scope, path, mapping in known}
        # Configurations that extend the same file share one mapping.
        self._cache: dict[tuple[int, str, str | None], _FolderMapping] = {}
        self._by_config_folder = dict(self._folder_table(_CONFIGS_OF_FOLDERS))
        self._by_package_folder = dict(self._folder_table(("package.json",)))
        self._by_deno_folder = dict(self._folder_table(DENO_CONFIGS))

    def candidate_paths(self, scope: str, path: str, module: str) -> Iterator[str]:
        """Yields the paths that an imported module may be, likeliest first."""
        if not self._configs or module.startswith((".", "/")):
            return
        own = (self._by_package_folder,) if module.startswith("#") else ()
        tables = (self._by_config_folder, *own, self._by_deno_folder)
        for table in tables:
            mapping_here = next(
                (table[scope, one] for one in _parent_folders(path) if (scope, one) in table), None
            )
            found = map(posixpath.normpath, mapping_here.candidate_paths(module) if mapping_here else ())
            yield from (one for one in found if not one.startswith(".."))

    def module_names(self, scope: str, names: Sequence[str]) -> Iterator[str]:
        """Yields the modules that import a file whose last part differs from that of the file's paths.

        `names` are the paths of the file without its extension.
        """
        for name in names:
            yield from self._by_target.get((scope, name), ())
            for before, after, module in self._renaming_targets.get(scope, ()):
                if (rest := _wildcard_match(before, name, after)) is not None:
                    yield module.replace("*", rest, 1)

    @cached_property
    def _by_target(self) -> Mapping[tuple[str, str], Sequence[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for scope, mapping_here in self._folder_mappings:
            for module, targets in mapping_here.patterns.exact.items():
                for target in targets:
                    found.setdefault((scope, target), []).append(module)
        return found

    @cached_property
    def _renaming_targets(self) -> Mapping[str, Sequence[tuple[str, str, str]]]:
        """Targets, split at their `*`, with patterns whose last part may differ from the target's."""
        found: dict[str, set[tuple[str, str, str]]] = {}
        for scope, mapping_here in self._folder_mappings:
            for before, after, targets in mapping_here.patterns.wild:
                for target in targets:
                    if not _keeps_name(f"{before}*{after}", target):
                        start, _, end = target.partition("*")
                        found.setdefault(scope, set()).add((start, end, f"{before}*{after}"))
        return {scope: sorted(renaming) for scope, renaming in found.items()}

    @cached_property
    def _folder_mappings(self) -> Sequence[tuple[str, _FolderMapping]]:
        """Each mapping once, with its scope."""
        tables = (self._by_config_folder, self._by_package_folder, self._by_deno_folder)
        found = [entry for table in tables for entry in table.items()]
        return list(
            {(scope, id(mapping_here)): (scope, mapping_here) for (scope, _), mapping_here in found}.values()
        )

    def _folder_table(self, names: Sequence[str]) -> Iterator[tuple[tuple[str, str], _FolderMapping]]:
        """Yields the mapping of each folder that has a configuration with one of these names.

        The preferred name comes last, because later entries override earlier ones.
        """
        for name in reversed(names):
            for scope, path in self._configs:
                if posixpath.basename(path) == name and (mapping_here := self._folder_mapping(scope, path)):
                    yield (scope, posixpath.dirname(path)), mapping_here

    def _folder_mapping(self, scope: str, path: str) -> _FolderMapping | None:
        """Returns the mapping of a file with those it extends, else the first of its project references."""
        for one in (path, *_config_paths(path, self._configs[scope, path].references)):
            if mapping_here := self._mapping_of_chain(self._config_chain(scope, one)):
                return mapping_here
        return None

    def _mapping_of_chain(self, chain: Sequence[tuple[str, PathMapping]]) -> _FolderMapping | None:
        """Returns the mapping of a chain, whose first settings win; None if nothing is set."""
        based = ((folder, one.base_url) for folder, one in chain if one.base_url is not None)
        base = next((posixpath.join(*one) for one in based), None)
        folder, paths = next(
            ((folder, one.paths) for folder, one in chain if one.paths is not None), ("", None)
        )
        if base is None and paths is None:
            return None
        start = folder if base is None else base
        cached = self._cache.get((id(paths), start, base))
        if cached is None:
            cached = self._cache[id(paths), start, base] = _FolderMapping(
                ModulePatterns.of(_resolve_targets(start, paths or {})), base
            )
        return cached

    def _config_chain(self, scope: str, path: str) -> Sequence[tuple[str, PathMapping]]:
        """Returns a configuration and those that it extends, each with its folder, by precedence."""
        found: dict[str, PathMapping] = {}
        todo = [path]
        while todo and len(found) < CONFIGS_MAX:
            one = todo.pop()
            if one not in found and (mapping := self._configs.get((scope, one))):
                found[one] = mapping
                todo += _config_paths(one, mapping.extends)  # the last one overrides the others
        return [(posixpath.dirname(one), mapping) for one, mapping in found.items()]


def is_config(path: str) -> bool:
    """Returns whether `read_config` reads a file with this path."""
    return _CONFIG.fullmatch(posixpath.basename(path)) is not None


def read_config(text: str) -> PathMapping:
    """Parses a tsconfig.json.

    Raises ValueError, TypeError or AttributeError if it has another format, or too many patterns.
    """
    data = parse_jsonc(text)
    options = data.get("compilerOptions") or {}
    paths, base = options.get("paths"), options.get("baseUrl")
    extends = data.get("extends") or ()
    references = (one.get("path") for one in data.get("references") or ())
    return PathMapping(
        paths=read_paths(paths) if paths is not None else None,
        base_url=str(base) if base is not None else None,
        extends=tuple(_relative([extends] if isinstance(extends, str) else extends)),
        references=tuple(_relative(references)),
    )


def read_paths(patterns: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
    """Returns where the sources of modules may be, by pattern.

    Raises ValueError or AttributeError if these are no patterns, or too many.
    """
    if len(patterns) > PATTERNS_MAX:
        raise ValueError("too many patterns")
    return {
        pattern: tuple(
            islice(
                (source for target in strings_in(targets) for source in source_candidates(target)),
                TARGETS_MAX,
            )
        )
        for pattern, targets in patterns.items()
        if pattern.count("*") <= 1
    }


def source_candidates(place: str) -> Iterator[str]:
    """Yields a path of a manifest without its extension, and the source that it may be built from."""
    plain = _SUFFIX.sub("", posixpath.normpath(place))
    yield f"./{plain}"
    built = _BUILT.match(plain)
    if built:
        yield f"./src/{plain[built.end() :]}"


def strings_in(value: object) -> Iterator[str]:
    """Yields all strings in a tree of lists and objects: Node's conditions are objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings_in(one)


def parse_jsonc(text: str) -> Any:
    """Parses JSON with comments and trailing commas, which TypeScript accepts. Raises ValueError."""
    try:
        return pyjson5.decode(text)
    except pyjson5.Json5DecoderException as error:
        raise ValueError(str(error)) from error


def _relative(paths: Iterable[object]) -> Iterator[str]:
    """Yields the first paths that are relative, not packages."""
    relative = (path for path in paths if isinstance(path, str) and path.startswith("."))
    return islice(relative, CONFIGS_MAX)


def _config_paths(path: str, others: Iterable[str]) -> Iterator[str]:
    """Yields the paths that a reference to another configuration may mean.

    A folder means its tsconfig.json, and the extension is optional.
    """
    for other in others:
        found = posixpath.normpath(posixpath.join(posixpath.dirname(path), other))
        yield from (found, f"{found}.json", posixpath.join(found, _CONFIGS_OF_FOLDERS[0]))


def _resolve_targets(start: str, paths: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {
        pattern: [posixpath.normpath(posixpath.join(start, target)) for target in targets]
        for pattern, targets in paths.items()
    }


def _wildcard_match(before: str, text: str, after: str) -> str | None:
    """Returns the text between a prefix and a suffix; None if the text does not have them."""
    is_long = len(text) >= len(before) + len(after)
    if is_long and text.startswith(before) and text.endswith(after):
        return text[len(before) : len(text) - len(after)]
    return None


def _keeps_name(pattern: str, target: str) -> bool:
    """Returns whether a module and its target always have the same last part, for any match of the `*`."""
    return pattern.rpartition("/")[2] == target.rpartition("/")[2] == "*"


def _parent_folders(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        yield path
