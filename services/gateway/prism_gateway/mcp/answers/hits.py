"""Hits of a search, with their code."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from prism_contracts.rpc.search import RERANKER, FileContext, Hit, SearchReply, ShownLine
from prism_gateway.mcp.answers.places import TOP_LEVEL, file_label
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer, Json
from prism_gateway.search import MORE_LINES, more_lines

# A hit whose score is below this share of the first one's is weak.
WEAK_SHARE = 0.45
WEAK_SHOWN_MAX = 3
TIMINGS_META = "prism/timings_ms"


def search(reply: SearchReply, max_tokens: int, *, with_numbers: bool = True) -> Answer:
    """Returns hits with their code. Without numbers if their texts are prose."""
    structured: Json = {
        "results": [_hit(hit) for hit in reply.results],
        "confidence": reply.confidence,
        "query_intent": reply.query_intent.value,
        "next_actions": list(reply.next_actions),
        "next_cursor": reply.next_cursor,
        "receipt": receipt_json(reply.receipt),
    }
    if reply.truncated:
        structured["truncated"] = True
        action = f"Cut to max_tokens={max_tokens}: raise it, continue with next_cursor, narrow the question, or use read_file."
        structured["next_actions"].insert(0, action)
    if not reply.results:
        structured["diagnostics"] = reply.diagnostics
    blocks = list(_blocks(reply.results, with_numbers=with_numbers)) or [_nothing_found(reply.diagnostics)]
    foot = [
        f"confidence {reply.confidence}; {receipt_line(reply.receipt)}",
        *(f"next: {action}" for action in structured["next_actions"]),
    ]
    if reply.next_cursor and reply.confidence in {"medium", "low"}:
        foot.append(f"more: cursor={reply.next_cursor}")
    return Answer(structured, "\n\n".join([*blocks, "\n".join(foot)]), {TIMINGS_META: reply.timings_ms})


def _hit(hit: Hit) -> Json:
    shown = hit.model_dump(mode="json", exclude={"symbol_start", "symbol_end", "is_whole"})
    for name in (
        "file_context",
        "lines",
        "signature",
        "matched",
        "callees",
        "callee_lines",
        "beside",
        "beside_lines",
    ):
        if not shown[name]:
            del shown[name]
    return shown


def _nothing_found(diagnostics: dict[str, Any]) -> str:
    reason, words = diagnostics.get("reason"), diagnostics.get("words")
    head = f"Nothing found: {reason}." if reason else "Nothing found."
    return f"{head} Words searched: {', '.join(words)}." if words else head


def _blocks(hits: Sequence[Hit], *, with_numbers: bool) -> Iterator[str]:
    """Returns one block per hit with lines, and one for hits without lines that follow each other."""
    with_repo = len({hit.repo for hit in hits}) > 1
    weak = {id(hit) for hit in hits if _is_weak(hit, hits[0])}
    shown = [*(hit for hit in hits if id(hit) not in weak), *(hit for hit in hits if id(hit) in weak)]
    rest = max(0, len(weak) - WEAK_SHOWN_MAX) if hits and hits[0].lines else 0
    for has_lines, found in groupby(shown[: len(shown) - rest], key=_has_lines):
        blocks = [
            _hit_block(hit, with_repo=with_repo, is_weak=id(hit) in weak, with_numbers=with_numbers)
            for hit in found
        ]
        yield from blocks if has_lines else ["\n".join(blocks)]
    if rest:
        yield f"… and {rest} weaker: {', '.join(dict.fromkeys(hit.file_path for hit in shown[-rest:]))}"


def _is_weak(hit: Hit, best: Hit) -> bool:
    """Whether the signals of a hit are far below those of the best. What a reranker placed is not judged by them."""
    return RERANKER not in hit.legs and hit.raw_score < WEAK_SHARE * best.raw_score


def _has_lines(hit: Hit) -> bool:
    return bool(hit.lines or hit.content.strip() or hit.file_context)


def _hit_block(hit: Hit, *, with_repo: bool, is_weak: bool, with_numbers: bool) -> str:
    """Returns the place, the lines, and the definitions of the file if requested."""
    place = file_label(f"{hit.file_path}:{hit.start_line}-{hit.end_line}", hit.repo if with_repo else "")
    lines = [f"{'weak: ' if is_weak else ''}{place} {hit.symbol or TOP_LEVEL}{_reason(hit)}"]
    lines += _shown_lines(hit.lines)
    if hit.beside and not is_weak:
        lines.append(f"  also in this file: {'; '.join(hit.beside)}")
        lines += (f"  {line}" for line in _shown_lines(hit.beside_lines))
    if hit.callees:
        lines.append(f"  calls, by name: {'; '.join(hit.callees)}")
        lines += (f"  {line}" for line in _shown_lines(hit.callee_lines))
    if hit.content.strip():
        lines += _content_lines(hit) if with_numbers else [hit.content.rstrip()]
    if hit.file_context:
        lines.append(_file_context_line(hit.file_context))
    return "\n".join(lines)


def _reason(hit: Hit) -> str:
    """Returns the signature, unless lines follow, and the words of the question that the symbol contains."""
    signature = f": {hit.signature}" if hit.signature and not hit.lines and not hit.content.strip() else ""
    return f"{signature} (says {', '.join(hit.matched)})" if hit.matched else signature


def _content_lines(hit: Hit) -> Iterator[str]:
    """Returns the text with its line numbers, and what is left out of a long symbol."""
    texts = hit.content.rstrip("\n").split("\n")
    note = [texts.pop()] if texts[-1].startswith(MORE_LINES) else []
    yield from (f"{number}: {text}" for number, text in enumerate(texts, hit.start_line))
    left_out = hit.end_line - hit.start_line + 1 - len(texts)
    if note or left_out <= 0:
        yield from note
    else:
        yield more_lines(left_out, hit.end_line - left_out + 1)


def _shown_lines(lines: Sequence[ShownLine]) -> Iterator[str]:
    """Returns lines with their numbers, and an ellipsis for each gap."""
    previous = 0
    for line in lines:
        if previous and line.number > previous + 1:
            yield "  …"
        yield f"  {line.number}: {line.text}"
        previous = line.number


def _file_context_line(context: FileContext) -> str:
    rest = f" and {context.definitions_left_out} more" if context.definitions_left_out else ""
    return f"file of {context.lines} lines: {'; '.join(context.definitions) or 'no definitions'}{rest}"
