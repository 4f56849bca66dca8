"""Decides whether code for an intent exists already: scores definitions by name, by text and by vector.

In: the intent as a question with the rarity of its words, and files with the chunks that are near in meaning.
Out: the best definitions with a verdict and the reasons. The evidence is words of the intent that match the
name, docstring, signature or comments, and nearness of the vectors. A matching name is enough for a verdict,
as are matching sentences; nearness alone is not. docs/decisions/0024-before-an-edit.md has how the bounds
were set.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import re2  # type: ignore[import-untyped]

from prism_contracts.code import ASIDE, CALLABLE_KINDS, TYPE_KINDS, Flag, Symbol
from prism_contracts.rpc.guidance import Verdict
from prism_search.core.matching import Question
from prism_search.core.sentences import best_match, is_prose, sentences
from prism_search.core.words import EQUAL, IDENTIFIER, stems_of

KINDS = CALLABLE_KINDS | TYPE_KINDS
ORDER = list(Verdict)
# `def parse(text: str) -> Rate`, `func (d *Depot) Parse(text string) Rate`, `public Rate parse(String text)`:
# a name right before its parameters, few words before it, and after them only a result. Prose has a space
# before its brackets. RE2 takes linear time, where Python's engine would try each letter of a long word as a
# start. RE2's `\w` is ASCII only, so the classes spell it out.
NAME = re2.compile(r"([A-Za-z_][\pL\pN_.:]*)(?:<[^<>()]*>)?\(")
WORDS_BEFORE_MAX = 4
RESULT = re.compile(r"(?:[:{;(\[*&].*|[\w.*&\[\]<>]+)?", re.DOTALL)
RECEIVERS = frozenset({"self", "cls", "this"})
PARAMETER_NAME = re.compile(r"[A-Za-z_]\w*")
TYPED_BEFORE = re2.compile(r"^\s*(?:final\s+|const\s+)?[\pL\pN_.<>\[\]*&:]+[\s*&]+([\pL\pN_]+)\s*(?:=.*)?$")
# Cosines of the fast model between a few words and a chunk: unrelated code is below the first, and code that
# does what the words say is rarely above the second.
NEAR_MIN, NEAR_MAX = 0.25, 0.65

NAME_WEIGHT, TEXT_WEIGHT, NEAR_WEIGHT = 0.4, 0.35, 0.25
# For code that is rarely reused as it is: tests, examples, generated, vendored and minified code; private symbols.
ASIDE_FACTOR, PRIVATE_FACTOR = 0.6, 0.9
# `python -m bench.calibrate`: 9 % of what does not exist scores 0.22, 1 % 0.45; of what exists and is asked for
# in half of its own words, all and a third.
LIKELY_MIN, MAYBE_MIN = 0.45, 0.22
LIKELY_TEXT_MIN, MAYBE_TEXT_MIN = 0.5, 0.2
NONE_SHOWN_MAX = 3
# Folders of code that shows how something is used.
EXAMPLES = frozenset({"demo", "demos", "example", "examples", "sample", "samples"})
# A definition that says nothing of the rarest word of the intent must have nearly all of the others.
LIKELY_WITHOUT_RAREST_MIN = 0.8
# Shares of the intent that a name of several words, or a first sentence, must have to be worth a look whatever
# the score is: tests, private and generated code score less, and a long intent dilutes both.
NAMED_MIN, SAID_MIN = 0.25, 0.5


class PlannedCode(NamedTuple):
    """What the caller is about to write: words to search for, and the parameters of a signature."""

    words: str
    parameters: frozenset[str]


@dataclass(frozen=True)
class CodeFile:
    """A file with its symbols; `near` are the chunks that are near the intent, as first line, last line,
    cosine; `texts` those that hold most of its words, as first line and text.
    """

    key: str
    flags: str
    symbols: Sequence[Symbol]
    near: Sequence[tuple[int, int, float]]
    texts: Sequence[tuple[int, str]] = ()
    path: str = ""


class Existing(NamedTuple):
    """A definition, the key of its file, and the evidence for it."""

    key: str
    symbol: Symbol
    score: float
    verdict: Verdict
    reasons: tuple[str, ...]
    aside: str = ""  # as in `ExistingDefinition`


def read_intent(text: str) -> PlannedCode:
    """Returns the name and parameters of a signature, or the words unchanged."""
    name = NAME.search(text)
    before = text[: name.start()].split() if name else []
    if not name or len(before) > WORDS_BEFORE_MAX:
        return PlannedCode(text, frozenset())
    parameters, rest = _bracketed(text[name.end() :])
    if not rest.strip().startswith("->") and not RESULT.fullmatch(rest.strip()):
        return PlannedCode(text, frozenset())
    is_name_first = before[:1] == ["func"]
    found = (_parameter(part, is_name_first=is_name_first) for part in parameters.split(","))
    names = [parameter for parameter in found if parameter and parameter not in RECEIVERS]
    return PlannedCode(" ".join([name[1], *names]), frozenset(names))


def find_existing(
    question: Question, intent: PlannedCode, files: Iterable[CodeFile], limit: int
) -> list[Existing]:
    """Returns the best definitions; if none reaches a verdict, the best few with the verdict none."""
    scored = [
        existing
        for file in files
        for prose in [_prose(file)]
        for at, symbol in enumerate(file.symbols)
        if symbol.kind in KINDS and (existing := _score(question, intent, file, symbol, prose.get(at, ())))
    ]
    scored.sort(key=lambda one: (ORDER.index(one.verdict), -one.score, one.key, one.symbol.start_line))
    good = [one for one in scored if one.verdict is not Verdict.NONE]
    return _each_name_once(good)[:limit] or _each_name_once(scored)[: min(limit, NONE_SHOWN_MAX)]


def _prose(file: CodeFile) -> dict[int, list[str]]:
    """Returns the sentences of comments and docstrings by position of the smallest symbol around.

    Reads docstrings from the text because only their first paragraph is indexed.
    """
    found: dict[int, list[str]] = defaultdict(list)
    for first, text in file.texts:
        lines = list(enumerate(text.split("\n"), first))
        there = [
            (at, symbol)
            for at, symbol in enumerate(file.symbols)
            if symbol.kind in KINDS and _overlap(symbol, first, lines[-1][0])
        ]
        for number, line in lines:
            if is_prose(line):
                found[_smallest(there, number)] += sentences(line)
    return found


def _smallest(symbols: Iterable[tuple[int, Symbol]], line: int) -> int:
    """Returns the position of the smallest symbol around a line; -1 without one."""
    around = ((one.end_line - one.start_line, -at) for at, one in symbols if _overlap(one, line, line))
    return -min(around, default=(0, 1))[1]


def _score(
    question: Question, intent: PlannedCode, file: CodeFile, symbol: Symbol, prose: Sequence[str]
) -> Existing | None:
    """Returns the scored definition; None without any evidence."""
    cosine = max((near for first, last, near in file.near if _overlap(symbol, first, last)), default=0.0)
    by_name = question.matched_stems_of_name(symbol.name)
    docstring = sentences(symbol.docstring)
    by_text = question.matched_stems(
        stems_of(" ".join([symbol.qualified_name, *docstring[:1], symbol.signature]))
    )
    sentence = max(
        best_match(question, docstring, MAYBE_TEXT_MIN),
        best_match(question, prose, MAYBE_TEXT_MIN),
        key=itemgetter(0),
    )
    if not by_name and not sentence.matched and (not by_text or not cosine):
        return None
    # A sentence that matches in full is as good as a name, anywhere in the docstring or the body.
    name = max(question.name_match(symbol.name), sentence.degree)
    text = max(question.share(by_text), sentence.degree)
    near = min(max((cosine - NEAR_MIN) / (NEAR_MAX - NEAR_MIN), 0.0), 1.0)
    score = NAME_WEIGHT * name + TEXT_WEIGHT * text + NEAR_WEIGHT * near
    score *= 1.0 if symbol.exported else PRIVATE_FACTOR
    as_source, aside = score, _aside(file)
    score *= ASIDE_FACTOR if aside else 1.0
    shared = intent.parameters & frozenset(IDENTIFIER.findall(symbol.signature.partition("(")[2]))
    beside = by_text.keys() - by_name.keys()
    reasons = _reasons(
        {
            "name": by_name,
            "docstring or signature": beside,
            "comments": sentence.matched.keys() - by_name.keys() - beside,
            "parameters": shared,
        }
    )
    if near:
        reasons.append(f"similar meaning ({cosine:.2f})")
    verdict = _verdict(score, text)
    if aside and verdict is Verdict.NONE and _verdict(as_source, text) is Verdict.LIKELY:
        verdict = Verdict.MAYBE  # a copy in a test is worth a look
    if verdict is Verdict.LIKELY and text < LIKELY_WITHOUT_RAREST_MIN:
        said = [by_name, by_text, sentence.matched, *_said(question, docstring, prose, file, symbol)]
        if unsaid := _rarest_unsaid(question, said):
            verdict = Verdict.MAYBE
            reasons.append(f"nothing of: {', '.join(sorted(unsaid))}")
    if verdict is Verdict.NONE and _stands_there(question, symbol, by_name, docstring[:1]):
        verdict = Verdict.MAYBE
    return Existing(file.key, symbol, round(score, 3), verdict, tuple(reasons), aside)


def _aside(file: CodeFile) -> str:
    """Returns what a file is that code is rarely reused from; empty for any other."""
    if Flag.TEST in file.flags:
        return "in tests"
    if ASIDE.intersection(file.flags):
        return "generated or copied here"
    folders = file.path.lower().split("/")[:-1]
    return "in examples" if EXAMPLES.intersection(folders) else ""


def _rarest_unsaid(question: Question, said: Iterable[Mapping[str, float]]) -> set[str]:
    """Returns the rarest stems of the intent that none of the matches has as they are: `ini` is not `init`."""
    rarity, stems = question.rarity, question.query.stems
    highest = max((rarity.get(stem, 0.0) for stem in stems), default=0.0)
    rarest = {stem for stem in stems if rarity.get(stem, 0.0) == highest}
    return rarest - {stem for matched in said for stem, degree in matched.items() if degree == EQUAL}


def _said(
    question: Question, docstring: Sequence[str], prose: Sequence[str], file: CodeFile, symbol: Symbol
) -> Iterator[Mapping[str, float]]:
    """Yields the stems of the intent anywhere in a definition: its documentation, its comments and its path."""
    yield question.matched_stems(stems_of(" ".join([*docstring, *prose, file.path])))
    for first, text in file.texts:
        lines = text.split("\n")[max(0, symbol.start_line - first) : max(0, symbol.end_line - first + 1)]
        yield question.matched_stems(stems_of("\n".join(lines)))


def _stands_there(
    question: Question, symbol: Symbol, by_name: Mapping[str, float], first_sentence: Sequence[str]
) -> bool:
    """Whether the intent contains all words of a name of several words, or most of it stands in a first sentence."""
    words = stems_of(symbol.name)
    is_named = len(words) > 1 and len(by_name) >= len(words) and question.share(by_name) >= NAMED_MIN
    return is_named or question.share(question.matched_stems(stems_of(" ".join(first_sentence)))) >= SAID_MIN


def _reasons(words: Mapping[str, Collection[str]]) -> list[str]:
    return [f"{where}: {', '.join(sorted(found))}" for where, found in words.items() if found]


def _verdict(score: float, text: float) -> Verdict:
    """Likely needs most of the intent in the text, maybe a good part of it: nearness alone is no evidence."""
    if score >= LIKELY_MIN and text >= LIKELY_TEXT_MIN:
        return Verdict.LIKELY
    return Verdict.MAYBE if score >= MAYBE_MIN and text >= MAYBE_TEXT_MIN else Verdict.NONE


def _each_name_once(found: Iterable[Existing]) -> list[Existing]:
    """Returns the best of each name: a declaration, its body and its overloads count once."""
    kept: dict[str, Existing] = {}
    for one in found:
        kept.setdefault(one.symbol.qualified_name, one)
    return list(kept.values())


def _overlap(symbol: Symbol, first: int, last: int) -> bool:
    return symbol.start_line <= last and symbol.end_line >= first


def _bracketed(text: str) -> tuple[str, str]:
    """Splits the text after an opening bracket at the bracket that closes it."""
    depth = 1
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text[:at], text[at + 1 :]
    return text, ""


def _parameter(text: str, *, is_name_first: bool) -> str:
    """Returns the name in `name: type = default`, in `type name`, and in `name type` if names come first."""
    head = text.partition(":")[0]
    typed = None if is_name_first else TYPED_BEFORE.match(head)
    found = PARAMETER_NAME.search(typed[1] if typed else head)
    return found[0] if found else ""
