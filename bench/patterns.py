"""Patterns for exact search, cut from the searched lines: each kind stresses something else."""

import random
import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

WORD = re.compile(r"\w+")
PUNCTUATION = re.compile(r"[^\w\s]+")
FOREIGN = re.compile(r"[^\x00-\x7f]")
CLASSES = (
    (str.isdigit, (r"\d", "[0-9]", r"[^a-zA-Z]", r"\w", r"\p{Nd}")),
    (str.isalpha, (r"\w", "[[:alpha:]]", r"[^\W\d]", ".", r"\p{L}", r"\S", r"[^\s]")),
    (str.isspace, (r"\s", "[ \\t]", r"\s+", ".", r"\W", r"\s*")),
    (bool, (".", r"\S", r"[^\w]", r".?", r"\W")),
)
REPEATS = (r".*", r".*?", r".+", r"\s*", r"\w*", r"\W+", r".{0,20}", r"[^,;]*", r"\s+", r"(?:.\b)*")
# Letters and signs that are or are not word characters, digits or spaces beyond ASCII, or fold across it.
STRANGERS = "éßſKΣςİı中あ٣²½\u00a0\u2028\u0301\u200d😀—«ªⒶ_"  # noqa: RUF001 - look-alikes are the point
ATTEMPTS_MAX = 1_000


@dataclass(frozen=True)
class Asked:
    """A pattern and its mode."""

    kind: str
    pattern: str
    regex: bool = True
    case_sensitive: bool = True
    word: bool = False


class Lines:
    """The lines of a corpus to cut patterns from."""

    def __init__(self, texts: Sequence[str], chance: random.Random) -> None:
        self.chance = chance
        self._texts = [
            lines for text in texts if (lines := [line for line in text.split("\n") if line.strip()])
        ]
        self._foreign = [line for lines in self._texts for line in lines if FOREIGN.search(line)]

    def line(self) -> str:
        """Returns a line that is not blank, from each file with equal probability."""
        return self.chance.choice(self.chance.choice(self._texts))

    def foreign_line(self) -> str:
        """Returns a line with a non-ASCII character; one is inserted if there is none."""
        if self._foreign:
            return self.chance.choice(self._foreign)
        line, stranger = self.line(), self.chance.choice(STRANGERS)
        at = self.chance.randrange(len(line) + 1)
        return line[:at] + stranger + line[at:]

    def cut(self, line: str, longest: int) -> str:
        """Returns a part of a line."""
        size = self.chance.randint(1, min(longest, len(line)))
        start = self.chance.randint(0, len(line) - size)
        return line[start : start + size]

    def found(self, what: re.Pattern[str]) -> str:
        """Returns a text of this shape."""
        while True:
            if parts := what.findall(self.line()):
                return str(self.chance.choice(parts))


def make_patterns(texts: Sequence[str], count: int, seed: int) -> list[Asked]:
    """Returns distinct patterns, the same number of each kind."""
    lines = Lines(texts, random.Random(seed))
    asked: dict[Asked, None] = {}
    names = list(KINDS)
    for number in range(count * ATTEMPTS_MAX):
        made = KINDS[names[number % len(names)]](lines)
        if made.pattern and not set(made.pattern) & set("\n\0\r") and len(made.pattern) <= 200:
            asked[made] = None
        if len(asked) == count:
            break
    return list(asked)


def _literal(lines: Lines) -> Asked:
    return Asked("literal", lines.cut(lines.line(), 40), regex=False)


def _identifier(lines: Lines) -> Asked:
    return Asked("identifier", lines.found(WORD), regex=False)


def _part(lines: Lines) -> Asked:
    return Asked("part of an identifier", lines.cut(lines.found(WORD), 8), regex=False)


def _punctuation(lines: Lines) -> Asked:
    return Asked("punctuation", lines.found(PUNCTUATION), regex=False)


def _unicode(lines: Lines) -> Asked:
    line = lines.foreign_line()
    found = FOREIGN.search(line)
    at = found.start() if found else 0
    start = max(0, at - lines.chance.randint(0, 6))
    part = line[start : at + lines.chance.randint(1, 6)]
    as_regex = lines.chance.random() < 0.5
    return Asked("Unicode", _escaped(part) if as_regex else part, as_regex, lines.chance.random() < 0.5)


def _anchored(lines: Lines) -> Asked:
    line = lines.line()
    head, tail = (
        _escaped(line[: lines.chance.randint(1, 12)]),
        _escaped(line[-lines.chance.randint(1, 12) :]),
    )
    stripped = _escaped(line.strip()[:12])
    forms = (
        f"^{head}",
        f"{tail}$",
        rf"^\s*{stripped}",
        rf"{tail}\s*$",
        "^$",
        f"^{head}.*{tail}$",
        rf"^\S.*{tail}$",
    )
    return Asked("anchor", lines.chance.choice(forms))


def _classes(lines: Lines) -> Asked:
    part = lines.cut(lines.line(), 12)
    return Asked("class", "".join(_class_or_char(char, lines.chance) for char in part))


def _class_or_char(char: str, chance: random.Random) -> str:
    if chance.random() < 0.6:
        return _escaped(char)
    return chance.choice(next(classes for fits, classes in CLASSES if fits(char)))


def _alternation(lines: Lines) -> Asked:
    parts = [_escaped(lines.cut(lines.found(WORD), 10)) for _ in range(lines.chance.randint(2, 4))]
    around = _escaped(lines.cut(lines.line(), 3))
    form = lines.chance.choice(
        ("{}", "({})", "(?:{})" + around, around + "({})", "^(?:{})", r"(?:{})\b", "(?:{})?" + around)
    )
    return Asked("alternation", form.replace("{}", "|".join(parts)))


def _repetition(lines: Lines) -> Asked:
    line = lines.line()
    middle = lines.chance.randrange(len(line))
    first, second = line[:middle][-6:], line[middle:][:6]
    repeat = lines.chance.choice(REPEATS)
    kept = lines.chance.choice((line[middle : middle + 1], ""))
    return Asked("repetition", f"{_escaped(first)}{repeat}{_escaped(second.removeprefix(kept))}")


def _any_case(lines: Lines) -> Asked:
    line = lines.chance.choice((lines.line, lines.foreign_line))()
    part = lines.chance.choice((str.swapcase, str.upper, str.lower))(lines.cut(line, 12))
    return Asked("any case", part, regex=False, case_sensitive=False)


def _word(lines: Lines) -> Asked:
    line = lines.chance.choice((lines.line, lines.foreign_line))()
    text = lines.chance.choice((lines.found(WORD), lines.cut(line, 10), lines.cut(lines.found(WORD), 4)))
    regex = lines.chance.random() < 0.3
    source = (
        _escaped(text) + lines.chance.choice(("", r"\w*", "?", "|" + lines.found(WORD))) if regex else text
    )
    return Asked("whole word", source, regex, lines.chance.random() < 0.7, word=True)


def _boundary(lines: Lines) -> Asked:
    line = lines.chance.choice((lines.line, lines.foreign_line))()
    part = _escaped(lines.cut(line, 5))
    form = lines.chance.choice(
        (r"\b{}\b", r"\B{}", r"{}\b", r"\b{}", r"{}\B", r"\w{}\b", r"\b\w+{}", r"\<{}", r"{}\>")
    )
    return Asked("boundary", form.format(part), case_sensitive=lines.chance.random() < 0.8)


def _foreign_class(lines: Lines) -> Asked:
    forms = (
        r"\w{0}\w", r"{0}", r"[{0}-\x{{10ffff}}]", r"\d{0}|{0}\s", r"[^\x00-\x7f]", r"\b{0}\b", r"(?i){0}", r"{0}+\W",
        r"[^\w\s{0}]{{3}}", r"[^\x00-\x7f]\b", r"\s[^\x00-\x7f]+\s", r"\d\b[^\x00-\x7f]", r"\p{{Lu}}\p{{Ll}}+{0}?",
    )  # fmt: skip
    found = FOREIGN.search(lines.foreign_line())
    stranger = lines.chance.choice((lines.chance.choice(STRANGERS), found[0] if found else "é"))
    return Asked("class beyond ASCII", lines.chance.choice(forms).format(stranger))


def _absent(lines: Lines) -> Asked:
    name = "".join(lines.chance.choices(string.ascii_lowercase, k=lines.chance.randint(2, 9)))
    form = lines.chance.choice(("{}", r"\w{}\d", r"{}|zq\d\d", "[{}]{{6}}9", r"^{}$"))
    return Asked("rare or absent", form.format(name))


KINDS: Mapping[str, Callable[[Lines], Asked]] = {
    make.__name__: make
    for make in (
        _literal, _identifier, _part, _punctuation, _unicode, _anchored, _classes, _alternation, _repetition,
        _any_case, _word, _boundary, _foreign_class, _absent,
    )
}  # fmt: skip


def _escaped(text: str) -> str:
    """Returns a pattern that matches the text: ripgrep before 14 accepts no escaped white space."""
    return re.sub(r"\\(\s)", r"\1", re.escape(text))
