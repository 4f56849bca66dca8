"""The base name of a declared type: the name under which a variable's members are looked up.

Works on the spelling, which differs less between languages than their syntax trees do.
"""

import re
from functools import lru_cache

TYPE_CHARS_MAX = 200
# Distinct spellings kept: the files of a repository repeat them.
SPELLINGS_MAX = 4_096

# Modifiers of how a value is held.
_MARKS = re.compile(
    r"^(?:[&*?@:]|'\w+\b(?!')|(?:const|mut|dyn|impl|final|volatile|readonly|static|struct|enum|union|class|typename|ref|out|in|params"
    r"|inout|borrowing|consuming|some|any|async|constexpr|late|required|covariant|extern|register|unowned|weak)(?=[\s&*]))\s*"
)
# A string, whose brackets mean nothing.
_LITERAL = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`")
_LIFETIME = re.compile(r"'\w+")  # of Rust
_QUOTED = re.compile(r"([\"'`])(.*)\1")
_ENDS = re.compile(r"(?:[?!*&\s]|\.\.\.|\bconst\b)+$")
_NAMED = re.compile(r"(\\?[^\W\d][\w$]*(?:(?:\.|::|\\)[^\W\d][\w$]*)*)\s*(?:([<\[])(.*)[>\]])?", re.DOTALL)
_SEPARATOR = re.compile(r"\.|::|\\")
_NO_VALUES = frozenset({"None", "null", "undefined", "nil", "NoneType", "Null"})
# A value of one of these types may be anything, or is nothing.
_NO_TYPES = _NO_VALUES | {
    "Exclude", "Extract", "InstanceType", "NoReturn", "ReturnType", "any", "auto", "dynamic", "let", "mixed", "never", "object",
    "unknown", "val", "var", "void",
}  # fmt: skip
# The same in some languages: elsewhere, `Unit` is a type of the program.
_NO_TYPES_IN = {
    "c": "",
    "cpp": "",
    "csharp": "Object",
    "go": "",
    "java": "Object Void",
    "javascript": "Object",
    "kotlin": "Any Nothing Unit",
    "php": "",
    "python": "Any",
    "ruby": "",
    "rust": "",
    "scala": "Any Nothing Unit",
    "swift": "Any AnyObject Void",
    "tsx": "Object",
    "typescript": "Object",
}
_NO_TYPES_ANYWHERE = "Any AnyObject Nothing Object Unit Void"
# Types whose values are used like their argument, by language: pointers, futures and optionals of its library. In another
# language, a class of the name is one of the program.
_TRANSPARENT = {
    "cpp": "intrusive_ptr not_null optional reference_wrapper scoped_refptr shared_ptr unique_ptr",
    "csharp": "Lazy Nullable Task ValueTask",
    "dart": "Future FutureOr",
    "go": "",
    "java": "Future Optional",
    "javascript": "NonNullable Omit Partial Pick Promise Readonly Ref Required",
    "kotlin": "Lazy Optional Result",
    "python": "Annotated Awaitable ClassVar Coroutine Final Future NotRequired Optional Required Type Union type",
    "rust": "Arc Box Cow Lazy LazyCell LazyLock Mutex MutexGuard OnceCell OnceLock Option Pin Rc Ref RefCell RefMut Result"
    " RwLock RwLockReadGuard RwLockWriteGuard Self",
    "scala": "Future IO Option Try",
    "swift": "Optional Result Self Task",
}
_TRANSPARENT |= {
    "c": "",
    "typescript": "NonNullable Omit Partial Pick Promise Readonly Required",
    "tsx": "NonNullable Omit Partial Pick Promise Readonly Required",
    "vue": _TRANSPARENT["javascript"],
    "php": "",
    "ruby": "",
}
_HELD = {language: frozenset(names.split()) for language, names in _TRANSPARENT.items()}
_HELD_ANYWHERE = frozenset().union(*_HELD.values())


@lru_cache(maxsize=SPELLINGS_MAX)
def type_name(spelling: str, language: str = "") -> str:
    """Returns the name of a type without generics, pointers and optionality; empty for unions, arrays and
    functions.

    Without a language, pointers and futures of all of them are looked into.
    """
    bare = without_marks(spelling) if len(spelling) <= TYPE_CHARS_MAX else ""
    alternatives = parts_of(bare, "|")
    if len(alternatives) != 1:
        return ""
    named = _NAMED.fullmatch(_ENDS.sub("", without_marks(alternatives[0])))
    if (
        named is None
        or named[1] in _NO_TYPES
        or named[1] in _NO_TYPES_IN.get(language, _NO_TYPES_ANYWHERE).split()
    ):
        return ""
    name, bracket, arguments = named.groups()
    if bracket and _SEPARATOR.split(name)[-1] in _HELD.get(language, _HELD_ANYWHERE):
        return _argument(name, arguments, language)
    return "" if bracket == "[" and not arguments.strip() else name


def without_arguments(text: str) -> str:
    """Returns a chain of calls without what is passed: `Depot::new().open()` of `Depot::new(1).open("a")`."""
    kept, depth = [], 0
    for character in _LITERAL.sub("", text):
        depth -= character == ")"
        if depth == 0:
            kept.append(character)
        depth += character == "("
    return "".join(kept)


def _argument(name: str, arguments: str, language: str) -> str:
    """Returns the inner type of a transparent one: its first argument, or the only one of a union."""
    parts = [part for part in parts_of(arguments, ",") if not _LIFETIME.fullmatch(part.strip())]
    is_union = name.endswith("Union")
    return type_name(parts[0], language) if parts and not (is_union and len(parts) > 1) else ""


def without_marks(spelling: str) -> str:
    """Returns the spelling on one line, without quotes around it and marks before it."""
    spelling = " ".join(spelling.split())
    while True:
        quoted = _QUOTED.fullmatch(spelling)
        bare = quoted[2] if quoted else _MARKS.sub("", spelling, count=1)
        if bare == spelling:
            return spelling
        spelling = bare


def parts_of(text: str, separator: str) -> list[str]:
    """Returns the parts between separators outside of brackets, without those that mean "no value"."""
    if separator not in text:
        return [text]
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<[({") - (character in ">])}")
        if character == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in map(str.strip, parts) if part and part not in _NO_VALUES]
