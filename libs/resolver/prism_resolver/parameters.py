"""Parameters of functions of one name, and which of them the arguments of a call fit.

In: signatures as written, and the arguments of a call as the parser gives them. Parameters are text that people
read as well: `(String, boolean=, Object...)`, where `=` marks one that may be left out and `...` one that takes
the rest. Labels are part of a name in Swift alone, so only its parameters show them: `(name: String)`. Those of
Kotlin and C# are for calls that name their arguments: `labelled_parameters`.
"""

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from prism_contracts.code import LAMBDA_TYPE, NULL_TYPE, UNKNOWN_TYPE

# Languages in which functions of one name differ by their parameters.
OVERLOADS = frozenset({"java", "kotlin", "scala", "groovy", "csharp", "cpp", "swift"})
# Those that write `name: Type`.
_TYPE_LAST = frozenset({"kotlin", "scala", "swift"})
# Those in which a literal is never converted to an object of another class.
_STRICT = frozenset({"java", "kotlin"})
# Those in which a call may name its arguments, and give them in any order.
NAMED_ARGUMENTS = frozenset({"kotlin", "csharp"})
# Those in which a property whose type is a function is called like one: `val opened: (Int) -> Unit`.
CALLS_PROPERTIES = frozenset({"kotlin", "swift"})
SPELLINGS_MAX = 20_000

# The label of the object that an extension method is called on.
_OBJECT = "this"
_MODIFIERS = frozenset(
    {
        "borrowing", "const", "constexpr", "consuming", "crossinline", "final", "implicit", "in", "inout", "noinline", "out", "override",
        "params", "private", "protected", "public", "internal", "readonly", "ref", "register", "scoped", "struct", "this", "typename",
        "class", "enum", "val", "var", "vararg", "volatile",
    }
)  # fmt: skip
_REST = re.compile(r"\.\.\.|\b(?:vararg|params)\b")
_ANNOTATION = re.compile(r"@[\w.:]+(?:\s*\([^()]*\))?\s*|\[[A-Z][^\[\]]*\]\s*(?=\S)")
_LAST_NAME = re.compile(
    r"^(?P<type>.*?[\s&*>\]?])(?P<name>[A-Za-z_]\w*)(?P<array>(?:\s*\[[^\]]*\])*)$", re.DOTALL
)
_BEFORE_PARAMETERS = re.compile(r"[?!]?\s*(?:<[^()]*>)?\s*\(")
_FUNCTION_TYPE = re.compile(
    r"[^(){}=]*?:\s*\(*(?:suspend\s+|@\w+\s+)*\((?P<parameters>(?:[^()]|\([^()]*\))*)\)[^=,]*?->"
)
_OPTIONAL = re.compile(r"=(?=[,)])")
_WORDS = re.compile(r"[A-Za-z_]\w*")
_ANY = frozenset(
    {"any", "anyobject", "anyhashable", "auto", "comparable", "dynamic", "id", "object", "serializable", "t"}
)
_GENERIC = re.compile(r"[A-Z]\d?|T[A-Z]\w*")
_KINDS = {
    **dict.fromkeys(
        ["string", "charsequence", "string_view", "wstring", "char*", "substring", "qstring", "stringprotocol"], "string"
    ),
    **dict.fromkeys(["bool", "boolean"], "bool"),
    **dict.fromkeys(["char", "character", "wchar_t", "rune"], "char"),
    **dict.fromkeys(
        [
            "bigdecimal", "biginteger", "byte", "decimal", "double", "float", "int", "int16", "int16_t", "int32", "int32_t", "int64",
            "int64_t", "int8_t", "integer", "long", "number", "sbyte", "short", "single", "size_t", "uint", "uint16_t", "uint32",
            "uint32_t", "uint64", "uint64_t", "uint8_t", "ulong", "unsigned", "ushort",
        ],
        "number",
    ),
}  # fmt: skip
_SAME = {
    "integer": "int",
    "int32": "int",
    "boolean": "bool",
    "character": "char",
    "int64": "long",
    "single": "float",
}
# Types that no value of is null.
_PRIMITIVE = frozenset({"bool", "boolean", "byte", "char", "double", "float", "int", "long", "short"})


# Types of standard libraries that take no function, in small letters.
_TAKE_NO_FUNCTION = frozenset(
    {
        "cancellationtoken", "class", "collection", "datetime", "dictionary", "duration", "exception", "guid", "ienumerable",
        "inputstream", "list", "map", "set", "stream", "task", "throwable", "timespan", "type", "uri",
    }
)  # fmt: skip


class ArgumentFit(IntEnum):
    """How well arguments fit parameters."""

    NO = 0
    MAYBE = 1
    EXACT = 2  # every argument has the type of its parameter


class Parameter(NamedTuple):
    """A parameter, or an argument."""

    type: str
    label: str = ""
    optional: bool = False
    rest: bool = False


def parameters_of(language: str, name: str, signature: str) -> str:
    """Returns the parameters of a function by its signature; empty if the signature has none or was cut.

    >>> parameters_of("java", "find", "public int find(final String name, Object... more)")
    '(String, Object...)'
    """
    shows_labels = language == "swift"
    parameters = _parameters_of(language, name, signature)
    return _listed(
        None
        if parameters is None
        else [one if shows_labels or one.label == _OBJECT else one._replace(label="") for one in parameters]
    )


def labelled_parameters(language: str, name: str, signature: str) -> str:
    """Returns the parameters of a function with their names, in languages whose calls may name arguments; else empty."""
    return _listed(_parameters_of(language, name, signature)) if language in NAMED_ARGUMENTS else ""


def held_parameters(language: str, signature: str) -> str:
    """Returns the parameters of the function that a property holds by its declared type; empty for any other property.

    >>> held_parameters("kotlin", "val opened: (Int, name: String) -> Unit")
    '(Int, String)'
    """
    held = _FUNCTION_TYPE.match(signature) if language in CALLS_PROPERTIES else None
    if held is None:
        return ""
    types = (one.rpartition(":")[2] for one in _split(held["parameters"]) if one)
    return _listed([Parameter(_base(type_)) for type_ in types])


def fits(language: str, parameters: str, arguments: str) -> ArgumentFit:
    """Returns how well arguments fit parameters. Either of them empty is unknown, and fits."""
    if not parameters or not arguments:
        return ArgumentFit.MAYBE
    return _fits(language, parameters, arguments)


def best_fitting(language: str, overloads: Sequence[Sequence[str]], arguments: str) -> list[int]:
    """Returns the positions of the functions that arguments fit best: one if they decide, none if none fit.

    Each function comes with the parameters of its declarations.
    """
    fit_of = [
        max((fits(language, one, arguments) for one in every), default=ArgumentFit.NO) for every in overloads
    ]
    found = [at for at, fit in enumerate(fit_of) if fit]
    if len(found) > 1 and arguments:
        exact = [at for at in found if fit_of[at] is ArgumentFit.EXACT]
        if len(exact) == 1:
            return exact
        plain = [at for at in found if not _is_longer(overloads[at], [overloads[other] for other in found])]
        found = plain or found
    return found


def types_given_functions(language: str, parameters: str, arguments: str) -> list[str]:
    """Returns the types of the parameters for which a call gives a function as it is written: `d => d.Open()`."""
    wanted, given = _read(parameters), _read(arguments)
    if wanted and wanted[0].label == _OBJECT and language == "csharp":
        wanted = wanted[1:]
    found = [
        _parameter_for(language, at, given, wanted)
        for at, argument in enumerate(given)
        if argument.type == LAMBDA_TYPE and wanted
    ]
    return [one.type for one in found if one]


def without_marks(parameters: str) -> str:
    """Returns parameters without defaults: a declaration has them, the definition of the same function does not."""
    return _OPTIONAL.sub("", parameters)


def object_of(parameters: str) -> str:
    """Returns the type that a method of C# extends; empty for any other."""
    first = _read(parameters)[:1]
    return first[0].type if first and first[0].label == _OBJECT else ""


def count(parameters: str) -> int:
    """Returns the number of parameters; -1 if they are unknown."""
    return len(_read(parameters)) if parameters else -1


def _parameters_of(language: str, name: str, signature: str) -> list[Parameter] | None:
    start = _opening(name, signature)
    end = _closing(signature, start) if start >= 0 else -1
    if end < 0:
        return None
    parts = [part for part in _split(signature[start + 1 : end]) if part and part != "void"]
    return [_parameter(language, part) for part in parts]


def _listed(parameters: Sequence[Parameter] | None) -> str:
    return "" if parameters is None else f"({', '.join(map(_spelled, parameters))})"


def _opening(name: str, signature: str) -> int:
    """Returns the position of the bracket after the name of a function; -1 without one."""
    at = signature.find(name)
    while at >= 0:
        end = at + len(name)
        if not (at and (signature[at - 1].isalnum() or signature[at - 1] == "_")):
            if signature.startswith("(", end):  # the common case
                return end
            if found := _BEFORE_PARAMETERS.match(signature, end):
                return found.end() - 1
        at = signature.find(name, end)
    return -1


def _closing(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return -1


def _split(text: str) -> list[str]:
    """Returns the parts between commas outside of brackets."""
    parts, depth, before = [""], 0, ""
    for character in text:
        is_arrow = character == ">" and before in "-="
        depth += (character in "<([{") - (character in ">)]}" and not is_arrow)
        before = character
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _parameter(language: str, text: str) -> Parameter:
    is_rest, is_object = bool(_REST.search(text)), language == "csharp" and text.startswith("this ")
    text = _ANNOTATION.sub("", text).replace("...", " ").strip()
    text, is_optional = _without_default(text)
    if language in _TYPE_LAST:
        named, _, type_ = text.partition(":")
        words = _WORDS.findall(named)
        label = (words[0] if language == "swift" else words[-1]) if words else ""
        label = "" if label == "_" else label
        return Parameter(_base(type_), label, is_optional, is_rest or type_.strip().endswith("*"))
    named_last = _LAST_NAME.match(text) if language in NAMED_ARGUMENTS else None
    label = _OBJECT if is_object else named_last["name"] if named_last else ""
    return Parameter(_base(_without_name(text)), label, is_optional, is_rest)


def _without_default(text: str) -> tuple[str, bool]:
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "<([{") - (character in ">)]}" and text[at - 1 : at] not in {"-", "="})
        if character == "=" and depth == 0 and text[at + 1 : at + 2] != ">":
            return text[:at].strip(), True
    return text, False


def _without_name(text: str) -> str:
    """Returns the type of `const Depot& depot`, also where the name is left out."""
    if "(" in text:
        return UNKNOWN_TYPE  # a pointer to a function
    found = _LAST_NAME.match(text)
    if not found:
        return text
    type_ = found["type"].strip()
    if not set(_WORDS.findall(type_)) - _MODIFIERS:
        return text  # `const Depot`
    return type_ + found["array"].strip()


def _base(text: str) -> str:
    """Returns the last name of a type, with the brackets of an array."""
    text = text.strip()
    if "=>" in text or "->" in text:
        return LAMBDA_TYPE
    if text.startswith("["):
        return "[]"
    arrays = "[]" * text.count("[")
    bare = re.sub(r"<.*>|\[[^\]]*\]|[&*?!]", " ", text, flags=re.DOTALL)
    words = [word for word in bare.replace("::", ".").split() if word not in _MODIFIERS]
    name = words[-1].rpartition(".")[2] if words else ""
    if name in {"const", "int"} and len(words) > 1:
        name = words[-2].rpartition(".")[2]
    is_text = name == "char" and "*" in text
    return f"{name or UNKNOWN_TYPE}{'*' if is_text else ''}{arrays}"


def _spelled(one: Parameter) -> str:
    label = f"{one.label}: " if one.label else ""
    return f"{label}{one.type}{'...' if one.rest else '=' if one.optional else ''}"


@lru_cache(maxsize=SPELLINGS_MAX)
def _read(text: str) -> tuple[Parameter, ...]:
    """Returns parameters, or arguments, as they are spelled here."""
    found = []
    for part in text[1:-1].split(", ") if text not in {"", "()"} else ():
        label, colon, type_ = part.rpartition(": ")
        is_rest, is_optional = type_.endswith("..."), type_.endswith("=")
        type_ = (
            type_.removesuffix("...")
            if is_rest
            else type_.removesuffix("=")
            if type_ != LAMBDA_TYPE
            else type_
        )
        found.append(Parameter(type_, label if colon else "", is_optional, is_rest))
    return tuple(found)


@lru_cache(maxsize=SPELLINGS_MAX)
def _fits(language: str, parameters: str, arguments: str) -> ArgumentFit:
    wanted, given = _read(parameters), _read(arguments)
    if wanted and wanted[0].label == _OBJECT and language == "csharp":
        return max(_fits_in_order(language, wanted[1:], given), _fits_in_order(language, wanted, given))
    return _fits_labels(wanted, given) if language == "swift" else _fits_in_order(language, wanted, given)


def _fits_in_order(language: str, wanted: Sequence[Parameter], given: Sequence[Parameter]) -> ArgumentFit:
    has_rest = any(one.rest for one in wanted)
    required = sum(not (one.optional or one.rest) for one in wanted)
    if len(given) < required or (len(given) > len(wanted) and not has_rest):
        return ArgumentFit.NO
    fit, taken = ArgumentFit.EXACT, set()
    for at, argument in enumerate(given):
        parameter = _parameter_for(language, at, given, wanted)
        if parameter is None:
            return ArgumentFit.NO if all(one.label for one in wanted) else min(fit, ArgumentFit.MAYBE)
        taken.add(parameter)
        fit = min(fit, _fits_one(language, parameter, argument))
    is_named = any(argument.label for argument in given)
    is_whole = all(one.optional or one.rest or one in taken for one in wanted)
    return fit if is_whole or not is_named else ArgumentFit.NO


def _parameter_for(
    language: str, at: int, given: Sequence[Parameter], wanted: Sequence[Parameter]
) -> Parameter | None:
    """Returns the parameter of an argument: the one that it names, else the one in its place; None if it names none.

    A closure behind the brackets of a call in Kotlin is the last one.
    """
    argument = given[at]
    if argument.label:
        return next((one for one in wanted if one.label == argument.label), None)
    placed = wanted[min(at, len(wanted) - 1)]
    is_behind = language == "kotlin" and argument.type == LAMBDA_TYPE and at == len(given) - 1
    return wanted[-1] if is_behind and placed.type != LAMBDA_TYPE else placed


def _fits_labels(wanted: Sequence[Parameter], given: Sequence[Parameter]) -> ArgumentFit:
    """Returns how well arguments with labels fit: labels decide, and a closure at the end has none."""
    fit, at = ArgumentFit.EXACT, 0
    for argument in given:
        while at < len(wanted) and wanted[at].label != argument.label and argument.type != LAMBDA_TYPE:
            if not (wanted[at].optional or wanted[at].rest):
                return ArgumentFit.NO
            at += 1
        if at >= len(wanted):
            return ArgumentFit.NO
        fit = min(fit, _fits_one("swift", wanted[at], argument))
        at += not wanted[at].rest
    is_whole = all(one.optional or one.rest for one in wanted[at:])
    return fit if is_whole else ArgumentFit.NO


def _fits_one(language: str, parameter: Parameter, argument: Parameter) -> ArgumentFit:
    wanted, given = parameter.type.lower(), argument.type.lower()
    wanted, given = _SAME.get(wanted, wanted), _SAME.get(given, given)
    if UNKNOWN_TYPE in {wanted, given} or (parameter.rest and language == "cpp"):
        return ArgumentFit.MAYBE
    if wanted == given:
        return ArgumentFit.EXACT
    if wanted in _ANY or _GENERIC.fullmatch(parameter.type):
        return ArgumentFit.MAYBE
    return ArgumentFit.NO if _contradicts(language, parameter, wanted, given) else ArgumentFit.MAYBE


def _contradicts(language: str, parameter: Parameter, wanted: str, given: str) -> bool:
    """Whether no argument of one type is ever taken for a parameter of another."""
    kind, own = _KINDS.get(wanted, ""), _KINDS.get(given, "")
    if given == NULL_TYPE:
        return parameter.type in _PRIMITIVE and language in _STRICT
    if given == LAMBDA_TYPE:
        return bool(kind) or wanted.endswith("[]") or wanted in _TAKE_NO_FUNCTION
    if kind and own:
        # A variable of C++ is known by the name of its type alone: `char` for a `const char*`.
        is_converted = {kind, own} <= {"number", "char"} or (
            language == "cpp" and (own == "char" or "string" not in {kind, own})
        )
        return kind != own and not is_converted
    return bool(own) and language in _STRICT and not wanted.endswith("[]")


def _is_longer(one: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Whether parameters are those of another function, and more that a call may leave out."""
    own = [parameter.type for parameter in _read(one[0])]
    shorter = ([parameter.type for parameter in _read(other[0])] for other in others if other is not one)
    return any(len(other) < len(own) and own[: len(other)] == other for other in shorter)
