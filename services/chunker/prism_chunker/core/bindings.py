"""Bindings from the matches of a query: the types and values of variables, parameters and fields.

Most variables of a file are of no use elsewhere. Kept are the bindings through which members are resolved,
here or in another file: fields, top-level definitions, variables before a dot. Also kept are those that
shadow another meaning of their name.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from operator import attrgetter

from tree_sitter import Node

from prism_chunker.core.elements import element_type, iterated
from prism_chunker.core.languages.table import Language
from prism_chunker.core.names import Names, text_of
from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Captures, Syntax
from prism_chunker.core.type_names import parts_of, type_name, without_arguments
from prism_chunker.core.visibility import Variable, Variables, Visibility
from prism_contracts.code import CALLABLE_KINDS, OBJECT_TYPE, TYPE_KINDS, UNKNOWN_TYPE, Binding, SymbolKind

CALLEE_CHARS_MAX = 80
# Longer expressions have elements of an unknown type.
COLLECTION_BYTES_MAX = 400
# Expressions around a call that are transparent.
WRAPPERS_MAX = 8
# The maximum number of bindings followed from a variable to the source of its value.
SOURCES_MAX = 20

# Functions of JavaScript that return values. What a generator returns is none that its caller gets.
_FUNCTIONS = frozenset({"arrow_function", "function_declaration", "function_expression", "method_definition"})
_THIS, _MEMBER, _OBJECT = "this", "member_expression", "object"
_PATH = re.compile(r"(?:this|[A-Za-z_$][\w$]*)(?:\??\.#?[A-Za-z_$][\w$]*)+")
# Syntax levels between a function and what it returns.
LEVELS_MAX = 100

# The names under which a module exports its default, and itself.
_DEFAULT = "default"
_MODULE_EXPORTS = "module.exports"
# `Depot["gate"]` in TypeScript: the type of a member.
_MEMBER_OF_TYPE = "lookup_type"
# Expressions that create a value by a call, whose callee comes before the arguments or the fields.
_CALLS = frozenset(
    {
        "call", "call_expression", "composite_literal", "function_call_expression", "instance_expression", "invocation_expression",
        "member_call_expression", "method_invocation", "new_expression", "object_creation_expression", "scoped_call_expression",
        "struct_expression", "type_conversion_expression",
    }
)  # fmt: skip
# To the grammar of Go, `New[int, string](1)` may be one.
_CONVERSION = "type_conversion_expression"
_ARGUMENTS = frozenset({"arguments", "argument_list", "call_suffix"})
# Expressions whose value is that of their last part; the operands of `depot or Depot()` are taken as equal.
_WRAPPERS = frozenset(
    {
        "await", "await_expression", "binary_expression", "boolean_operator", "elvis_expression", "nil_coalescing_expression",
        "non_null_expression", "parenthesized_expression", "pointer_expression", "postfix_expression", "reference_expression",
        "ternary_expression", "try_expression", "unary_expression",
    }
)  # fmt: skip
_CHOICE = "ternary_expression"
_DECORATED, _DECORATOR = "decorated_definition", "decorator"
# The method that `with` calls, whose result it binds.
ENTERED = "__enter__"
_PARTS = frozenset({"attribute", "binary_operator"})
# Methods of Python that operators call.
_OPERATORS = {
    "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "//": "__floordiv__", "%": "__mod__", "**": "__pow__",
    "@": "__matmul__", "&": "__and__", "|": "__or__", "^": "__xor__", "<<": "__lshift__", ">>": "__rshift__",
}  # fmt: skip
_CASTS = frozenset({"as_expression", "cast_expression", "satisfies_expression", "type_assertion_expression"})
# What makes the value of a literal in Python.
_LITERALS = {
    "concatenated_string": "str",
    "dictionary": "dict",
    "dictionary_comprehension": "dict",
    "list": "list",
    "list_comprehension": "list",
    "set": "set",
    "set_comprehension": "set",
    "string": "str",
    "tuple": "tuple",
}
# Expressions that make an object of their field `type`.
_CREATIONS = frozenset({"new_expression", "object_creation_expression"})
# Languages in which `Depot(1)` makes an object.
_TYPES_ARE_CALLED = frozenset({"kotlin", "swift"})
# Calls in Rust whose value is used like their argument.
_MADE_OF = frozenset({"Arc::new", "Box::new", "Box::pin", "Ok", "Rc::new", "Some"})
_VARIABLES = frozenset({"identifier", "simple_identifier", "variable_name"})
_NOTHING = frozenset({"none", "null", "nil", "undefined", "null_literal"})
# No member is resolved on what such a callable returns.
_PRIMITIVES = frozenset(
    {
        "Boolean", "Bool", "Int", "bool", "boolean", "bytes", "byte", "char", "double", "error", "f32", "f64", "float", "i32",
        "i64", "int", "int64", "long", "number", "size_t", "u32", "u64", "u8", "usize",
    }
)  # fmt: skip
# Languages in which a member of the own object is never used without it.
_NAMES_OWN_OBJECT = frozenset({"javascript", "python", "rust", "svelte", "tsx", "typescript", "vue"})
_FIELDS = frozenset({SymbolKind.FIELD, SymbolKind.PROPERTY})
_CALLEE = re.compile(r"(?:new |try |await )*\\?((?!\()(?:[\w.:$@>?!\\-]|\(\))+?)(?:::)?(?:<.*>)?")
# `open(path).unwrap()`: the value comes from the inner call.
_HOLDER = re.compile(
    r"\(\)\??\.(?:unwrap|expect|unwrap_or_default|clone|orElseThrow|ConfigureAwait)(?=\(\)|$)"
)
_AWAITED = re.compile(r"\.await\b\??")
_TYPE_ARGUMENTS = re.compile(r"(?<=\w)\[[^\[\]]*\]$")
# What a function of Python returns that yields. A context manager and a fixture of pytest hand out its argument.
_YIELDS = re.compile(
    r"(?:\w+\.)*(?:(?:Async)?(?:Generator|Itera(?:tor|ble))|ContextManager)\[(.+)\]$", re.DOTALL
)
_HANDS_OUT = re.compile(rb"@\s*(?:\w+\s*\.\s*)*\w*(?:contextmanager|fixture)\s*(?:\(|$)")
# Calls in C++ whose value has the type that they name.
_HOLDS = re.compile(
    r"(?:(?:std::)?make_(?:unique|shared)|(?:static|dynamic|const|reinterpret)_cast)\s*<(.+)>"
)
# The object to which a method belongs, before a member.
_OWN_OBJECT = re.compile(rb"(?:\$this|this|self|m?cls|mcs)[?!]?(?:\.|->)|@")


# Captures of a name that gets a value, of a return type, of what a function hands out, and of a name that represents
# any type.
_SUBJECTS = ("bound", "member", "returned", "handed", "generic")
_WITHOUT_NAME = frozenset({"returned", "handed"})


def find_variables(language: Language, syntax: Syntax) -> Variables:
    """Returns all variables of a file."""
    source = syntax.source
    before = {"bound": b"", "generic": b"", "member": f"{language.own_object}.".encode()}
    variables: dict[bytes, list[Variable]] = defaultdict(list)
    for subject in _SUBJECTS:
        for captures in syntax.matches_with(subject):
            node = captures[subject][0]
            own = source[node.start_byte : node.end_byte].removeprefix(b":")  # `let(:depot)` in Ruby
            if not own and subject not in _WITHOUT_NAME:
                continue  # code that is being typed: `for  in parcels:`
            name = b"" if subject in _WITHOUT_NAME else before[subject] + own
            variables[name].append(Variable(subject, node, captures))
    return variables


class BindingReader:
    """Turns the variables of a file into bindings."""

    def __init__(
        self,
        language: Language,
        syntax: Syntax,
        nesting: Nesting,
        variables: Variables,
        visibility: Visibility,
    ) -> None:
        self._own = f"{language.own_object}."
        self._literals = _LITERALS if language.id == "python" else {}
        self._language = language.id
        self._source = syntax.source
        self._nesting = nesting
        self._variables = variables
        self._visibility = visibility
        # By symbol and name: the bytes in which its bindings hide another meaning of the name.
        self.hidden: dict[tuple[int, str], list[tuple[int, int]]] = {}
        # By name: the first of its variables, each with its first byte and the symbol around it.
        self._places: dict[bytes, list[tuple[Variable, int, int]]] = {}
        self._collections: dict[bytes, Mapping[int, AbstractSet[tuple[str, bool]]]] = {}
        self._definitions = {definition.name_start: at for at, definition in enumerate(nesting.kept)}
        self._generics = _generics(language.id, syntax, nesting)
        self._returned = [captures["result"][0] for captures in syntax.matches_with("result")]
        self._imported = {
            (captures.get("alias") or captures["import"])[0].start_byte
            for captures in syntax.matches_with("alias", "import")
        }

    def read(self, names: Names, bindings_max: int) -> tuple[Binding, ...]:
        """Returns the bindings worth keeping, in line order."""
        wanted = {name.encode() for name in (*names.known, *names.objects)}
        kept = list(self._results(names))
        for name, variables in self._variables.items():
            is_exported = variables[0].node.type == _DEFAULT or name == _MODULE_EXPORTS.encode()
            is_wanted = not name or name in wanted or _OWN_OBJECT.match(name) or is_exported
            if is_wanted and len(kept) < bindings_max:
                kept += self._of_name(name, variables, names)
        return tuple(sorted(kept[:bindings_max], key=attrgetter("line")))

    def _results(self, names: Names) -> Iterator[Binding]:
        """Yields what functions return that declare no type, as far as it leads to a type: `return new Depot()`."""
        for node in self._returned:
            symbol = self._nesting.around(node.start_byte)
            if symbol < 0 or self._nesting.kept[symbol].kind not in CALLABLE_KINDS:
                continue
            type_, callee = (_THIS, "") if node.type == _THIS else self._given(node, symbol)
            callee = self._seen_from_outside(callee, node, symbol, names) if callee else ""
            if (type_ or callee) and self._is_result(node, symbol):
                line = node.start_point[0] + 1
                yield Binding(name="", line=line, symbol=symbol, type=type_, made_by=callee)

    def _seen_from_outside(self, callee: str, node: Node, symbol: int, names: Names) -> str:
        """Returns a callee without variables of the function that calls it: `Depot.open` for `depot.open`.

        Empty for one that begins with a variable of unknown type, or with what the file does not have.
        """
        head, dot, rest = callee.partition(".")
        at = symbol
        while at >= 0:
            if self._bound(head.encode(), node.start_byte, at):
                type_, made = self._value_before(head.encode(), node.start_byte, at)
                known = type_ or (f"{made}()" if made and made.partition(".")[0] != head else "")
                callee = f"{known}{dot}{rest}" if known and dot else ""
                head = known.partition(".")[0].removesuffix("()")
                break
            at = self._nesting.parents[at]
        is_seen = head == _THIS or head in names.known
        return callee if is_seen and len(callee) <= CALLEE_CHARS_MAX else ""

    def _is_result(self, node: Node, symbol: int) -> bool:
        """Whether an expression is what a function itself returns, without a declared type, and no callback in it."""
        body, around = self._nesting.kept[symbol].body, node.parent
        for _ in range(LEVELS_MAX):
            if around is None or around.type in _FUNCTIONS:
                break
            around = around.parent
        if around is None or around.type not in _FUNCTIONS or around.child_by_field_name("return_type"):
            return False
        own = around.child_by_field_name("body")
        return own is not None and own.start_byte == body

    def type_of(self, node: Node, kind: str, symbol: int) -> str:
        """Returns the type of an expression in a symbol: of an object that it makes, a variable or a cast; else empty.

        `kind` is that of its node.
        """
        if kind in _CASTS:
            return self._given(node, symbol)[0]
        if kind not in _VARIABLES:
            return self._made(node, kind)
        start = node.start_byte
        name = self._source[start : node.end_byte]
        while name in self._variables:
            if bound := self._bound(name, start, symbol):
                return self._said_type(bound[-1], symbol)
            if symbol < 0:
                break
            symbol = self._nesting.parents[symbol]
        fields = self._variables.get(self._own.encode() + name, ())
        known = {self._said_type(one, symbol) for one in fields[:SOURCES_MAX]} - {""}
        return known.pop() if len(known) == 1 else ""

    def _said_type(self, variable: Variable, symbol: int) -> str:
        captures = variable.captures
        if declared := captures.get("declared"):
            type_ = type_name(self._text(declared[0], declared[-1]), self._language)
            if type_:
                return self._without_generic(type_, symbol, variable.node)
        if "given" not in captures:
            return ""
        given = captures["given"][0]
        return self._made(given, given.type)

    def _made(self, node: Node, kind: str) -> str:
        """Returns the type of an object that an expression of a kind makes by its constructor."""
        if kind in _CREATIONS and (type_ := node.child_by_field_name("type")):
            return type_name(self._text(type_, type_), self._language)
        if kind == "call_expression" and self._language in _TYPES_ARE_CALLED:
            callee = self._source[node.start_byte : node.named_children[0].end_byte]
            return callee.decode("utf-8", "replace") if callee[:1].isupper() and callee.isalnum() else ""
        return ""

    def _label(self, name: bytes) -> str:
        """Returns the name of a binding: a member of the own object has one name, however it is written."""
        own = _OWN_OBJECT.match(name)
        rest = name[own.end() :] if own else name
        return f"{self._own if own else ''}{' '.join(rest.decode('utf-8', 'replace').split())}"

    def _of_name(self, spelled: bytes, variables: Sequence[Variable], names: Names) -> list[Binding]:
        """Returns the binding of a name. One without a type is kept if it shadows the name's meaning
        elsewhere.
        """
        name = self._label(spelled)
        read: list[Binding] = []
        unclear: dict[tuple[int, int], None] = {}
        for variable in _best(variables):
            span = self._visibility.span(spelled, variable)
            bound = None if span.is_said else self._bound_value(variable)
            if bound is None:
                continue
            symbol, (type_, made_by) = bound
            hidden = self._visibility.hidden_from(span), span.end
            self.hidden.setdefault((symbol, name), []).append(hidden)
            if lines := self._visibility.lines(spelled, variable):
                first, last, shared = lines
                read.append(
                    Binding(name=name, line=first, symbol=symbol, type=type_, made_by=made_by, until=last)
                )
                unclear |= dict.fromkeys((line, symbol) for line in shared)
        says = [binding for binding in read if binding.type or binding.made_by]
        if not (name and (says or name in names.known)):
            return says
        several = [(line, symbol) for line, symbol in unclear if not _agree(read, line, symbol)]
        marks = [
            Binding(name=name, line=line, symbol=symbol, type=UNKNOWN_TYPE, until=line)
            for line, symbol in several
        ]
        return [*read, *marks]

    def _bound_value(self, variable: Variable) -> tuple[int, tuple[str, str]] | None:
        """Returns the symbol around a binding, its type and the source of its value.

        None for a name that is imported, defined without a type, or null.
        """
        subject, node, captures = variable
        own = self._definitions.get(node.start_byte)
        if subject == "generic" or node.start_byte in self._imported:
            return None
        if own is None:
            symbol = self._nesting.around(node.start_byte)
        elif subject == "bound" and self._nesting.kept[own].kind in _FIELDS:
            return None
        else:
            symbol = self._nesting.parents[own]
        type_, made_by = self._value(variable, symbol)
        if not (type_ or made_by) and (own is not None or _is_nothing(captures)):
            return None
        return symbol, (type_, made_by)

    def _value(self, variable: Variable, symbol: int, *, follow: bool = True) -> tuple[str, str]:
        """Returns the declared type and the source of the value; at least one of the two is empty."""
        captures = variable.captures
        declared = captures.get("declared") or captures.get("returned")
        type_ = self._declared_type(variable.node, declared) if declared else ""
        type_ = self._without_generic(type_, symbol, variable.node)
        if type_:
            return ("" if "returned" in captures and type_ in _PRIMITIVES else type_), ""
        if collection := captures.get("collection"):
            return self._element(variable, collection[0], symbol) if follow else "", ""
        if holder := captures.get("holder"):
            return self._held(variable, holder[0]) if follow else "", ""
        known, callee = "", ""
        if made := captures.get("made"):
            callee = _callee(self._text(made[0], made[-1]))
        elif entered := captures.get("entered"):
            callee = _callee(self._before_arguments(entered[0]))
            callee = f"{callee}().{ENTERED}" if callee else ""
        elif given := captures.get("given"):
            known, callee = self._given(given[0], symbol, follow=follow)
        node = variable.node
        is_member = variable.subject == "member" or _OWN_OBJECT.match(self._source, node.start_byte)
        if is_member and "." in callee:
            callee = self._with_type_of_head(callee, node, symbol)
        return known, callee

    def _declared_type(self, name: Node, declared: Sequence[Node]) -> str:
        """Returns the name of a declared type, or of what a module exports, which may be called like no type."""
        text = self._text(declared[0], declared[-1])
        yielded = _YIELDS.match(text) if self._language == "python" and name.type == "type" else None
        if yielded and self._hands_out(name):
            # A first argument that is None is left out.
            text = "" if yielded[1].startswith("None") else (parts_of(yielded[1], ",") or [""])[0]
        if name.type == _DEFAULT or self._text(name, name) == _MODULE_EXPORTS:
            return text
        return "" if declared[0].type == _MEMBER_OF_TYPE else type_name(text, self._language)

    def _hands_out(self, returned: Node) -> bool:
        """Whether a decorator makes the function of a return type hand out what it yields."""
        outer = returned.parent.parent if returned.parent is not None else None
        above = outer.children if outer is not None and outer.type == _DECORATED else ()
        return any(
            _HANDS_OUT.match(self._source[one.start_byte : one.end_byte])
            for one in above
            if one.type == _DECORATOR
        )

    def _element(self, variable: Variable, collection: Node, symbol: int) -> str:
        """Returns the type of the elements that a variable has; empty if the variable is another one in the function too."""
        name = self._source[variable.node.start_byte : variable.node.end_byte]
        around = self._nesting.around(variable.node.start_byte)
        is_part = self._visibility.span(name, variable).is_part
        if not is_part and len(self._collections_of(name).get(around, ())) > 1:
            return ""
        text, of_values = self._iterated(collection)
        declared = (
            self._declared_before(text, variable.node.start_byte, symbol)
            if text
            else self._returned_by(collection, symbol)
        )
        type_ = element_type(declared, of_values=of_values) if declared else ""
        return self._without_generic(type_, symbol, variable.node)

    def _returned_by(self, call: Node, symbol: int) -> str:
        """Returns what a call of a function or an own method of the file returns, as it is declared; empty if unknown."""
        if call.type not in _CALLS or call.end_byte - call.start_byte > COLLECTION_BYTES_MAX:
            return ""
        callee = self._before_arguments(call)
        own = callee.removeprefix(self._own)
        is_bare = own == callee
        if is_bare and self._variables.get(callee.encode()):
            return ""
        has_owner = not is_bare or self._language not in _NAMES_OWN_OBJECT
        of_owner = self._result_types.get(f"{self._type_around(symbol)}.{own}", "") if has_owner else ""
        return of_owner or (self._result_types.get(own, "") if is_bare else "")

    @cached_property
    def _result_types(self) -> Mapping[str, str]:
        """The declared results of functions, by qualified name; empty for one with several."""
        found: dict[str, str] = {}
        for one in self._variables.get(b"", ()):
            symbol = self._nesting.around(one.node.start_byte)
            if symbol >= 0 and (declared := one.captures.get("returned")):
                text, path = self._text(declared[0], declared[-1]), self._nesting.paths[symbol]
                found[path] = text if found.get(path, text) == text else ""
        return found

    def _collections_of(self, name: bytes) -> Mapping[int, AbstractSet[tuple[str, bool]]]:
        """Returns by symbol what its variables of a name have elements of; empty names for any other variable."""
        if name not in self._collections:
            iterating: dict[int, tuple[str, bool]] = {}
            for one in self._variables.get(name, ()):
                collection = one.captures.get("collection")
                if collection or one.node.start_byte not in iterating:
                    iterating[one.node.start_byte] = (
                        self._iterated(collection[0]) if collection else ("", False)
                    )
            found: dict[int, set[tuple[str, bool]]] = defaultdict(set)
            for start, variable in iterating.items():
                found[self._nesting.around(start)].add(variable)
            self._collections[name] = found
        return self._collections[name]

    def _iterated(self, collection: Node) -> tuple[str, bool]:
        if collection.end_byte - collection.start_byte > COLLECTION_BYTES_MAX:
            return "", False
        return iterated(" ".join(self._text(collection, collection).split()))

    def _declared_before(self, name: str, end: int, symbol: int) -> str:
        """Returns the declared type of a variable as it is written.

        It is one of the functions around a byte, of the class, or of the file. One of a name with too many is unknown.
        """
        own = name.removeprefix(self._own)
        head, _, field = own.partition(".")
        if field:
            type_ = type_name(self._declared_before(head, end, symbol), self._language) if own == name else ""
            return self._declared(self._members_of(type_, field)) if type_ else ""
        if own == name:
            at = symbol
            while at >= 0:
                if local := self._bound(name.encode(), end, at):
                    return self._declared(local[-1:])
                at = self._nesting.parents[at]
            if len(self._variables.get(name.encode(), ())) > SOURCES_MAX:
                return ""
        if own != name or self._language not in _NAMES_OWN_OBJECT:
            around = self._type_around(symbol)
            kept = self._members_of(around, own) if around else ()
            if kept or own != name:
                return self._declared(kept)
        everywhere = self._variables.get(name.encode(), ())
        return self._declared([one for one in everywhere if self._parent_of(one) < 0])

    def _members_of(self, type_: str, field: str) -> Sequence[Variable]:
        """Returns the fields of a name that a type of the file has, by its qualified or its only name."""
        members = self._variables.get(f"{self._own}{field}".encode(), ())[:SOURCES_MAX]
        around = [(one, self._type_around(self._parent_of(one))) for one in members]
        return [one for one, owner in around if owner == type_ or owner.endswith(f".{type_}")]

    def _declared(self, variables: Sequence[Variable]) -> str:
        """Returns the type that all variables are declared with; empty if they differ."""
        types = {
            self._text(one.captures["declared"][0], one.captures["declared"][-1])
            for one in variables
            if "declared" in one.captures
        }
        return types.pop() if len(types) == 1 else ""

    def _parent_of(self, variable: Variable) -> int:
        own = self._definitions.get(variable.node.start_byte)
        return self._nesting.around(variable.node.start_byte) if own is None else self._nesting.parents[own]

    def _type_around(self, symbol: int) -> str:
        """Returns the qualified name of the type around a symbol, or of one that has it as a member; empty without one."""
        while symbol >= 0:
            if self._nesting.kept[symbol].kind in TYPE_KINDS:
                return self._nesting.paths[symbol]
            path, parent = self._nesting.paths[symbol], self._nesting.parents[symbol]
            owner = path.rpartition(".")[0]
            if parent < 0 or self._nesting.paths[parent] != owner:
                return owner  # `impl Depot { fn open() }`
            symbol = parent
        return ""

    def _without_generic(self, type_: str, symbol: int, node: Node) -> str:
        """Returns a type, or for a type parameter what it is declared to be, if anything.

        That is `Walk` of `fn go<W: Walk>(walker: W)`. The innermost symbol around that declares the parameter
        counts; one that is declared elsewhere has a constraint if all of its name agree.
        """
        declared = self._generics.get(type_)
        if declared is None:
            return type_
        for innermost in (self._nesting.around(node.start_byte), symbol):
            place = innermost
            while place not in declared and place >= 0:
                place = self._nesting.parents[place]
            if place in declared:
                return _only(declared[place])
        return _only(frozenset().union(*declared.values()))

    def _given(self, node: Node, symbol: int, *, follow: bool = True) -> tuple[str, str]:
        """Returns the source of an expression's value: its callee, or the binding of the variable that it
        names.
        """
        node = _unwrapped(node)
        for _ in range(WRAPPERS_MAX):
            inner = self._content(node) if self._language == "rust" else None
            if inner is None:
                break
            node = _unwrapped(inner)
        if node.type in _CALLS:
            callee = self._before_arguments(node)
            if kept := _HOLDS.fullmatch(callee):
                return type_name(kept[1], self._language), ""
            return "", _callee(callee)
        if node.type in _CASTS:
            to = node.child_by_field_name("type") or node.named_children[-1]
            return type_name(self._text(to, to), self._language), ""
        if node.type in _VARIABLES and follow:
            return self._bound_before(node, symbol)
        return self._other(node, symbol)

    def _other(self, node: Node, symbol: int) -> tuple[str, str]:
        """Returns the source of a value that is a member, an object of functions, an operation or a literal."""
        if node.type in {_MEMBER, _OBJECT}:
            return self._member_path(node) if node.type == _MEMBER else self._made_object(symbol), ""
        if node.type in _PARTS and self._language == "python":
            return self._part(node)
        return "", self._literals.get(node.type, "")

    def _held(self, variable: Variable, holder: Node) -> str:
        """Returns the path of the member that a variable is, of an expression or a type: `depot.gate`."""
        key = self._text(*(variable.captures.get("key") or [variable.node])[:1] * 2)
        if holder.parent is not None and holder.parent.type == "type_annotation":
            owner = type_name(self._text(holder, holder), self._language)
        elif (holder := _unwrapped(holder)).type in _CALLS:
            callee = _callee(self._before_arguments(holder))
            owner = f"{callee}()" if callee else ""
        else:
            owner = self._text(holder, holder)
        path = f"{owner}.{key}"
        return (
            path
            if owner and _PATH.fullmatch(path.replace("()", "")) and len(path) <= CALLEE_CHARS_MAX
            else ""
        )

    def _member_path(self, node: Node) -> str:
        """Returns the path of a member in JavaScript, used as the type of its value; empty if it is none."""
        path = self._text(node, node)
        named = _PATH.fullmatch(path) if len(path) <= CALLEE_CHARS_MAX else None
        return path if named else ""

    def _made_object(self, symbol: int) -> str:
        is_in_function = symbol >= 0 and self._nesting.kept[symbol].kind in CALLABLE_KINDS
        return OBJECT_TYPE if is_in_function else ""

    def _content(self, node: Node) -> Node | None:
        """Returns what a pointer, an option or a result of Rust is made of: `depot` of `Arc::new(depot)`."""
        called = node.child_by_field_name("function") if node.type == "call_expression" else None
        arguments = node.child_by_field_name("arguments") if called is not None else None
        if called is None or arguments is None or arguments.named_child_count != 1:
            return None
        return arguments.named_child(0) if self._text(called, called) in _MADE_OF else None

    def _part(self, node: Node) -> tuple[str, str]:
        """Returns a member of an object as the type of what it holds, or the method that an operator of Python calls."""
        if node.type == "attribute":
            path = self._text(node, node)
            return (
                path if path.replace(".", "").isidentifier() and len(path) <= CALLEE_CHARS_MAX else ""
            ), ""
        left, operator = node.child_by_field_name("left"), node.child_by_field_name("operator")
        method = _OPERATORS.get(self._text(operator, operator)) if operator else None
        callee = _callee(self._text(left, left)) if left and method else ""
        return "", f"{callee}.{method}" if callee else ""

    def _bound_before(self, node: Node, symbol: int) -> tuple[str, str]:
        """Returns the binding of a variable in a symbol, before it is forwarded: `self.depot = depot`."""
        return self._value_before(self._source[node.start_byte : node.end_byte], node.start_byte, symbol)

    def _with_type_of_head(self, callee: str, node: Node, symbol: int) -> str:
        """Returns a callee that other methods can resolve, with the type of the variable at its head.

        After `def __init__(self, town: Town)`, `self.depot = town.open()` is `Town.open()`.
        """
        head, _, rest = callee.partition(".")
        type_, _ = self._value_before(head.encode(), node.start_byte, symbol)
        return f"{type_}.{rest}" if type_ else callee

    def _value_before(self, name: bytes, end: int, symbol: int) -> tuple[str, str]:
        bound = self._bound(name, end, symbol)
        found = [value for other in bound if any(value := self._value(other, symbol, follow=False))]
        return found[-1] if found else ("", "")

    def _bound(self, name: bytes, end: int, symbol: int) -> list[Variable]:
        """Returns the variables of a name that a symbol itself binds before a byte."""
        if name not in self._places:
            starts = [(one, one.node.start_byte) for one in self._variables.get(name, ())[:SOURCES_MAX]]
            self._places[name] = [(one, start, self._nesting.around(start)) for one, start in starts]
        return [
            one
            for one, start, around in self._places[name]
            if start < end and around == symbol and end < self._visibility.span(name, one).end
        ]

    def _before_arguments(self, call: Node) -> str:
        """Returns the part of a call before its arguments, for grammars that give it no field."""
        after = call.child_by_field_name("arguments") or call.child_by_field_name("body")
        if call.type == _CONVERSION and (type_ := call.child_by_field_name("type")):
            return self._text(type_, type_)
        if after is None:
            last = call.named_child(call.named_child_count - 1)
            after = last if last is not None and last.type in _ARGUMENTS else None
        end = after.start_byte if after else call.end_byte
        return " ".join(self._source[call.start_byte : end].decode("utf-8", "replace").split())

    def _text(self, first: Node, last: Node) -> str:
        return self._source[first.start_byte : last.end_byte].decode("utf-8", "replace")


def _unwrapped(node: Node) -> Node:
    """Returns the expression whose value another one has: of `gate ? open(gate) : null` the first that is something."""
    for _ in range(WRAPPERS_MAX):
        inner = node.named_child(node.named_child_count - 1) if node.type in _WRAPPERS else None
        if inner is not None and node.type == _CHOICE and inner.type in _NOTHING:
            inner = node.named_child(node.named_child_count - 2)
        if inner is None:
            break
        node = inner
    return node


def _generics(language: str, syntax: Syntax, nesting: Nesting) -> dict[str, dict[int, set[str]]]:
    """Returns the type parameters of a file: their constraints, by the symbol that declares them."""
    found: dict[str, dict[int, set[str]]] = {}
    for subject in ("generic", "constrained"):
        for captures in syntax.matches_with(subject):
            named = captures[subject][0]
            name = text_of(named, syntax.source)
            if subject == "constrained" and name not in found:  # `where Depot: Walk`
                continue
            types = found.setdefault(name, {}).setdefault(nesting.around(named.start_byte), set())
            if constraint := captures.get("constraint"):
                types |= {type_name(text_of(constraint[0], syntax.source), language)} - {""}
    for captures in syntax.matches_with("received"):  # its type declares the constraint
        found.setdefault(text_of(captures["received"][0], syntax.source), {})
    return found


def _only(types: AbstractSet[str]) -> str:
    """Returns the only one of some types; empty without one, or with several."""
    return next(iter(types)) if len(types) == 1 else ""


def _best(variables: Sequence[Variable]) -> Iterable[Variable]:
    """Returns the most specific of the patterns that match one name."""
    if len(variables) == 1:
        return variables
    best: dict[tuple[int, str, int], Variable] = {}
    for variable in variables:
        within = variable.captures.get("within")
        place = variable.node.start_byte, variable.subject, within[0].start_byte if within else -1
        known = best.get(place)
        if known is None or _said(known.captures) < _said(variable.captures):
            best[place] = variable
    return best.values()


def _agree(bindings: Sequence[Binding], line: int, symbol: int) -> bool:
    """Whether several bindings of a name are in force on a line of a symbol, all of one value."""
    own = [one for one in bindings if one.symbol == symbol and one.line <= line <= (one.until or line)]
    before = max((one.line for one in own if one.line < line), default=0)
    values = [(one.type, one.made_by) for one in own if one.line in {line, before}]
    return len(values) > 1 and len(set(values)) == 1


def _callee(text: str) -> str:
    """Returns the callee if it is a dotted name."""
    if text.replace(".", "").isidentifier():  # the common case
        return text if len(text) <= CALLEE_CHARS_MAX else ""
    if "(" in text or "[" in text:
        text = _TYPE_ARGUMENTS.sub("", without_arguments(text))
        text = _HOLDER.sub("", _AWAITED.sub("", text))
    named = _CALLEE.fullmatch(text)
    return named[1] if named and len(named[1]) <= CALLEE_CHARS_MAX else ""


def _said(captures: Captures) -> tuple[bool, int]:
    return "declared" in captures, len(captures)


def _is_nothing(captures: Captures) -> bool:
    return "given" in captures and captures["given"][0].type in _NOTHING
