"""What is known about a file of code: its chunks, its symbols, its references. Lines are 1-based and inclusive."""

from enum import StrEnum

from pydantic import Field

from prism_contracts.base import Fact, Message

# The ids of the languages that Prism tells from each other. A repository may name others in its attributes.
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


class SymbolKind(StrEnum):
    """What a symbol is. The first group is type-like, the second callable, the third holds a value."""

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
    """Why a name occurs where it is not defined."""

    CALL = "call"
    IMPORT = "import"
    EXTENDS = "extends"
    IMPLEMENTS = "implements"
    ASSIGN = "assign"
    ALIAS = "alias"  # given another name: `Depot = Warehouse`, `type Id = Key`
    TYPE = "type"
    VALUE = "value"  # given on without being called: `map(rate, parcels)`


class EdgeKind(StrEnum):
    """What a reference does with the symbol that it means."""

    CALLS = "calls"
    IMPORTS = "imports"
    EXTENDS = "extends"
    IMPLEMENTS = "implements"
    ASSIGNS = "assigns"
    ALIAS = "alias"  # gives it another name
    REFERENCES = "references"  # as a type, or as a value
    OVERRIDES = "overrides"  # no reference: a member of a subtype, and that of a supertype which it replaces


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
    """How sure it is that a reference means a symbol."""

    RESOLVED = "resolved"  # imports, scopes, receivers or inheritance lead to it
    CANDIDATE = "candidate"  # only its name speaks for it, and nothing against it


class Strategy(StrEnum):
    """How it was found that a reference means a symbol."""

    SAME_FILE = "same_file"
    SAME_PACKAGE = "same_package"  # a file of the same folder, or of the program, where that is enough
    IMPORT = "import"  # the file imports the name, directly or passed on by others
    WILDCARD_IMPORT = "wildcard_import"  # the file imports or includes all of a file that has it
    MODULE = "module"  # through the module that the file imports: `json.dumps`
    CLASS_NAME = "class_name"  # through the class: `Session.get`
    RECEIVER = "receiver"  # `self`, `this`, or no object at all, in the class that has it
    INHERITED = "inherited"  # the same in a class below it
    RECEIVER_TYPE = "receiver_type"  # a variable that is declared or made to be of the class
    PACKAGE = "package"  # of another repository, which provides a package that this one depends on
    SCIP = "scip"  # a compiler's index says so
    ONLY_DEFINITION = "only_definition"  # a candidate: nothing else is called so
    NAME = "name"  # a candidate: others are called so too


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


# How the parse of a file ended that has no symbols for that reason, though its language has.
UNPARSED = frozenset({"timeout", "crashed", "too_large"})


class FileStatus(StrEnum):
    """What the index says of a file."""

    INDEXED = "indexed"
    SKIPPED = "skipped"
    FAILED = "failed"
    REMOVED = "removed"  # kept, so that an older event that arrives late loses


class Flag(StrEnum):
    """One of `FileFlags`, as a letter: the index has those of a file joined, such as `gt`."""

    GENERATED = "g"
    VENDORED = "v"
    MINIFIED = "m"
    DOCUMENTATION = "d"
    TEST = "t"


NOT_WRITTEN_HERE = frozenset({Flag.GENERATED, Flag.VENDORED, Flag.MINIFIED})
# What is looked at after the code that a repository is about.
ASIDE = NOT_WRITTEN_HERE | {Flag.TEST}


class FileFlags(Message):
    """What a file is for, by linguist's rules and `.gitattributes`. Flagged files stay searchable and rank low."""

    generated: bool = False
    vendored: bool = False
    minified: bool = False
    documentation: bool = False
    test: bool = False

    @property
    def letters(self) -> str:
        """Those that are set, in the order of `Flag`."""
        return "".join(flag for flag in Flag if getattr(self, flag.name.lower()))

    @classmethod
    def of_letters(cls, letters: str) -> "FileFlags":
        """Back from `letters`. Raises ValueError for a letter that is none of a `Flag`."""
        return cls(**{Flag(letter).name.lower(): True for letter in letters})


class Chunk(Message):
    """A run of whole lines of one file. The chunks of a file partition its lines, in order.

    The texts of a file's chunks, joined, are the file's text, line ends included.
    """

    ordinal: int = Field(ge=0)
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)
    text: str
    # The innermost symbol that the chunk belongs to (qualified name), empty for a chunk between symbols.
    symbol: str = ""
    kind: SymbolKind | None = None


class Symbol(Message):
    """A definition. `start_line` takes in decorators and the doc comment above; `name_line` holds the name."""

    name: str
    # Names of the enclosing symbols and the own one, joined by dots: `Session.get`.
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
    # Announced here and defined elsewhere: a prototype in a header, an overload before its function, an abstract method of TypeScript.
    bodiless: bool = False


class SymbolFact(Fact, frozen=True):
    """A `Symbol`, as those read it who read all symbols of many files."""

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


class Reference(Fact, frozen=True, array_like=True):
    """A use of a name. `symbol` is the position of the enclosing symbol in the file's list, -1 outside of all."""

    name: str
    kind: ReferenceKind
    line: int
    symbol: int = -1
    # What stands before the last dot of a call (`self`, `requests`), or the module of an import.
    qualifier: str = ""
    # The other name that an import or an export gives (`import numpy as np` -> `np`, `export { open as start }` -> `start`).
    alias: str = ""


class Binding(Fact, frozen=True, array_like=True):
    """What a variable is declared or made to be: what its members are looked for in.

    Without `type` and `made_by` it says only that the name is given a value here, and hides what it meant before.
    """

    # As it stands before a dot: `depot`, `$depot`. A member of the enclosing class has `self.` before it in Python, Ruby, Rust and Swift
    # and `this.` in all other languages, also where the source says `@depot`, `$this->depot` or, as its language allows, just `depot`.
    # Empty for what the enclosing callable is declared to return.
    name: str
    line: int
    # Position of the enclosing symbol in the file's list of symbols, -1 outside of all. A parameter is inside its function.
    symbol: int = -1
    # The declared type as it is spelled, with its qualifier, without generics, pointers and `Optional`: `models.Depot`.
    type: str = ""
    # What is called to make the value, as it is spelled: `Depot`, `models.open_depot`, `self.depots.get`.
    made_by: str = ""
