"""Compares the lines of text that hold a name with the definitions and references that parsers found."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from prism_contracts.code import CALLING_LANGUAGES, EdgeStatus, Flag, SymbolKind
from prism_contracts.rpc.symbols import ReferenceGroup
from prism_search.core.references.edges import PROSE, Edge, SourceFile, group_of, naming
from prism_search.core.references.other_forms import other_form
from prism_search.core.references.text_spans import TextSpans

# Text that is searched for comments and strings, at some 10 ms per million characters. Further lines count as
# code.
MENTION_CHARS_MAX = 1_000_000
DEFINITION, OTHER = "definition", "other"

# Formats of data: a word in them names a thing, or calls nothing.
DATA = frozenset(
    {"yaml", "json", "jsonc", "json5", "toml", "ini", "xml", "css", "scss", "properties", "gitignore", "csv"}
)
# Languages that no parser reads here and that may use code of others: templates, and kin of languages that are read.
UNREAD_CODE = frozenset(
    {
        "coffeescript", "crystal", "ejs", "graphql", "haml", "handlebars", "haxe", "jinja", "liquid", "mojo", "proto",
        "pug", "qml", "reason", "rescript", "starlark", "thrift", "twig", "vala", "vlang",
    }
)  # fmt: skip
# Languages with calls that use their own functions only.
BUILD = frozenset({"cmake"})

# The lines that define a symbol, by scope and path of the file.
DefinitionLines = Mapping[tuple[str, str], Collection[int]]


class LineUse(NamedTuple):
    """What a line does with the symbol."""

    group: ReferenceGroup
    status: EdgeStatus


@dataclass(frozen=True)
class TextFile:
    """A file's text, and the lines where its parser found a definition or a reference of the name.

    `used` has the lines that use the symbol, `defined` those that define it.
    """

    scope: str
    path: str
    is_prose: bool
    text: str
    explained: Collection[int]
    language: str = ""
    used: Mapping[int, LineUse] = field(default_factory=dict)
    defined: Collection[int] = ()
    is_test: bool = False

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines, without line ends."""
        return self.text.split("\n")


class TextFileLine(NamedTuple):
    """A line of a file."""

    file: TextFile
    number: int
    form: str = ""  # what the name is, if it cannot mean the symbol in this form

    @property
    def text(self) -> str:
        """The text without the line end; empty if the file has no such line."""
        return "".join(self.file.lines[self.number - 1 : self.number])


class Text(NamedTuple):
    """The lines that hold a name, each in one of the fields from `definitions` to `mentions`."""

    files: int  # with such lines, without prose, as all fields but the last two
    lines: int
    definitions: int  # lines that define the symbol
    groups: Mapping[ReferenceGroup, int]  # lines that surely use it
    candidates: int  # lines that may use it
    others: Sequence[TextFileLine]  # lines that define or mean another symbol of the name
    aliased: int  # lines that use the symbol without its name, not among `lines`
    unexplained: Sequence[TextFileLine]  # lines of code, those of tests last
    mentions: Sequence[TextFileLine]  # lines that hold the name in comments, strings and data files only
    prose_files: int
    prose_lines: int


def read_text(name: str, files: Iterable[TextFile], kinds: Collection[SymbolKind] = ()) -> Text:
    """Compares the lines that hold a name with what the parsers found. `kinds` are those of the symbol."""
    read = list(files)
    found = [(file, lines) for file in read if (lines := lines_with(name, file.text))]
    code = [(file, lines) for file, lines in found if not file.is_prose]
    prose = [lines for file, lines in found if file.is_prose]
    uses = Counter(_use(file, number) for file, lines in code for number in lines if number in file.explained)
    defining = {file.language for file in read if file.defined}
    unexplained: list[TextFileLine] = []
    mentions: list[TextFileLine] = []
    others = [
        TextFileLine(file, number)
        for file, lines in code
        for number in lines
        if number in file.explained and _use(file, number) == OTHER
    ]
    chars_left = MENTION_CHARS_MAX
    for file, lines in code:
        rest = [number for number in lines if number not in file.explained]
        chars_left -= len(file.text) if rest else 0
        mentioning = set() if _may_use(file.language, defining) else set(rest)
        if rest and not mentioning and chars_left >= 0:
            mentioning = _mentioning(name, file, rest)
        other = _meaning_other(name, file, [one for one in rest if one not in mentioning], kinds)
        others += [TextFileLine(file, number, other[number]) for number in rest if number in other]
        unexplained += [
            TextFileLine(file, number) for number in rest if number not in mentioning and number not in other
        ]
        mentions += [TextFileLine(file, number) for number in rest if number in mentioning]
    return Text(
        files=len(code),
        lines=_total(lines for _, lines in code),
        definitions=uses.pop(DEFINITION, 0),
        groups={group: uses[group] for group in ReferenceGroup if uses[group]},
        candidates=uses[EdgeStatus.CANDIDATE],
        others=others,
        aliased=sum(len(file.used) for file in read if not file.is_prose)
        - sum(number in file.used for file, lines in code for number in lines),
        unexplained=sorted(unexplained, key=lambda line: line.file.is_test),
        mentions=mentions,
        prose_files=len(prose),
        prose_lines=_total(prose),
    )


def _may_use(language: str, defining: Collection[str]) -> bool:
    """Whether lines of a language may use a symbol that is defined in others."""
    if language in DATA:
        return False
    return language in defining or language in UNREAD_CODE or language in CALLING_LANGUAGES - BUILD


def code_lines(name: str, files: Iterable[TextFile]) -> int:
    """Returns the number of lines of code that contain a name."""
    return _total(lines_with(name, file.text) for file in files if not file.is_prose)


def _use(file: TextFile, number: int) -> str:
    """Returns what a line with a definition or a reference of the name does with the symbol."""
    if number in file.defined:
        return DEFINITION
    use = file.used.get(number)
    if use is None:
        return OTHER
    return use.group if use.status is EdgeStatus.RESOLVED else EdgeStatus.CANDIDATE


def line_uses(uses: Iterable[tuple[int, LineUse]]) -> dict[int, LineUse]:
    """Returns one use per line: a sure one before candidates, then the first in the order of groups."""
    order = list(ReferenceGroup)
    ranked = sorted(
        uses,
        key=lambda item: (item[1].status is EdgeStatus.CANDIDATE, order.index(item[1].group)),
        reverse=True,
    )
    return dict(ranked)


def _mentioning(name: str, file: TextFile, numbers: Sequence[int]) -> set[int]:
    """Returns the lines that hold the name in comments and strings only."""
    firsts = list(accumulate((len(line) + 1 for line in file.lines), initial=0))
    # No comment or string begins after the last of these lines.
    mentions = TextSpans(file.text, file.language, firsts[numbers[-1]])
    return {
        number
        for number in numbers
        if mentions.hold([firsts[number - 1] + at for at in _starts(name, file.lines[number - 1])], len(name))
    }


def _meaning_other(
    name: str, file: TextFile, numbers: Sequence[int], kinds: Collection[SymbolKind]
) -> dict[int, str]:
    """Returns the lines that hold the name only in forms that cannot mean the symbol, with the first such form."""
    form = other_form(name, file.language, kinds)
    if form is None or not numbers:
        return {}
    firsts = list(accumulate((len(line) + 1 for line in file.lines), initial=0))
    found = {}
    for number in numbers:
        starts = [firsts[number - 1] + at for at in _starts(name, file.lines[number - 1])]
        forms = [form(file.text, start, start + len(name)) for start in starts]
        if all(forms):
            found[number] = forms[0]
    return found


def _starts(name: str, line: str) -> Iterator[int]:
    """Returns where a line holds a name as a whole word."""
    at = line.find(name)
    while at >= 0:
        after = at + len(name)
        if not (_is_word(line[at - 1 : at]) or _is_word(line[after : after + 1])):
            yield at
        at = line.find(name, at + 1)


def lines_with(name: str, text: str) -> list[int]:
    """Returns the lines that hold a name as a whole word, 1-based."""
    lines: list[int] = []
    line, counted = 1, 0
    at = text.find(name)
    while at >= 0:
        after = at + len(name)
        if not (_is_word(text[at - 1 : at]) or _is_word(text[after : after + 1])):
            line += text.count("\n", counted, at)
            counted = text.find("\n", at)  # each line counts once
            lines.append(line)
            if counted < 0:
                break
            after = counted
        at = text.find(name, max(after, at + 1))
    return lines


def as_texts(
    name: str, files: Iterable[SourceFile], edges: Iterable[Edge], defined: DefinitionLines
) -> list[TextFile]:
    """Returns the texts of files with the lines that their parsers explain, also under an alias."""
    used: dict[str, list[tuple[int, LineUse]]] = defaultdict(list)
    for edge in edges:
        used[edge.file.id].append((edge.reference.line, LineUse(group_of(edge), edge.status)))
    return [
        TextFile(
            file.facts.scope,
            file.path,
            PROSE in file.flags,
            "\n".join(file.lines),
            {symbol.name_line for symbol in file.symbols if symbol.name == name}
            | {reference.line for reference in naming(name, file)}
            | {line for line, _ in used[file.id]},
            file.language,
            line_uses(used[file.id]),
            defined.get((file.facts.scope, file.path), ()),
            Flag.TEST in file.flags,
        )
        for file in files
    ]


def _total(many: Iterable[Sequence[int]]) -> int:
    return sum(map(len, many))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
