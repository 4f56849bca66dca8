"""One tool call of an agent: prints the text, and logs what it cost.

python -m bench.agents.ask STATE ARM ID VERB [ARGUMENT...]
"""

import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench.agents.arms import State, run
from bench.agents.questions import Model, Question, load

WORDS_MIN = 4


class Call(Model):
    """A logged call."""

    arm: str
    question: str
    verb: str
    words: tuple[str, ...]
    chars: int
    ms: int


def main(words: list[str]) -> None:
    """Run one call, print its text, and append it to the log."""
    if len(words) < WORDS_MIN:
        sys.exit(__doc__)
    state_file, arm, asked, verb, *rest = words
    state = State.model_validate_json(Path(state_file).read_text(encoding="utf-8"))
    question = next((one for one in load(Path(state.questions)) if one.id == asked), None)
    if question is None:
        sys.exit(f"There is no question {asked}.")
    print(logged(state, arm, question, verb, rest))


def logged(state: State, arm: str, question: Question, verb: str, words: list[str]) -> str:
    """Returns the text of a call, after adding the call to the log."""
    started = time.perf_counter()
    text = run(state, arm, question.repo, verb, words)
    took = round((time.perf_counter() - started) * 1_000)
    call = Call(arm=arm, question=question.id, verb=verb, words=tuple(words), chars=len(text), ms=took)
    with Path(state.log).open("a", encoding="utf-8") as log:
        log.write(call.model_dump_json() + "\n")
    return text


def read_log(path: Path) -> Iterator[Call]:
    """Returns the logged calls."""
    lines: Iterable[str] = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
    return (Call.model_validate(json.loads(line)) for line in lines)


if __name__ == "__main__":
    main(sys.argv[1:])
