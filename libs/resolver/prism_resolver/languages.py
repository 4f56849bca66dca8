"""Language rules for imports, names and members: one set of language ids per rule."""

import builtins
import re
import sys
from collections.abc import Mapping
from functools import lru_cache

ECMASCRIPT = frozenset({"javascript", "typescript", "tsx", "vue", "svelte"})
C_FAMILY = frozenset({"c", "cpp", "objc"})
JVM = frozenset({"java", "kotlin", "scala", "groovy"})
# Maven and Gradle put the sources and the tests of a package under roots of their own.
SOURCE_ROOT = re.compile(r"(?P<module>.*?)/?\bsrc/[^/]+/(?:java|kotlin|scala|groovy)(?:/(?P<package>.*))?$")
# The languages of a family call each other's code directly.
FAMILIES = (ECMASCRIPT, C_FAMILY, JVM)

# An import names a folder, and makes all of its files visible.
FOLDER_PACKAGES = frozenset({"go"})
# Files in the same folder, or package, see each other's names.
SAME_FOLDER = JVM | {"go", "php"}
# A file says which package it is in, and an import names it so, wherever the file is.
PACKAGES_ARE_DECLARED = JVM | {"php"}
# What is in no namespace is visible everywhere.
SEES_NO_NAMESPACE = frozenset({"php"})
# An import makes all definitions of the other file visible.
WILDCARD_IMPORTS = C_FAMILY | {"ruby"}
# If two wildcard imports provide the same name, the later one wins.
LAST_IMPORT_WINS = frozenset({"python"})
# Imports are private: other files cannot import a name through the file that imports it.
KEEPS_IMPORTS = SAME_FOLDER | {"csharp", "swift"}
# A module is an object that the file creates; its members are members of a variable: `exports.add`,
# `function M.add`.
OBJECT_MODULES = frozenset({"javascript", "lua", "luau"})
# The name of that object in JavaScript.
EXPORTS = "exports"
# A path refers to modules by name, without an import.
MODULE_PATHS = frozenset({"rust", "php", "csharp"})
# A module may export another one under a name of its own, which paths of imports go through.
REEXPORTS_MODULES = frozenset({"rust"})
# A path has its own operator (`depot::weigh`), so a variable of the name, such as a closure's parameter on the same line,
# does not hide the module.
LOCALS_HIDE_NO_MODULE = frozenset({"rust"})
# A method is only ever called, so `depot.weigh` without a call is a field; a field and a method may share a name.
METHODS_ARE_CALLED = frozenset({"rust"})
# A property is read by a call: `attr_reader :size` defines a method.
PROPERTIES_ARE_CALLED = frozenset({"ruby"})
# A call of a variable may run what its initial value names: a table of functions, `partial(weigh, 1)`.
CALLS_WHAT_IS_HELD = ECMASCRIPT | {"go", "python", "rust"}
# An object is called through a method of its class.
CALL_METHODS: Mapping[str, str] = {
    "cpp": "operator()",
    "kotlin": "invoke",
    "python": "__call__",
    "swift": "callAsFunction",
}
# Facts have the members that are read from local variables: a property, or a method that is passed on.
READS_OF_LOCALS = ECMASCRIPT | {"go", "python"}
# Facts have the members that are read from variables of unknown type, too.
READS_UNKNOWN = frozenset({"csharp", "php"})
# A variable is never called: `Reader reader = reader(path)` calls the method.
METHODS_APART = frozenset({"java"})
# A variable is never a type: `struct gate gate`.
TYPES_APART = C_FAMILY | {"java"}
# Methods of every class that make an object of it.
MAKES_OBJECT: Mapping[str, frozenset[str]] = {"ruby": frozenset({"new"})}
# Code gives members to types that it does not define: a trait of Rust, an extension of Kotlin.
EXTENDS_FOREIGN_TYPES = frozenset({"kotlin", "rust"})
# Languages in which the member before a call may already be the object that the call returns.
MADE_BEFORE_CALLS = frozenset({"ruby", "rust"})
# Methods of Rust's library that return their object, a copy, or what a pointer, an option or a result holds, which has
# the same type here. Also the pointers.
RETURNS_OBJECT = frozenset(
    {
        "Arc", "Box", "Cow", "Mutex", "Rc", "RefCell", "RwLock", "as_deref", "as_deref_mut", "as_mut", "as_ref", "borrow", "borrow_mut", "by_ref", "clone", "cloned", "copied", "deref", "deref_mut",
        "downgrade", "expect", "get_mut", "get_or_init", "into_inner", "lock", "ok", "ok_or", "ok_or_else", "or", "or_else", "read", "take",
        "to_owned", "unwrap", "unwrap_or", "unwrap_or_default", "unwrap_or_else", "upgrade", "write",
    }
)  # fmt: skip
# The result of a call has members only: `depot().weigh()` calls no function outside of a type.
ONLY_MEMBERS_OF_RESULTS = frozenset({"rust", "go", "cpp", "php", "python"})
# A type that a struct embeds is a field of the struct as well, named like the type.
EMBEDDED_ARE_FIELDS = frozenset({"go"})
# The body of a type does not see its members by their bare names: in `type Session struct { store Store }`, `Store` is
# the type, even if `Session` has a method `Store`.
MEMBERS_NEED_OBJECT = frozenset({"go"})
# A member with the name of its type is an ordinary one.
NO_CONSTRUCTORS = frozenset({"go"})
# Members may be defined outside the file of their class: in its folder, or anywhere in the repository.
MEMBERS_IN_FOLDER = frozenset({"go"})
MEMBERS_ANYWHERE = C_FAMILY | {"rust", "csharp", "ruby", "swift", "kotlin", "scala"}
# Members that other files add to a type stand outside of any type.
EXTENDED_FROM_OUTSIDE = frozenset({"kotlin", "scala"})
# A class is declared in one file, and has members in others.
DECLARED_ELSEWHERE = frozenset({"cpp", "csharp"})
# A type is visible everywhere without an import of its file. Its members may be defined elsewhere, so a
# member is never known to be missing.
OPEN_TYPES = frozenset({"csharp", "elixir", "ruby", "swift"})
# A type of another file may be used without an import.
TYPES_WITHOUT_IMPORT = OPEN_TYPES | SAME_FOLDER
# Those of OPEN_TYPES that look a name up in the enclosing scopes, innermost first, and in imported scopes.
NESTED_TYPES = OPEN_TYPES - {"elixir"}
# A method can be called without naming its object.
IMPLICIT_OBJECT = JVM | {"csharp", "cpp", "ruby", "swift", "dart"}
# A block may be run for another object, whose members it uses without it: `Depot.build { weigh }`.
BLOCKS_HAVE_OBJECTS = frozenset({"ruby"})
# In a class body, outside of methods, members are used without an object.
BARE_IN_BODY = frozenset({"python"})

# Builtins. In Python, a name that a file neither binds nor imports can only be one of these.
# Those of JavaScript are of the language, of browsers and of Node.
_GLOBALS = frozenset(
    {
        "AbortController", "AbortSignal", "AggregateError", "Array", "ArrayBuffer", "ArrayBufferView", "ArrayLike", "AsyncFunction",
        "AsyncGenerator", "AsyncIterable", "AsyncIterableIterator", "AsyncIterator", "Atomics", "Awaited", "BigInt", "BigInt64Array",
        "BigUint64Array", "Blob", "Boolean", "BroadcastChannel", "Buffer", "BufferSource", "Bun", "CSS", "CompressionStream",
        "ConstructorParameters", "CryptoKey", "CustomEvent", "DOMException", "DOMParser", "DataView", "Date", "DecompressionStream", "Deno",
        "Document", "Element", "Error", "EvalError", "Event", "EventSource", "EventTarget", "Exclude", "Extract", "File", "FileList",
        "FileReader", "FinalizationRegistry", "Float32Array", "Float64Array", "FormData", "Function", "Generator", "HTMLElement",
        "Headers", "HeadersInit", "ImportMeta", "Infinity", "InstanceType", "Int16Array", "Int32Array", "Int8Array", "IntersectionObserver",
        "Intl", "Iterable", "IterableIterator", "Iterator", "JSON", "KeyboardEvent", "Map", "Math", "MessageChannel", "MessageEvent",
        "MessagePort", "MouseEvent", "MutationObserver", "NaN", "Node", "NodeJS", "NodeList", "NonNullable", "Number", "Object", "Omit",
        "OmitThisParameter", "Parameters", "Partial", "Performance", "Pick", "Promise", "PromiseLike", "PropertyDescriptor", "PropertyKey",
        "Proxy", "RangeError", "ReadableStream", "Readonly", "ReadonlyArray", "ReadonlyMap", "ReadonlySet", "Record", "ReferenceError",
        "Reflect", "RegExp", "RegExpExecArray", "RegExpMatchArray", "Request", "RequestInfo", "RequestInit", "Required", "ResizeObserver",
        "Response", "ResponseInit", "ReturnType", "Set", "SharedArrayBuffer", "String", "SubtleCrypto", "Symbol", "SyntaxError",
        "TemplateStringsArray", "TextDecoder", "TextEncoder", "ThisType", "TransformStream", "TypeError", "URIError", "URL",
        "URLSearchParams", "Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray", "Uppercase", "WeakMap", "WeakRef", "WeakSet",
        "WebAssembly", "WebSocket", "Window", "Worker", "WritableStream", "XMLHttpRequest", "__dirname", "__filename", "alert",
        "arguments", "atob", "bigint", "boolean", "btoa", "cancelAnimationFrame", "clearImmediate", "clearInterval", "clearTimeout",
        "console", "crypto", "decodeURI", "decodeURIComponent", "document", "encodeURI", "encodeURIComponent", "eval", "fetch",
        "globalThis", "isFinite", "isNaN", "localStorage", "location", "navigator", "number", "parseFloat", "parseInt", "performance",
        "process", "queueMicrotask", "requestAnimationFrame", "sessionStorage", "setImmediate", "setInterval", "setTimeout", "string",
        "structuredClone", "symbol", "undefined", "window",
    }
)  # fmt: skip
# Traits of Rust that code sees without an import. Types of the prelude are left out: they hold others, or get methods
# by traits of a program.
_PRELUDE = frozenset(
    {
        "Clone", "Copy", "Default", "Drop", "Eq", "Fn", "FnMut", "FnOnce", "Ord", "PartialEq", "PartialOrd", "Send", "Sized", "Sync",
        "ToOwned", "ToString", "Unpin",
    }
)  # fmt: skip
# Protocols of Swift's library, whose members a class that inherits them has by other names.
FOREIGN_BASES: Mapping[str, frozenset[str]] = {
    "swift": frozenset(
        {
            "AnyObject", "CaseIterable", "Codable", "CodingKey", "Comparable", "CustomDebugStringConvertible", "CustomStringConvertible",
            "Decodable", "Encodable", "Equatable", "Error", "Hashable", "Identifiable", "Int", "LocalizedError", "NSObject", "OptionSet",
            "RawRepresentable", "Sendable", "String", "UInt8", "UInt", "XCTestCase",
        }
    ),
}  # fmt: skip
BUILTIN: Mapping[str, frozenset[str]] = {
    "python": frozenset(dir(builtins)),
    "rust": _PRELUDE,
    **dict.fromkeys(ECMASCRIPT, _GLOBALS),
}
# Modules of Node, which older code imports without `node:`.
NODE_MODULES = frozenset(
    {
        "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram", "diagnostics_channel",
        "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net", "os", "path", "perf_hooks", "process",
        "punycode", "querystring", "readline", "repl", "stream", "string_decoder", "timers", "tls", "tty", "url", "util", "v8", "vm",
        "wasi", "worker_threads", "zlib",
    }
)  # fmt: skip
# A package of npm, with a scope or without, and what is imported from it.
NPM_PACKAGE = re.compile(r"((?:@[\w.~-]+/)?[A-Za-z0-9][\w.~-]*)(?:/.*)?$")
# Those of them that, when called, return an object of the language and never one of the program.
MAKES_BUILTIN = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and value not in {object, super, type, filter, map, enumerate, reversed, zip}
) | {"input", "open", "repr", "sorted"}
# The name for `super` where a language has another.
BASE_OBJECTS: Mapping[str, str] = {"csharp": "base", "php": "parent"}
# Languages in which what a base class has is known by its declaration: if no class of the repository declares it, a
# base class of another one does.
BASES_ARE_NAMED = frozenset({"java", "kotlin", "scala", "groovy", "csharp", "cpp", "swift", "ruby"})
# Modules of standard libraries, which never refer to the code that uses them.
STANDARD: Mapping[str, re.Pattern[str]] = (
    {
        "python": re.compile(rf"(?:{'|'.join(sorted(sys.stdlib_module_names))})(?:\.|$)"),
        "go": re.compile(r"[^./]+(?:/|$)"),
        "rust": re.compile(r"(?:std|core|alloc)(?:::|$)"),
        "java": re.compile(r"javax?\."),
        "kotlin": re.compile(r"(?:kotlin|javax?)\."),
        "scala": re.compile(r"(?:scala|javax?)\."),
    }
    | dict.fromkeys(ECMASCRIPT, re.compile(r"node:"))
    | dict.fromkeys(
        C_FAMILY,
        re.compile(
            r"(?:assert|ctype|errno|float|inttypes|limits|locale|math|pthread|setjmp|signal|stdarg|stdbool|stddef|stdint|stdio|stdlib"
            r"|string|time|unistd|wchar)\.h$|sys/"
        ),
    )
)


# Types of standard libraries that no class of a repository can be: nothing inherits from them, nor extends them.
_FINAL: Mapping[str, re.Pattern[str]] = {
    "java": re.compile(
        r"(?:java\.lang\.)?(?:String|StringBuilder|StringBuffer|Integer|Long|Short|Byte|Double|Float|Boolean|Character|Math|System)"
        r"|int|long|short|byte|double|float|boolean|char"
    ),
    "cpp": re.compile(
        r"(?:std(?:::|\.))(?:string|wstring|string_view|vector|map|set|list|deque|array|pair|tuple|unordered_map|unordered_set|queue|stack"
        r"|thread|mutex|atomic|function|bitset|any|variant)"
    ),
}


def is_final(language: str, type_: str) -> bool:
    """Returns whether a type is one of a standard library that no class of a repository can be."""
    known = _FINAL.get(language)
    return known is not None and known.fullmatch(type_) is not None


@lru_cache(maxsize=1_000)
def family_of(language: str) -> frozenset[str]:
    """Returns the languages whose code can call the given one directly."""
    return next((family for family in FAMILIES if language in family), frozenset({language}))


def is_standard(language: str, module: str) -> bool:
    """Returns whether a module belongs to the standard library of a language."""
    known = STANDARD.get(language)
    return known is not None and known.match(module) is not None
