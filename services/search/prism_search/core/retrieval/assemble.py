"""Chooses the lines to show of the ranked files, and makes hits of them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.base import hit_id
from prism_contracts.code import Flag
from prism_contracts.rpc.search import Corpus, Detail, Hit
from prism_search.core.confidence import HIGH_MIN
from prism_search.core.file_context import file_context
from prism_search.core.matching import Question
from prism_search.core.outline import OutlineEntry
from prism_search.core.passages import Range, best_range, further_ranges
from prism_search.core.retrieval.candidates import Candidate, locate_chunks
from prism_search.core.retrieval.context import SearchContext
from prism_search.core.retrieval.member_text import MemberText
from prism_search.core.retrieval.members import (
    BUDGETS,
    BUDGETS_IF_UNSURE,
    callees_of,
    member_of,
    short_callee,
)

Passage = tuple[Candidate, Range]


class MemberHit(NamedTuple):
    """A hit as a symbol, its file, and the text that was read around it."""

    file: Candidate
    hit: Hit
    text: MemberText


EXAMPLES = re.compile(r"(?:^|/)_?(?:examples?|samples?|demos?)/", re.IGNORECASE)
ABOUT_EXAMPLES = re.compile(r"\b(?:examples?|samples?|demos?)\b", re.IGNORECASE)
# Lines of a symbol that the text of its hit has.
CONTENT_LINES_MAX = 300


def passages_of(question: Question, ranked: Sequence[Candidate], limit: int) -> list[Passage]:
    """Returns one passage per file, then, up to `limit`, further passages of the best files."""
    for file in ranked:
        locate_chunks(file)
    passages = [(file, best_range(question, file)) for file in ranked]
    for file, first in passages[: len(ranked)]:
        if len(passages) >= limit:
            break
        further = further_ranges(question, file, [first])
        passages += [(file, found) for found in further[: limit - len(passages)]]
    return passages


def tests_last(context: SearchContext, passages: Sequence[Passage]) -> list[Passage]:
    """Returns the passages of a page, with those of tests and examples last, unless the question is about them.

    Explained signals add up to the order, so it is kept.
    """
    request = context.request
    if request.corpus is not Corpus.CODE or request.explain or context.query.about_tests:
        return list(passages)
    with_examples = ABOUT_EXAMPLES.search(context.query.text) is not None
    return sorted(passages, key=lambda passage: is_aside(passage[0], with_examples=with_examples))


def is_aside(file: Candidate, *, with_examples: bool = False) -> bool:
    """Whether a file is a test, or in a folder of examples unless these are wanted."""
    is_example = not with_examples and EXAMPLES.search(file.path) is not None
    return is_example or Flag.TEST in file.flags


def hit_of(context: SearchContext, passage: Passage, content: str) -> Hit:
    """Returns the hit of a passage, with its text and details as requested."""
    request, (file, found) = context.request, passage
    symbol = _symbol_of(passage) if content else None
    return Hit(
        repo=context.target.name_of(file.repo),
        file_path=file.path,
        start_line=found.start,
        end_line=found.end,
        content=content if request.detail is not Detail.COMPACT else "",
        symbol=found.symbol,
        kind=found.kind,
        symbol_start=symbol.start if symbol else 0,
        symbol_end=symbol.end if symbol else 0,
        language=file.language,
        score=round(file.likelihood, 4),
        raw_score=round(file.score, 4),
        legs=file.legs,
        # Not rounded, so that a client that sums the shares gets the order of the hits.
        signals={name: share for name, share in file.signals.items() if share} if request.explain else {},
        file_context=file_context(file) if request.include_file_context else None,
        id=_hit_id(file, found.symbol, found.start),
        file_lines=file.lines,
    )


def text_range(hit: Hit) -> Range:
    """Returns the lines of a hit that are read as its text."""
    return Range(hit.start_line, min(hit.end_line, hit.start_line + CONTENT_LINES_MAX - 1))


def members(
    context: SearchContext,
    question: Question,
    read: Sequence[tuple[Passage, Range | None, MemberText]],
    candidates: Sequence[Candidate],
) -> list[MemberHit]:
    """Returns the hits of passages as symbols, each symbol once; the first with its callees among the candidates.

    The lines and what stands beside them are left out as requested.

    Where a whole file was read, its range is given, and the hit may be any of its symbols.
    """
    hits: dict[tuple[str, int], MemberHit] = {}
    detail = context.request.detail
    is_sure = bool(read) and read[0][0][0].likelihood >= HIGH_MIN
    budgets = BUDGETS if is_sure else BUDGETS_IF_UNSURE
    for (file, found), file_range, text in read:
        member = member_of(question, file, found, text, rank=len(hits), among=file_range, budgets=budgets)
        callees = [] if hits else callees_of(question, file, member, text, candidates)
        whole = hit_of(context, (file, found), "")
        symbol = member.symbol
        update: dict[str, object] = {
            "id": _hit_id(file, symbol.qualified_name if symbol else "", member.start),
            "start_line": member.start,
            "end_line": member.end,
            "symbol": symbol.qualified_name if symbol else "",
            "kind": symbol.kind if symbol else "",
            "symbol_start": symbol.start if symbol else 0,
            "symbol_end": symbol.end if symbol else 0,
            "signature": member.signature,
        }
        if detail is not Detail.COMPACT:
            update |= {
                "matched": member.matched,
                "beside": member.beside,
                "callees": tuple(one.label for one in callees),
            }
        if detail is Detail.TOP:
            shown = {line.number for line in member.lines}
            update |= {
                "lines": member.lines,
                "beside_lines": member.beside_lines,
                "is_whole": bool(shown) and shown.issuperset(text.code(member.start, member.end)),
                "callee_lines": () if is_sure else short_callee(callees, text),
            }
        hits.setdefault((file.file, member.start), MemberHit(file, whole.model_copy(update=update), text))
    return list(hits.values())


def _hit_id(file: Candidate, symbol: str, start: int) -> str:
    return hit_id(file.repo, file.path, symbol or str(start), file.generation)


def _symbol_of(passage: Passage) -> OutlineEntry | None:
    """Returns the definition that the passage is shown for; None if the question does not match its name."""
    file, found = passage
    if not found.is_named:
        return None
    named = (one for one in file.outline.definitions() if one.qualified_name == found.symbol)
    return next((one for one in named if one.start <= found.end and found.start <= one.end), None)
