"""Symbols: outlines of files, definitions, bodies."""

from collections.abc import Collection, Iterator, Sequence

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Symbol, SymbolKind
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.files import OutlineReply
from prism_contracts.rpc.symbols import (
    Definition,
    DefinitionsReply,
    SymbolAnswer,
    SymbolReferences,
    UseCounts,
)
from prism_gateway.budget import chars, cut, fit
from prism_gateway.mcp.answers.places import file_label, several
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.answers.source import shown_lines, source, source_chars
from prism_gateway.mcp.tool import Answer, Json
from prism_gateway.search import CONTENT_FLOOR_CHARS, shorten_lines

# The cost of a symbol without its text, in characters: braces, field names, numbers.
SYMBOL_CHARS = 60
# Places of a kind that a line with other definitions lists.
REST_SHOWN_MAX = 3
KEYWORD_CHARS_MIN = 3
# The most of a doc comment next to a signature.
DOC_CHARS_MAX = 240


def outline(reply: OutlineReply, max_tokens: int) -> Answer:
    """Returns symbols in order. Doc comments are dropped before symbols."""
    fits = fit(
        [len(symbol.docstring) for symbol in reply.symbols],
        [len(symbol.signature) + len(symbol.qualified_name) + SYMBOL_CHARS for symbol in reply.symbols],
        chars(max_tokens),
        0,
    )
    symbols = [
        _symbol(symbol, fits.text_chars_max) | {"parent": symbol.parent}
        for symbol in reply.symbols[: fits.kept]
    ]
    structured: Json = {
        "repo": reply.repo,
        "file_path": reply.file_path,
        "language": reply.language,
        "line_count": reply.line_count,
        "description": reply.description,
        "parse": reply.parse,
        "symbols": symbols,
        "receipt": receipt_json(reply.receipt),
    }
    foot = receipt_line(reply.receipt)
    left_out = len(reply.symbols) - fits.kept
    if left_out:
        structured |= {"truncated": True, "next_actions": [f"{left_out} symbols left out: raise max_tokens."]}
        foot += f"\nnext: {structured['next_actions'][0]}"
    head = f"{reply.file_path}: {reply.line_count} lines, {len(reply.symbols)} symbols, parse {reply.parse}"
    lines = [_outline_line(symbol, reply.symbols) for symbol in reply.symbols[: fits.kept]]
    return Answer(structured, "\n".join([head, *filter(None, [reply.description]), *lines, foot]))


def _outline_line(symbol: Symbol, symbols: Sequence[Symbol]) -> str:
    title = _title(symbol)
    indent = "  " * _depth(symbol, symbols)
    return f"{indent}{symbol.start_line}-{symbol.end_line} {title}"


def _title(symbol: Symbol) -> str:
    """Returns the signature, with the kind and name that it does not show."""
    signature = " ".join(symbol.signature.split())
    if symbol.name not in signature:
        return " ".join(filter(None, (symbol.kind.value, symbol.name, signature)))
    keyword = signature.partition(" ")[0]  # const, var
    is_declared = len(keyword) >= KEYWORD_CHARS_MIN and symbol.kind.value.startswith(keyword)
    says_kind = symbol.kind in CALLABLE_KINDS | TYPE_KINDS or is_declared
    return signature if says_kind else f"{symbol.kind.value} {signature}"


def _depth(symbol: Symbol, symbols: Sequence[Symbol]) -> int:
    depth = 0
    while 0 <= symbol.parent < len(symbols) and depth < len(symbols):
        symbol = symbols[symbol.parent]
        depth += 1
    return depth


def definitions(reply: DefinitionsReply, max_tokens: int) -> Answer:
    """Returns definitions of each requested symbol, or similar names.

    Bodies are shortened before definitions are dropped.
    """
    every = [definition for answer in reply.answers for definition in answer.definitions]
    fits = fit(
        [source_chars(one) if one.body else len(one.symbol.docstring) for one in every],
        [
            len(definition.file_path) + len(definition.symbol.signature) + 2 * SYMBOL_CHARS
            for definition in every
        ],
        chars(max_tokens),
        CONTENT_FLOOR_CHARS,
    )
    room = fits.kept
    answers: list[Json] = []
    blocks: list[str] = []
    for answer in reply.answers:
        kept = answer.definitions[:room]
        shown = [_definition(definition, fits.text_chars_max) for definition in kept]
        room -= len(shown)
        answers.append(_symbol_answer(answer, shown))
        block = "\n\n".join(_definition_blocks(kept, fits.text_chars_max)) or _miss_line(answer)
        if answer.uses and shown:
            block += f"\n{_uses_line(answer.uses, len(shown))}"
        blocks.append(f"{_matched_line(answer)}\n{block}" if answer.matched and shown else block)
        if 0 < len(shown) < answer.total:
            blocks.append(f"{answer.symbol}: {answer.total - len(shown)} more definitions.")
    structured: Json = {"answers": answers, "receipt": receipt_json(reply.receipt)}
    foot = receipt_line(reply.receipt)
    shortened = any(source_chars(one) > fits.text_chars_max for one in every[: fits.kept] if one.body)
    if fits.kept < len(every) or shortened:
        structured |= {
            "truncated": True,
            "next_actions": [f"Cut to max_tokens={max_tokens}: raise it, or ask for fewer."],
        }
        foot += f"\nnext: {structured['next_actions'][0]}"
    return Answer(structured, "\n\n".join([*blocks, foot]))


def _definition_blocks(kept: Sequence[Definition], text_chars_max: int) -> Iterator[str]:
    """Yields the types and functions of a name, then a line with the rest; without any, all of them."""
    types = {one.symbol.name for one in kept if one.symbol.kind in TYPE_KINDS}
    chief = [_is_chief(one.symbol, types) for one in kept]
    if not any(chief):
        chief = [True] * len(kept)
    rest = [one for one, is_chief in zip(kept, chief, strict=True) if not is_chief]
    with_repo = len({one.repo for one in kept}) > 1
    blocks = [
        _definition_block(one, text_chars_max, with_repo=with_repo)
        for one, is_chief in zip(kept, chief, strict=True)
        if is_chief
    ]
    if rest:
        blocks[-1] += f"\nalso: {', '.join(_rest_of(rest))}"
    yield from blocks


def _is_chief(symbol: Symbol, types: Collection[str]) -> bool:
    """Whether a symbol is a type or a function, and no constructor of one of the types."""
    if symbol.kind is SymbolKind.CONSTRUCTOR and symbol.name in types:
        return False
    return symbol.kind in TYPE_KINDS | CALLABLE_KINDS


def _rest_of(rest: Sequence[Definition]) -> Iterator[str]:
    """Yields `2 constructors (a.java:10-12, a.java:14-19)`, kind by kind; of many, the count."""
    by_kind: dict[str, list[str]] = {}
    for one in rest:
        lines = f"{one.symbol.start_line}-{one.symbol.end_line}"
        by_kind.setdefault(one.symbol.kind.value, []).append(f"{one.file_path}:{lines}")
    for kind, places in by_kind.items():
        shown = f" ({', '.join(places)})" if len(places) <= REST_SHOWN_MAX else ""
        yield f"{several(len(places), kind)}{shown}"


def _symbol_answer(answer: SymbolAnswer, shown: list[Json]) -> Json:
    result: Json = {
        "symbol": answer.symbol,
        "definitions": shown,
        "total": answer.total,
        "suggestions": list(answer.suggestions),
    }
    if answer.matched:
        result["matched"] = answer.matched
    if answer.unparsed:
        result["unparsed"] = list(answer.unparsed)
    if answer.uses:
        result["uses"] = answer.uses.model_dump(mode="json")
    return result


def _uses_line(uses: UseCounts, definitions: int) -> str:
    """Returns how often a symbol is used, by kind."""
    which = f" of all {definitions} definitions" if definitions > 1 else ""
    counts = ", ".join(f"{group.value} {count}" for group, count in uses.groups.items())
    doubt = f", {uses.by_name} of them by name only" if uses.by_name else ""
    return f"uses{which}: {counts or 'none found; find_references compares this with the text'}{doubt}"


def _matched_line(answer: SymbolAnswer) -> str:
    return f"{answer.symbol}: found by the name {answer.matched}; the qualifier did not match, so this may be another symbol."


def _miss_line(answer: SymbolAnswer) -> str:
    if answer.total:
        return f"{answer.symbol}: {answer.total} definitions left out."
    return no_definition_line(answer.symbol, answer.suggestions, answer.unparsed)


def no_definition_line(symbol: str, suggestions: Sequence[str], unparsed: Sequence[str]) -> str:
    """Returns the note on an undefined name, with similar names."""
    near = f"Similar names: {', '.join(suggestions)}." if suggestions else ""
    return " ".join(filter(None, (f"{symbol}: no definition.", near, unparsed_sentence(unparsed))))


def imported_lines(found: SymbolReferences) -> Iterator[str]:
    """Yields where a name that is not defined here comes from."""
    sources = ", ".join(f"{one.module} ({several(one.files, 'file')})" for one in found.imported_from)
    line = f"{found.symbol}: not defined in this repository. Imported from {sources}."
    yield " ".join(filter(None, (line, unparsed_sentence(found.unparsed))))
    for one in found.defined_elsewhere:
        place = f"{one.file_path}:{one.symbol.start_line}-{one.symbol.end_line}"
        yield f"{one.symbol.qualified_name} ({one.symbol.kind.value}) {one.repo} {place}"


def unparsed_sentence(paths: Sequence[str]) -> str:
    """Returns the files that may define the name nevertheless; empty without such files."""
    if not paths:
        return ""
    return f"It may be defined in {', '.join(paths)}: the parser failed there, so no symbols are known. Use grep_code."


def function_body(
    best: Definition, others: Sequence[Definition], receipt: Receipt, max_tokens: int
) -> Answer:
    """Returns the full source of one symbol, and other definitions of its name."""
    body, _ = cut(best.body, chars(max_tokens))
    last = shown_lines(best, chars(max_tokens))[-1]
    missing = max(0, best.symbol.end_line - last)
    structured = _definition(best, len(best.body) + len(best.symbol.docstring)) | {"body": body}
    structured["others"] = [
        {"repo": other.repo, "file_path": other.file_path, "start_line": other.symbol.start_line}
        for other in others
    ]
    structured["receipt"] = receipt_json(receipt)
    lines = [_definition_head(best), source(best, chars(max_tokens)), "", receipt_line(receipt)]
    if missing:
        action = (
            f"{missing} lines left out: raise max_tokens, or "
            f"read_file(file_path={best.file_path!r}, start_line={last + 1})."
        )
        structured |= {"truncated": True, "next_actions": [action]}
    if others:
        lines.append("also defined at " + ", ".join(f"{o.file_path}:{o.symbol.start_line}" for o in others))
    return Answer(structured, "\n".join(lines))


def _definition(definition: Definition, text_chars_max: int) -> Json:
    shown = {
        "repo": definition.repo,
        "file_path": definition.file_path,
        "language": definition.language,
        **_symbol(definition.symbol, text_chars_max),
    }
    if definition.declared:
        shown["declared"] = [
            one.model_dump(mode="json", exclude={"generation"}) for one in definition.declared
        ]
    if definition.body:
        room = max(text_chars_max - len(shown["docstring"]), CONTENT_FLOOR_CHARS)
        shown["body"] = shorten_lines(definition.body, room, definition.symbol.start_line)
    return shown


def _symbol(symbol: Symbol, docstring_chars_max: int) -> Json:
    return {
        "name": symbol.qualified_name,
        "kind": symbol.kind.value,
        "start_line": symbol.start_line,
        "end_line": symbol.end_line,
        "signature": symbol.signature,
        "docstring": cut(symbol.docstring, docstring_chars_max)[0],
    }


def _definition_block(definition: Definition, text_chars_max: int, *, with_repo: bool) -> str:
    lines, symbol = [_definition_head(definition, with_repo=with_repo)], definition.symbol
    if definition.body:
        return "\n".join([*lines, source(definition, text_chars_max)])
    doc = _clipped(symbol.docstring.strip().split("\n\n")[0])
    signature = "" if symbol.signature in lines[0] else symbol.signature
    return "\n".join([*lines, *(text for text in (signature, doc) if text)])


def _clipped(text: str) -> str:
    return text if len(text) <= DOC_CHARS_MAX else f"{text[:DOC_CHARS_MAX].rstrip()}…"


def _definition_head(definition: Definition, *, with_repo: bool = False) -> str:
    symbol = definition.symbol
    place = file_label(definition.file_path, definition.repo if with_repo else "")
    head = f"{place}:{symbol.start_line}-{symbol.end_line} {symbol.kind.value} {symbol.qualified_name}"
    declared = ", ".join(f"{one.file_path}:{one.start_line}" for one in definition.declared)
    return f"{head}, declared in {declared}" if declared else head
