"""An agent without a model: calls the tool that fits the kind of a question, and gives the places of its answer.

    python -m bench.agents.explorer STATE QUESTIONS ANSWERS ID...

It reads nothing into an answer, so its score says little. It keeps the harness working: tools, log, answers and score
are the same as an agent's.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.agents.arms import State
from bench.agents.ask import logged
from bench.agents.questions import Kind, Question, load

ARM = "prism"
NAMED = re.compile(r"`([^`]+)`")
HEADING = re.compile(
    r"^\s*(?:→ )?(?P<path>[\w./-]+\.\w+)(?::(?P<start>\d+)-(?P<end>\d+) (?P<symbol>[^\s:]+))?"
)
UNDER = re.compile(r"^\s+(?P<symbol>[\w.$<>]+) \((?P<start>\d+)-(?P<end>\d+)\)")
TESTS = re.compile(r"^\s+(?P<path>[\w./-]+\.\w+): (?P<tests>depth \d+: .+)$")
TEST = re.compile(r"(?P<symbol>[\w.$]+) (?P<start>\d+)-(?P<end>\d+)")
TESTS_TITLE = "\ntests that reach it"
NEXT = re.compile(r"^next: (?P<tool>\w+) (?P<arguments>.+)$", re.MULTILINE)
ARGUMENT = re.compile(r'(\w+)=("[^"]*"|\[[^\]]*\]|\d+)')
FOLLOWED_MAX = 1


def main(words: Sequence[str]) -> None:
    """Answer the questions with these ids, or all."""
    state_file, questions, answers, *ids = words
    state = State.model_validate_json(Path(state_file).read_text(encoding="utf-8"))
    chosen = [one for one in load(Path(questions)) if not ids or one.id in ids]
    lines = [line for one in chosen for line in answer(state, one)]
    Path(answers).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def answer(state: State, question: Question) -> Iterator[str]:
    """Returns the lines of an answer."""
    tool, arguments = first_call(question)
    text = _call(state, question, tool, arguments)
    for found in list(NEXT.finditer(text))[:FOLLOWED_MAX] if not list(places(text)) else ():
        more = {name: json.loads(value) for name, value in ARGUMENT.findall(found["arguments"])}
        text += "\n" + _call(state, question, found["tool"], more)
    if question.kind is Kind.EXISTS:
        yield f"{question.id}\t{'no' if text.startswith('No') else 'yes'}"
    if question.kind is Kind.TESTS:
        text = text.partition(TESTS_TITLE)[2]
    yield from (f"{question.id}\t{place}" for place in dict.fromkeys(places(text)))


def first_call(question: Question) -> tuple[str, dict[str, object]]:
    """Returns the tool that fits the kind of a question, for the names in backticks."""
    first, second, *_ = [*NAMED.findall(question.question), "", ""]
    by_name: dict[Kind, tuple[str, dict[str, object]]] = {
        Kind.CALLERS: ("find_references", {"symbols": [first]}),
        Kind.CALLEES: ("get_call_hierarchy", {"symbol": first, "direction": "callees", "depth": 1}),
        Kind.TESTS: ("impact_of_change", {"symbol": first}),
        Kind.IMPACT: ("impact_of_change", {"symbol": first}),
        Kind.IMPLEMENTERS: ("get_type_hierarchy", {"symbol": first}),
        Kind.PATHS: ("find_path", {"source": first, "target": second}),
    }
    if first and question.kind in by_name:
        return by_name[question.kind]
    if question.kind is Kind.EXISTS:
        return "check_exists", {"intent": question.question}
    return "search_code", {"query": question.question, "limit": 3}


def places(text: str) -> Iterator[str]:
    """Returns the places of an answer: a path with a range, or a symbol with its range below a path."""
    path = ""
    for line in text.splitlines():
        if tests := TESTS.match(line):
            found = TEST.finditer(tests["tests"])
            yield from (f"{tests['path']}:{one['start']}-{one['end']} {one['symbol']}" for one in found)
        elif under := UNDER.match(line):
            if path:
                yield f"{path}:{under['start']}-{under['end']} {under['symbol']}"
        elif heading := HEADING.match(line):
            path = heading["path"]
            if heading["start"]:
                yield f"{path}:{heading['start']}-{heading['end']} {heading['symbol']}"


def _call(state: State, question: Question, tool: str, arguments: dict[str, object]) -> str:
    return logged(state, ARM, question, "call", [tool, json.dumps(arguments)])


if __name__ == "__main__":
    main(sys.argv[1:])
