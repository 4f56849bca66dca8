"""Every language that Prism knows by name: how a file of it is recognised, and how it is read.

A language with a reader "syntax" has a grammar and queries; `queries/README.md` tells what the captures mean.
"""

import re
from dataclasses import dataclass
from typing import Literal

Reader = Literal["lines", "syntax", "markdown", "rst", "asciidoc"]


@dataclass(frozen=True, slots=True)
class Language:
    """A language. Extensions are lower-case and without the dot; file names match whatever their case."""

    id: str
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    reader: Reader = "lines"
    grammar: str = ""
    queries: tuple[str, ...] = ()
    # Symbols whose name, or whose header, matches are private; with `public`, the others are.
    private_name: re.Pattern[str] | None = None
    private_header: re.Pattern[str] | None = None
    public_header: re.Pattern[str] | None = None
    # A symbol counts as exported only where the query says so, if it says so anywhere in the file.
    exports: bool = False
    constructor: str = ""


_UNDERSCORE = re.compile(r"_(?!_\w*__$)")

_ALL = (
    Language(
        "python",
        ("py", "pyi", "pyw"),
        (),
        ("python",),
        "syntax",
        "python",
        ("python",),
        _UNDERSCORE,
        constructor="__init__",
    ),
    Language(
        "javascript",
        ("js", "mjs", "cjs", "jsx"),
        (),
        ("node", "deno", "bun"),
        "syntax",
        "javascript",
        ("ecmascript", "javascript"),
        re.compile(r"[#_]"),
        exports=True,
        constructor="constructor",
    ),
    Language(
        "typescript",
        ("ts", "mts", "cts"),
        (),
        (),
        "syntax",
        "typescript",
        ("ecmascript", "typescript"),
        re.compile(r"[#_]"),
        exports=True,
        constructor="constructor",
    ),
    Language(
        "tsx",
        ("tsx",),
        (),
        (),
        "syntax",
        "tsx",
        ("ecmascript", "typescript"),
        re.compile(r"[#_]"),
        exports=True,
        constructor="constructor",
    ),
    Language("go", ("go",), (), (), "syntax", "go", ("go",), re.compile(r"[^A-Z]")),
    Language("markdown", ("md", "markdown", "mdx"), reader="markdown"),
)

LANGUAGES = {language.id: language for language in _ALL}
