"""Shows the code of the main functions of a component: short ones whole, long ones by their comments and decisions.

In: outlines and lines of its files. Out: the functions that decide most and call most of the others, each as a block of
numbered lines.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Symbol
from prism_contracts.rpc.files import OutlineReply
from prism_scribe.core.wiki import excerpts, markdown
from prism_scribe.core.wiki.orientation import Evidence

FUNCTIONS_MAX = 110
# The most lines that a page shows: of a component with most of the references, and of one with few.
LINES_MAX = 1_300
LINES_OF_SMALL_MAX = 120
WHOLE_LINES_MAX = 60
# The most lines of a longer function.
SHOWN_LINES_MAX = 60
# The last lines among them are always shown: the end of a function often returns or raises its result.
SHOWN_LAST_LINES = 14
LINES_MIN = 2
# Methods that a language or framework calls, and functions that begin the work. They are on the main path, and are
# often too short to decide anything.
_BEGINS = re.compile(
    r"^(?:__(?:call|enter|exit|aenter|aexit|iter|next|getattr|getitem|get|set)__|ServeHTTP|main|run|start|execute|handle|"
    r"dispatch|invoke|call|process|next|perform|load|parse|send)$",
    re.IGNORECASE,
)
BEGINS_WEIGHT = 4
OVERRIDE_WEIGHT = 2
SCORE_MIN = 4
CALL_WEIGHT = 2  # weight of each function that it calls or that calls it; a decision weighs 1
CALLERS_MAX = 5  # more callers add nothing: everything calls a helper
SCORE_LINES = 32  # a function of so many lines has half of the weight
# Methods that only format or compare an object.
_ASIDE = re.compile(
    r"^(?:__(?:repr|str|eq|hash|ne|lt|format)__|toString|String|GoString|Format|fmt|hash(?:Code)?|equals|inspect)$"
)
GAP_MAX = 2
# Modules inside a source file whose functions are tests.
_TEST_MODULES = frozenset({"test", "tests"})

_TEST_MARK = re.compile(r"^\s*#\[(?:\w+::)?test\b")
_COMMENT = re.compile(r"^\s*(?://|#(?!\[|!\[|include|if|endif|define|else)|/\*|\*\s|--\s|;;)")
# Lines that decide, repeat, end or fail, in the languages whose calls are followed.
_DECISION = re.compile(
    r"^\s*(?:\}\s*)?(?:if|else|elif|elsif|unless|for|foreach|while|until|loop|match|switch|case|when|guard|try|except|"
    r"catch|rescue|finally|ensure|return|raise|throw|yield|break|continue|defer|await|select)\b"
    r"|=>|\?\s.*:|\b(?:or|and)\s+(?:return|raise|die)\b"
)
# An error that is only passed on to the caller.
_PASSES_ON = re.compile(
    r"^\s*(?:(?:if err != nil \{|\}|return (?:\w+, )*err|raise|throw \w+;|\} catch \(\w+\) \{|end|else:|try:|try \{)\s*)$"
)
_CALL = re.compile(r"([A-Za-z_]\w*)[!?]?\(")
# Lines that compute, or that contain a chosen number.
_FORMULA = re.compile(r"[\w)\]]\s[*/%+-]\s[\w(]|(?<![\w.])(?:[2-9]|\d{2,}|\d+\.\d+)(?![\w.])")


class _Function(NamedTuple):
    symbol: Symbol
    code: excerpts.QuotedCode
    decisions: int
    called: frozenset[str]  # the names that it calls

    @property
    def path(self) -> str:
        return self.code.path

    @property
    def text(self) -> Sequence[str]:
        return self.code.text

    @property
    def lines(self) -> Sequence[int]:
        return self.code.lines

    @property
    def first(self) -> int:
        return self.lines[0]

    @property
    def last(self) -> int:
        return self.lines[-1]


def walkthrough(evidence: Evidence, paths: Sequence[str], share: float) -> list[str]:
    """Returns the main functions of these files, in the order of the files.

    `share` is the part of the weight of all references in the repository that these files carry, 0 to 1.
    """
    every = [one for path in paths for one in _functions(evidence, path)]
    functions = _ranked(every)
    named = frozenset(one.symbol.name for one in every)
    order = {path: position for position, path in enumerate(paths)}
    blocks: list[tuple[tuple[int, int], list[str]]] = []
    shapes: set[tuple[str, ...]] = set()
    room = max(LINES_OF_SMALL_MAX, min(LINES_MAX, round(2 * share * LINES_MAX)))
    for one in functions:
        shown, shape = _shown(one, named), _shape(one)
        if len(shown) <= room and shape not in shapes and len(blocks) < FUNCTIONS_MAX:
            room -= len(shown)
            shapes.add(shape)
            blocks.append(((order[one.path], one.first), excerpts.excerpt(one.code, shown)))
    shown_lines: list[str] = []
    before = -1
    for (position, _), block in sorted(blocks):
        if position != before:
            shown_lines += [f"### {markdown.code(paths[position])}", ""]
        shown_lines += block
        before = position
    return shown_lines


class FunctionBlocks:
    """The functions of a page by their place. Reads the functions of each file once."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._files: dict[str, list[_Function]] = {}

    def block(self, path: str, line: int) -> list[str]:
        """Returns the function whose name is on this line, as a block; nothing if there is none."""
        if path not in self._files:
            self._files[path] = list(_functions(self._evidence, path))
        functions = self._files[path]
        for one in functions:
            if one.symbol.name_line == line and one.lines:
                named = frozenset(other.symbol.name for other in functions)
                return excerpts.excerpt(one.code, _shown(one, named))
        return []


def _ranked(functions: Sequence[_Function]) -> list[_Function]:
    """Returns the functions worth showing: first those with the most decisions, calls and callers for their length.

    The others follow, for pages that have room for them.
    """
    named = Counter(one.symbol.name for one in functions)
    callers = Counter(name for one in functions for name in one.called)
    scores: dict[int, tuple[bool, float]] = {}
    for position, one in enumerate(functions):
        name = one.symbol.name
        calls = len(one.called & named.keys())
        # A call of a name that several functions share is ambiguous, so it does not count.
        called = min(callers[name], CALLERS_MAX) if named[name] == 1 else 0
        score = one.decisions + CALL_WEIGHT * (calls + called) + BEGINS_WEIGHT * bool(_BEGINS.match(name))
        # Each class that overrides a method decides what the method does.
        score += OVERRIDE_WEIGHT * (named[name] > 1 and "." in one.symbol.qualified_name)
        # The name of a function that only forwards its arguments already says what it does.
        says = one.decisions + calls > 1 or _BEGINS.match(name) or len(one.lines) > LINES_MIN + 1
        if len(one.lines) >= LINES_MIN and not _ASIDE.match(name):
            is_main = score >= SCORE_MIN and bool(says)
            # A long function is shown in part, and costs no more than that.
            worth = score / (1 + min(len(one.lines), SHOWN_LINES_MAX) / SCORE_LINES)
            scores[position] = (is_main, worth)
    order = sorted(scores, key=lambda position: scores[position], reverse=True)
    return [functions[position] for position in order]


def _functions(evidence: Evidence, path: str) -> Iterator[_Function]:
    """Yields the functions of a file, except nested functions and tests."""
    outline, text = evidence.outlines.get(path), evidence.texts.get(path, ())
    for symbol in outline.symbols if outline else ():
        above = text[max(0, symbol.start_line - 1) : symbol.name_line - 1]
        is_test = _TEST_MODULES.intersection(symbol.qualified_name.split(".")[:-1]) or any(
            map(_TEST_MARK.match, above)
        )
        if symbol.kind not in CALLABLE_KINDS or symbol.bodiless or is_test:
            continue
        if _is_inside_callable(outline, symbol):
            continue
        yield _function(symbol, excerpts.quoted(evidence, path, symbol))


def _function(symbol: Symbol, quoted: excerpts.QuotedCode) -> _Function:
    lines = (quoted.text[number - 1] for number in quoted.lines)
    code = [line for line in lines if not _COMMENT.match(line)]
    return _Function(
        symbol,
        quoted,
        decisions=sum(_DECISION.search(line) is not None for line in code),
        called=frozenset(name for line in code[1:] for name in _CALL.findall(line)) - {symbol.name},
    )


def _shape(one: _Function) -> tuple[str, ...]:
    """Returns the first word of each line, which copies of a function for other types share."""
    return tuple(one.text[number - 1].split()[0] for number in one.lines[1:])


def _is_inside_callable(outline: OutlineReply | None, symbol: Symbol) -> bool:
    """Whether the function is a part of another, which shows it."""
    parent = symbol.parent
    while outline is not None and parent >= 0:
        if outline.symbols[parent].kind in CALLABLE_KINDS:
            return True
        parent = outline.symbols[parent].parent if outline.symbols[parent].kind in TYPE_KINDS else -1
    return False


def _shown(one: _Function, named: Collection[str]) -> list[int]:
    """Returns the numbers of the lines to show. `named` are functions whose calls are shown."""
    every = one.lines
    if len(every) <= WHOLE_LINES_MAX:
        return list(every)
    head = _signature_end(one)
    ranks = {number: _rank(one.text, number, named) for number in every}
    # Add whole ranks while they fit. If a rank does not fit, keep its first and last lines.
    telling = [number for number in every if number <= head or number == one.last]
    for rank in sorted(set(ranks.values())):
        equal = [number for number in every if ranks[number] == rank and number not in telling]
        room = max(0, SHOWN_LINES_MAX - len(telling))
        last = min(SHOWN_LAST_LINES, room)
        telling += equal if len(equal) <= room else [*equal[: room - last], *(equal[-last:] if last else ())]
    return _without_small_gaps(every, set(telling))


def _without_small_gaps(every: Sequence[int], chosen: Collection[int]) -> list[int]:
    """Returns the chosen lines, and those of gaps that are hardly longer than their ellipsis."""
    shown: list[int] = []
    gap: list[int] = []
    for number in every:
        if number not in chosen:
            gap.append(number)
            continue
        if len(gap) <= GAP_MAX:
            shown += gap
        shown.append(number)
        gap = []
    return shown


def _rank(text: Sequence[str], number: int, named: Collection[str]) -> int:
    """Returns the rank of a line, the most informative first: 0 for comments, decisions and known calls, 1 for lines
    below a comment, formulas and other calls, 2 for the rest.
    """
    line = text[number - 1]
    above = text[number - 2] if number > 1 else ""
    if _PASSES_ON.match(line):
        return 2
    if _COMMENT.match(line) or _DECISION.search(line) or any(name in named for name in _CALL.findall(line)):
        return 0
    # The line below a comment is what the comment is about.
    return 1 if _COMMENT.match(above) or _FORMULA.search(line) or _CALL.search(line) else 2


def _signature_end(one: _Function) -> int:
    """Returns the line on which the brackets of the signature are closed."""
    depth = 0
    for number in range(one.first, one.last + 1):
        line = one.text[number - 1]
        depth += sum(map(line.count, "([")) - sum(map(line.count, ")]"))
        if depth <= 0:
            return number
    return one.first
