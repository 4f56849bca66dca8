"""Every language that Prism knows by name: how its files are recognised, and how they are read.

A language with a grammar is read by its tree-sitter queries, `queries/<name>.scm`; `queries/README.md`
explains their captures. All others are cut by lines, or by their headings.
"""

import re
from dataclasses import dataclass
from typing import Literal

Reader = Literal["lines", "syntax", "markdown", "rst", "asciidoc", "component"]


@dataclass(frozen=True, slots=True)
class Exports:
    """How a language marks what is usable from elsewhere. Without a rule, everything is.

    Patterns match the name or the header of a symbol.
    """

    # If a file exports anything by a keyword or a list (the query marks it), only that is exported at top
    # level.
    by_keyword: bool = False
    private_name: re.Pattern[str] | None = None
    private_header: re.Pattern[str] | None = None
    public_header: re.Pattern[str] | None = None
    public_member: re.Pattern[str] | None = None  # in a class, only what matches is public
    # False where the private header's word means something else inside a class (`static` in C++).
    inside_types: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """A language. Extensions have no leading dot; extensions and file names are lower-case.

    There is one object per language, compared by identity: comparing all fields would slow every file.
    """

    id: str
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    reader: Reader = "lines"
    grammar: str = ""
    queries: tuple[str, ...] = ()
    exports: Exports = Exports()
    constructor: str = ""  # the name that makes a method a constructor
    clauses: bool = False  # a function may be written as several equations in a row
    c_family: bool = False  # has C's preprocessor, and separate declarations
    # How its `#if` may stand in a text: "anywhere", as in C, so that a branch may be no whole statement, or "whole",
    # around whole statements only, as in Swift.
    conditionals: Literal["", "anywhere", "whole"] = ""
    own_object: str = "this"  # the name of a method's own object in bindings
    bare_members: bool = False  # members are seen without an object before them
    bare_in_body: bool = False  # they are in the body of their class, though not in its methods
    shares_names: bool = False  # definitions of other files are visible without an import
    reads_members: bool = False  # a member of a variable may be a property, or a method that is passed on
    overloads: bool = False  # functions of one name differ by their parameters
    exact_variables: bool = (
        False  # a variable hides names of other files where it is visible, not in its whole file
    )
    uses_owners: bool = False  # the type before a method that is defined outside of it is used there


def _plain(
    name: str, extensions: str = "", filenames: str = "", interpreters: str = "", reader: Reader = "lines"
) -> Language:
    return Language(
        name, tuple(extensions.split()), tuple(filenames.split()), tuple(interpreters.split()), reader
    )


def _parsed(
    name: str,
    extensions: str,
    filenames: str = "",
    interpreters: str = "",
    *,
    grammar: str = "",
    queries: str = "",
    exports: Exports = Exports(),
    constructor: str = "",
    clauses: bool = False,
    c_family: bool = False,
    conditionals: Literal["", "anywhere", "whole"] = "",
    own_object: str = "this",
    bare_members: bool = False,
    bare_in_body: bool = False,
    shares_names: bool = False,
    reads_members: bool = False,
    overloads: bool = False,
    exact_variables: bool = False,
    uses_owners: bool = False,
) -> Language:
    return Language(
        name,
        tuple(extensions.split()),
        tuple(filenames.split()),
        tuple(interpreters.split()),
        "syntax",
        grammar or name,
        tuple(queries.split()) or (name,),
        exports,
        constructor,
        clauses,
        c_family,
        conditionals or ("anywhere" if c_family else ""),
        own_object,
        bare_members,
        bare_in_body,
        shares_names,
        reads_members,
        overloads,
        exact_variables,
        uses_owners,
    )


_UNDERSCORE = Exports(private_name=re.compile(r"_(?!_\w*__$)"))
_LISTED = Exports(by_keyword=True, private_name=_UNDERSCORE.private_name)
_CAPITAL = Exports(private_name=re.compile(r"[^A-Z]"))
_PUB = Exports(public_header=re.compile(r"\bpub\b"))
# Before the name, that is: `class Shop(private val depot: Depot)` is public.
_PRIVATE_HEADER = re.compile(r"^[^(<:={]*\b(?:private|fileprivate)\b(?!\(set\))")
_PRIVATE = Exports(private_header=_PRIVATE_HEADER)
_EXPORT_KEYWORD = Exports(by_keyword=True, private_name=re.compile(r"[#_]"), private_header=_PRIVATE_HEADER)
_PRIVATE_UNLESS_MARKED = Exports(
    private_header=_PRIVATE_HEADER, public_member=re.compile(r"^[^(<:={]*\b(?:public|internal|protected)\b")
)
_STATIC = Exports(private_header=re.compile(r"^static\b"), inside_types=False)
_LOCAL = Exports(private_header=re.compile(r"^local\b"))
_STARRED = Exports(public_header=re.compile(r"^[^(=:]*\*"))
_DASHED = Exports(private_header=re.compile(r"^\(defn-"))
_DEFP = Exports(private_header=re.compile(r"^(?:defp|defmacrop|defguardp)\b"))

_ALL = (
    # Read by their syntax
    _parsed(
        "python",
        "py pyi pyw pyx bzl star",
        "sconstruct sconscript build.bazel",
        "python pypy",
        exports=_LISTED,
        constructor="__init__",
        own_object="self",
        bare_in_body=True,
        reads_members=True,
    ),
    _parsed(
        "javascript",
        "js mjs cjs jsx es6",
        "",
        "node deno bun",
        queries="ecmascript javascript jsx",
        exports=_EXPORT_KEYWORD,
        constructor="constructor",
        reads_members=True,
    ),
    _parsed(
        "typescript",
        "ts mts cts",
        queries="ecmascript typescript",
        exports=_EXPORT_KEYWORD,
        constructor="constructor",
        reads_members=True,
    ),
    _parsed(
        "tsx",
        "tsx",
        queries="ecmascript typescript jsx",
        exports=_EXPORT_KEYWORD,
        constructor="constructor",
        reads_members=True,
    ),
    _parsed(
        "go",
        "go",
        exports=_CAPITAL,
        shares_names=True,
        reads_members=True,
        exact_variables=True,
        uses_owners=True,
    ),
    _parsed("rust", "rs", exports=_PUB, own_object="self", reads_members=True),
    _parsed(
        "java",
        "java",
        exports=_PRIVATE,
        bare_members=True,
        shares_names=True,
        reads_members=True,
        overloads=True,
    ),
    _parsed(
        "kotlin",
        "kt kts",
        exports=_PRIVATE,
        bare_members=True,
        shares_names=True,
        reads_members=True,
        overloads=True,
    ),
    _parsed(
        "scala",
        "scala sc sbt",
        exports=_PRIVATE,
        bare_members=True,
        shares_names=True,
        reads_members=True,
    ),
    _parsed("groovy", "groovy gradle gvy", "jenkinsfile", "groovy", exports=_PRIVATE),
    _parsed(
        "c",
        "c",
        queries="c_family c_types",
        exports=_STATIC,
        c_family=True,
        shares_names=True,
        reads_members=True,
    ),
    _parsed(
        "cpp",
        "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp ino cu cuh",
        queries="c_family cpp c_types",
        exports=_STATIC,
        c_family=True,
        bare_members=True,
        shares_names=True,
        reads_members=True,
        overloads=True,
    ),
    _parsed("objc", "mm", queries="c_family objc c_types", exports=_STATIC, c_family=True, shares_names=True),
    _parsed(
        "csharp",
        "cs csx",
        conditionals="anywhere",
        exports=_PRIVATE_UNLESS_MARKED,
        bare_members=True,
        shares_names=True,
        reads_members=True,
        overloads=True,
    ),
    _parsed("fsharp", "fs fsx fsi", exports=_PRIVATE),
    _parsed(
        "swift",
        "swift",
        conditionals="whole",
        exports=_PRIVATE,
        own_object="self",
        bare_members=True,
        shares_names=True,
        reads_members=True,
        overloads=True,
    ),
    _parsed("dart", "dart", exports=_UNDERSCORE, bare_members=True, shares_names=True),
    _parsed("zig", "zig zon", exports=_PUB),
    _parsed("d", "d di"),
    _parsed("nim", "nim nims nimble", exports=_STARRED),
    _parsed(
        "ruby",
        "rb rake gemspec ru rbi",
        "rakefile gemfile podfile vagrantfile guardfile",
        "ruby",
        constructor="initialize",
        own_object="self",
        bare_members=True,
        shares_names=True,
    ),
    _parsed(
        "php",
        "php phtml php5 inc",
        "",
        "php",
        exports=_PRIVATE,
        constructor="__construct",
        shares_names=True,
        reads_members=True,
    ),
    _parsed("lua", "lua rockspec", "", "lua luajit", exports=_LOCAL),
    _parsed("luau", "luau", queries="lua luau", exports=_LOCAL),
    _parsed("perl", "pl pm pod t", "", "perl", exports=_UNDERSCORE),
    _parsed("r", "r", ".rprofile", "rscript"),
    _parsed("julia", "jl", "", "julia"),
    _parsed("matlab", "matlab", "", "octave"),
    _parsed(
        "bash",
        "sh bash zsh ksh bats ebuild",
        ".bashrc .zshrc .profile .bash_profile pkgbuild",
        "sh bash zsh ksh dash bats",
    ),
    _parsed("fish", "fish", "", "fish"),
    _parsed("powershell", "ps1 psm1 psd1", "", "pwsh"),
    _parsed("haskell", "hs hs-boot", clauses=True),
    _parsed("elm", "elm", clauses=True),
    _parsed("ocaml", "ml", "", "ocaml"),
    _parsed("elixir", "ex exs", "mix.lock", "elixir", exports=_DEFP, clauses=True),
    _parsed("erlang", "erl hrl escript", "rebar.config", "escript", clauses=True),
    _parsed("clojure", "clj cljs cljc edn bb", "", "bb clojure", exports=_DASHED),
    _parsed("scheme", "scm ss sld sls", "", "guile", queries="lisp"),
    _parsed("racket", "rkt", "", "racket", queries="lisp"),
    _parsed("commonlisp", "lisp lsp cl asd", "", "sbcl"),
    _parsed("elisp", "el", ".emacs"),
    _parsed("ada", "adb ads ada"),
    _parsed("pascal", "pas dpr lpr"),
    _parsed("fortran", "f90 f95 f03 f08 for"),
    _parsed("verilog", "v sv svh vh"),
    _parsed("vhdl", "vhd vhdl"),
    _parsed("gdscript", "gd"),
    _parsed("solidity", "sol", exports=_PRIVATE),
    _parsed("sql", "sql ddl"),
    _parsed("proto", "proto"),
    _parsed("graphql", "graphql gql graphqls"),
    _parsed("thrift", "thrift"),
    _parsed("hcl", "tf tfvars hcl nomad"),
    _parsed("nix", "nix"),
    _parsed("vim", "vim", ".vimrc vimrc"),
    _parsed("cmake", "cmake", "cmakelists.txt"),
    _parsed("make", "mk mak", "makefile gnumakefile bsdmakefile", "make"),
    _parsed("css", "css"),
    _parsed("scss", "scss"),
    _parsed(
        "json", "json jsonc json5 geojson webmanifest ipynb", ".eslintrc .prettierrc .babelrc composer.lock"
    ),
    _parsed("yaml", "yaml yml", ".clang-format"),
    _parsed("toml", "toml", "cargo.lock poetry.lock uv.lock pipfile"),
    _plain("svelte", "svelte", reader="component"),
    _plain("vue", "vue", reader="component"),
    _plain("astro", "astro", reader="component"),
    _plain("html", "html htm xhtml", reader="component"),
    # Read by their headings
    _plain("markdown", "md markdown mdx mdown mkd", "readme changelog contributing", reader="markdown"),
    _plain("rst", "rst rest", reader="rst"),
    _plain("asciidoc", "adoc asciidoc asc", reader="asciidoc"),
    # Known by name only
    _plain("actionscript", "as"),
    _plain("agda", "agda"),
    _plain("apex", "cls apex trigger"),
    _plain("applescript", "applescript scpt", "", "osascript"),
    _plain("arb", "arb"),
    _plain("assembly", "asm s nasm"),
    _plain("awk", "awk", "", "awk gawk mawk"),
    _plain("basic", "bas vb vbs"),
    _plain("batch", "bat cmd"),
    _plain("bibtex", "bib"),
    _plain("bicep", "bicep"),
    _plain("capnp", "capnp"),
    _plain("cobol", "cob cbl cpy"),
    _plain("coffeescript", "coffee"),
    _plain("coq", "coq"),
    _plain("crystal", "cr", "", "crystal"),
    _plain("csv", "csv tsv"),
    _plain("cue", "cue"),
    _plain("cypher", "cypher cql"),
    _plain("diff", "diff patch"),
    _plain("dockerfile", "dockerfile", "dockerfile containerfile"),
    _plain("dotenv", "env", ".env"),
    _plain("ejs", "ejs"),
    _plain("factor", "factor"),
    _plain("fennel", "fennel fnl"),
    _plain("forth", "fth 4th"),
    _plain("gettext", "po pot"),
    _plain("gherkin", "feature"),
    _plain(
        "gitignore",
        "gitignore dockerignore",
        ".gitignore .dockerignore .npmignore .prettierignore .eslintignore .gitattributes codeowners",
    ),
    _plain("gleam", "gleam"),
    _plain("glsl", "glsl vert frag comp geom"),
    _plain("go-mod", "", "go.mod go.sum go.work"),
    _plain("hack", "hack"),
    _plain("haml", "haml"),
    _plain("handlebars", "hbs handlebars mustache"),
    _plain("haxe", "hx"),
    _plain("hlsl", "hlsl fx"),
    _plain(
        "ini",
        "ini cfg conf properties editorconfig desktop service",
        ".editorconfig .gitconfig .npmrc setup.cfg",
    ),
    _plain("janet", "janet"),
    _plain("jinja", "j2 jinja jinja2"),
    _plain("jsonnet", "jsonnet libsonnet"),
    _plain("just", "just", "justfile"),
    _plain("kdl", "kdl"),
    _plain("latex", "tex sty ltx"),
    _plain("lean", "lean"),
    _plain("less", "less"),
    _plain("liquid", "liquid"),
    _plain("llvm", "ll"),
    _plain("log", "log"),
    _plain("meson", "", "meson.build meson_options.txt"),
    _plain("mojo", "mojo"),
    _plain("ninja", "ninja"),
    _plain("odin", "odin"),
    _plain("org", "org"),
    _plain("pascalscript", "iss"),
    _plain("plantuml", "puml plantuml"),
    _plain("pony", "pony"),
    _plain("postscript", "ps eps"),
    _plain("prisma", "prisma"),
    _plain("prolog", "pro prolog"),
    _plain("pug", "pug jade"),
    _plain("puppet", "epp"),
    _plain("purescript", "purs"),
    _plain("qml", "qml"),
    _plain("reason", "re rei"),
    _plain("rego", "rego"),
    _plain("requirements", "", "requirements.txt constraints.txt"),
    _plain("rescript", "res resi"),
    _plain("sass", "sass"),
    _plain("smalltalk", "st"),
    _plain("sml", "sml sig"),
    _plain("starlark", "", "build workspace buck tiltfile"),
    _plain("stylus", "styl"),
    _plain("svg", "svg"),
    _plain("systemtap", "stp"),
    _plain("tcl", "tcl tk", "", "tclsh wish"),
    _plain("text", "txt text", "license licence copying notice authors"),
    _plain("twig", "twig"),
    _plain("typst", "typ"),
    _plain("vala", "vala vapi"),
    _plain("vlang", "vsh"),
    _plain("wasm-text", "wat wast"),
    _plain("wgsl", "wgsl"),
    _plain(
        "xml", "xml xsd xsl xslt wsdl plist csproj fsproj vbproj props targets resx pom storyboard xib rss"
    ),
)

LANGUAGES = {language.id: language for language in _ALL}
