"""Questions about repositories, with the places that answer them.

The truth was worked out by hand: every line that contains a name, then read. A place is a function or class with its
range. `acceptable` places count neither for nor against an answer.
"""

import json
from collections.abc import Collection, Sequence
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

QUESTIONS = Path(__file__).with_name("questions.json")


class Kind(StrEnum):
    """What a question asks for."""

    CALLERS = "callers"
    CALLEES = "callees"
    TESTS = "tests"
    IMPLEMENTERS = "implementers"
    PATHS = "paths"
    IMPACT = "impact"
    EXISTS = "exists"
    FIND = "find"
    CHANGE = "change"


class Model(BaseModel):
    """A record of a file. Unknown fields are an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Place(Model):
    """Lines of a file, and the symbol that they define."""

    path: str
    start: int
    end: int
    symbol: str = ""

    def covers(self, other: "Place") -> bool:
        """Whether another place is meant by this one: the same file, and shared lines or the same last name."""
        if self.path != other.path:
            return False
        shares_lines = self.start <= other.end and other.start <= self.end
        return shares_lines if other.end and self.end else _last(self.symbol) == _last(other.symbol)


class Question(Model):
    """A question. `verdict` is `yes` or `no` where the question asks whether something exists."""

    id: str
    repo: str  # name of the folder
    repository: str  # owner/name
    revision: str
    language: str
    kind: Kind
    split: str  # dev, held_out
    question: str
    truth: tuple[Place, ...] = ()
    acceptable: tuple[Place, ...] = ()
    verdict: str = ""


def load(path: Path = QUESTIONS, repos: Collection[str] = (), split: str = "") -> list[Question]:
    """Returns the questions about some repositories, all by default. Raises ValueError for a broken file."""
    every = [Question.model_validate(one) for one in json.loads(path.read_text(encoding="utf-8"))]
    return [one for one in every if (not repos or one.repo in repos) and split in ("", one.split)]


def brief(questions: Sequence[Question], command: str, answers: Path) -> str:
    """Returns the task of an agent."""
    asked = "\n".join(f"{one.id}: {one.question}" for one in questions)
    return f"""Answer the questions below about code repositories. Use only this command to look at them:

  {command} ID VERB ...      (ID is the id of the question; `{command} ID help` lists the verbs)

Make no more calls than you need to be sure. Write your answers to {answers}, one line per place:

  ID<TAB>path:start-end symbol

where start-end is the range of the function, method or class that the question asks for. Leave nothing out and put
nothing in. If a question asks whether something exists, begin with a line ID<TAB>yes or ID<TAB>no. For a path, give each
function on the way, the ends included. Do the questions one by one, and write each answer before the next question.

{asked}
"""


def _last(symbol: str) -> str:
    return symbol.replace("::", ".").replace("#", ".").rpartition(".")[2].removesuffix("()")
