"""Uses from the matches of a query: references that name a type, pass a value without calling it, or alias a
symbol.

Most identifiers of a file are local variables, which no one looks up. Kept are names that the file defines or
imports, and, where files see each other's names without imports, names that no variable of the file has.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import attrgetter
from typing import NamedTuple

from tree_sitter import Node

from prism_chunker.core.implicit import HAS_IMPLICIT_MEMBERS, is_implicit, owner_of, start_of
from prism_chunker.core.languages.table import Language
from prism_chunker.core.names import WILDCARD, Names, head_of, text_of
from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Captures, Syntax
from prism_chunker.core.references import EXPORTS, OWN_VARIABLE, Places, alias_of, shortened
from prism_chunker.core.shadows import Shadows
from prism_chunker.core.stored_values import field_of
from prism_chunker.core.tokens import is_token, is_value, start_of_path
from prism_chunker.core.visibility import Visibility
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, VALUE_KINDS, Binding, Reference, ReferenceKind

_USES = {
    "original": ReferenceKind.ALIAS,
    "use": ReferenceKind.TYPE,
    "value": ReferenceKind.VALUE,
    "set": ReferenceKind.ASSIGN,
}
_OWN_OBJECTS = frozenset({"self", "this", "cls", "$this"})
# Names of the class around in PHP, whose constants and static properties may be inherited.
_OWN_CLASSES = frozenset({"parent", "self", "static"})
_BASE_OBJECT = "super()"
# What comes before a name in C that no variable can hide: `struct gate *gate`.
_TAGGED = frozenset({"struct_specifier", "union_specifier", "enum_specifier"})
# A member that is read from an object.
_READS = frozenset(
    {
        "attribute",
        "field_access",
        "field_expression",
        "member_access_expression",
        "member_expression",
        "navigation_expression",
        "nullsafe_member_access_expression",
        "selector_expression",
    }
)
# An operator of Python is a method of what is before it.
_OPERATION = "binary_operator"
_PATH = re.compile(r"(?:(.*?)\s*(?:[?!]?\.|\??->|::|\\))?\s*((?!\d|\$\d)[\w$]+)", re.DOTALL)
# `(*Depot).open` in Go, `!depot.isOpen` in Swift, `\Shop\Depot` in PHP, `::Shop::Depot` in Ruby
_HEAD = re.compile(rb"(?:\(\*|!|\\|::)?([\w$@]+)")
# The start of a path that begins with a crate of Rust, which no import needs to name; not one of the language's.
_CRATE = re.compile(rb"(?!(?:std|core|alloc|Self)\b)[a-z_]\w*+::")
# Before a name of Ruby that is in no module.
_TOP = "::"
# After a variable, before its member: `depot.Size`, `depot?.Size`, `depot!.Size`, `depot[0].Size`, `Open().Size`.
_DOTS = frozenset({b".", b"?", b"!", b"[", b"(", b"-", b":"})
# Built-in names of types and values that begin with a small letter.
_BUILT_IN = frozenset(
    {
        "any", "bool", "byte", "char", "comparable", "complex128", "complex64", "double", "error", "false", "float", "float32",
        "float64", "int", "int16", "int32", "int64", "int8", "iota", "let", "long", "nil", "nullptr", "object", "rune", "self",
        "short", "size_t", "string", "super", "this", "true", "uint", "uint16", "uint32", "uint64", "uint8", "uintptr",
        "undefined", "var", "void",
    }
)  # fmt: skip
# The others, by language: elsewhere they are types of the program, such as `Unit` in Java.
_SCALA = "Any Boolean Byte Char Double Float Int Long Nothing Object Short String Unit"
_TYPES_BUILT_IN = {
    "c": "NULL",
    "cpp": "NULL",
    "csharp": "",
    "go": "",
    "java": "Boolean Byte Character Double Float Integer Long Object Short String Void",
    "javascript": "Boolean Object String",
    "kotlin": "Any Boolean Byte Char Double Float Int Long Nothing Short String Unit",
    "php": "",
    "python": "Any Self",
    "ruby": "",
    "rust": "Self String",
    "scala": _SCALA,
    "swift": "Any Bool Character Double Float Int Self String Void",
    "tsx": "Boolean Object String",
    "typescript": "Boolean Object String",
}
_TYPES_BUILT_IN_ANYWHERE = " ".join(_TYPES_BUILT_IN.values())

# Languages of which members of variables of unknown type are kept.
_READS_UNKNOWN = frozenset({"csharp", "php"})


def read_uses(
    syntax: Syntax,
    places: Places,
    scopes: "Scopes",
    uses_max: int,
    known: AbstractSet[int] = frozenset(),
) -> list[Reference]:
    """Returns the uses worth keeping, in line order, except at a definition or another reference.

    `known`: where others begin that are read without the query.
    """
    # In `a.B`, neither `a` nor `B` is a use on its own: the longest match of a pattern comes first.
    heads = frozenset(definition.name_start for definition in scopes.nesting.kept)
    starts = {*heads, *known}
    taken = _taken(syntax, places, uses_owners=scopes.uses_owners)
    has_implicit = scopes.has_implicit_members
    found: list[Reference] = []
    owners: set[int] = set()
    for key, kind in _USES.items():
        for captures in _matches(syntax, key):
            node = captures[key][0]
            start, end = _start(captures, node, syntax), node.end_byte
            if end in taken and len(captures) == 1:  # the common case: `depot.open` of `depot.open()`
                starts.add(start)
                continue
            begin = captures["on"][0].start_byte if "on" in captures else start
            # In `exports.open = exports.start = …`, `exports.start` is assigned, and is what `open` is.
            is_exported = kind is ReferenceKind.ALIAS and "alias" in captures
            owner, start = _implied(node, start, syntax.source) if has_implicit else (None, start)
            around = node.parent
            is_tag = owner is not None or (around is not None and around.type in _TAGGED)
            may_begin = is_tag or scopes.may_begin(syntax.source, begin)
            # The class in the head of a member's definition, which begins at the same byte.
            is_owner = "of" in captures and start in heads and start not in owners
            is_kept = is_exported or is_owner
            if (start in starts and not is_kept) or not may_begin:
                continue
            if "name" in captures and captures["name"][0].start_byte not in heads:
                continue  # an assignment to a local variable
            if not scopes.is_element(syntax.source, start, end):
                starts.add(start)
            owners |= {start} if is_owner else set()
            if end not in taken or is_exported:
                taken.add(end)
                path = syntax.source[start:end].decode("utf-8", "replace")
                qualifier, name = _split(path)
                qualifier = owner or _object_of(captures, syntax.source) or qualifier or scopes.outside(path)
                symbol = scopes.nesting.around(start)
                head = head_of(qualifier) if qualifier else name
                is_hidden = owner is None and scopes.shadows.hides(
                    head, start, is_type=kind is ReferenceKind.TYPE
                )
                is_sure = is_tag or scopes.begins_crate(syntax.source, start)
                if name and not is_hidden and (is_sure or scopes.may_mean(qualifier, name, symbol, start)):
                    found.append(
                        Reference(
                            name=name,
                            kind=kind,
                            line=node.end_point[0] + 1,
                            symbol=symbol,
                            qualifier=_qualifier(qualifier, node),
                            alias=_alias(captures, node, scopes, syntax.source),
                        )
                    )
    return sorted(found, key=attrgetter("line"))[:uses_max]


def _qualifier(qualifier: str, node: Node) -> str:
    """Returns the qualifier of a use. An element of an annotation in Java has an object of it, maybe rows above."""
    is_element = node.parent is not None and node.parent.type == "element_value_pair"
    return shortened(f"{qualifier}()" if is_element else qualifier)


def _taken(syntax: Syntax, places: Places, *, uses_owners: bool) -> set[int]:
    """Returns where names end that are references, or owners in the heads of definitions: `void Depot::open()`.

    With `uses_owners`, the owner of `fun Depot.open()` is used like any other name.
    """
    keys = ("path",) if uses_owners else ("owner", "path")
    return {
        *(node.end_byte for node, _ in places.values()),
        *(
            captures[owner][0].end_byte
            for captures in syntax.matches_with(*keys)
            for owner in keys
            if owner in captures and "test" not in captures
        ),
    }


def read_objects(
    syntax: Syntax, references: Iterable[Reference], places: Places, *, has_implicit: bool = False
) -> set[str]:
    """Returns the objects that are used without naming a member that is called.

    That is `parcel` of `parcel.weight`, and of `parcel()`. `places` are those of the references, whose objects
    are known.
    """
    taken, has_tokens = {node.end_byte for node, _ in places.values()}, syntax.has_tokens
    found = {one.name for one in references if one.kind is ReferenceKind.CALL and not one.qualifier}
    for captures in syntax.matches_with("value"):
        node = captures["value"][0]
        if has_implicit and is_implicit(node):
            found.add(head_of(owner_of(node, syntax.source)))
            continue
        if node.end_byte in taken:
            continue
        start = captures["on"][0].start_byte if "on" in captures else _start(captures, node, syntax)
        is_part = has_tokens and start < node.start_byte
        is_named = "on" in captures or "qualifier" in captures  # `depot::open` in Kotlin
        is_read = is_named or node.type in _READS or is_part or _is_operand(node)
        if is_read and (head := _HEAD.match(syntax.source, start)):
            found.add(head.group(1).decode("utf-8", "replace"))
    return found


def _is_operand(node: Node) -> bool:
    return node.parent is not None and node.parent.type == _OPERATION


def _alias(captures: Captures, node: Node, scopes: "Scopes", source: bytes) -> str:
    """Returns the alias of an export, or the field in which C stores a value."""
    if "alias" in captures:
        return alias_of(captures, source)
    return field_of(node, source) if scopes.stores and "value" in captures else ""


def _implied(node: Node, start: int, source: bytes) -> tuple[str | None, int]:
    """Returns the owner of a member without its type, and where its name begins; None and the start of any other use."""
    return (owner_of(node, source), start_of(node)) if is_implicit(node) else (None, start)


def _matches(syntax: Syntax, key: str) -> list[Captures]:
    """Returns the matches with a capture, without the tokens of macros that are no use."""
    found = syntax.matches_with(key)
    if not syntax.has_tokens:
        return found
    return [
        captures
        for captures in found
        if not is_token(captures[key][0]) or is_value(captures[key][0], syntax.expressions)
    ]


def _start(captures: Captures, node: Node, syntax: Syntax) -> int:
    """Returns the start of a use: with its qualifier, and after the colon of a symbol in Ruby."""
    source = syntax.source
    if syntax.has_tokens and is_token(node):
        return start_of_path(node)
    if "qualifier" in captures:
        return captures["qualifier"][0].start_byte
    start = node.start_byte
    return start + (source.startswith(b":", start) and not source.startswith(b"::", start))


def _object_of(captures: Captures, source: bytes) -> str:
    """Returns the object that a use names apart from its member; empty without one."""
    if "inside" in captures:  # `#[DataProvider('weights')]`
        return "self"
    # `getattr(depot, "weigh")`, `depot?.Size`
    return text_of(captures["on"][0], source) if "on" in captures else ""


def _split(path: str) -> tuple[str, str]:
    """Returns the text before the last dot, and the name after it; two empty strings if it is not a path."""
    if path.isidentifier():
        return "", path
    if path.startswith(OWN_VARIABLE):
        return OWN_VARIABLE, path.lstrip(OWN_VARIABLE)
    parts = _PATH.fullmatch(path)
    if parts is None:
        return "", ""
    # `\Depot` in PHP, which is in no namespace
    return " ".join((parts[1] or path[: path.startswith("\\")]).split()), parts[2]


def _typed(
    language: Language, names: Names, bindings: Collection[Binding], local: Collection[Binding]
) -> set[tuple[int, str]]:
    """Returns the variables whose value has a type that may be known, each with its symbol.

    Where members are bare, what makes a value may be inherited, and the parameters of a class of Kotlin count.
    """
    if language.bare_members:
        return {(one.symbol, one.name) for one in bindings if one.type or one.made_by}
    typed: set[tuple[int, str]] = set()
    for one in local:  # in line order: `config` of `let config = cfg.clone()` after `cfg`
        head = head_of(one.made_by)
        is_made = bool(head) and (head in names.known or head in _OWN_OBJECTS or (one.symbol, head) in typed)
        if one.type or is_made:
            typed.add((one.symbol, one.name))
    return typed


class Hidden(NamedTuple):
    """Where names of a file mean variables and type parameters."""

    shadows: Shadows
    by_symbol: Mapping[tuple[int, str], Sequence[tuple[int, int]]]  # in bytes
    visibility: Visibility

    def has(self, symbol: int, name: str, byte: int) -> bool:
        """Returns whether a variable of a symbol hides a name at a byte."""
        return any(start <= byte < end for start, end in self.by_symbol.get((symbol, name), ()))


class Scopes:
    """Decides which names of a file have a meaning outside of their function.

    `bindings` are the known names that a function shadows, `shadows` has the names of all
    variables in the file.
    """

    def __init__(
        self,
        language: Language,
        nesting: Nesting,
        names: Names,
        bindings: Collection[Binding],
        hidden: "Hidden",
    ) -> None:
        self.shadows = shadows = hidden.shadows
        self.stores = language.c_family
        self.uses_owners = language.uses_owners
        self._has_exports = "ecmascript" in language.queries
        self.has_implicit_members = language.id in HAS_IMPLICIT_MEMBERS
        self._names_crates = language.id == "rust"
        self._names = names
        self.nesting = nesting
        self._variables = hidden
        self._is_exact = language.exact_variables
        self._sees_others = language.shares_names or WILDCARD in names.imported
        self._in_body = names.members if language.bare_in_body else set()
        self._heads = {
            name.encode()
            for name in (
                *names.known,
                *self._in_body,
                *_OWN_OBJECTS,
                *([EXPORTS, "module"] if self._has_exports else ()),
            )
        }
        types = _TYPES_BUILT_IN.get(language.id, _TYPES_BUILT_IN_ANYWHERE).split()
        built_in = (name.encode() for name in (*_BUILT_IN, *types))
        variables = () if self._is_exact else shadows.variables
        self._hidden = {*variables, *built_in} if self._sees_others else set()
        local = [
            binding
            for binding in bindings
            if binding.symbol >= 0 and nesting.kept[binding.symbol].kind in CALLABLE_KINDS
        ]
        self._locals = {(binding.symbol, binding.name) for binding in local}
        # Variables whose members are looked up in their type: `parcel.weight`, `depot.open` without a call.
        # In JavaScript, variables of a callback may be in no symbol: those of a test.
        known = bindings if self._has_exports else local
        self._typed = _typed(language, names, bindings, known) if language.reads_members else set()
        self._heads |= (
            {b"super", *(name.encode() for _, name in self._typed)} if language.reads_members else set()
        )
        # Members of the own object whose members are looked up in their type: `self.depot.weight`.
        own = f"{language.own_object}."
        self._typed_members = {
            one.name.removeprefix(own)
            for one in (bindings if language.reads_members else ())
            if one.name.startswith(own) and (one.type or one.made_by)
        }
        # Members of the own object that no class of the file has may be inherited.
        self._inherits = language.id == "php"
        # In Ruby, what a module has is no member of an object until it is mixed in.
        self._own_names = names.members | (names.known if language.id == "ruby" else set())
        self._has_top = language.id == "ruby"
        # Members of variables whose type the file does not say.
        self._reads_unknown = language.id in _READS_UNKNOWN
        self._own_classes = _OWN_CLASSES if language.id == "php" else frozenset[str]()
        self._heads |= {name.encode() for name in self._own_classes}

    def may_begin(self, source: bytes, start: int) -> bool:
        """Whether a use at this byte may be kept: a quick check of its first name, which settles most."""
        found = _HEAD.match(source, start)
        if found is None:
            return self._reads_unknown and source[start : start + 1] == b"("
        head = found.group(1)
        if self._reads_unknown and source[found.end() : found.end() + 1] in _DOTS:
            return True
        is_known = head in self._heads or (self._sees_others and not self._is_hidden(head, start))
        return is_known or self.begins_crate(source, start)

    def begins_crate(self, source: bytes, start: int) -> bool:
        """Whether a path at this byte may begin with the name of a crate."""
        return self._names_crates and _CRATE.match(source, start) is not None

    def outside(self, path: str) -> str:
        """Returns the qualifier of a name of Ruby that is in no module, `::Depot`; empty for any other path."""
        return _TOP if self._has_top and path.startswith(_TOP) else ""

    def is_element(self, source: bytes, start: int, end: int) -> bool:
        """Whether a use is a member of an element, so that the collection is used on its own: `depots[0].Size`."""
        return self._reads_unknown and b"[" in source[start:end]

    def _is_hidden(self, name: bytes, byte: int) -> bool:
        """Whether a name of another file means a variable or something built in at a byte."""
        return name in self._hidden or (self._is_exact and self._variables.visibility.hides(name, byte))

    def may_mean(self, qualifier: str, name: str, symbol: int, byte: int) -> bool:
        """Whether a name, with its qualifier, is worth a reference in a symbol at a byte."""
        head = head_of(qualifier) if qualifier else name
        is_exported = head == EXPORTS and self._has_exports
        if is_exported or qualifier == _BASE_OBJECT or qualifier in self._own_classes:
            return True
        if head in _OWN_OBJECTS or qualifier.startswith("@"):
            return self._is_own_member(qualifier[len(head) :], name)
        if qualifier and (self._reads_unknown or self._is_among(self._typed, head, symbol)):
            return True
        if head in self._names.known:
            return not self._is_local(head, symbol, byte)
        if self._sees_others:
            return not self._is_hidden(head.encode(), byte)
        return head in self._in_body and self._is_in_body(symbol)

    def _is_own_member(self, qualifier: str, name: str) -> bool:
        """Whether a name after the own object, and maybe a member of it, is worth a reference."""
        member = head_of(qualifier)
        if name in self._own_names or member in self._typed_members:
            return True
        return self._inherits and member not in self._names.members

    def _is_local(self, name: str, symbol: int, byte: int) -> bool:
        """Whether a name means a variable of a function around a byte, or of a closure or block in it."""
        while symbol >= 0:
            if (symbol, name) in self._locals and self._variables.has(symbol, name, byte):
                return True
            symbol = self.nesting.parents[symbol]
        return False

    def _is_in_body(self, symbol: int) -> bool:
        """Whether a symbol's code is in the body of a class, outside of its methods."""
        kept = self.nesting.kept
        if symbol >= 0 and kept[symbol].kind in VALUE_KINDS:
            symbol = self.nesting.parents[symbol]
        return symbol >= 0 and kept[symbol].kind in TYPE_KINDS

    def _is_among(self, variables: AbstractSet[tuple[int, str]], name: str, symbol: int) -> bool:
        """Whether a name is one of the variables of a symbol, or of those around it."""
        while symbol >= 0 and (symbol, name) not in variables:
            symbol = self.nesting.parents[symbol]
        return (symbol, name) in variables
