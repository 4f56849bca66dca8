"""How code uses a name, by the text of its line: a constructor, a call on a variable, a type, an import."""

import re
from enum import StrEnum

from bench.graph.truth import Use

# The kind of a type in the truth.
TYPE = "class"


class Habit(StrEnum):
    """A form in which code uses a function, method or type."""

    IMPORT = "import"
    BASE = "base type"
    DECORATOR = "decorator or annotation"
    CONSTRUCTOR = "object that is made"
    OWN = "call on the own object"
    RESULT = "call on a result"
    CHAIN = "call in a chain over lines"
    STATIC = "call through a type or module"
    VARIABLE = "call on a variable or field"
    BARE = "call by the bare name"
    TYPE = "type in a declaration or expression"
    MEMBER = "member that is read or passed"
    VALUE = "function that is read or passed"
    ALIAS = "use under another name"


_DECORATOR = re.compile(r"(?:@|#\[|^\s*\[)[\w.:]*$")
_OWN = re.compile(
    r"(?:\b(?:self|this|cls|super|base|parent|static|Self)(?:\(.*\))?|@|\$this)\s*(?:\.|->|::|\?\.)\s*$"
)
_RESULT = re.compile(r"[)\]}]\s*(?:!|\?)?\s*(?:\.|->|::|\?\.)\s*$")
_CHAIN = re.compile(r"^\s*(?:\.|->|\?\.)\s*$")
_STATIC = re.compile(r"(?:\b[A-Z]\w*(?:<.*>)?\s*\.|::)\s*$")
_MEMBER = re.compile(r"(?:\.|->|\?\.)\s*$")
_CALLED = re.compile(r"\s*(?:::)?\s*(?:<[^()]*>|\[[^()\]]*\])?\s*!?\s*\(")
_MADE = re.compile(r"\bnew\s+[\w.:]*$")
_CALLS = {
    Habit.CHAIN: _CHAIN,
    Habit.OWN: _OWN,
    Habit.RESULT: _RESULT,
    Habit.STATIC: _STATIC,
    Habit.VARIABLE: _MEMBER,
}
_DECLARED = {"imports": Habit.IMPORT, "extends": Habit.BASE, "implements": Habit.BASE}
_LITERAL = re.compile(r"\s*(?:\[[^\]]*\])?\{")


def habit(use: Use, meant_kind: str, text: str) -> Habit:
    """Returns the habit of a use in a line. `meant_kind` is the kind of its definition in the truth."""
    if declared := _DECLARED.get(use.kind):
        return declared
    found = re.search(rf"(?<!\w){re.escape(use.name)}(?!\w)", text)
    if found is None:
        return Habit.ALIAS
    before, behind = text[: found.start()], text[found.end() :]
    if _DECORATOR.search(before):
        return Habit.DECORATOR
    if meant_kind == TYPE:
        is_made = _MADE.search(before) or use.kind == "calls" or (_LITERAL.match(behind) and "=" in before)
        return Habit.CONSTRUCTOR if is_made else Habit.TYPE
    if use.kind == "calls" or _CALLED.match(behind):
        return next((one for one, form in _CALLS.items() if form.search(before)), Habit.BARE)
    return Habit.MEMBER if _MEMBER.search(before) else Habit.VALUE
