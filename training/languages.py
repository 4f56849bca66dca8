"""Language facts of the pair builder: which files it reads, and patterns of definitions and doc comments.

Patterns only, no logic. A definition pattern is matched at the start of a line and captures the defined name.
"""

import re

EXTENSIONS = {
    **dict.fromkeys([".py"], "python"),
    **dict.fromkeys([".js", ".mjs", ".cjs", ".jsx"], "javascript"),
    **dict.fromkeys([".ts", ".tsx", ".mts"], "typescript"),
    **dict.fromkeys([".go"], "go"),
    **dict.fromkeys([".rs"], "rust"),
    **dict.fromkeys([".java"], "java"),
    **dict.fromkeys([".kt"], "kotlin"),
    **dict.fromkeys([".scala"], "scala"),
    **dict.fromkeys([".c", ".h"], "c"),
    **dict.fromkeys([".cc", ".cpp", ".cxx", ".hpp", ".hh"], "cpp"),
    **dict.fromkeys([".cs"], "csharp"),
    **dict.fromkeys([".rb"], "ruby"),
    **dict.fromkeys([".php"], "php"),
    **dict.fromkeys([".swift"], "swift"),
    **dict.fromkeys([".ex", ".exs"], "elixir"),
    **dict.fromkeys([".hs"], "haskell"),
    **dict.fromkeys([".lua"], "lua"),
    **dict.fromkeys([".sh", ".bash", ".zsh"], "bash"),
}

# Pairs with a doc comment that are taken of a language, and of one package of it. Languages with few packages may take
# more of each.
LANGUAGE_PAIRS_MAX = 42_000
PACKAGE_PAIRS_MAX_DEFAULT = 1_200
PACKAGE_PAIRS_MAX = {
    "kotlin": 9_000,
    "scala": 9_000,
    "swift": 4_000,
    "elixir": 9_000,
    "csharp": 25_000,
    "lua": 4_000,
    "bash": 3_000,
    "java": 5_000,
    "c": 4_000,
    "cpp": 5_000,
    "php": 2_500,
    "haskell": 1_500,
}

_NAME = r"[A-Za-z_$][\w$]*"
_MODIFIERS = (
    r"(?:(?:export|default|declare|abstract|async|public|private|protected|internal|static|final|open|override|"
    r"virtual|sealed|partial|readonly|inline|"
    r"suspend|implicit|lazy|case|data|inner|operator|infix|tailrec|mutating|fileprivate|convenience|required|"
    r"class(?=\s+func)|unsafe|extern(?:\s*\"C\")?|const(?=\s+fn)|"
    r"pub(?:\([^)]*\))?|synchronized|native|default|new|explicit|constexpr|friend|template\s*<[^>]*>|"
    r"@\w+(?:\([^)]*\))?)\s+)*"
)
_JAVASCRIPT = [
    rf"{_MODIFIERS}(?:function\s*\*?|class|interface|enum|type|namespace)\s+({_NAME})",
    rf"{_MODIFIERS}(?:const|let|var)\s+({_NAME})\s*(?::[^=]+)?=",
    rf"(?:[\w$]+\.)*({_NAME})\s*[=:]\s*(?:async\s+)?(?:function\b|\(|class\b|\{{)",
    (
        r"(?:(?:public|private|protected|static|async|get|set|readonly|override|abstract)\s+)*"
        rf"[*#]?({_NAME})\s*(?:<[^>]*>)?\([^;]*$"
    ),
]
_JAVA = [
    rf"{_MODIFIERS}(?:class|interface|enum|record|struct|@interface|namespace)\s+({_NAME})",
    rf"{_MODIFIERS}(?:<[^>]+>\s+)?(?:[\w.<>\[\],?]+\s+)+({_NAME})\s*(?:<[^>]*>)?\([^;]*$",
    rf"{_MODIFIERS}({_NAME})\s*\([^;]*$",
    rf"{_MODIFIERS}[\w.<>\[\],?]+\s+({_NAME})\s*(?:\{{|=>|$)",
]
_KOTLIN = [
    (
        rf"{_MODIFIERS}(?:fun\s+(?:<[^>]*>\s*)?(?:[\w<>?.,* ]+\.)?|class\s+|object\s+|interface\s+|enum\s+class\s+|"
        rf"trait\s+|val\s+|var\s+|def\s+|type\s+|typealias\s+|annotation\s+class\s+)({_NAME})"
    )
]
_C = [
    rf"{_MODIFIERS}(?:typedef\s+)?(?:class|struct|union|enum(?:\s+class)?|namespace)\s+(?:[A-Z_]+\s+)?({_NAME})[^;]*$",
    r"[\w:<>,*&\s~\[\]]*?(~?[\w]+|operator\S+)\s*\([^;]*$",
]
_DEFINITIONS = {
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "java": _JAVA,
    "csharp": _JAVA,
    "kotlin": _KOTLIN,
    "scala": _KOTLIN,
    "swift": [
        rf"{_MODIFIERS}(?:func|class|struct|enum|protocol|extension|actor|var|let|typealias)\s+({_NAME})",
        rf"{_MODIFIERS}(init)\b",
    ],
    "go": [r"func\s+(?:\([^)]*\)\s*)?(\w+)", r"type\s+(\w+)", r"(?:var|const)\s+(\w+)"],
    "rust": [
        rf"{_MODIFIERS}(?:async\s+)?(?:fn|struct|enum|trait|mod|type|union|macro_rules!)\s*({_NAME})",
        rf"{_MODIFIERS}impl(?:<[^>]*>)?\s+(?:[^{{]*\bfor\s+)?({_NAME})",
    ],
    "php": [rf"{_MODIFIERS}(?:function\s*&?|class|interface|trait|enum)\s+({_NAME})"],
    "c": _C,
    "cpp": _C,
    "ruby": [r"(?:def\s+(?:self\.)?|class\s+(?:\w+::)*|module\s+(?:\w+::)*)([\w?!]+)"],
    "lua": [
        r"(?:local\s+)?function\s+(?:[\w]+[.:])*(\w+)",
        r"(?:local\s+)?(?:[\w]+\.)*(\w+)\s*=\s*(?:function|\{)",
    ],
    "bash": [r"(?:function\s+)?([\w:.-]+)\s*\(\)", r"function\s+([\w:.-]+)"],
    "elixir": [r"(?:defp?|defmacrop?|defmodule|defprotocol|defguard)\s+(?:\w+\.)*(\w+[?!]?)"],
    "haskell": [
        r"(?:data|newtype|class|type|instance)\s+(?:[^=]*?=>\s*)?(\w+)",
        r"([a-z_][\w']*)\s*(?:::|$)",
    ],
}
DEFINITIONS = {
    language: [re.compile(r"[ \t]*" + pattern) for pattern in patterns]
    for language, patterns in _DEFINITIONS.items()
}
# Words that a definition pattern can mistake for a name.
_KEYWORDS = """
    if for while switch catch return function else new throw await typeof sizeof defined constructor using foreach lock
"""
KEYWORDS = frozenset(_KEYWORDS.split())


def _run(mark: str) -> str:
    """A run of line comments, as group `r`."""
    return rf"(?P<r>(?:^[ \t]*{mark}.*\n)+)"


# A block comment, as group `b`.
_BLOCK = r"[ \t]*/\*[*!]?(?P<b>(?:[^*]|\*(?!/))*)\*/[ \t]*\n"
_COMMENTS = {
    "go": _run("//"),
    "rust": _run("///"),
    "swift": _run("///") + "|" + _BLOCK,
    "csharp": _run("///"),
    "c": _BLOCK + "|" + _run("//[/!]?"),
    "cpp": _BLOCK + "|" + _run("//[/!]?"),
    "ruby": _run("#(?!!)"),
    "bash": _run("#(?!!)"),
    "lua": _run("--(?!\\[)"),
    "haskell": _run("--(?![-|]*-)") + r"|[ \t]*\{-\|(?P<b>(?:[^-]|-(?!\}))*)-\}[ \t]*\n",
    "elixir": r'[ \t]*@(?:module)?doc (?:~S)?"""\n(?P<b>(?:(?!""")[\s\S])*)"""[ \t]*\n|(?P<r>(?:^[ \t]*#.*\n)+)',
}
COMMENTS = {language: re.compile(pattern, re.MULTILINE) for language, pattern in _COMMENTS.items()}
COMMENT_DEFAULT = re.compile(
    r"[ \t]*/\*\*(?P<b>(?:[^*]|\*(?!/))*)\*/[ \t]*\n|(?P<r>(?:^[ \t]*//.*\n)+)", re.MULTILINE
)

# Lines between a doc comment and its definition: attributes, decorators, pragmas.
ATTRIBUTE = re.compile(
    r"[ \t]*(@(?!doc|interface)[\w.:]+.*|#\[.*|\[[A-Z].*\]|#pragma.*|template\s*<.*>|@spec .*|\{-#.*#-\}|local M = .*)?[ \t]*$"
)
# Languages in which an empty line is allowed there too.
LOOSE_COMMENTS = frozenset({"elixir", "haskell", "php"})
