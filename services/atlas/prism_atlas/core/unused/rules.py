"""What languages say about uses that no reference shows: one table per rule."""

import re
from collections.abc import Mapping

from prism_contracts.code import SymbolKind
from prism_resolver.languages import C_FAMILY, ECMASCRIPT, JVM

# Languages whose references are resolved well enough for their absence to mean something.
EXAMINED = frozenset({"python", "go", "rust", "csharp", "php", "ruby", "swift"}) | ECMASCRIPT | C_FAMILY | JVM
# A member runs only where the declared type of an object has it.
NOMINAL = frozenset({"java", "kotlin", "scala", "csharp", "rust", "swift", "c", "cpp", "objc"})
# Files of a folder define a name again for another platform.
SHARED_IN_FOLDER = frozenset({"go", "c", "cpp", "objc", "swift"})

LISTED_KINDS = frozenset(
    {
        SymbolKind.CLASS,
        SymbolKind.STRUCT,
        SymbolKind.INTERFACE,
        SymbolKind.TRAIT,
        SymbolKind.ENUM,
        SymbolKind.UNION,
        SymbolKind.TYPE,
        SymbolKind.OBJECT,
        SymbolKind.FUNCTION,
        SymbolKind.METHOD,
        SymbolKind.MACRO,
        SymbolKind.CONSTANT,
        SymbolKind.VARIABLE,
    }
)
# Members that a language, its standard library or a runtime calls.
SPECIAL_NAMES: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        ECMASCRIPT,
        frozenset({"constructor", "toString", "toJSON", "valueOf", "then", "next", "return", "throw", "default"}),
    ),
    "go": frozenset({"init", "main", "String", "Error", "Unwrap", "Is", "As", "GoString", "Format"}),
    **dict.fromkeys(
        JVM,
        frozenset(
            {"toString", "equals", "hashCode", "compareTo", "compare", "clone", "finalize", "close", "readObject"}
            | {"writeObject", "readResolve", "writeReplace", "readObjectNoData", "main", "valueOf", "values"}
            | {"serialVersionUID", "apply", "unapply", "invoke"}
        ),
    ),
    "csharp": frozenset({"ToString", "Equals", "GetHashCode", "Dispose", "DisposeAsync", "Main", "CompareTo"}),
    "ruby": frozenset(
        {"initialize", "method_missing", "respond_to_missing?", "to_s", "to_str", "inspect", "inherited", "included"}
        | {"extended", "prepended", "each", "hash", "eql?", "call", "coerce", "to_proc", "to_a", "to_ary", "to_h"}
        | {"to_hash", "method_added", "const_missing", "initialize_copy", "marshal_dump", "marshal_load"}
    ),
    "swift": frozenset({"init", "deinit", "description", "debugDescription", "hash", "encode", "body", "main"}),
    "rust": frozenset({"main", "drop", "fmt"}),
    "c": frozenset({"main", "LLVMFuzzerTestOneInput", "DllMain", "WinMain"}),
    "cpp": frozenset({"main", "LLVMFuzzerTestOneInput", "DllMain", "WinMain", "begin", "end", "what"}),
}  # fmt: skip
# Functions outside of types that something calls by their name alone.
CALLED_NAMES: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(r"__\w+__$|_$|pytest_\w+$|main$|setup$|load_ipython_extension$"),
    "go": re.compile(r"(?:init|main|_|(?:Test|Benchmark|Fuzz|Example)\w*)$"),
    "rust": re.compile(r"(?:main|_.*)$"),
    "php": re.compile(r"__\w+$"),
}
# Decorators, annotations and attributes that register nothing, without their module.
INERT_MARKS = frozenset(
    {"staticmethod", "classmethod", "property", "abstractmethod", "abstractproperty", "overload", "override", "Override", "final"}
    | {"wraps", "lru_cache", "cache", "cached_property", "singledispatch", "contextmanager", "asynccontextmanager"}
    | {"dataclass", "total_ordering", "deprecated", "no_type_check", "runtime_checkable", "setter", "getter", "deleter"}
    | {"Deprecated", "SuppressWarnings", "SafeVarargs", "FunctionalInterface", "Nullable", "NonNull", "NotNull"}
    | {"CheckReturnValue", "CanIgnoreReturnValue", "VisibleForTesting", "Beta", "Immutable", "ThreadSafe", "API"}
    | {"JvmStatic", "JvmOverloads", "JvmField", "Obsolete", "MethodImpl", "DebuggerStepThrough", "Pure", "inlinable"}
    | {"discardableResult", "available", "MainActor", "Generated", "Internal", "Contract", "GuardedBy", "Experimental"}
    | {"inline", "allow", "must_use", "doc", "cfg", "derive", "cold", "track_caller", "non_exhaustive", "expect"}
    | {"cfg_attr", "repr", "warn", "deny", "rustfmt", "default", "AllowDynamicProperties", "ReturnTypeWillChange"}
)  # fmt: skip
# Supertypes that find no members and no subtypes by themselves.
INERT_BASES = frozenset(
    {"object", "Object", "ABC", "Generic", "Protocol", "NamedTuple", "TypedDict", "Enum", "IntEnum", "StrEnum", "Flag"}
    | {"IntFlag", "str", "int", "float", "dict", "list", "tuple", "set", "bytes", "frozenset", "type", "metaclass"}
    | {"ABCMeta", "Any", "Serializable", "Cloneable", "Comparable", "Record", "AnyRef", "NSObject", "Hashable"}
    | {"Equatable", "Codable", "Sendable", "StandardError", "Struct", "Error", "Exception", "RuntimeException"}
)  # fmt: skip
EXCEPTIONS = re.compile(r"\w*(?:Error|Exception|Warning)$")

# A lookup of a name that is computed while the program runs, by language: a pattern of ripgrep.
DYNAMIC: Mapping[str, str] = {
    "python": r"\bgetattr\(\s*[^,()]+(\([^()]*\))?,\s*[^\"'\s)]|\bglobals\(\)|\bimport_module\(|\b__import__\(|\beval\(|\bexec\(",
    "ruby": r"\b(public_)?send[ (]+[^:\s]|\bconst_get\b|\bdefine_method\b|\bmethod_missing\b|\binstance_eval\b",
    "php": r"\bcall_user_func|\bnew \$|->\$\w+\(|::\$\w+\(|\$\w+\(",
    "csharp": r"\bGetMethods?\(|\bGetTypes?\(\w|\bActivator\.CreateInstance|\bAssembly\.Load",
    "go": r"\breflect\.\w|\bMethodByName\(|\bplugin\.Open\(",
    "swift": r"\bNSClassFromString\(|#selector\(|\bSelector\(",
    **dict.fromkeys(
        ECMASCRIPT, r"\beval\(|\bnew Function\(|[\w)]\[[A-Za-z_$][\w$.]*\]\(|\bimport\(\s*[^\"'`\s]|\brequire\(\s*[^\"'`\s]"
    ),
    **dict.fromkeys(
        JVM, r"\bClass\.forName\(|\bget(Declared)?Methods?\(|\bnewInstance\(|\bServiceLoader\.|\bgetBeansOfType\("
    ),
}  # fmt: skip


def is_special(name: str) -> bool:
    """Whether a name is one of the language's own: `__len__`."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")  # noqa: PLR2004 - four underscores


def pieces_of(name: str) -> list[str]:
    """Returns the beginnings and ends from which code may compose a name: `do_` and `_help` of `do_help`."""
    parts = name.strip("_").split("_")
    lead = name[: len(name) - len(name.lstrip("_"))]
    return [
        piece
        for at in range(1, len(parts))
        for piece in (f"{lead}{'_'.join(parts[:at])}_", f"_{'_'.join(parts[at:])}")
    ]
