"""Existing definitions for an intent: the verdict first, then each with its reasons."""

from prism_contracts.rpc.guidance import ExistingDefinition, ExistingReply, Verdict
from prism_gateway.budget import chars
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer, Json

DOCSTRING_CHARS_MAX = 200
ITEM_CHARS = 200


def answer(reply: ExistingReply, max_tokens: int) -> Answer:
    """Returns the definitions that fit the budget, the verdict first."""
    every = [_existing(one) for one in reply.existing]
    shown: list[Json] = []
    room = chars(max_tokens)
    for one in every:
        room -= ITEM_CHARS + sum(len(str(value)) for value in one.values())
        if room < 0 and shown:
            break
        shown.append(one)
    structured: Json = {
        "verdict": reply.verdict.value,
        "existing": shown,
        "receipt": receipt_json(reply.receipt),
    }
    foot = receipt_line(reply.receipt)
    if len(shown) < len(every):
        structured["truncated"] = True
        foot += f"\nnote: cut to max_tokens={max_tokens}: raise it."
    return Answer(structured, "\n\n".join([_verdict(reply), *map(_block, shown), foot]))


def _verdict(reply: ExistingReply) -> str:
    if reply.verdict is Verdict.LIKELY:
        return "This probably exists already: check the first result before you write it."
    if reply.verdict is Verdict.MAYBE:
        return "This may exist already: check whether one of these does it."
    return f"Nothing was found that does this.{' Nearest:' if reply.existing else ''}"


def _existing(one: ExistingDefinition) -> Json:
    found, symbol = one.definition, one.definition.symbol
    return {
        "verdict": one.verdict.value,
        "score": one.score,
        "repo": found.repo,
        "file_path": found.file_path,
        "start_line": symbol.start_line,
        "end_line": symbol.end_line,
        "name": symbol.qualified_name,
        "kind": symbol.kind.value,
        "signature": symbol.signature,
        "docstring": symbol.docstring.strip().partition("\n")[0][:DOCSTRING_CHARS_MAX],
        "reasons": list(one.reasons),
    }


def _block(shown: Json) -> str:
    place = f"{shown['repo']} {shown['file_path']}:{shown['start_line']}-{shown['end_line']}"
    head = f"{shown['verdict']} {shown['score']:.2f} {place} {shown['kind']} {shown['name']}"
    lines = [head, shown["signature"], shown["docstring"], f"why: {'; '.join(shown['reasons'])}"]
    return "\n".join(filter(None, lines))
