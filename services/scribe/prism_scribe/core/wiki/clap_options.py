"""Options of command lines that Rust declares with clap: by its builder, or on the fields of a struct."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# An argument that is built, or an attribute with its field, is no longer than this.
LINES_MAX = 30

_BUILT = re.compile(r'\bArg::new\(\s*"(?P<name>[^"\s]+)"\s*\)')
_LONG = re.compile(r'\blong\s*(?:\(\s*|=\s*)"([^"]+)"')
_SHORT = re.compile(r"\bshort\s*(?:\(\s*|=\s*)'(.)'")
_HELP = re.compile(r'\b(?:help|about)\s*(?:\(\s*|=\s*)"((?:[^"\\]|\\.)*)"', re.DOTALL)
_WORD = re.compile(r"\b(long|short)\b(?!\s*[(=])")
_ATTRIBUTE = re.compile(r"^\s*#\[(?:arg|clap|structopt)\(")
_FIELD = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:r#)?(?P<name>[a-z_]\w*)\s*:(?!:)")
_DOC = re.compile(r"^\s*///\s?(.*)$")
# A string that goes on with the next line, and what else is escaped in one.
_CONTINUED = re.compile(r"\\\n\s*")
_PLACEHOLDER = re.compile(r"<[A-Za-z][\w .|-]*>")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class ClapOption(NamedTuple):
    """An option as it is typed, what its help says, and the line of its declaration."""

    typed: str
    said: str
    line: int


def options(text: Sequence[str]) -> list[ClapOption]:
    """Returns the options that a file declares, in order."""
    return sorted([*_built(text), *_derived(text)], key=lambda one: one.line)


def _built(text: Sequence[str]) -> Iterator[ClapOption]:
    places = [(number, found["name"]) for number, line in enumerate(text) if (found := _BUILT.search(line))]
    ends = [number for number, _ in places[1:]] + [len(text)]
    for (start, name), end in zip(places, ends, strict=False):
        body = "\n".join(text[start : min(end, start + LINES_MAX)])
        long, short = _LONG.search(body), _SHORT.search(body)
        yield ClapOption(
            _typed(long[1] if long else "", short[1] if short else "", name), _help(body), start + 1
        )


def _derived(text: Sequence[str]) -> Iterator[ClapOption]:
    said: list[str] = []
    attributes, opened, began = "", 0, 0
    for number, line in enumerate(text, 1):
        if opened and number - began > LINES_MAX:  # nothing closes its bracket
            said, attributes, opened = [], "", 0
        if opened or _ATTRIBUTE.match(line):
            began = began if opened else number
            attributes += line
            opened += line.count("[") - line.count("]")
        elif doc := _DOC.match(line):
            said.append(doc[1])
        elif line.lstrip().startswith("#["):
            continue
        else:
            if attributes and (field := _FIELD.match(line)):
                yield _field(field["name"], attributes, said, number)
            said, attributes = [], ""


def _field(name: str, attributes: str, said: Sequence[str], line: int) -> ClapOption:
    words = set(_WORD.findall(attributes))
    typed = name.replace("_", "-")
    long, short = _LONG.search(attributes), _SHORT.search(attributes)
    return ClapOption(
        _typed(
            long[1] if long else typed if "long" in words else "",
            short[1] if short else typed[0] if "short" in words else "",
            name,
        ),
        _help(attributes) or " ".join(said).strip(),
        line,
    )


def _typed(long: str, short: str, name: str) -> str:
    """Returns an option as it is typed; the name of an argument that has only a place."""
    return ", ".join(filter(None, (long and f"--{long}", short and f"-{short}"))) or f"<{name}>"


def _help(body: str) -> str:
    found = _HELP.search(body)
    if not found:
        return ""
    joined = _CONTINUED.sub("", found[1]).replace("\\n", " ")
    said = " ".join(_ESCAPED.sub(r"\1", joined).split())
    # As code, because Markdown takes `<cmd>` for a tag.
    return _PLACEHOLDER.sub(r"`\g<0>`", said)
