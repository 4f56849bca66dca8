"""A context: its places by their lines, each with the reason, then what is missing and how it was gathered."""

from collections.abc import Iterator

from prism_contracts.rpc.context import ContextItem, ContextReply
from prism_gateway.mcp.answers.places import TOP_LEVEL, file_label, several
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer, Json
from prism_gateway.search import more_lines

TIMINGS_META = "prism/timings_ms"


def answer(reply: ContextReply, max_tokens: int) -> Answer:
    """Returns the places, best first, and how they were gathered."""
    structured: Json = {
        **reply.model_dump(mode="json", exclude={"receipt", "timings_ms"}),
        "receipt": receipt_json(reply.receipt),
    }
    with_repo = len({item.repo for item in reply.items}) > 1
    blocks = ["\n".join(_item(item, with_repo=with_repo)) for item in reply.items] or ["Nothing found."]
    if reply.answer:
        blocks.insert(0, "\n".join(_written(reply, with_repo=with_repo)))
    return Answer(
        structured,
        "\n\n".join([*blocks, "\n".join(_foot(reply, max_tokens))]),
        {TIMINGS_META: reply.timings_ms},
    )


def _written(reply: ContextReply, *, with_repo: bool) -> Iterator[str]:
    yield f"Written by {reply.model} from the places that each sentence names:"
    for sentence in reply.answer:
        places = (
            file_label(f"{one.file_path}:{one.start_line}-{one.end_line}", one.repo if with_repo else "")
            for one in sentence.sources
        )
        yield f"- {sentence.text} [{'; '.join(places)}]"


def _item(item: ContextItem, *, with_repo: bool) -> Iterator[str]:
    place = file_label(f"{item.file_path}:{item.start_line}-{item.end_line}", item.repo if with_repo else "")
    yield f"[{item.domain}] {place} {item.symbol or TOP_LEVEL} ({item.why})"
    texts = item.content.rstrip("\n").split("\n") if item.content.strip() else []
    yield from (f"{number}: {text}" for number, text in enumerate(texts, item.start_line))
    left_out = item.end_line - item.start_line + 1 - len(texts)
    if texts and left_out > 0:
        yield more_lines(left_out, item.start_line + len(texts))


def _foot(reply: ContextReply, max_tokens: int) -> Iterator[str]:
    yield f"{reply.mode}, because {reply.reason}; {several(len(reply.rounds), 'round')}; {receipt_line(reply.receipt)}"
    if reply.missing:
        yield f"no place says: {', '.join(reply.missing)}"
    yield from (f"note: {note}" for note in reply.notes)
    if reply.dropped_sentences:
        yield f"note: {several(reply.dropped_sentences, 'sentence')} without a source that holds it were dropped."
    if reply.truncated:
        yield f"note: cut to max_tokens={max_tokens}: raise it, or name fewer domains."
    if reply.without_model:
        yield f"note: {reply.without_model}"
