"""Conventions by language, and the written rules of a repository."""

import re
from itertools import groupby

from prism_contracts.rpc.guidance import Convention, ConventionExample, ConventionsReply
from prism_gateway.budget import chars
from prism_gateway.mcp.answers import quotes
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer, Json

EXAMPLE_CHARS = 60
# The cost of a convention without its statement and examples, in characters.
CONVENTION_CHARS = 100
STOP_WORDS = frozenset(
    {
        "a",
        "and",
        "are",
        "code",
        "convention",
        "do",
        "does",
        "for",
        "how",
        "i",
        "in",
        "is",
        "of",
        "or",
        "the",
        "to",
        "we",
        "what",
        "which",
    }
)


def about(reply: ConventionsReply, query: str) -> ConventionsReply:
    """Returns the conventions and rules that contain a word of the query; all without one that any contains."""
    words = {stem for word in re.findall(r"\w+", query.lower()) if (stem := _stem(word)) not in STOP_WORDS}
    found = tuple(one for one in reply.conventions if words & _words(f"{one.topic} {one.statement}"))
    rules = tuple(one for one in reply.rules if words & _words(" ".join([one.content, *one.headings])))
    if not words or not (found or rules):
        return reply
    return reply.model_copy(update={"conventions": found, "rules": rules})


def answer(reply: ConventionsReply, max_tokens: int) -> Answer:
    """Conventions first; rules get the remaining budget. Examples are dropped before conventions."""
    room = chars(max_tokens)
    conventions = reply.conventions
    if sum(map(_size, conventions)) > room:
        conventions = tuple(one.model_copy(update={"examples": ()}) for one in conventions)
    while conventions and sum(map(_size, conventions)) > room:
        conventions = conventions[:-1]
    rules = quotes.fit_documents(reply.rules, room - sum(map(_size, conventions)))
    structured: Json = {
        "repo": reply.repo,
        "conventions": [one.model_dump(mode="json") for one in conventions],
        "rules": [document.model_dump(mode="json") for document in rules],
        "files_read": reply.files_read,
        "files": reply.files,
        "receipt": receipt_json(reply.receipt),
    }
    head = f"{reply.repo}: inferred from {reply.files_read} of {reply.files} source files. Topics without a majority are omitted."
    foot = [receipt_line(reply.receipt)]
    if conventions != reply.conventions or rules != reply.rules:
        structured["truncated"] = True
        foot.append(f"note: cut to max_tokens={max_tokens}: raise it, or ask for one language.")
    blocks = [
        "\n".join([f"## {language or 'repository'}", *map(_line, some)])
        for language, some in groupby(conventions, key=lambda one: one.language)
    ]
    return Answer(
        structured, "\n\n".join(filter(None, [head, *blocks, quotes.rules_block(rules), "\n".join(foot)]))
    )


def _words(text: str) -> set[str]:
    return {_stem(word) for word in re.findall(r"[a-z]+", text.lower())}


def _stem(word: str) -> str:
    """Returns a word without its ending: names, naming and name are one."""
    return re.sub(r"(?<=\w{3})(?:ing|ed|es|e|s)$", "", word)


def _size(convention: Convention) -> int:
    examples = sum(len(one.file_path) + len(one.text) + EXAMPLE_CHARS for one in convention.examples)
    return len(convention.statement) + examples + CONVENTION_CHARS


def _example(example: ConventionExample) -> str:
    """Returns the place of an example with its text, unless the path says it."""
    if example.file_path.endswith(example.text):
        return example.file_path
    return f"{example.file_path}:{example.line} {example.text}"


def _line(convention: Convention) -> str:
    share = f" ({convention.count} of {convention.total})"
    examples = [f"    {_example(one)}" for one in convention.examples]
    return "\n".join([f"- {convention.topic}: {convention.statement}{share}", *examples])
