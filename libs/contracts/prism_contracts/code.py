"""The parts of a source file: chunks, symbols, references. Lines are 1-based and inclusive."""

from enum import StrEnum

from pydantic import Field

from prism_contracts.base import Fact, Message

# The ids of the languages that Prism detects. A repository may name others in `.gitattributes`.
LANGUAGES = frozenset(
    {
        "actionscript", "ada", "agda", "apex", "applescript", "arb", "asciidoc", "assembly", "astro", "awk", "bash",
        "basic", "batch", "bibtex", "bicep", "c", "capnp", "clojure", "cmake", "cobol", "coffeescript", "commonlisp",
        "coq", "cpp", "crystal", "csharp", "css", "csv", "cue", "cypher", "d", "dart", "diff", "dockerfile", "dotenv",
        "ejs", "elisp", "elixir", "elm", "erlang", "factor", "fennel", "fish", "forth", "fortran", "fsharp", "gdscript",
        "gettext", "gherkin", "gitignore", "gleam", "glsl", "go", "go-mod", "graphql", "groovy", "hack", "haml",
        "handlebars", "haskell", "haxe", "hcl", "hlsl", "html", "ini", "janet", "java", "javascript", "jinja", "json",
        "jsonnet", "julia", "just", "kdl", "kotlin", "latex", "lean", "less", "liquid", "llvm", "log", "lua", "luau",
        "make", "markdown", "matlab", "meson", "mojo", "nim", "ninja", "nix", "objc", "ocaml", "odin", "org", "pascal",
        "pascalscript", "perl", "php", "plantuml", "pony", "postscript", "powershell", "prisma", "prolog", "proto",
        "pug", "puppet", "purescript", "python", "qml", "r", "racket", "reason", "rego", "requirements", "rescript",
        "rst", "ruby", "rust", "sass", "scala", "scheme", "scss", "smalltalk", "sml", "solidity", "sql", "starlark",
        "stylus", "svelte", "svg", "swift", "systemtap", "tcl", "text", "thrift", "toml", "tsx", "twig", "typescript",
        "typst", "vala", "verilog", "vhdl", "vim", "vlang", "vue", "wasm-text", "wgsl", "xml", "yaml", "zig",
    }
)  # fmt: skip

# Languages whose calls parsers find.
CALLING_LANGUAGES = frozenset(
    {
        "ada", "astro", "bash", "c", "clojure", "cmake", "commonlisp", "cpp", "csharp", "d", "dart", "elisp", "elixir",
        "elm", "erlang", "fish", "fortran", "fsharp", "gdscript", "go", "groovy", "haskell", "hcl", "html", "java",
        "javascript", "julia", "kotlin", "lua", "luau", "matlab", "nim", "nix", "objc", "ocaml", "pascal", "perl", "php",
        "powershell", "python", "r", "racket", "ruby", "rust", "scala", "scheme", "scss", "solidity", "sql", "svelte",
        "swift", "tsx", "typescript", "verilog", "vim", "vue", "zig",
    }
)  # fmt: skip


class SymbolKind(StrEnum):
    """The kind of a symbol: first the types, then the callables, then the values."""

    CLASS = "class"
    STRUCT = "struct"
    INTERFACE = "interface"
    TRAIT = "trait"
    ENUM = "enum"
    UNION = "union"
    TYPE = "type"
    MODULE = "module"
    NAMESPACE = "namespace"
    OBJECT = "object"

    FUNCTION = "function"
    METHOD = "method"
    CONSTRUCTOR = "constructor"
    MACRO = "macro"

    CONSTANT = "constant"
    VARIABLE = "variable"
    FIELD = "field"
    PROPERTY = "property"

    SECTION = "section"
    KEY = "key"
    RULE = "rule"


TYPE_KINDS = frozenset(
    {
        SymbolKind.CLASS,
        SymbolKind.STRUCT,
        SymbolKind.INTERFACE,
        SymbolKind.TRAIT,
        SymbolKind.ENUM,
        SymbolKind.UNION,
        SymbolKind.TYPE,
        SymbolKind.MODULE,
        SymbolKind.NAMESPACE,
        SymbolKind.OBJECT,
    }
)
CALLABLE_KINDS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR, SymbolKind.MACRO})
VALUE_KINDS = frozenset({SymbolKind.CONSTANT, SymbolKind.VARIABLE, SymbolKind.FIELD, SymbolKind.PROPERTY})


class ReferenceKind(StrEnum):
    """Why a name occurs outside its definition."""

    CALL = "call"
    IMPORT = "import"
    EXTENDS = "extends"
    IMPLEMENTS = "implements"
    ASSIGN = "assign"
    ALIAS = "alias"  # renames: `Depot = Warehouse`, `type Id = Key`
    TYPE = "type"
    VALUE = "value"  # passed without being called: `map(rate, parcels)`


class EdgeKind(StrEnum):
    """What a reference does with the symbol that it resolves to."""

    CALLS = "calls"
    IMPORTS = "imports"
    EXTENDS = "extends"
    IMPLEMENTS = "implements"
    ASSIGNS = "assigns"
    ALIAS = "alias"  # renames it
    REFERENCES = "references"  # as a type, or as a value
    OVERRIDES = (
        "overrides"  # not a reference: a member of a subtype, and the inherited member that it overrides
    )


EDGE_KINDS = {
    ReferenceKind.CALL: EdgeKind.CALLS,
    ReferenceKind.IMPORT: EdgeKind.IMPORTS,
    ReferenceKind.EXTENDS: EdgeKind.EXTENDS,
    ReferenceKind.IMPLEMENTS: EdgeKind.IMPLEMENTS,
    ReferenceKind.ASSIGN: EdgeKind.ASSIGNS,
    ReferenceKind.ALIAS: EdgeKind.ALIAS,
    ReferenceKind.TYPE: EdgeKind.REFERENCES,
    ReferenceKind.VALUE: EdgeKind.REFERENCES,
}


class EdgeStatus(StrEnum):
    """How certain it is that a reference resolves to a symbol."""

    RESOLVED = "resolved"  # proved by imports, scopes, receivers or inheritance
    CANDIDATE = "candidate"  # the name matches, and nothing contradicts it


class Strategy(StrEnum):
    """How a reference was resolved."""

    SAME_FILE = "same_file"
    SAME_PACKAGE = (
        "same_package"  # in a file of the same folder or program, where the language needs no import
    )
    IMPORT = "import"  # the file imports the name, directly or through re-exports
    WILDCARD_IMPORT = "wildcard_import"  # the file imports or includes the whole file that defines it
    MODULE = "module"  # through the module that the file imports: `json.dumps`
    CLASS_NAME = "class_name"  # through the class: `Session.get`
    RECEIVER = "receiver"  # `self`, `this` or no receiver, in the class that defines it
    INHERITED = "inherited"  # the same in a subclass
    RECEIVER_TYPE = "receiver_type"  # a variable that is declared or assigned as an instance of the class
    PACKAGE = "package"  # in another repository, which provides a package that this one depends on
    SCIP = "scip"  # a compiler's index (SCIP) resolves it
    FIXTURE = "fixture"  # pytest passes the fixture to a parameter of its name, or a mark asks for it
    STORED = "stored"  # a candidate: a call of a field in which code stores the function
    OVERLOAD = "overload"  # a candidate: it means the symbol for sure, but another overload may be meant
    OVERRIDDEN = (
        "overridden"  # a candidate: it means a member that the symbol overrides, and may run the symbol
    )
    ONLY_DEFINITION = "only_definition"  # a candidate: no other symbol has this name
    NAME = "name"  # a candidate: other symbols have this name too


class SkipReason(StrEnum):
    """Why a file is known but not searchable."""

    BINARY = "binary"
    TOO_LARGE = "too_large"
    LINE_TOO_LONG = "line_too_long"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    SPECIAL = "special"  # a socket, a device, a pipe
    UNREADABLE = "unreadable"
    PATH_INVALID = "path_invalid"
    LFS_POINTER = "lfs_pointer"
    SECRET_FILE = "secret_file"  # noqa: S105 - a reason: such as a private key, or a state file with passwords


# Parse results of files that have no symbols although their language has some.
UNPARSED = frozenset({"timeout", "crashed", "too_large"})


class FileStatus(StrEnum):
    """The status of a file in the index."""

    INDEXED = "indexed"
    SKIPPED = "skipped"
    FAILED = "failed"
    REMOVED = "removed"  # a tombstone, so that a late older event loses


class Flag(StrEnum):
    """A flag as a letter. The index stores the flags of a file joined, such as `gt`."""

    GENERATED = "g"
    VENDORED = "v"
    MINIFIED = "m"
    DOCUMENTATION = "d"
    TEST = "t"


NOT_WRITTEN_HERE = frozenset({Flag.GENERATED, Flag.VENDORED, Flag.MINIFIED})
# Files with these flags rank below the source code of a repository.
ASIDE = NOT_WRITTEN_HERE | {Flag.TEST}


class FileFlags(Message):
    """The role of a file, by linguist's rules and `.gitattributes`.

    Flagged files stay searchable and rank lower.
    """

    generated: bool = False
    vendored: bool = False
    minified: bool = False
    documentation: bool = False
    test: bool = False

    @property
    def letters(self) -> str:
        """The letters of the flags that are set, in the order of `Flag`."""
        return "".join(flag for flag in Flag if getattr(self, flag.name.lower()))

    @classmethod
    def of_letters(cls, letters: str) -> "FileFlags":
        """The inverse of `letters`. Raises ValueError for an unknown letter."""
        return cls(**{Flag(letter).name.lower(): True for letter in letters})


class Chunk(Message):
    """A run of whole lines of one file. The chunks of a file partition its lines, in order.

    The texts of a file's chunks, joined, are the file's text, line ends included.
    """

    ordinal: int = Field(ge=0)
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)
    text: str
    # Qualified name of the innermost symbol around the chunk; empty between symbols.
    symbol: str = ""
    kind: SymbolKind | None = None


class Symbol(Message):
    """A definition.

    `start_line` includes decorators and the doc comment above; `name_line` is the line of the name.
    """

    name: str
    # Names of the enclosing symbols and its own, joined by dots: `Session.get`.
    qualified_name: str
    kind: SymbolKind
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)
    name_line: int = Field(ge=1)
    signature: str = ""
    docstring: str = ""
    # Position of the enclosing symbol in the file's list of symbols, -1 at top level.
    parent: int = -1
    exported: bool = True
    # Declared here, defined elsewhere: a prototype in a header, an overload signature, an abstract method in
    # TypeScript.
    bodiless: bool = False


class SymbolFact(Fact, frozen=True):
    """A compact `Symbol`, for readers of all symbols of many files."""

    name: str
    qualified_name: str
    kind: SymbolKind
    start_line: int
    end_line: int
    name_line: int
    signature: str = ""
    docstring: str = ""
    parent: int = -1
    exported: bool = True
    bodiless: bool = False


# What stands in `Reference.arguments` and in parameters for a type that has no name.
UNKNOWN_TYPE = "?"
LAMBDA_TYPE = "=>"
NULL_TYPE = "null"


# Names of bindings of a whole file: the package that it declares, a namespace that it imports for all files.
PACKAGE = "package"
GLOBAL_USING = "global using"
# Type of a binding in JavaScript: an object that is made where it stands, with the functions in it.
OBJECT_TYPE = "{}"


class Reference(Fact, frozen=True, array_like=True):
    """A use of a name.

    `symbol` is the position of the enclosing symbol in the file's list, -1 outside of all.
    """

    name: str
    kind: ReferenceKind
    line: int
    symbol: int = -1
    # The text before the last dot of a call (`self`, `requests`), or the module of an import.
    qualifier: str = ""
    # The alias of an import or export (`import numpy as np` -> `np`, `export { open as start }` -> `start`). Of a
    # value in C, the field that stores it: `read`, or `cmd#1` for the second field of a `struct cmd`.
    alias: str = ""
    # The types of the arguments of a call, in a language with overloads: `(String, ?, size: int)`. A type that is not
    # written is `?`, a function `=>`. Empty if the number of arguments is not known.
    arguments: str = ""


class Binding(Fact, frozen=True, array_like=True):
    """The declared or inferred type of a variable, in which its members are looked up.

    Without `type` and `made_by` it only records that the name is assigned here, which shadows its earlier
    meaning.
    """

    # As written before a dot: `depot`, `$depot`. Members of the enclosing class begin with `self.` in Python,
    # Ruby, Rust and Swift and with `this.` in all other languages, also where the source has `@depot`,
    # `$this->depot` or just `depot`. Empty for the declared return type of the enclosing callable. PACKAGE and
    # GLOBAL_USING are of the whole file: their type is a path.
    name: str
    line: int
    # Position of the enclosing symbol in the file's list of symbols, -1 outside of all. A parameter is inside
    # its function.
    symbol: int = -1
    # The declared type as written, with its qualifier, without generics, pointers and `Optional`:
    # `models.Depot`.
    type: str = ""
    # The callable whose result is assigned, as written: `Depot`, `models.open_depot`, `self.depots.get`.
    made_by: str = ""
    # The last line where the name means this variable, if that is one of a block or a closure; 0 for the end of the
    # enclosing function. `line` is the first one. A type of UNKNOWN_TYPE: on these lines, the name means several things.
    until: int = 0
