"""Makes a hit of a symbol: descends from a passage to the member that answers, and picks the lines to show.

In: a passage, its file's outline, the text around it. Out: the symbol with its range, the lines that matter, its
signature, and the words of the question that it contains. Never lines of a neighbor.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS
from prism_contracts.rpc.search import ShownLine
from prism_search.core.matching import Question
from prism_search.core.outline import BLOCK_LINES_MIN, VALUE, OutlineEntry
from prism_search.core.passages import Range
from prism_search.core.references.text_spans import TextSpans
from prism_search.core.retrieval.candidates import Candidate
from prism_search.core.words import IDENTIFIER, parts

# How far a passage is extended to the beginning of its function, and how long the text is that is read for it.
BEFORE_LINES_MAX = 150
EXTENT_LINES_MAX = 240
# Weights of a member's name, and of the share of it that the passage covers, beside the words that it contains.
NAME_WEIGHT, INSIDE_WEIGHT, NAMED_WEIGHT = 1.5, 0.5, 0.5
# So many lines of a type with members count as its own.
HEADER_LINES = 6
# A type of more lines is shown as one of its members, unless the question has its whole name.
TYPE_LINES_MAX = 40
FULL_NAME = 0.99
# The lines of the first and of the second hit: shown whole up to so many lines and characters, else the best lines.
WHOLE_LINES = (25, 8)
CHARS = (1_300, 420)
BEST_LINES = (5, 2)
SIGNATURE_LINES_MAX = 4
SIGNATURE_CHARS_MAX = 100
LINE_CHARS_MAX = 160
# The beginnings of lines inside a comment whose beginning may be above the text.
COMMENT_STARTS = ("* ", "*/", "/*", "//", "#!")
CALL = re.compile(r"(?<![\w.>:])(?:(?:self|this|cls|super\(\)|[a-z]\w{0,3})(?:\.|->))?([A-Za-z_]\w*)\(")
WORD = re.compile(r"[A-Za-z]{2}")
CALLEES_MAX = 5
DECORATORS = ("@", "#[", "[")
WORDS_SHOWN_MAX = 5


@dataclass(frozen=True)
class MemberText:
    """Consecutive lines of a file, by number."""

    lines: Mapping[int, str]
    prose: frozenset[int]  # numbers of lines that are comments or docstrings only
    # By line: the stems of the question that it contains, each with its likeness. Filled in by `matched`.
    _matched: dict[int, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, content: str, first_line: int, language: str) -> "MemberText":
        """Splits the text of an excerpt."""
        lines = content.split("\n")
        spans = TextSpans(content, language)
        starts = accumulate((len(line) + 1 for line in lines[:-1]), initial=0)
        prose = {
            number
            for number, (start, line) in enumerate(zip(starts, lines, strict=True), first_line)
            if (bare := line.strip())
            and (
                bare == "*"
                or bare.startswith(COMMENT_STARTS)
                or spans.hold([start + line.index(bare)], len(bare))
            )
        }
        return cls(dict(enumerate(lines, first_line)), frozenset(prose))

    def matched(self, question: Question, numbers: Iterable[int]) -> dict[str, float]:
        """Returns the stems of the question that these lines contain, each with its best likeness."""
        found: dict[str, float] = {}
        for number in numbers:
            known = self._matched.get(number)
            if known is None:
                words = IDENTIFIER.findall(self.lines.get(number, ""))
                known = self._matched[number] = _merged(map(question.matched_stems_of_name, words))
            if known:
                found = _merged([found, known])
        return found

    def code(self, first: int, last: int) -> list[int]:
        """Returns the numbers of the lines with code."""
        return [
            number
            for number in range(first, last + 1)
            if number not in self.prose and self.lines.get(number, "").strip()
        ]


@dataclass(frozen=True)
class Member:
    """What a hit shows of a passage. `symbol` is None at top level."""

    symbol: OutlineEntry | None
    start: int
    end: int
    signature: str
    matched: tuple[str, ...]
    lines: tuple[ShownLine, ...]


def extent(file: Candidate, found: Range) -> Range:
    """Returns the passage, extended to the functions that it cuts, as far as their text is worth reading."""
    inside = [one for one in _entries(file, found) if one.kind in CALLABLE_KINDS]
    first = min(
        (one.start for one in inside if found.start - one.start <= BEFORE_LINES_MAX), default=found.start
    )
    first = min(first, found.start)
    last = max((one.end for one in inside), default=found.end)
    return Range(first, min(max(last, found.end), first + EXTENT_LINES_MAX, file.lines))


def member_of(question: Question, file: Candidate, found: Range, text: MemberText, rank: int) -> Member:
    """Returns what to show of a passage. `rank` counts the hits from 0."""
    entries = _entries(file, found)
    scored = [(_score(question, one, entries, found, text), -one.start, one) for one in entries]
    symbol = max(scored, default=(0.0, 0, None))[2]
    start, end = (symbol.start, symbol.end) if symbol else (found.start, found.end)
    stems = text.matched(question, _own(symbol, entries, start, end))
    lines = _lines(question, text, start, end, rank) if rank < len(CHARS) else ()
    return Member(
        symbol, start, end, _signature(text, start, end) if symbol else "", _matched(question, stems), lines
    )


def callees_of(
    question: Question, hit: Candidate, member: Member, text: MemberText, files: Sequence[Candidate]
) -> list[str]:
    """Returns what a member calls, by name: functions of its file, and those of other candidates that have a word of
    the question in their name. A name with several definitions is left out.
    """
    if member.symbol is None or member.symbol.kind not in CALLABLE_KINDS:
        return []
    calls = (CALL.findall(text.lines[number]) for number in text.code(member.start, member.end))
    names = dict.fromkeys(name for found in calls for name in found if name != member.symbol.name)
    found: list[tuple[float, str]] = []
    for name in names:
        relevance = question.name_match(name)
        homes = [file for file in files if (file is hit or relevance) and file.outline.may_define(name)]
        defined = [(file, one) for file in homes for one in _callables(file, name)]
        if len(defined) == 1 and not member.start <= defined[0][1].start <= member.end:
            file, one = defined[0]
            place = "" if file is hit else f"{file.path}:"
            found.append((-relevance, f"{one.qualified_name} {place}{one.start}-{one.end}"))
    return [label for _, label in sorted(found, key=lambda item: item[0])[:CALLEES_MAX]]


def _callables(file: Candidate, name: str) -> list[OutlineEntry]:
    return [one for one in file.definitions if one.name == name and one.kind in CALLABLE_KINDS]


def _entries(file: Candidate, found: Range) -> list[OutlineEntry]:
    """Returns the types, functions and larger values that a passage touches."""
    return [
        one
        for one in file.definitions
        if one.start <= found.end
        and one.end >= found.start
        and (one.group != VALUE or one.end - one.start >= BLOCK_LINES_MIN)
    ]


def _score(
    question: Question, one: OutlineEntry, entries: Sequence[OutlineEntry], found: Range, text: MemberText
) -> float:
    """Returns how well a member answers: by the words that its own lines contain, by its name, and by its place."""
    contained = question.share(text.matched(question, _own(one, entries, one.start, one.end)))
    named = question.name_match(one.name)
    covered = min(one.end, found.end) - max(one.start, found.start) + 1
    inside = covered / (found.end - found.start + 1)
    is_big_type = one.kind in TYPE_KINDS and one.end - one.start >= TYPE_LINES_MAX and named < FULL_NAME
    is_meant = found.is_named and one.qualified_name == found.symbol and not is_big_type
    return (
        contained
        + NAME_WEIGHT * named
        + (0.0 if is_big_type else INSIDE_WEIGHT * inside)
        + NAMED_WEIGHT * is_meant
        + FULL_NAME * (one.name in question.symbol_names)
    )


def _own(symbol: OutlineEntry | None, entries: Sequence[OutlineEntry], start: int, end: int) -> Iterator[int]:
    """Returns the lines of a symbol without those of the symbols in it; of a type with members only the first."""
    inner = [one for one in entries if one != symbol and start <= one.start and one.end <= end]
    if symbol and symbol.kind in TYPE_KINDS and inner:
        end = min(end, start + HEADER_LINES)
    yield from (
        number for number in range(start, end + 1) if not any(one.start <= number <= one.end for one in inner)
    )


def _merged(many: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Returns the best likeness of each stem."""
    found: dict[str, float] = {}
    for one in many:
        for stem, degree in one.items():
            if degree > found.get(stem, 0.0):
                found[stem] = degree
    return found


def _matched(question: Question, stems: Mapping[str, float]) -> tuple[str, ...]:
    """Returns the words of the question that have these stems, the rarest first, as the question writes them."""
    rarest = sorted(stems, key=lambda stem: -question.rarity.get(stem, 0.0))
    # A word of several parts is named only if all of them match.
    whole = (term for term in reversed(question.query.terms) if stems.keys() >= set(parts(term)))
    spelled = {part: term for term in whole for part in parts(term)}
    return tuple(dict.fromkeys(spelled.get(stem, stem) for stem in rarest))[:WORDS_SHOWN_MAX]


def _signature(text: MemberText, start: int, end: int) -> str:
    """Returns the signature of a symbol on one line, without its decorators."""
    code = text.code(start, end) if start in text.lines else []
    while code and text.lines[code[0]].lstrip().startswith(DECORATORS):
        code = code[1:]
    lines = " ".join(text.lines[number] for number in code[: _signature_length(text, code)])
    return cut(" ".join(lines.split()).replace("( ", "(").rstrip("{").rstrip(), SIGNATURE_CHARS_MAX)


def _lines(question: Question, text: MemberText, start: int, end: int, rank: int) -> tuple[ShownLine, ...]:
    code = text.code(start, end)
    summary = _summary(text, start, end)
    whole = sorted({*code, *summary})
    if len(whole) <= WHOLE_LINES[rank] and sum(len(text.lines[one]) for one in whole) <= CHARS[rank]:
        return tuple(_shown(text, whole))
    return tuple(_shown(text, _best(question, text, code, rank)))


def _summary(text: MemberText, start: int, end: int) -> list[int]:
    """Returns the first line of the symbol's documentation."""
    prose = (number for number in range(start, end + 1) if number in text.prose)
    opening = next((number for number in prose if WORD.search(text.lines[number])), None)
    first = next(iter(text.code(start, end)), start)
    return [opening] if opening is not None and opening <= first + SIGNATURE_LINES_MAX else []


def _best(question: Question, text: MemberText, code: Sequence[int], rank: int) -> list[int]:
    """Returns the signature and the lines with most words of the question, each with a line before and after."""
    signature = code[: _signature_length(text, code)]
    body = code[len(signature) :]
    scores = [(question.share(text.matched(question, [number])), -at) for at, number in enumerate(body)]
    kept, room = list(signature), CHARS[rank] - sum(len(text.lines[number]) for number in signature)
    for score, at in sorted(scores, reverse=True)[: BEST_LINES[rank]]:
        frame = [number for number in body[max(0, -at - 1) : -at + 2] if number not in kept]
        room -= sum(min(len(text.lines[number]), LINE_CHARS_MAX) for number in frame)
        if room < 0 or not score:
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
