"""What a language model is asked to write, and what it may answer.

A model gets instructions and evidence, and returns a value of a pydantic model. It has no tools. Evidence is text
that others wrote, so whatever it says, the worst that it can cause is a wrong value: callers must not take what is
written as an instruction, and should keep only what names evidence.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from prism_contracts.accounting import ModelPurpose

EVIDENCE_MAX = 64
EVIDENCE_CHARS_MAX = 8_000
QUESTION_CHARS_MAX = 4_000
STRING_CHARS_MAX = 4_000
LIST_LENGTH_MAX = 100

Output = TypeVar("Output", bound=BaseModel)


@dataclass(frozen=True)
class EvidenceText:
    """Text that an answer may be drawn from. `id` is what the answer names it by, `where` its place for people."""

    id: str
    text: str
    where: str = ""


@dataclass(frozen=True)
class WritingTask:
    """What to write. `instructions` are ours; `question` is the caller's, and is treated as data."""

    tenant: str
    purpose: ModelPurpose
    instructions: str
    question: str = ""
    tokens_max: int = 1_000  # longest answer
    deadline_s: float = 60.0  # limit for all attempts together
    model: str = ""  # ask this one alone; empty: one after the other


class DeclineReason(StrEnum):
    """Why nothing was written."""

    NO_MODEL = "no_model"  # none is set, or what asks it is not installed
    BUDGET = "budget"  # the tenant's tokens or dollars of the day are used
    LATE = "late"
    FAILED = "failed"  # no model could be reached, or each refused
    INVALID = "invalid"  # what was written is not of the type that was asked for
    UNCOUNTED = "uncounted"  # NATS does not answer, so nothing may be spent


@dataclass(frozen=True)
class Written(Generic[Output]):
    """What a model wrote, and what that cost with all attempts."""

    output: Output
    model: str
    tokens: int = 0
    microdollars: int = 0


@dataclass(frozen=True)
class Declined:
    """Nothing was written. `message` says why, for the caller of a tool."""

    reason: DeclineReason
    message: str
    tokens: int = 0
    microdollars: int = 0


class TextWriter(Protocol):
    """Writes with a language model, if there is one."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order in which they are asked; empty without one. Part of the keys of caches."""
        ...

    async def write(
        self, task: WritingTask, evidence: Sequence[EvidenceText], output: type[Output]
    ) -> Written[Output] | Declined:
        """Write a value of a type whose strings and lists are bounded.

        A failure of any kind is `Declined`. Raises ValueError if the type is not bounded.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class NoWriter:
    """The writer of an installation without a language model."""

    models: tuple[str, ...] = ()

    def __init__(self, message: str = "No language model is set.") -> None:
        self._message = message

    async def write(
        self, task: WritingTask, evidence: Sequence[EvidenceText], output: type[Output]
    ) -> Written[Output] | Declined:
        """Decline."""
        _ = task, evidence, output
        return Declined(DeclineReason.NO_MODEL, self._message)

    async def close(self) -> None:
        """Do nothing: there is no connection."""


@lru_cache(maxsize=64)
def require_bounded(output: type[BaseModel]) -> None:
    """Raise ValueError if a string or list of a type has no maximum, or a large one.

    A model that repeats itself would write such a string until its tokens are used.
    """
    _require_bounded(output.model_json_schema(), output.__name__)


# Where a schema has further schemas.
_NESTED = ("properties", "$defs")
_ALTERNATIVES = ("anyOf", "oneOf", "allOf", "prefixItems")


def _require_bounded(schema: Mapping[str, Any], path: str) -> None:
    kind = schema.get("type")
    if kind == "string" and "enum" not in schema and "const" not in schema:
        _require(schema, "maxLength", STRING_CHARS_MAX, path)
    if kind == "array":
        _require(schema, "maxItems", LIST_LENGTH_MAX, path)
        _require_bounded(schema.get("items", {}), f"{path}[]")
    if kind == "object" and schema.get("additionalProperties"):
        raise ValueError(f"{path} is a mapping, whose size has no maximum")
    for name in _NESTED:
        for key, inner in schema.get(name, {}).items():
            _require_bounded(inner, f"{path}.{key}")
    for name in _ALTERNATIVES:
        for inner in schema.get(name, ()):
            _require_bounded(inner, path)


def _require(schema: Mapping[str, Any], name: str, most: int, path: str) -> None:
    if not 0 <= schema.get(name, most + 1) <= most:
        raise ValueError(f"{path} needs {name} of at most {most}")


# A link may carry what the model has read to another host as soon as somebody's client shows it.
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]*)\]\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_URL = re.compile(
    r"<?\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.|(?:javascript|data|mailto|vbscript|file):)[^\s<>]+>?",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z!?][^<>]*>")
_OPENING = re.compile(r"<(?=[A-Za-z/!?|])")  # starts a tag that never ends
_DEFINITION = re.compile(r"^\s*\[[^\]]*\]:.*$", re.MULTILINE)
# Control characters, and those that hide or reorder text: zero width, bidirectional, tags, variation selectors.
_HIDDEN = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u2028-\\u202e"
    "\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff\\ufff9-\\ufffb\\U000e0000-\\U000e0fff]"
)


def plain(text: str) -> str:
    """Returns what a model wrote without links, markup, control characters and hidden characters, on one line."""
    text = _HIDDEN.sub("", text)
    before = None
    while before != text:  # what is taken out may leave another link
        before = text
        text = _DEFINITION.sub("", text)
        while (linked := _IMAGE_OR_LINK.sub(r"\1", text)) != text:
            text = linked
        text = _URL.sub("", _TAG.sub("", text))
    return " ".join(_OPENING.sub("", text).replace("```", "").split())
