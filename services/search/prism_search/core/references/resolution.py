"""From the references of files to edges: which of them mean a symbol, and how that is known.

A reference is *resolved* if imports, scopes, receivers or inheritance lead from it to the definition, a *candidate* if the
name is all that speaks for it and nothing against it. What leads elsewhere is no edge.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prism_contracts.code import CALLABLE_KINDS, EdgeStatus, Reference, ReferenceKind, Strategy, Symbol
from prism_search.core.references.modules import (
    C_FAMILY,
    FOLDER_PACKAGES,
    IMPLICIT_OBJECT,
    SAME_FOLDER,
    Sure,
    imports,
    is_standard,
    key,
    keys,
)
from prism_search.core.references.scopes import WHOLE_MODULE, Import, SourceFile, is_made

# Re-exports of re-exports, and bases of bases.
STEPS_MAX = 8
SEPARATOR = re.compile(r"::|->")
# Languages in which an import brings in all that the other file defines.
WILDCARD_LANGUAGES = C_FAMILY | {"ruby"}


class Definition(NamedTuple):
    """A symbol and the file that has it."""

    file: SourceFile
    symbol: Symbol


class Edge(NamedTuple):
    """A reference that means the symbol, or may."""

    file: SourceFile
    reference: Reference
    status: EdgeStatus
    strategy: Strategy


class Meaning(NamedTuple):
    """What a reference is taken for. Without a status it means something else."""

    status: EdgeStatus | None
    strategy: Strategy = Strategy.NAME


class Known(NamedTuple):
    """How a file comes to know a name, and in which of its lines."""

    strategy: Strategy
    within: range


ELSEWHERE = Meaning(None)


class Resolver:
    """Finds the edges to one symbol among files.

    `definitions` are those of one qualified name: a declaration and its body, or overloads. `is_only_one` says that nothing
    else of that name is defined anywhere. The files are those that hold the name, with the ones of the definitions.
    """

    def __init__(
        self, definitions: Sequence[Definition], files: Sequence[SourceFile], *, is_only_one: bool
    ) -> None:
        symbol = definitions[0].symbol
        self._homes = {known.file.id: known.file for known in definitions}
        self._files = files
        self._name = symbol.name
        parent = definitions[0].file.symbols[symbol.parent] if symbol.parent >= 0 else None
        # A function inside a function is known there only.
        self._within = definitions[0].file.lines_of(symbol.parent) if _is_callable(parent) else None
        self._owner = "" if self._within else symbol.qualified_name.removesuffix(symbol.name).rstrip(".")
        # What others import: the symbol itself, or the outermost class that has it.
        self._top = (self._owner or self._name).partition(".")[0]
        self._by_name = Meaning(
            EdgeStatus.CANDIDATE, Strategy.ONLY_DEFINITION if is_only_one else Strategy.NAME
        )
        # By file and name, how sure it is that the file gives the symbol on under that name; and which files do, by `keys`.
        self._exports: dict[tuple[str, str], Sure] = {}
        self._givers: dict[tuple[str, str], list[SourceFile]] = {}
        self._read = _by_key(files)
        if not self._within:
            self._follow_exports()
        self._local = {file.id: self._locals(file) for file in files}
        self._owner_names = {file.id: self._find_owner_names(file) for file in files} if self._owner else {}

    def edges(self) -> Iterator[Edge]:
        """Every reference that means the symbol or may, by file and in order."""
        for file in self._homes.values() if self._within else self._files:
            wanted = {self._name} if self._owner else {self._name, *self._local[file.id]}
            for reference in file.references:
                if reference.name in wanted:
                    status, strategy = self._meaning(file, reference)
                    if status is not None:
                        yield Edge(file, reference, status, strategy)

    def _meaning(self, file: SourceFile, reference: Reference) -> Meaning:
        if self._within:
            is_there = reference.line in self._within and not reference.qualifier
            is_own = is_there and not file.is_parameter(self._name, reference)
            return _resolved(Strategy.SAME_FILE) if is_own else ELSEWHERE
        if reference.kind is ReferenceKind.IMPORT:
            return self._imported(file, reference)
        if self._owner:
            return self._member(file, reference)
        if reference.qualifier:
            return self._qualified(file, reference)
        return self._plain(file, reference)

    def _imported(self, file: SourceFile, reference: Reference) -> Meaning:
        if self._owner:
            return ELSEWHERE
        if self._taken_from(file, reference.name, reference.qualifier) is Sure.YES:
            return _resolved(Strategy.IMPORT)
        one = Import(reference.name, reference.name, reference.qualifier, file.lines_of(-1))
        return ELSEWHERE if reference.name != self._name or self._is_foreign(file, one) else self._by_name

    def _plain(self, file: SourceFile, reference: Reference) -> Meaning:
        """A name without a qualifier: what the file binds it to, else what it may see."""
        name = reference.name
        if file.is_shadowed(name, reference):
            return ELSEWHERE
        known = self._known(file, name, reference.line)
        if (
            known is not None
            and known.strategy is not Strategy.NAME
            and not file.is_assigned(name, reference)
        ):
            return _resolved(known.strategy)
        is_alias = name != self._name
        is_bound = name in file.defined or self._is_imported_from_elsewhere(file, name, reference.line)
        return self._by_name if known is not None or not (is_bound or is_alias) else ELSEWHERE

    def _qualified(self, file: SourceFile, reference: Reference) -> Meaning:
        """`module.name`: what is outside of classes is reached through what it lies in."""
        qualifier = reference.qualifier
        if file.is_own_object(qualifier, reference.symbol) or file.is_base_object(qualifier):
            return ELSEWHERE
        named = [one for one in file.imports if one.is_named(qualifier) and reference.line in one.within]
        if any(self._reached(file, one) is Sure.YES for one in named) and reference.name == self._name:
            return _resolved(Strategy.MODULE)
        return ELSEWHERE if any(self._is_foreign(file, one) for one in named) else self._by_name

    def _member(self, file: SourceFile, reference: Reference) -> Meaning:
        """A method or a field: what stands before it decides."""
        qualifier = reference.qualifier
        if not qualifier:
            return self._own(file, reference) if file.file.language in IMPLICIT_OBJECT else ELSEWHERE
        if file.is_own_object(qualifier, reference.symbol) or file.is_base_object(qualifier):
            return self._own(file, reference)
        spelled = SEPARATOR.sub(".", qualifier)
        for name in self._owner_names[file.id]:
            if spelled == name:
                return _resolved(Strategy.CLASS_NAME)
            if is_made(qualifier, name) or file.is_of_type(qualifier, name, reference):
                return _resolved(Strategy.RECEIVER_TYPE)
        if any(one.leads(qualifier) and self._is_foreign(file, one) for one in file.imports):
            return ELSEWHERE
        return self._by_name

    def _own(self, file: SourceFile, reference: Reference) -> Meaning:
        """A member of the object itself: of the class around, or of one that it inherits from."""
        around = file.owner_at(reference.symbol)
        if not around:
            return self._by_name if reference.qualifier else ELSEWHERE
        if not file.is_base_object(reference.qualifier):
            if around == self._owner and self._knows_owner(file):
                return _resolved(Strategy.RECEIVER)
            bound = self._name in file.defined or file.is_imported(self._name, reference.line)
            if f"{around}.{self._name}" in file.members or (bound and not reference.qualifier):
                return ELSEWHERE
        inherits = self._inherits(file, around, STEPS_MAX)
        if inherits is Sure.MAYBE:
            return self._by_name
        return _resolved(Strategy.INHERITED) if inherits else ELSEWHERE

    def _inherits(self, file: SourceFile, owner: str, steps: int) -> Sure:
        """Whether a class of the file has the symbol's class among its bases; MAYBE if a base is not known here."""
        answer = Sure.NO
        for base in file.bases.get(owner, ()):
            name = ".".join(filter(None, (SEPARATOR.sub(".", base.qualifier), base.name)))
            if name in self._owner_names[file.id]:
                return Sure.YES
            if f"{base.name}.{self._name}" in file.members:
                return Sure.NO  # the nearer one is meant
            is_here = base.name in file.defined and steps > 0
            answer = max(answer, self._inherits(file, base.name, steps - 1) if is_here else Sure.MAYBE)
        return answer

    def _find_owner_names(self, file: SourceFile) -> list[str]:
        """What the file calls the class that has the symbol, in full, if it knows it."""
        inner = self._owner.removeprefix(self._top)
        names = [
            f"{name}{inner}"
            for name, known in self._local[file.id].items()
            if any(one.strategy is not Strategy.NAME for one in known)
        ]
        reached = (one for one in file.imports if self._reached(file, one) is Sure.YES)
        names += [f"{module}.{self._owner}" for one in reached for module in (one.local, one.module)]
        if inner and file.id in self._homes:
            names.append(self._owner.rpartition(".")[2])
        return list(dict.fromkeys(names))

    def _knows_owner(self, file: SourceFile) -> bool:
        return file.id in self._homes or any(_share_names(file, home) for home in self._homes.values())

    def _known(self, file: SourceFile, name: str, line: int) -> Known | None:
        """How the file knows the name on a line: the narrowest way there is."""
        known = (one for one in self._local[file.id].get(name, ()) if line in one.within)
        return min(known, key=lambda one: len(one.within), default=None)

    def _locals(self, file: SourceFile) -> dict[str, list[Known]]:
        """What the file calls the symbol, or the class that has it, and how it comes to know it."""
        everywhere = file.lines_of(-1)
        if file.id in self._homes:
            return {self._top: [Known(Strategy.SAME_FILE, everywhere)]}
        local: dict[str, list[Known]] = {}
        for one in file.imports:
            sure = self._brought(file, one)
            if sure and not (_is_wildcard(file, one) and self._top in file.defined):
                name = self._top if _is_wildcard(file, one) else one.local
                how = _how(file, one) if sure is Sure.YES else Strategy.NAME
                local.setdefault(name, []).append(Known(how, one.within))
        is_free = self._top not in file.defined and not any(one.local == self._top for one in file.imports)
        if is_free and self._knows_owner(file):
            local.setdefault(self._top, []).append(Known(Strategy.SAME_PACKAGE, everywhere))
        return local

    def _follow_exports(self) -> None:
        """Who imports the symbol gives it on: to who imports it from there, and so on."""
        for home in self._homes.values():
            self._export(home, self._top, Sure.YES)
        for _ in range(STEPS_MAX):
            found = [
                (file, self._top if _is_wildcard(file, one) else one.local, sure)
                for file in self._files
                for one in file.imports
                if (sure := self._brought(file, one))
            ]
            news = [one for one in found if self._export(*one)]
            if not news:
                return

    def _export(self, file: SourceFile, name: str, sure: Sure) -> bool:
        """Note that a file gives the symbol on under a name; whether that is news."""
        known = self._exports.setdefault((file.id, name), Sure.NO)
        if sure <= known:
            return False
        self._exports[file.id, name] = sure
        if known is Sure.NO:
            for one in keys(file.file):
                self._givers.setdefault((one, name), []).append(file)
        return True

    def _brought(self, file: SourceFile, one: Import) -> Sure:
        """Whether an import brings the symbol itself, or the class that has it."""
        if _is_wildcard(file, one):
            return self._reached(file, one)
        return self._taken_from(file, one.name, one.module)

    def _is_imported_from_elsewhere(self, file: SourceFile, name: str, line: int) -> bool:
        return any(
            one.local == name and line in one.within and self._is_foreign(file, one) for one in file.imports
        )

    def _is_foreign(self, file: SourceFile, one: Import) -> bool:
        """Whether an import is known to bring something else: of the language itself, or of a file that was read."""
        if is_standard(file.file.language, one.module):
            return True
        if self._brought(file, one) or self._reached(file, one):
            return False
        read = (other for module in one.modules for other in self._read.get(key(file.file, module), ()))
        return any(imports(file.file, module, other.file) for other in read for module in one.modules)

    def _taken_from(self, file: SourceFile, name: str, module: str) -> Sure:
        """Whether a name of a module is the symbol, or the class that has it."""
        return max(
            (
                min(self._exports[other.id, name], self._is_module(file, module, other))
                for other in self._givers.get((key(file.file, module), name), ())
                if other.id != file.id
            ),
            default=Sure.NO,
        )

    def _is_module(self, file: SourceFile, module: str, other: SourceFile) -> Sure:
        """Whether a module is a file. Of another repository that is never sure, unless the module names it."""
        sure = imports(file.file, module, other.file)
        is_near = file.scope == other.scope or file.file.language in FOLDER_PACKAGES
        return sure if is_near else min(sure, Sure.MAYBE)

    def _reached(self, file: SourceFile, one: Import) -> Sure:
        """Whether an import brings a module that has the symbol, or the class that has it."""
        return max((self._taken_from(file, self._top, module) for module in one.modules), default=Sure.NO)


def _by_key(files: Sequence[SourceFile]) -> dict[str, list[SourceFile]]:
    found: dict[str, list[SourceFile]] = {}
    for file in files:
        for one in keys(file.file):
            found.setdefault(one, []).append(file)
    return found


def _is_callable(symbol: Symbol | None) -> bool:
    return symbol is not None and symbol.kind in CALLABLE_KINDS


def _resolved(strategy: Strategy) -> Meaning:
    return Meaning(EdgeStatus.RESOLVED, strategy)


def _is_wildcard(file: SourceFile, one: Import) -> bool:
    return one.name == WHOLE_MODULE or file.file.language in WILDCARD_LANGUAGES


def _how(file: SourceFile, one: Import) -> Strategy:
    return Strategy.WILDCARD_IMPORT if _is_wildcard(file, one) else Strategy.IMPORT


def _share_names(file: SourceFile, other: SourceFile) -> bool:
    """Whether each sees what the other defines, without an import."""
    same = file.scope == other.scope and file.folder == other.folder
    return same and file.file.language in SAME_FOLDER and file.file.language == other.file.language
