"""How a reply becomes an answer: structured content for programs, and a short text for readers.

The text is not the JSON again: it is what a person would want to read, a place and the code. Pure functions; each
keeps to `max_tokens` and says so when it had to leave something out.
"""

from collections.abc import Sequence
from typing import Any

from prism_contracts import rpc
from prism_contracts.base import BASE_LAYER
from prism_contracts.code import FileFlags, Symbol
from prism_contracts.records import Job, JobState, Repository
from prism_gateway.budget import Fit, chars, cut, fit
from prism_gateway.mcp.tool import Answer
from prism_gateway.search import CONTENT_FLOOR_CHARS, shorten_lines

LINE_FLOOR_CHARS = 200
# What a result costs beside its text, in characters: braces, names of fields, numbers.
ITEM_CHARS = 60
COMMIT_CHARS = 10
JOB_PROBLEMS_MAX = 20
TIMINGS_META = "prism/timings_ms"

Json = dict[str, Any]


def search(reply: rpc.SearchReply, max_tokens: int) -> Answer:
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
        action = f"Cut to max_tokens={max_tokens}: raise it, go on with next_cursor, narrow the question, or read_file."
        structured["next_actions"].insert(0, action)
    if not reply.results:
        structured["diagnostics"] = reply.diagnostics
    blocks = [_hit_block(hit) for hit in reply.results] or [_nothing_found(reply.diagnostics)]
    foot = [
        f"confidence {reply.confidence}, intent {reply.query_intent.value}; {receipt_line(reply.receipt)}",
        *_next_lines(structured["next_actions"]),
    ]
    if reply.next_cursor:
        foot.append(f"next_cursor: {reply.next_cursor}")
    return Answer(structured, "\n\n".join([*blocks, "\n".join(foot)]), {TIMINGS_META: reply.timings_ms})


def fit_grep(reply: rpc.GrepReply, max_tokens: int) -> Fit:
    """How many matches or files fit, and how long the lines of matches may be."""
    texts = [
        len(match.text) + sum(map(len, match.before)) + sum(map(len, match.after)) for match in reply.matches
    ]
    overheads = [len(item.file_path) + ITEM_CHARS for item in _grep_items(reply)]
    return fit([*texts, *[0] * len(reply.files)], overheads, chars(max_tokens), LINE_FLOOR_CHARS)


def grep(reply: rpc.GrepReply, fits: Fit, max_tokens: int, *, cut_off: bool) -> Answer:
    """Matches by file, or files. `cut_off` says that there were more and that `next_cursor` goes on behind these."""
    several = len({item.repo for item in _grep_items(reply)}) > 1
    matches = [_grep_match(match, fits.text_chars_max, several) for match in reply.matches]
    files = [_grep_file(file, several) for file in reply.files]
    structured: Json = {
        **_grep_files(reply, files),
        "matches": matches,
        "next_cursor": reply.next_cursor,
        "complete": reply.complete,
        "note": reply.note,
        "files_scanned": reply.files_scanned,
        "receipt": receipt_json(reply.receipt),
    }
    if cut_off:
        structured["truncated"] = True
        structured["note"] = _join(
            reply.note, f"Cut to max_tokens={max_tokens}: raise it, or go on with next_cursor."
        )
    lines = [_grep_file_line(file) for file in files]
    place = ""
    for match in matches:
        here = _place(match)
        if here != place:
            lines += ["", here] if lines else [here]
            place = here
        lines += _grep_lines(match)
    foot = [f"{_grep_count(reply)}; {receipt_line(reply.receipt)}"]
    if structured["note"]:
        foot.append(f"note: {structured['note']}")
    if reply.next_cursor:
        foot.append(f"next_cursor: {reply.next_cursor}")
    return Answer(structured, "\n".join([*lines, "", *foot] if lines else foot))


def read_file(reply: rpc.ReadFileReply, max_tokens: int) -> Answer:
    """The text of the lines, cut at a line end; for readers with their numbers."""
    content, missing = cut(reply.content, chars(max_tokens))
    end_line = reply.end_line - missing
    cut_off = reply.truncated or content != reply.content
    structured: Json = {
        "repo": reply.repo,
        "file_path": reply.file_path,
        "start_line": reply.start_line,
        "end_line": end_line,
        "line_count": reply.line_count,
        "language": reply.language,
        "blob": reply.blob,
        "content": content,
        "receipt": receipt_json(reply.receipt),
    }
    foot = receipt_line(reply.receipt)
    if cut_off:
        next_line = min(end_line + 1, reply.line_count)
        action = f"Go on with read_file(file_path={reply.file_path!r}, start_line={next_line})."
        structured |= {"truncated": True, "next_actions": [action]}
        foot += f"\nnext: {action}"
    head = f"{reply.file_path}:{reply.start_line}-{end_line} of {reply.line_count} lines"
    return Answer(structured, f"{head}\n{_numbered(content, reply.start_line)}\n\n{foot}")


def fit_files(reply: rpc.ListFilesReply, max_tokens: int) -> Fit:
    """How many files fit."""
    overheads = [len(file.file_path) + ITEM_CHARS for file in reply.files]
    return fit([0] * len(overheads), overheads, chars(max_tokens), 0)


def list_files(reply: rpc.ListFilesReply, max_tokens: int, *, cut_off: bool) -> Answer:
    """Files, one a line. `cut_off` says that there were more and that `next_cursor` goes on behind these."""
    files = [_file(file) for file in reply.files]
    structured: Json = {
        "repo": reply.repo,
        "files": files,
        "total": reply.total,
        "next_cursor": reply.next_cursor,
        "receipt": receipt_json(reply.receipt),
    }
    foot = [f"{len(files)} of {reply.total} files; {receipt_line(reply.receipt)}"]
    if cut_off:
        structured["truncated"] = True
        foot.append(f"note: cut to max_tokens={max_tokens}: raise it, or go on with next_cursor.")
    if reply.next_cursor:
        foot.append(f"next_cursor: {reply.next_cursor}")
    return Answer(structured, "\n".join([*(_file_line(file) for file in files), *foot]))


def outline(reply: rpc.OutlineReply, max_tokens: int) -> Answer:
    """Symbols in order; the doc comments go before a symbol does."""
    fits = fit(
        [len(symbol.docstring) for symbol in reply.symbols],
        [len(symbol.signature) + len(symbol.qualified_name) + ITEM_CHARS for symbol in reply.symbols],
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
    return Answer(structured, "\n".join([head, *lines, foot]))


def definitions(reply: rpc.DefinitionsReply, max_tokens: int) -> Answer:
    """Definitions of each asked symbol, or the near names; bodies are shortened before a definition is left out."""
    every = [definition for answer in reply.answers for definition in answer.definitions]
    fits = fit(
        [len(definition.body) + len(definition.symbol.docstring) for definition in every],
        [
            len(definition.file_path) + len(definition.symbol.signature) + 2 * ITEM_CHARS
            for definition in every
        ],
        chars(max_tokens),
        CONTENT_FLOOR_CHARS,
    )
    room = fits.kept
    answers: list[Json] = []
    blocks: list[str] = []
    for answer in reply.answers:
        shown = [_definition(definition, fits.text_chars_max) for definition in answer.definitions[:room]]
        room -= len(shown)
        answers.append(_symbol_answer(answer, shown))
        blocks += [_definition_block(definition) for definition in shown] or [_miss_line(answer)]
        if answer.matched and shown:
            blocks[-len(shown)] = f"{_matched_line(answer)}\n{blocks[-len(shown)]}"
        if 0 < len(shown) < answer.total:
            blocks.append(f"{answer.symbol}: {answer.total - len(shown)} more definitions.")
    structured: Json = {"answers": answers, "receipt": receipt_json(reply.receipt)}
    foot = receipt_line(reply.receipt)
    shortened = any(
        len(definition.body) + len(definition.symbol.docstring) > fits.text_chars_max for definition in every
    )
    if fits.kept < len(every) or shortened:
        structured |= {
            "truncated": True,
            "next_actions": [f"Cut to max_tokens={max_tokens}: raise it, or ask for fewer."],
        }
        foot += f"\nnext: {structured['next_actions'][0]}"
    return Answer(structured, "\n\n".join([*blocks, foot]))


def function_body(
    best: rpc.Definition, others: Sequence[rpc.Definition], receipt: rpc.Receipt, max_tokens: int
) -> Answer:
    """The whole source of one symbol, and where else the name is defined."""
    body, missing = cut(best.body, chars(max_tokens))
    structured = _definition(best, len(best.body) + len(best.symbol.docstring)) | {"body": body}
    structured["others"] = [
        {"repo": other.repo, "file_path": other.file_path, "start_line": other.symbol.start_line}
        for other in others
    ]
    structured["receipt"] = receipt_json(receipt)
    lines = [_definition_head(structured), body.rstrip("\n"), "", receipt_line(receipt)]
    if body != best.body:
        action = (
            f"{missing} lines left out: raise max_tokens, or "
            f"read_file(file_path={best.file_path!r}, start_line={best.symbol.end_line - missing + 1})."
        )
        structured |= {"truncated": True, "next_actions": [action]}
        lines.append(f"next: {action}")
    if others:
        lines.append("also defined at " + ", ".join(f"{o.file_path}:{o.symbol.start_line}" for o in others))
    return Answer(structured, "\n".join(lines))


def coverage(reply: rpc.CoverageReply, max_tokens: int) -> Answer:
    """What is searchable and what is not."""
    overheads = [len(problem.file_path) + len(problem.detail) + ITEM_CHARS for problem in reply.problems]
    kept = fit([0] * len(overheads), overheads, chars(max_tokens), 0).kept
    problems = reply.problems[:kept]
    structured = reply.model_dump(mode="json") | {"problems": [p.model_dump(mode="json") for p in problems]}
    lines = [
        f"{reply.repo}: {reply.files} files, {reply.indexed} indexed, {reply.skipped} skipped, {reply.failed} failed",
        f"reasons: {_facts(reply.by_reason) or 'none'}",
        f"languages: {_facts(reply.by_language) or 'none'}",
        f"parse: {_facts(reply.by_parse) or 'none'}",
        *([f"deep vectors: {reply.deep} of {reply.indexed} files"] if reply.deep else []),
        *([f"SCIP: {reply.scip} of {reply.indexed} files"] if reply.scip else []),
        *(f"{file.file_path}: indexed without symbols, parse {file.parse}" for file in reply.unparsed[:kept]),
        *(
            f"{problem.file_path}: {problem.status}, {problem.reason} {problem.detail}".rstrip()
            for problem in problems
        ),
        receipt_line(reply.receipt),
    ]
    if kept < len(reply.problems):
        structured["truncated"] = True
        lines.append(f"note: {len(reply.problems) - kept} problems left out: raise max_tokens.")
    return Answer(structured, "\n".join(lines))


def jobs(found: Sequence[Job]) -> Answer:
    """Jobs, newest first."""
    shown = [_job(job) for job in found]
    return Answer({"jobs": shown}, "\n".join(_job_line(job) for job in found) or "No jobs yet.")


def job(found: Job) -> Answer:
    """One job."""
    return Answer({"job": _job(found)}, _job_line(found))


def repositories(found: Sequence[Repository]) -> Answer:
    """The tenant's repositories and what of them is served."""
    shown = [_repository(repository) for repository in found]
    lines = [_repository_line(repository) for repository in shown]
    return Answer(
        {"repositories": shown}, "\n".join(lines) or "No repositories yet; index_repository adds one."
    )


# ── pieces ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _nothing_found(diagnostics: dict[str, Any]) -> str:
    reason, words = diagnostics.get("reason"), diagnostics.get("words")
    head = f"Nothing found: {reason}." if reason else "Nothing found."
    return f"{head} Words looked for: {', '.join(words)}." if words else head


def _hit(hit: rpc.Hit) -> Json:
    shown = hit.model_dump(mode="json")
    if hit.file_context is None:
        del shown["file_context"]
    return shown


def _hit_block(hit: rpc.Hit) -> str:
    """The place, the lines, and the definitions of the file if they were asked for."""
    lines = [f"{hit.repo} {hit.file_path}:{hit.start_line}-{hit.end_line} {hit.symbol}".rstrip()]
    if hit.content.strip():
        lines.append(hit.content.rstrip())
    if hit.file_context:
        lines.append(_file_context_line(hit.file_context))
    return "\n".join(lines)


def _file_context_line(context: rpc.FileContext) -> str:
    rest = f" and {context.definitions_left_out} more" if context.definitions_left_out else ""
    return f"file of {context.lines} lines: {'; '.join(context.definitions) or 'no definitions'}{rest}"


def _numbered(content: str, start_line: int) -> str:
    """Each line with its number before it, so that a reader can name lines."""
    lines = content.removesuffix("\n").split("\n")
    width = len(str(start_line + len(lines) - 1))
    return "\n".join(f"{number:>{width}}\t{line}" for number, line in enumerate(lines, start_line))


def receipt_json(receipt: rpc.Receipt) -> Json:
    return receipt.model_dump(mode="json")


def receipt_line(receipt: rpc.Receipt) -> str:
    line = _indexed(receipt)
    if receipt.head_commit and receipt.head_commit != receipt.indexed_commit:
        line += f" ({receipt.lag_seconds:.0f} s behind {_short(receipt.head_commit)})"
    if receipt.files_skipped or receipt.files_failed:
        line += f", {receipt.files_skipped} files skipped, {receipt.files_failed} failed"
    if receipt.missing_legs:
        line += f", without {', '.join(receipt.missing_legs)}"
    if isinstance(receipt, rpc.GraphReceipt):
        line += f", graph of {_short(receipt.graph_commit)}"
        if receipt.graph_lag_seconds:
            line += f" (the index is ahead of it since {receipt.graph_lag_seconds:.0f} s)"
    return f"{line}, cached" if receipt.cached else line


def _indexed(receipt: rpc.Receipt) -> str:
    if receipt.repo == rpc.SEVERAL_REPOSITORIES:
        return "index of all repositories"
    commit = _short(receipt.indexed_commit)
    return f"index {receipt.repo}@{commit}" if commit else f"index {receipt.repo}, no commit complete yet"


def _short(commit: str) -> str:
    """The head of a commit; a folder without git has `tree:` before its digest."""
    kind, mark, digest = commit.rpartition(":")
    return f"{kind}{mark}{digest[:COMMIT_CHARS]}"


def _next_lines(actions: Sequence[str]) -> list[str]:
    return [f"next: {action}" for action in actions]


def _facts(facts: dict[str, Any]) -> str:
    return ", ".join(f"{key or 'other'} {value}" for key, value in facts.items())


def _join(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _place(match: Json) -> str:
    return f"{match['repo']} {match['file_path']}" if "repo" in match else str(match["file_path"])


def _clip(line: str, chars_max: int) -> str:
    return line if len(line) <= chars_max else f"{line[:chars_max]}… {len(line) - chars_max} more characters"


def _grep_match(match: rpc.GrepMatch, chars_max: int, with_repo: bool) -> Json:
    shown: Json = {"file_path": match.file_path, "line": match.line, "text": _clip(match.text, chars_max)}
    if with_repo:
        shown["repo"] = match.repo
    if match.before:
        shown["before"] = [_clip(line, chars_max) for line in match.before]
    if match.after:
        shown["after"] = [_clip(line, chars_max) for line in match.after]
    return shown


def _grep_lines(match: Json) -> list[str]:
    line, before, after = match["line"], match.get("before", ()), match.get("after", ())
    return [
        *(f"{line - len(before) + index}- {text}" for index, text in enumerate(before)),
        f"{line}: {match['text']}",
        *(f"{line + 1 + index}- {text}" for index, text in enumerate(after)),
    ]


def _grep_items(reply: rpc.GrepReply) -> list[rpc.GrepMatch | rpc.FileMatches]:
    return [*reply.matches, *reply.files]


def _grep_files(reply: rpc.GrepReply, files: Sequence[Json]) -> Json:
    """What there is to say of files where they are the answer."""
    totals = {"total_files": reply.total_files, "total_lines": reply.total_lines}
    told = {name: total for name, total in totals.items() if total is not None}
    return {"files": files, **told} if files or told else {}


def _grep_file(file: rpc.FileMatches, with_repo: bool) -> Json:
    shown: Json = {"file_path": file.file_path}
    if file.lines is not None:
        shown["lines"] = file.lines
    return {"repo": file.repo, **shown} if with_repo else shown


def _grep_file_line(file: Json) -> str:
    return f"{_place(file)}:{file['lines']}" if "lines" in file else _place(file)


def _grep_count(reply: rpc.GrepReply) -> str:
    found = len(reply.matches) or len(reply.files)
    scanned = _several(reply.files_scanned, "file")
    if not found and not reply.files_scanned and not reply.note:
        return "No match: by the index no file has it"
    if not found:
        return f"No match in {scanned} scanned"
    if reply.matches:
        return f"{_several(found, 'match')} in {scanned} scanned"
    if reply.total_files is None:
        return f"{_several(found, 'file')} with matches, of {scanned} scanned"
    counted = "" if reply.total_lines is None else f"{_several(reply.total_lines, 'line')} in "
    return f"{counted}{_several(reply.total_files, 'file')} with matches; {found} shown"


def _several(count: int, what: str) -> str:
    """`1 match`, `2 matches`."""
    ending = "es" if what.endswith("ch") else "s"
    return f"{count:,} {what}{'' if count == 1 else ending}"


def _flags(flags: FileFlags) -> list[str]:
    return [name for name, value in flags if value]


def _file(file: rpc.FileEntry) -> Json:
    shown: Json = {
        "file_path": file.file_path,
        "language": file.language,
        "lines": file.lines,
        "size_bytes": file.size_bytes,
    }
    flags = _flags(file.flags)
    if flags:
        shown["flags"] = flags
    if file.skipped:
        shown["skipped"] = file.skipped.value
    return shown


def _file_line(file: Json) -> str:
    marks = [*file.get("flags", ()), *([f"skipped: {file['skipped']}"] if "skipped" in file else [])]
    return f"{file['file_path']} ({', '.join([str(file['lines']) + ' lines', *marks])})"


def _symbol(symbol: Symbol, docstring_chars_max: int) -> Json:
    return {
        "name": symbol.qualified_name,
        "kind": symbol.kind.value,
        "start_line": symbol.start_line,
        "end_line": symbol.end_line,
        "signature": symbol.signature,
        "docstring": cut(symbol.docstring, docstring_chars_max)[0],
    }


def _outline_line(symbol: Symbol, symbols: Sequence[Symbol]) -> str:
    title = symbol.signature or f"{symbol.kind.value} {symbol.name}"
    indent = "  " * _depth(symbol, symbols)
    return f"{indent}{symbol.start_line}-{symbol.end_line} {symbol.kind.value} {symbol.name}: {title}"


def _depth(symbol: Symbol, symbols: Sequence[Symbol]) -> int:
    depth = 0
    while 0 <= symbol.parent < len(symbols) and depth < len(symbols):
        symbol = symbols[symbol.parent]
        depth += 1
    return depth


def _definition(definition: rpc.Definition, text_chars_max: int) -> Json:
    shown = {
        "repo": definition.repo,
        "file_path": definition.file_path,
        "language": definition.language,
        **_symbol(definition.symbol, text_chars_max),
    }
    if definition.body:
        room = max(text_chars_max - len(shown["docstring"]), CONTENT_FLOOR_CHARS)
        shown["body"] = shorten_lines(definition.body, room, definition.symbol.start_line)
    return shown


def _definition_head(shown: Json) -> str:
    return f"{shown['repo']} {shown['file_path']}:{shown['start_line']}-{shown['end_line']} {shown['kind']} {shown['name']}"


def _definition_block(shown: Json) -> str:
    lines = [_definition_head(shown)]
    if "body" in shown:
        return "\n".join([*lines, shown["body"]])
    return "\n".join([*lines, *(text for text in (shown["signature"], shown["docstring"]) if text)])


def _symbol_answer(answer: rpc.SymbolAnswer, shown: list[Json]) -> Json:
    told: Json = {
        "symbol": answer.symbol,
        "definitions": shown,
        "total": answer.total,
        "suggestions": list(answer.suggestions),
    }
    if answer.matched:
        told["matched"] = answer.matched
    if answer.unparsed:
        told["unparsed"] = list(answer.unparsed)
    return told


def _matched_line(answer: rpc.SymbolAnswer) -> str:
    return f"{answer.symbol}: found as {answer.matched}; whether it is this one is not known."


def _miss_line(answer: rpc.SymbolAnswer) -> str:
    if answer.total:
        return f"{answer.symbol}: {answer.total} definitions left out."
    return no_definition_line(answer.symbol, answer.suggestions, answer.unparsed)


def no_definition_line(symbol: str, suggestions: Sequence[str], unparsed: Sequence[str]) -> str:
    """That a name is not defined, and what may be meant."""
    near = f"Near names: {', '.join(suggestions)}." if suggestions else ""
    return _join(f"{symbol}: no definition.", near, unparsed_sentence(unparsed))


def unparsed_sentence(paths: Sequence[str]) -> str:
    """Where an undefined name may be defined all the same; empty without such files."""
    if not paths:
        return ""
    return f"It may be defined in {', '.join(paths)}: the parser gave up there, so no symbols are known; use grep_code."


def _job(job: Job) -> Json:
    hidden = {"tenant", "repo", "settled", "problems", "lane"}
    shown = job.model_dump(mode="json", exclude=hidden, exclude_none=True)
    shown["repo"] = shown.pop("repo_name")
    shown["settled"] = _settled(job)
    shown["problems"] = [problem.model_dump(mode="json") for problem in job.problems[:JOB_PROBLEMS_MAX]]
    return shown


def _settled(job: Job) -> int:
    # The bits go when the job ends: then every file is settled, or it failed as a whole.
    if job.state in (JobState.COMPLETE, JobState.COMPLETE_WITH_ERRORS):
        return job.expected
    return int.from_bytes(job.settled, "little").bit_count()


def _job_line(job: Job) -> str:
    counts = job.counts
    line = (
        f"{job.job} {job.repo_name} {job.state.value}: {_settled(job)} of {job.expected} files settled "
        f"({counts.indexed} indexed, {counts.unchanged} unchanged, {counts.skipped} skipped, {counts.failed} failed)"
    )
    return f"{line}; {job.error.code.value}: {job.error.message}" if job.error else line


def _repository(repository: Repository) -> Json:
    return {
        "name": repository.name,
        "source": repository.source,
        "head_commit": repository.head_commit,
        "layers": [
            {
                "layer": layer,
                **state.model_dump(mode="json", include={"ref", "commit", "dirty", "indexed_at"}),
            }
            for layer, state in ((BASE_LAYER, repository.served),)
            if state is not None
        ],
    }


def _repository_line(shown: Json) -> str:
    served = ", ".join(f"{layer['layer']} {_short(layer['commit'])}" for layer in shown["layers"])
    return f"{shown['name']}: {served or 'not indexed yet'}"
