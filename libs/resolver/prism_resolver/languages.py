"""How languages differ in what an import, a name or a member may mean: a set of their ids for each such question."""

import builtins
import re
import sys
from collections.abc import Mapping
from functools import lru_cache

ECMASCRIPT = frozenset({"javascript", "typescript", "tsx", "vue", "svelte"})
C_FAMILY = frozenset({"c", "cpp", "objc"})
JVM = frozenset({"java", "kotlin", "scala", "groovy"})
# Of a family each calls the code of the others directly.
FAMILIES = (ECMASCRIPT, C_FAMILY, JVM)

# An import names a folder, and whatever lies in it is seen.
FOLDER_PACKAGES = frozenset({"go"})
# Files of one folder see each other's names.
SAME_FOLDER = JVM | {"go", "php"}
# An import brings in all that the other file defines.
WILDCARD_IMPORTS = C_FAMILY | {"ruby"}
# Of two imports that bring everything of a file, the later one binds a name that both have.
LAST_IMPORT_WINS = frozenset({"python"})
# What a file imports is its own, and not to be had from it.
KEEPS_IMPORTS = SAME_FOLDER | {"csharp", "swift"}
# A module is an object that the file makes, and what it has is defined as members of a variable: `exports.add`, `function M.add`.
OBJECT_MODULES = frozenset({"javascript", "lua", "luau"})
# What that object is called in JavaScript.
EXPORTS = "exports"
# A path names modules by their names, without an import.
MODULE_PATHS = frozenset({"rust", "php", "csharp"})
# Members may stand outside of the file of their class, and where they are looked for then.
MEMBERS_IN_FOLDER = frozenset({"go"})
MEMBERS_ANYWHERE = C_FAMILY | {"rust", "csharp", "ruby", "swift", "kotlin", "scala"}
# A type is seen everywhere without an import of its file; and what it has need not be in its definition, so that nothing is ever
# known to be missing there.
OPEN_TYPES = frozenset({"csharp", "elixir", "ruby", "swift"})
# Of these: a name is looked up in the scopes around, from the innermost outwards, and in those that are imported.
NESTED_TYPES = OPEN_TYPES - {"elixir"}
# A method is called without naming its object.
IMPLICIT_OBJECT = JVM | {"csharp", "cpp", "ruby", "swift", "dart"}
# In the body of a class, outside of its methods, members need no object before them.
BARE_IN_BODY = frozenset({"python"})

# What is known without an import. A name that a Python file neither binds nor imports can be nothing else.
BUILTIN: Mapping[str, frozenset[str]] = {"python": frozenset(dir(builtins))}
# What an object is called as one of what its class inherits from, where that is not `super`.
BASE_OBJECTS: Mapping[str, str] = {"csharp": "base", "php": "parent"}
# How the standard library is named: nothing of it knows the code that uses it.
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


@lru_cache(maxsize=1_000)
def family_of(language: str) -> frozenset[str]:
    """The languages whose code calls that of a language directly."""
    return next((family for family in FAMILIES if language in family), frozenset({language}))


def is_standard(language: str, module: str) -> bool:
    """Whether the module is one of the language's own."""
    known = STANDARD.get(language)
    return known is not None and known.match(module) is not None
