"""Splits dotted expressions into steps: `self.gate.open().id` is a name, two members, a call, a member."""

import re
from functools import lru_cache
from typing import NamedTuple

# Prefixes that do not change the type of an expression.
_PREFIX = re.compile(r"(?:(?:new|await|yield|return|throw|&mut)(?!\w)|\(?\s*\*|&|\*|!)\s*(?=[\w@$(\\])")
# `<Depot as Store>::open()` in Rust is the member of the first.
_QUALIFIED_SELF = re.compile(r"^<\s*([\w:]+) as [^<>]+>")
_NAME = re.compile(r"[@$#]{0,2}[^\W\d][\w$]*[!?]?")
_DOT = re.compile(r"\s*(?:\?\.|!\.|\.|::|->|\\|:)\s*")
_CLOSING = {"(": ")", "[": "]", "<": ">", "{": "}"}
# `(Depot) gate`, and `gate as Depot`.
_CAST = re.compile(r"\((?P<type>[^\W\d][\w.]*(?:<[\w., ]*>)?)\)\s*(?=[\w(@$])")
_AS = re.compile(r"[^()]*(?:\([^()]*\))?\s+as[?!]?\s+(?P<type>[^\W\d][\w.]*(?:<[\w., ]*>)?)\??")
# Names for the object on which a method is called.
OWN_OBJECT = frozenset({"self", "this", "$this", "Self", "@"})
# In Python, these are so by convention. Elsewhere they are ordinary variables: `cls` of a `Class<?>` in Java.
OWN_CLASS = frozenset({"cls", "mcs", "mcls", "metacls"})
# `require("./depot").open`
_REQUIRE = re.compile(r"""require\(\s*(['"])([^'"]+)\1\s*\)""")
# Before the module, the name of a step that is such a call.
REQUIRED = "require:"
# Before a variable of the own object in Ruby, `@size`, and the qualifier of a use of it.
OWN_VARIABLE = "@"
# Before a name of Ruby that is in no module: `::Shop::Depot`.
TOP = "::"
# Before a name of PHP that begins in no namespace: `\Shop\Depot`.
ABSOLUTE = "\\"
STEPS_MAX = 40
# Longer expressions are not names: the parser truncates them at about half of this.
CHARS_MAX = 200


class Step(NamedTuple):
    """A name, or a call of the previous steps if `name` is empty."""

    name: str


CALL = Step("")
# An item of the previous steps: `depots[0]`.
ITEM = Step("operator[]")


@lru_cache(maxsize=50_000)
def is_own_object(name: str, language: str) -> bool:
    """Whether a name means the object or the class to which a method belongs."""
    return (
        name in OWN_OBJECT
        or (language == "python" and name in OWN_CLASS)
        or (language == "php" and name == "static")
    )


@lru_cache(maxsize=20_000)
def steps_of(expression: str, *, subscripts: bool = False) -> tuple[Step, ...]:
    """Returns the steps of a dotted expression; none for operators and literals.

    An item of a container is a step with `subscripts`; without, such an expression has no steps.

    >>> steps_of("new Depot(gate).open")
    (Step(name='Depot'), Step(name=''), Step(name='open'))
    """
    if len(expression) > CHARS_MAX:
        return ()
    text = _without_prefix(expression.strip())
    if text.startswith("("):
        return _from_group(text, _end_of_group(text, 0), subscripts=subscripts)
    return _steps(text, [], 0, subscripts=subscripts)


def _from_group(text: str, end: int, *, subscripts: bool) -> tuple[Step, ...]:
    """Returns the steps of an expression that begins with brackets up to `end`: `(depot)`, `((Depot) gate).open`."""
    if not end:
        return ()
    inner = text[1 : end - 1].strip()
    cast = _CAST.match(inner) or _AS.fullmatch(inner)
    # What is cast to a type has its members, as what its constructor makes.
    steps = (*steps_of(cast["type"]), CALL) if cast else steps_of(inner, subscripts=subscripts)
    if end == len(text) or not steps:
        return steps
    after = _after_dot(text, end)
    return _steps(text, list(steps), after, subscripts=subscripts) if after > end else ()


def _steps(text: str, steps: list[Step], at: int, *, subscripts: bool) -> tuple[Step, ...]:
    """Returns the steps of a text from a position on, after those before it."""
    first = next((mark for mark in (ABSOLUTE, TOP) if text.startswith(mark)), "")
    if first:
        text = text.lstrip("\\:.")
    if at == 0 and (required := _REQUIRE.match(text)):
        steps.append(Step(f"{REQUIRED}{required[2]}"))
        at = _after_dot(text, required.end())
    while 0 <= at < len(text):
        name = _NAME.match(text, at)
        if name is None or len(steps) >= STEPS_MAX:
            return ()
        steps.append(Step(name[0].strip("!?")))
        at = _after_generics(text, name.end())
        while text.startswith(("(", "{", "[") if subscripts else ("(", "{"), at):
            # `Depot{gate}` creates an instance in Go, Rust and Swift
            steps.append(ITEM if text.startswith("[", at) else CALL)
            at = _end_of_group(text, at)
            if not at:
                return ()
        at = _after_dot(text, at)
    if first and steps:
        steps[0] = Step(f"{first}{steps[0].name}")
    return tuple(steps) if at >= 0 else ()


def _after_dot(text: str, at: int) -> int:
    """Returns the position after a dot, or the end; -1 if something else follows."""
    if at >= len(text):
        return at
    dot = _DOT.match(text, at)
    return -1 if dot is None or dot.end() == len(text) else dot.end()


def _without_prefix(text: str) -> str:
    if text.startswith("<"):
        text = _QUALIFIED_SELF.sub(r"\1", text)
    while prefix := _PREFIX.match(text):
        text = text[prefix.end() :]
    return text


def _after_generics(text: str, at: int) -> int:
    """Returns the position after type arguments: `Box<Depot>`, `Vec::<u8>`."""
    begin = at + 2 if text.startswith("::<", at) else at
    end = _end_of_group(text, begin) if text.startswith("<", begin) else 0
    return end or at


def _end_of_group(text: str, at: int) -> int:
    """Returns the position after the bracket that closes the one at `at`; 0 if none does."""
    opening, closing, depth = text[at], _CLOSING[text[at]], 0
    for position in range(at, len(text)):
        depth += (text[position] == opening) - (text[position] == closing)
        if depth == 0:
            return position + 1
    return 0
