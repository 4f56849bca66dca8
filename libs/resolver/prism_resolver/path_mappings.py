"""Path mappings: which paths a module means that neither is relative nor names a package, as configuration files have it.

Of TypeScript `paths` and `baseUrl` of a tsconfig.json (https://www.typescriptlang.org/tsconfig/#paths), of Node `imports` of a package.json
(https://nodejs.org/api/packages.html#subpath-imports). A pattern has one `*` at most, for which its targets have what the module has.
Paths are those of the repository; whether there is such a file is for others to say.
"""

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

PATTERNS_MAX = 2_000
TARGETS_MAX = 20
# That extend each other, and that one names.
CONFIGS_MAX = 20
_CONFIG = re.compile(r"[jt]sconfig(?:[.-][\w.-]+)?\.json")
# The one that holds in a folder comes first.
_CONFIGS_OF_FOLDERS = ("tsconfig.json", "jsconfig.json")
# Each begins with what no other does and ends at the end of the text at the latest, so that no text is gone over twice.
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|,(?=\s*[}\]])')
# Folders that are made of sources.
_BUILT = re.compile(r"^(?:dist|build|lib|out|cjs|esm|es)(?:/(?:cjs|esm|es|src))?/")
_SUFFIX = re.compile(r"(?:\.d)?\.[mc]?[jt]sx?$")


class PathMapping(NamedTuple):
    """What one configuration file says, by paths from its folder. None is what it does not say, and others may."""

    paths: Mapping[str, tuple[str, ...]] | None = None
    base_url: str | None = None
    extends: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


class ModulePatterns(NamedTuple):
    """Targets of modules: those of whole names, and of patterns by what is before and behind their `*`, the longest beginning first."""

    exact: Mapping[str, Sequence[str]]
    wild: Sequence[tuple[str, str, Sequence[str]]]

    @classmethod
    def of(cls, targets: Mapping[str, Sequence[str]]) -> "ModulePatterns":
        """Of targets by pattern."""
        exact = {pattern: found for pattern, found in targets.items() if "*" not in pattern}
        wild = [
            (before, after, found)
            for pattern, found in targets.items()
            for before, star, after in [pattern.partition("*")]
            if star
        ]
        return cls(exact, sorted(wild, key=lambda one: -len(one[0])))

    def targets(self, module: str) -> Sequence[str]:
        """Those of the pattern that fits best."""
        if module in self.exact:
            return self.exact[module]
        for before, after, targets in self.wild:
            if (rest := _wildcard_match(before, module, after)) is not None:
                return [target.replace("*", rest, 1) for target in targets]
        return ()


class _FolderMapping(NamedTuple):
    """What holds in a folder, by paths of the repository."""

    patterns: ModulePatterns
    base: str | None

    def candidate_paths(self, module: str) -> Iterator[str]:
        """The paths that a module may be: those of a pattern, then that from the base."""
        yield from self.patterns.targets(module)
        if self.base is not None:
            yield posixpath.join(self.base, module)


class PathMappings:
    """The path mappings of repositories, by scope."""

    def __init__(self, known: Iterable[tuple[str, str, PathMapping]] = ()) -> None:
        """Each with its scope and the path of its file."""
        self._configs = {(scope, path): mapping for scope, path, mapping in known}
        # By what said it: all that extend one file share what that says.
        self._cache: dict[tuple[int, str, str | None], _FolderMapping] = {}
        self._by_config_folder = dict(self._folder_table(_CONFIGS_OF_FOLDERS))
        self._by_package_folder = dict(self._folder_table(("package.json",)))

    def candidate_paths(self, scope: str, path: str, module: str) -> Iterator[str]:
        """The paths that a module may be which a file imports, the likeliest first."""
        if not self._configs or module.startswith((".", "/")):
            return
        tables = (
            (self._by_config_folder, self._by_package_folder)
            if module.startswith("#")
            else (self._by_config_folder,)
        )
        for table in tables:
            mapping_here = next(
                (table[scope, one] for one in _parent_folders(path) if (scope, one) in table), None
            )
            found = map(posixpath.normpath, mapping_here.candidate_paths(module) if mapping_here else ())
            yield from (one for one in found if not one.startswith(".."))

    def module_names(self, scope: str, names: Sequence[str]) -> Iterator[str]:
        """As what a file is imported, given by the paths that it has without its extension, where that ends otherwise than these paths."""
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
        """Targets with what is before and behind their `*`, and their patterns, if what a module ends with is not all of a name."""
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
        """Each with its scope, once."""
        found = (*self._by_config_folder.items(), *self._by_package_folder.items())
        return list(
            {(scope, id(mapping_here)): (scope, mapping_here) for (scope, _), mapping_here in found}.values()
        )

    def _folder_table(self, names: Sequence[str]) -> Iterator[tuple[tuple[str, str], _FolderMapping]]:
        """What holds in each folder that has a file of one of these names which says anything: of several, what the first says."""
        for name in reversed(names):
            for scope, path in self._configs:
                if posixpath.basename(path) == name and (mapping_here := self._folder_mapping(scope, path)):
                    yield (scope, posixpath.dirname(path)), mapping_here

    def _folder_mapping(self, scope: str, path: str) -> _FolderMapping | None:
        """What a file says itself or by those that it extends, else the first that says anything of those which it only names as
        parts of its project.
        """
        for one in (path, *_config_paths(path, self._configs[scope, path].references)):
            if mapping_here := self._mapping_of_chain(self._config_chain(scope, one)):
                return mapping_here
        return None

    def _mapping_of_chain(self, chain: Sequence[tuple[str, PathMapping]]) -> _FolderMapping | None:
        """What the first in a line says that says anything; None if none does."""
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
        """A file and those that it extends with their folders, each before those that it goes before."""
        found: dict[str, PathMapping] = {}
        todo = [path]
        while todo and len(found) < CONFIGS_MAX:
            one = todo.pop()
            if one not in found and (mapping := self._configs.get((scope, one))):
                found[one] = mapping
                todo += _config_paths(one, mapping.extends)  # the last one goes before the others
        return [(posixpath.dirname(one), mapping) for one, mapping in found.items()]


def is_config(path: str) -> bool:
    """Whether a file is named as those that `read_config` reads."""
    return _CONFIG.fullmatch(posixpath.basename(path)) is not None


def read_config(text: str) -> PathMapping:
    """What a tsconfig.json says. Raises ValueError, TypeError or AttributeError if it has another form, or too many patterns."""
    data = json.loads(_plain_json(text))
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
    """Where the sources of modules may lie, by pattern. Raises ValueError or AttributeError if these are no patterns, or too many."""
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
    """A path of a manifest without its extension, and the sources that it may be built from."""
    plain = _SUFFIX.sub("", posixpath.normpath(place))
    yield f"./{plain}"
    built = _BUILT.match(plain)
    if built:
        yield f"./src/{plain[built.end() :]}"


def strings_in(value: object) -> Iterator[str]:
    """All strings in a tree of lists and objects: Node's conditions are objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings_in(one)


def _plain_json(text: str) -> str:
    """Without comments and commas behind the last item, which TypeScript reads over."""
    without_comments = _COMMENT.sub(lambda found: found[1] or " ", text.removeprefix("\ufeff"))
    return _LAST_COMMA.sub(lambda found: found[1] or "", without_comments)


def _relative(paths: Iterable[object]) -> Iterator[str]:
    """The first of those that are no package."""
    relative = (path for path in paths if isinstance(path, str) and path.startswith("."))
    return islice(relative, CONFIGS_MAX)


def _config_paths(path: str, others: Iterable[str]) -> Iterator[str]:
    """Paths of other configurations that one names: a folder is its tsconfig.json, and the extension may be left out."""
    for other in others:
        found = posixpath.normpath(posixpath.join(posixpath.dirname(path), other))
        yield from (found, f"{found}.json", posixpath.join(found, _CONFIGS_OF_FOLDERS[0]))


def _resolve_targets(start: str, paths: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {
        pattern: [posixpath.normpath(posixpath.join(start, target)) for target in targets]
        for pattern, targets in paths.items()
    }


def _wildcard_match(before: str, text: str, after: str) -> str | None:
    """What stands between two ends of a text; None if it has other ends."""
    is_long = len(text) >= len(before) + len(after)
    if is_long and text.startswith(before) and text.endswith(after):
        return text[len(before) : len(text) - len(after)]
    return None


def _keeps_name(pattern: str, target: str) -> bool:
    """Whether the last name of a module is that of what it means, whatever stands for the `*`."""
    return pattern.rpartition("/")[2] == target.rpartition("/")[2] == "*"


def _parent_folders(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        yield path
