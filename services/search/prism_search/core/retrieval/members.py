"""Makes a hit of a symbol: descends from a passage to the member that answers, and picks the lines to show.

In: a passage, its file's outline, the text around it. Out: the symbol with its range, the lines that matter, its
signature, and the words of the question that it contains. Never lines of a neighbor.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile, islice
from typing import NamedTuple

from prism_contracts.code import CALLABLE_KINDS
from prism_contracts.rpc.search import ShownLine
from prism_search.core.matching import Question
from prism_search.core.outline import OutlineEntry
from prism_search.core.passages import Range
from prism_search.core.retrieval.candidates import Candidate
from prism_search.core.retrieval.member_ranks import RankedMember, members_in, rank_members
from prism_search.core.retrieval.member_text import MemberText
from prism_search.core.words import parts

# How far a passage is extended to the beginning of its function, and how long the text is that is read for it.
BEFORE_LINES_MAX = 150
EXTENT_LINES_MAX = 240
# The longest file whose members are all compared.
FILE_LINES_MAX = 2_000
SIGNATURE_LINES_MAX = 4
SIGNATURE_CHARS_MAX = 100
LINE_CHARS_MAX = 160
CALL = re.compile(r"(?<![\w.>:])(?:(?:self|this|cls|super\(\)|[a-z]\w{0,3})(?:\.|->))?([A-Za-z_]\w*)\(")
WORD = re.compile(r"[A-Za-z]{2}")
CALLEES_MAX = 5
BESIDE_MAX = 3
# Other members are named if they answer at least this share as well as the best.
BESIDE_SHARE = 0.4
# A callee of the first hit is shown whole up to so many lines, if the first hit may be wrong.
CALLEE_LINES_MAX = 15
DECORATORS = ("@", "#[", "[")
WORDS_SHOWN_MAX = 5


class ShownBudget(NamedTuple):
    """How much of a hit is shown: all of it up to so many lines and characters, else its best lines."""

    whole_lines: int
    chars: int
    best_lines: int


# For the first and the second hit. The second one counts for more if the first may be wrong.
BUDGETS = (ShownBudget(25, 1_300, 5), ShownBudget(8, 420, 2))
BUDGETS_IF_UNSURE = (ShownBudget(25, 1_300, 5), ShownBudget(25, 1_000, 3))
# How much is shown of another member of the file, which may answer better than the first hit.
BESIDE_BUDGET = ShownBudget(6, 480, 2)


@dataclass(frozen=True)
class Member:
    """What a hit shows of a passage. `symbol` is None at top level."""

    symbol: OutlineEntry | None
    start: int
    end: int
    signature: str
    matched: tuple[str, ...]
    lines: tuple[ShownLine, ...]
    beside: tuple[str, ...] = ()  # other members of its file, each as `Session.close 12-40`
    beside_lines: tuple[ShownLine, ...] = ()  # lines of the first symbol in `beside` if it may answer better


class Callee(NamedTuple):
    """What a member calls. `relevance` is the match of its name with the question, 0 to 1."""

    relevance: float
    symbol: OutlineEntry
    path: str = ""  # empty: the file of the member

    @property
    def label(self) -> str:
        """The callee as `Session.close src/session.py:12-40`."""
        place = f"{self.path}:" if self.path else ""
        return f"{self.symbol.qualified_name} {place}{self.symbol.start}-{self.symbol.end}"


def whole_file(file: Candidate) -> Range | None:
    """Returns all lines of a file, unless they are too many to compare all members."""
    return Range(1, file.lines) if 0 < file.lines <= FILE_LINES_MAX else None


def extent(file: Candidate, found: Range) -> Range:
    """Returns the passage, extended to the functions that it cuts, as far as their text is worth reading."""
    inside = [one for one in members_in(file, found) if one.kind in CALLABLE_KINDS]
    first = min(
        (one.start for one in inside if found.start - one.start <= BEFORE_LINES_MAX), default=found.start
    )
    first = min(first, found.start)
    last = max((one.end for one in inside), default=found.end)
    return Range(first, min(max(last, found.end), first + EXTENT_LINES_MAX, file.lines))


def member_of(
    question: Question,
    file: Candidate,
    found: Range,
    text: MemberText,
    *,
    rank: int,
    among: Range | None = None,
    budgets: Sequence[ShownBudget] = BUDGETS,
) -> Member:
    """Returns the symbol to show of a passage, the best of those that touch `among`. `rank` counts the hits from 0."""
    ranked = rank_members(question, file, found, text, among or found)
    symbol, stems = (ranked[0].symbol, ranked[0].stems) if ranked else (None, None)
    start, end = (symbol.start, symbol.end) if symbol else (found.start, found.end)
    if stems is None:
        stems = text.matched(question, range(start, end + 1))
    lines = _lines(question, text, start, end, budgets[rank]) if rank < len(budgets) else ()
    signature = _signature(text, start, end) if symbol else ""
    others = list(_beside(ranked)) if among else []
    better = _better(question, ranked[0], others, lines) if ranked and rank == 0 else None
    if better:
        others = [better, *(one for one in others if one is not better)]
    return Member(
        symbol,
        start,
        end,
        signature,
        _matched(question, stems),
        lines,
        tuple(f"{one.qualified_name} {one.start}-{one.end}" for one in (other.symbol for other in others)),
        _lines(question, text, better.symbol.start, better.symbol.end, BESIDE_BUDGET) if better else (),
    )


def _beside(ranked: Sequence[RankedMember]) -> Iterator[RankedMember]:
    """Returns the symbols that answer nearly as well as the best."""
    for other in ranked[1 : 1 + BESIDE_MAX]:
        if other.stems and other.score >= BESIDE_SHARE * ranked[0].score:
            yield other


def _better(
    question: Question, best: RankedMember, others: Sequence[RankedMember], lines: Sequence[ShownLine]
) -> RankedMember | None:
    """Returns the first other function that has more words of the question, or any if the best is no function.

    A function whose lines are shown already is none.
    """
    shown = {line.number for line in lines}
    is_function = best.symbol.kind in CALLABLE_KINDS
    functions = (one for one in others if one.symbol.kind in CALLABLE_KINDS and one.symbol.start not in shown)
    share = question.share(best.stems) if is_function else 0.0
    return next((one for one in functions if question.share(one.stems) > share), None)


def callees_of(
    question: Question, hit: Candidate, member: Member, text: MemberText, files: Sequence[Candidate]
) -> list[Callee]:
    """Returns what a member calls, by name, the most relevant first: functions of its file, and those of other
    candidates that have a word of the question in their name. A name with several definitions is left out.
    """
    if member.symbol is None or member.symbol.kind not in CALLABLE_KINDS:
        return []
    calls = (CALL.findall(text.lines[number]) for number in text.code(member.start, member.end))
    names = dict.fromkeys(name for found in calls for name in found if name != member.symbol.name)
    found: list[Callee] = []
    for name in names:
        relevance = question.name_match(name)
        homes = [file for file in files if (file is hit or relevance) and file.outline.may_define(name)]
        defined = [(file, one) for file in homes for one in _callables(file, name)]
        if len(defined) == 1 and not member.start <= defined[0][1].start <= member.end:
            file, one = defined[0]
            found.append(Callee(relevance, one, "" if file is hit else file.path))
    return sorted(found, key=lambda one: -one.relevance)[:CALLEES_MAX]


def short_callee(callees: Sequence[Callee], text: MemberText) -> tuple[ShownLine, ...]:
    """Returns the code of the most relevant callee if it has a word of the question, is in `text`, and is short."""
    best = callees[0] if callees else None
    if best is None or not best.relevance or best.path or best.symbol.end not in text.lines:
        return ()
    code = text.code(best.symbol.start, best.symbol.end) if best.symbol.start in text.lines else []
    return tuple(_shown(text, code)) if 0 < len(code) <= CALLEE_LINES_MAX else ()


def _callables(file: Candidate, name: str) -> list[OutlineEntry]:
    return [one for one in file.definitions if one.name == name and one.kind in CALLABLE_KINDS]


def _matched(question: Question, stems: Mapping[str, float]) -> tuple[str, ...]:
    """Returns the words of the question that have these stems, the rarest first, as the question writes them."""
    rarest = sorted(stems, key=lambda stem: (-question.rarity.get(stem, 0.0), stem))
    # A word of several parts is named only if all of them match.
    whole = (term for term in reversed(question.query.terms) if stems.keys() >= set(parts(term)))
    spelled = {part: term for term in whole for part in parts(term)}
    return tuple(dict.fromkeys(spelled.get(stem, stem) for stem in rarest))[:WORDS_SHOWN_MAX]


def _signature(text: MemberText, start: int, end: int) -> str:
    """Returns the signature of a symbol on one line, without its decorators."""
    code = text.iter_code(start, end) if start in text.lines else iter(())
    declared = dropwhile(lambda number: text.lines[number].lstrip().startswith(DECORATORS), code)
    first = list(islice(declared, SIGNATURE_LINES_MAX))
    lines = " ".join(text.lines[number] for number in first[: _signature_length(text, first)])
    return cut(" ".join(lines.split()).replace("( ", "(").rstrip("{").rstrip(), SIGNATURE_CHARS_MAX)


def _lines(
    question: Question, text: MemberText, start: int, end: int, budget: ShownBudget
) -> tuple[ShownLine, ...]:
    code = text.code(start, end)
    summary = _summary(text, start, end)
    whole = sorted({*code, *summary})
    if len(whole) <= budget.whole_lines and sum(len(text.lines[one]) for one in whole) <= budget.chars:
        return tuple(_shown(text, whole))
    return tuple(_shown(text, _best(question, text, code, budget)))


def _summary(text: MemberText, start: int, end: int) -> list[int]:
    """Returns the first line of the symbol's documentation."""
    last = min(end, next(text.iter_code(start, end), start) + SIGNATURE_LINES_MAX)
    prose = (number for number in range(start, last + 1) if text.is_prose(number))
    return list(islice((number for number in prose if WORD.search(text.lines[number])), 1))


def _best(question: Question, text: MemberText, code: Sequence[int], budget: ShownBudget) -> list[int]:
    """Returns the signature and the lines with most words of the question, each with a line before and after."""
    signature = code[: _signature_length(text, code)]
    body = code[len(signature) :]
    scores = [(question.share(text.matched(question, [number])), -at) for at, number in enumerate(body)]
    kept, chars = list(signature), budget.chars - sum(len(text.lines[number]) for number in signature)
    for score, at in sorted(scores, reverse=True)[: budget.best_lines]:
        frame = [number for number in body[max(0, -at - 1) : -at + 2] if number not in kept]
        chars -= sum(min(len(text.lines[number]), LINE_CHARS_MAX) for number in frame)
        if chars < 0 or not score:
            break
        kept += frame
    return sorted(kept)


def _signature_length(text: MemberText, code: Sequence[int]) -> int:
    """Returns the number of lines until the brackets of the signature are closed."""
    depth = 0
    for count, number in enumerate(code[:SIGNATURE_LINES_MAX], 1):
        line = text.lines[number]
        depth += sum(map(line.count, "([")) - sum(map(line.count, ")]"))
        if depth <= 0 and not line.strip().startswith("@"):
            return count
    return min(len(code), SIGNATURE_LINES_MAX)


def _shown(text: MemberText, numbers: Sequence[int]) -> Iterator[ShownLine]:
    indent = min(
        (len(line) - len(line.lstrip()) for number in numbers if (line := text.lines[number]).strip()),
        default=0,
    )
    for number in numbers:
        yield ShownLine(number=number, text=cut(text.lines[number][indent:].rstrip(), LINE_CHARS_MAX))


def cut(text: str, chars_max: int) -> str:
    """Returns the text, with an ellipsis if it is too long."""
    return text if len(text) <= chars_max else f"{text[: chars_max - 1]}…"
