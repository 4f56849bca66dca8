"""Existing definitions for an intent: the verdict with the nearest one, what else is near, and missing words."""

from collections.abc import Iterator
from itertools import groupby

from prism_contracts.rpc.common import SEVERAL_REPOSITORIES
from prism_contracts.rpc.guidance import ExistingDefinition, ExistingReply, Verdict, WordRole
from prism_gateway.budget import chars
from prism_gateway.mcp.answers.places import file_label
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer, Json

DOCSTRING_CHARS_MAX = 120
ITEM_CHARS = 200
# The cost of a place without its path and text, in text and data.
PLACE_CHARS = 80
SIGNATURE_CHARS_MAX = 120
VERDICTS = {
    Verdict.LIKELY: "This probably exists already: check the nearest before you write it.",
    Verdict.MAYBE: "This may exist already: check whether one of these does it.",
    Verdict.NONE: "No definition clearly does this. Read the nearest before you write it.",
}
NOTHING = "Nothing was found that does this."
# How many definitions the text shows.
SHOWN_MAX = {Verdict.LIKELY: 2, Verdict.MAYBE: 4, Verdict.NONE: 3}


def answer(reply: ExistingReply, max_tokens: int) -> Answer:
    """Returns the definitions that fit the budget, the verdict first."""
    every = [_existing(one) for one in reply.existing]
    shown: list[Json] = []
    room = chars(max_tokens) - sum(
        len(place.file_path) + len(place.text) + PLACE_CHARS for place in reply.places
    )
    for one in every:
        room -= ITEM_CHARS + sum(len(str(value)) for value in one.values())
        if room < 0 and shown:
            break
        shown.append(one)
    structured: Json = {
        "verdict": reply.verdict.value,
        "existing": shown,
        "words": list(reply.words),
        "absent_words": list(reply.absent_words),
        "places": [place.model_dump(mode="json") for place in reply.places],
        "receipt": receipt_json(reply.receipt),
    }
    foot = receipt_line(reply.receipt)
    if len(shown) < len(every):
        structured["truncated"] = True
        foot += f"\nnote: cut to max_tokens={max_tokens}: raise it."
    with_repo = reply.receipt.repo == SEVERAL_REPOSITORIES
    lines = [VERDICTS[reply.verdict] if shown else NOTHING]
    for place, item in enumerate(shown[: SHOWN_MAX[reply.verdict]]):
        lines.append(f"{'nearest' if place == 0 else 'also'}: {_line(item, with_repo)}")
        if place == 0:
            lines += [text for text in (item["docstring"], f"why: {'; '.join(item['reasons'])}") if text]
    places = _place_lines(reply, with_repo=with_repo)
    return Answer(structured, "\n".join([*lines, *_words_line(reply), *places, foot]))


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
        **({"aside": one.aside} if one.aside else {}),
    }


def _line(shown: Json, with_repo: bool) -> str:
    place = f"{shown['file_path']}:{shown['start_line']}-{shown['end_line']}"
    signature = " ".join(shown["signature"].split())[:SIGNATURE_CHARS_MAX]
    aside = f" ({shown['aside']})" if "aside" in shown else ""
    return f"{shown['repo'] + ' ' if with_repo else ''}{place} {shown['name']}{aside} — {signature or shown['kind']}"


def _place_lines(reply: ExistingReply, *, with_repo: bool) -> Iterator[str]:
    """Returns a line for each place of a word: what it names, or that it is a comment."""
    for word, places in groupby(reply.places, key=lambda place: place.word):
        yield f"`{word}` occurs in:"
        for place in places:
            role = "" if place.role is WordRole.CODE else f" ({place.role.value})"
            path = file_label(place.file_path, place.repo if with_repo else "")
            yield f"  {path}:{place.line}{role} {place.text}"


def _words_line(reply: ExistingReply) -> list[str]:
    """Returns which words of the intent occur nowhere: the proof that nothing does it."""
    if reply.verdict is Verdict.LIKELY or not reply.words:
        return []
    absent = set(reply.absent_words)
    known = [word for word in reply.words if word not in absent]
    if not absent:
        together = "Each word of the intent occurs in some file, but no definition has enough of them."
        return [together] if reply.verdict is Verdict.NONE else []
    missing = ", ".join(f"`{word}`" for word in reply.absent_words)
    occurring = f": {', '.join(known)}" if known else ""
    return [f"No file says: {missing}; {len(known)} of {len(reply.words)} words occur{occurring}."]
