"""Methods of Go in a form that compares: the types of parameters and results, without their names.

In: the symbols and references of a file. Out: a *contract* per symbol. That of a method is `(int, store.Key) error`
as `int;store.Key|error`, with `~` before names of the own package and `$` before type parameters. That of a type
lists what it embeds from outside of its package, such as `io.Closer`. Every other symbol has an empty one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from prism_contracts.code import SymbolKind
from prism_resolver.facts import FileFacts
from prism_resolver.unit import INHERITS

LANGUAGE = "go"

_BUILTIN = frozenset(
    [
        "any",
        "bool",
        "byte",
        "chan",
        "comparable",
        "complex128",
        "complex64",
        "error",
        "float32",
        "float64",
        "func",
        "int",
        "int16",
        "int32",
        "int64",
        "int8",
        "interface",
        "map",
        "rune",
        "string",
        "struct",
        "uint",
        "uint16",
        "uint32",
        "uint64",
        "uint8",
        "uintptr",
    ]
)
_SAME = {"interface": "any", "byte": "uint8", "rune": "int32"}
_NAME = re.compile(r"(?<![\w.])(?:(\w+)\.)?([^\W\d]\w*)")
# A parameter with its name. These words begin a type instead.
_NAMED = re.compile(r"(?!(?:chan|func|interface|map|struct)\b)[^\W\d]\w*\s+(?=\S)")
_RECEIVER = re.compile(r"func\s*\(")
_TYPE_PARAMETERS = re.compile(r"type\s+\w+\s*\[([^\[\]]*)\]|func\s*\([^()\[]*\[([^\[\]]*)\]")
_TOKEN = re.compile(r"\.\.\.|[~$]?[^\W\d]\w*(?:\.\w+)?|\S")
_MARKS = re.compile(r"~|\b\w+\.(?=\w)")

# Methods of types in the standard library that other types often embed or implement.
STANDARD: Mapping[str, Mapping[str, str]] = {
    "driver.Valuer": {"Value": "|driver.Value;error"},
    "encoding.TextMarshaler": {"MarshalText": "|[]uint8;error"},
    "encoding.TextUnmarshaler": {"UnmarshalText": "[]uint8|error"},
    "error": {"Error": "|string"},
    "flag.Value": {"String": "|string", "Set": "string|error"},
    "context.Context": {
        "Deadline": "|time.Time;bool",
        "Done": "|<-chan struct{}",
        "Err": "|error",
        "Value": "any|any",
    },
    "fmt.Stringer": {"String": "|string"},
    "fs.FS": {"Open": "string|fs.File;error"},
    "http.Flusher": {"Flush": "|"},
    "http.Handler": {"ServeHTTP": "http.ResponseWriter;*http.Request|"},
    "http.ResponseWriter": {"Header": "|http.Header", "Write": "[]uint8|int;error", "WriteHeader": "int|"},
    "http.RoundTripper": {"RoundTrip": "*http.Request|*http.Response;error"},
    "io.Closer": {"Close": "|error"},
    "io.Reader": {"Read": "[]uint8|int;error"},
    "io.ReaderFrom": {"ReadFrom": "io.Reader|int64;error"},
    "io.StringWriter": {"WriteString": "string|int;error"},
    "io.WriterTo": {"WriteTo": "io.Writer|int64;error"},
    "json.Marshaler": {"MarshalJSON": "|[]uint8;error"},
    "json.Unmarshaler": {"UnmarshalJSON": "[]uint8|error"},
    "io.ReadCloser": {"Read": "[]uint8|int;error", "Close": "|error"},
    "io.ReadWriter": {"Read": "[]uint8|int;error", "Write": "[]uint8|int;error"},
    "io.ReadWriteCloser": {"Read": "[]uint8|int;error", "Write": "[]uint8|int;error", "Close": "|error"},
    "io.Seeker": {"Seek": "int64;int|int64;error"},
    "io.Writer": {"Write": "[]uint8|int;error"},
    "io.WriteCloser": {"Write": "[]uint8|int;error", "Close": "|error"},
    "sql.Scanner": {"Scan": "any|error"},
    "sort.Interface": {"Len": "|int", "Less": "int;int|bool", "Swap": "int;int|"},
    "sync.Locker": {"Lock": "|", "Unlock": "|"},
    "sync.Mutex": {"Lock": "|", "Unlock": "|", "TryLock": "|bool"},
}


def contracts_of(facts: FileFacts) -> list[str]:
    """Returns the contract of each symbol of a file; all are empty in another language than Go."""
    found = [""] * len(facts.symbols)
    if facts.language != LANGUAGE:
        return found
    for position, symbol in enumerate(facts.symbols):
        if symbol.kind is SymbolKind.METHOD:
            owner = facts.symbols[symbol.parent].signature if symbol.parent >= 0 else ""
            found[position] = method_contract(symbol.signature, _type_parameters(symbol.signature, owner))
    for reference in facts.references:
        if reference.kind in INHERITS and (reference.qualifier or reference.name == "error"):
            name = f"{reference.qualifier}.{reference.name}".lstrip(".")
            found[reference.symbol] = ";".join(filter(None, [found[reference.symbol], name]))
    return found


def method_contract(signature: str, type_parameters: frozenset[str] = frozenset()) -> str:
    """Returns the contract of a method by its signature; empty if the signature was cut.

    >>> method_contract("func (d *Dock) Load(ctx context.Context, a, b int) (n int, err error)")
    'context.Context;int;int|int;error'
    """
    start = _end_of_group(signature, receiver.end() - 1) if (receiver := _RECEIVER.match(signature)) else 0
    start = signature.find("(", start)
    if start < 0 or signature.endswith("…"):
        return ""
    return _contract(signature[start:], type_parameters, ";", "|")


def fits(one: str, other: str, *, same_package: bool) -> bool:
    """Returns whether two methods have the same parameters and results, as far as their texts say.

    A name of the own package fits a qualified one, because only the other package's imports could tell. An
    empty contract is unknown and fits every other.
    """
    if not one or not other or (one == other and (same_package or "~" not in one)):
        return True
    pairs = [
        (left.split(";"), right.split(";"))
        for left, right in zip(one.split("|"), other.split("|"), strict=True)
    ]
    return all(
        len(left) == len(right)
        and all(_types_fit(*pair, same_package) for pair in zip(left, right, strict=True))
        for left, right in pairs
    )


def _types_fit(one: str, other: str, same_package: bool) -> bool:
    if "$" in one or "$" in other:
        return _generic_fits(one, other) or _generic_fits(other, one)
    left, right = _TOKEN.findall(one), _TOKEN.findall(other)
    return len(left) == len(right) and all(map(_name_fits, left, right, [same_package] * len(left)))


def _name_fits(one: str, other: str, same_package: bool) -> bool:
    if one[:1] != "~" and other[:1] != "~":
        return one == other
    if one[:1] == other[:1]:
        return one == other and same_package
    own, qualified = (one, other) if one[:1] == "~" else (other, one)
    package, _, name = qualified.rpartition(".")
    return bool(package) and own[1:] == name


def _generic_fits(generic: str, other: str) -> bool:
    """Returns whether a type fits one with type parameters: any type takes their place."""
    parts = map(re.escape, re.split(r"\$\w+", _MARKS.sub("", generic)))
    return re.fullmatch(".+".join(parts), _MARKS.sub("", other)) is not None


def _type_parameters(*signatures: str) -> frozenset[str]:
    """Returns the type parameters of the receiver or of the interface: `Set[K, V]`, `Adder[T any]`."""
    lists = [found[1] or found[2] or "" for text in signatures if (found := _TYPE_PARAMETERS.match(text))]
    return frozenset(part.split()[0] for text in lists for part in text.split(",") if part.strip())


def _contract(text: str, type_parameters: frozenset[str], comma: str, bar: str) -> str:
    """Returns the types of `(parameters) results`."""
    end = _end_of_group(text, 0)
    results = text[end:].strip()
    if results.startswith("(") and _end_of_group(results, 0) == len(results):
        results = results[1:-1]
    lists = (comma.join(_types(part, type_parameters)) for part in (text[1 : end - 1], results))
    return bar.join(lists)


def _types(text: str, type_parameters: frozenset[str]) -> Iterator[str]:
    """Yields the type of each parameter or result of a list."""
    parts = _split(text)
    if any(_NAMED.match(part) for part in parts):
        parts = _without_names(parts)
    for part in parts:
        yield _type(part, type_parameters)


def _without_names(parts: Sequence[str]) -> list[str]:
    """Returns the types of named parameters: in `a, b int` both are `int`."""
    types: list[str] = []
    for part in reversed(parts):
        if named := _NAMED.match(part):
            types.append(part[named.end() :])
        else:
            types.append(types[-1] if types else part)
    return types[::-1]


def _type(text: str, type_parameters: frozenset[str]) -> str:
    """Returns a type with its names marked, and without the names in a type of functions."""
    at = text.find("func(")
    if at >= 0:
        inner = _contract(text[at + 4 :], type_parameters, ",", ")")
        return f"{_type(text[:at], type_parameters)}func({inner}"
    text = re.sub(r"\binterface\s*(?:\{\s*\})?$", "any", text.strip())
    marked = _NAME.sub(lambda found: _marked(found, type_parameters), text)
    return re.sub(r"\s*([^\w\s])\s*", r"\1", marked.replace("interface{}", "any"))


def _marked(found: re.Match[str], type_parameters: frozenset[str]) -> str:
    package, name = found.groups()
    if package:
        return found[0]
    if name in type_parameters:
        return f"${name}"
    return _SAME.get(name, name) if name in _BUILTIN else f"~{name}"


def _split(text: str) -> list[str]:
    """Returns the parts between the commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for position, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append(text[begin:position])
            begin = position + 1
    return [part.strip() for part in (*parts, text[begin:]) if part.strip()]


def _end_of_group(text: str, at: int) -> int:
    """Returns the position after the bracket that closes the one at `at`; the end if none does."""
    depth = 0
    for position in range(at, len(text)):
        depth += (text[position] in "([{") - (text[position] in ")]}")
        if depth == 0:
            return position + 1
    return len(text)
