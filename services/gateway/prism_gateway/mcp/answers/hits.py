"""Hits of a search, with their code."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from prism_contracts.rpc.search import FileContext, Hit, SearchReply
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer, Json

TIMINGS_META = "prism/timings_ms"


def search(reply: SearchReply, max_tokens: int) -> Answer:
    """Hits with their code."""
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
    blocks = list(_blocks(reply.results)) or [_nothing_found(reply.diagnostics)]
    foot = [
        f"confidence {reply.confidence}, intent {reply.query_intent.value}; {receipt_line(reply.receipt)}",
        *(f"next: {action}" for action in structured["next_actions"]),
    ]
    if reply.next_cursor:
        foot.append(f"next_cursor: {reply.next_cursor}")
    return Answer(structured, "\n\n".join([*blocks, "\n".join(foot)]), {TIMINGS_META: reply.timings_ms})


def _hit(hit: Hit) -> Json:
    shown = hit.model_dump(mode="json", exclude={"symbol_start", "symbol_end"})
    if hit.file_context is None:
        del shown["file_context"]
    return shown


def _nothing_found(diagnostics: dict[str, Any]) -> str:
    reason, words = diagnostics.get("reason"), diagnostics.get("words")
    head = f"Nothing found: {reason}." if reason else "Nothing found."
    return f"{head} Words searched: {', '.join(words)}." if words else head


def _blocks(hits: Iterable[Hit]) -> Iterator[str]:
    """Returns one block per hit with lines, and one for hits without lines that follow each other."""
    for has_lines, found in groupby(hits, key=lambda hit: bool(hit.content.strip() or hit.file_context)):
        blocks = map(_hit_block, found)
        yield from blocks if has_lines else ["\n".join(blocks)]


def _hit_block(hit: Hit) -> str:
    """Returns the place, the lines, and the definitions of the file if requested."""
    lines = [f"{hit.repo} {hit.file_path}:{hit.start_line}-{hit.end_line} {hit.symbol}".rstrip()]
    if hit.content.strip():
        lines.append(hit.content.rstrip())
    if hit.file_context:
        lines.append(_file_context_line(hit.file_context))
    return "\n".join(lines)


def _file_context_line(context: FileContext) -> str:
    rest = f" and {context.definitions_left_out} more" if context.definitions_left_out else ""
    return f"file of {context.lines} lines: {'; '.join(context.definitions) or 'no definitions'}{rest}"
