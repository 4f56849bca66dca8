"""From the references of files to edges: which of them mean a symbol, and how that is known.

A reference is *resolved* if imports, scopes, receivers or inheritance lead from it to the definition, a *candidate* if the
name is all that speaks for it and nothing against it. What leads elsewhere is no edge.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prism_contracts.code import CALLABLE_KINDS, EdgeStatus, Reference, ReferenceKind, Strategy, Symbol
from prism_search.core.references.modules import (
    C_FAMILY,
    IMPLICIT_OBJECT,
    SAME_FOLDER,
    Sure,
    imports,
    is_standard,
)
from prism_search.core.references.scopes import BASE_OBJECT, WHOLE_MODULE, Import, SourceFile, is_made

# Re-exports of re-exports, and bases of bases.
STEPS_MAX = 8
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
        # Files through which the symbol can be imported, and its names there.
        self._exports: dict[str, tuple[SourceFile, dict[str, Sure]]] = {}
        if not self._within:
            self._exports = {file.id: (file, {self._top: Sure.YES}) for file in self._homes.values()}
            self._follow_exports()
        self._local = {file.id: self._locals(file) for file in files}

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
            return _resolved(Strategy.SAME_FILE) if is_there else ELSEWHERE
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
        sure = self._taken_from(file, reference.name, reference.qualifier)
        if sure is Sure.MAYBE:
            return self._by_name
        return _resolved(Strategy.IMPORT) if sure else ELSEWHERE

    def _plain(self, file: SourceFile, reference: Reference) -> Meaning:
        """A name without a qualifier: what the file binds it to, else what it may see."""
        known = self._local[file.id].get(reference.name)
        if known is not None and reference.line in known.within:
            return self._by_name if known.strategy is Strategy.NAME else _resolved(known.strategy)
        bound = reference.name in file.defined or file.is_imported(reference.name, reference.line)
        is_alias = reference.name != self._name
        return ELSEWHERE if bound or is_alias else self._by_name

    def _qualified(self, file: SourceFile, reference: Reference) -> Meaning:
        """`module.name`: what is outside of classes is reached through what it lies in."""
        qualifier = reference.qualifier
        if file.is_own_object(qualifier, reference.symbol) or qualifier in BASE_OBJECT:
            return ELSEWHERE
        known = [self._reached(file, one, reference.name) for one in file.imports if one.is_named(qualifier)]
        if Sure.YES in known:
            return _resolved(Strategy.MODULE)
        return ELSEWHERE if known and Sure.MAYBE not in known else self._by_name

    def _member(self, file: SourceFile, reference: Reference) -> Meaning:
        """A method or a field: what stands before it decides."""
        qualifier = reference.qualifier
        if not qualifier:
            return self._own(file, reference) if file.file.language in IMPLICIT_OBJECT else ELSEWHERE
        if file.is_own_object(qualifier, reference.symbol) or qualifier in BASE_OBJECT:
            return self._own(file, reference)
        for name in self._owner_names(file):
            if qualifier == name or qualifier.endswith((f".{name}", f"::{name}")):
                return _resolved(Strategy.CLASS_NAME)
            if is_made(qualifier, name) or file.is_of_type(qualifier, name, reference):
                return _resolved(Strategy.RECEIVER_TYPE)
        if any(one.leads(qualifier) and is_standard(file.file.language, one.module) for one in file.imports):
            return ELSEWHERE
        known = [self._reached(file, one, one.name) for one in file.imports if one.is_named(qualifier)]
        return ELSEWHERE if known and not any(known) else self._by_name

    def _own(self, file: SourceFile, reference: Reference) -> Meaning:
        """A member of the object itself: of the class around, or of one that it inherits from."""
        around = file.owner_at(reference.symbol)
        if not around:
            return self._by_name if reference.qualifier else ELSEWHERE
        if reference.qualifier not in BASE_OBJECT:
            if around == self._owner and self._knows_owner(file):
                return _resolved(Strategy.RECEIVER)
            bound = self._name in file.defined or file.is_imported(self._name, reference.line)
            if file.has_member(around, self._name) or (bound and not reference.qualifier):
                return ELSEWHERE
        inherits = self._inherits(file, around, STEPS_MAX)
        if inherits is Sure.MAYBE:
            return self._by_name
        return _resolved(Strategy.INHERITED) if inherits else ELSEWHERE

    def _inherits(self, file: SourceFile, owner: str, steps: int) -> Sure:
        """Whether a class of the file has the symbol's class among its bases; MAYBE if a base is not known here."""
        answer = Sure.NO
        for base in file.bases_of(owner):
            if base.name in self._owner_names(file):
                return Sure.YES
            if file.has_member(base.name, self._name):
                return Sure.NO  # the nearer one is meant
            is_here = base.name in file.defined and steps > 0
            answer = max(answer, self._inherits(file, base.name, steps - 1) if is_here else Sure.MAYBE)
        return answer

    def _owner_names(self, file: SourceFile) -> list[str]:
        """What the file calls the class that has the symbol, if it knows it."""
        local = [name for name, known in self._local[file.id].items() if known.strategy is not Strategy.NAME]
        reaches = any(self._reached(file, one, self._top) is Sure.YES for one in file.imports)
        inner = self._owner.rpartition(".")[2]
        return list(dict.fromkeys([*local, inner] if local or reaches else local))

    def _knows_owner(self, file: SourceFile) -> bool:
        return file.id in self._homes or any(_share_names(file, home) for home in self._homes.values())

    def _locals(self, file: SourceFile) -> dict[str, Known]:
        """What the file calls the symbol, or the class that has it, and how it comes to know it."""
        everywhere = file.lines_of(-1)
        if file.id in self._homes:
            return {self._top: Known(Strategy.SAME_FILE, everywhere)}
        local: dict[str, Known] = {}
        for one in file.imports:
            sure = self._brought(file, one)
            if sure and not (_is_wildcard(file, one) and self._top in file.defined):
                name = self._top if _is_wildcard(file, one) else one.local
                if sure is Sure.YES:
                    local[name] = Known(_how(file, one), one.within)
                else:
                    local.setdefault(name, Known(Strategy.NAME, one.within))
        is_free = self._top not in file.defined and not any(one.local == self._top for one in file.imports)
        if is_free and self._knows_owner(file):
            local.setdefault(self._top, Known(Strategy.SAME_PACKAGE, everywhere))
        return local

    def _follow_exports(self) -> None:
        """Who imports the symbol gives it on: to who imports it from there, and so on."""
        for _ in range(STEPS_MAX):
            found = [
                (file, self._top if _is_wildcard(file, one) else one.local, sure)
                for file in self._files
                for one in file.imports
                if (sure := self._brought(file, one))
            ]
            before = sum(len(names) for _, names in self._exports.values())
            for file, name, sure in found:
                names = self._exports.setdefault(file.id, (file, {}))[1]
                names[name] = max(sure, names.get(name, Sure.NO))
            if before == sum(len(names) for _, names in self._exports.values()):
                return

    def _brought(self, file: SourceFile, one: Import) -> Sure:
        """Whether an import brings the symbol itself, or the class that has it."""
        if _is_wildcard(file, one):
            return self._reached(file, one, self._top)
        return self._taken_from(file, one.name, one.module)

    def _taken_from(self, file: SourceFile, name: str, module: str) -> Sure:
        """Whether a name of a module is the symbol, or the class that has it."""
        return max(
            (
                min(sure, imports(file.file, module, other.file))
                for other, names in self._exports.values()
                if (sure := names.get(name, Sure.NO)) and other.id != file.id
            ),
            default=Sure.NO,
        )

    def _reached(self, file: SourceFile, one: Import, name: str) -> Sure:
        """Whether the module that an import brings has the symbol, or the class that has it, under that name."""
        if not self._owner and name != self._name and not _is_wildcard(file, one):
            return Sure.NO
        return max((self._taken_from(file, self._top, module) for module in one.modules), default=Sure.NO)


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
