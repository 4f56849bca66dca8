"""Plain words: phrases that a native engineer would not use stay out of what people and agents read."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROSE_CHARS_MAX = 110
# Phrase -> what to write instead.
PHRASES = {
    r"told apart|tells? apart|telling apart": "diffed against, compared with",
    r"(?:is|are|was|were|be|been|gets?|being) told|told (?:of|as|by|that|about|with)": "reported, returned, listed",
    r"tells? (?:of|what|who|how|which|whether|where|the|a|every|each|no|nothing)": "reports, returns, shows",
    r"in the place of": "overrides, replaces, instead of",
    r"otherwise than": "differs from",
    r"hangs? on|hung on": "depends on",
    r"hears? of|heard of": "learns, receives, is notified",
    r"anew": "again",
    r"lies (?:in|on|at|there|beside|under|here|over)": "is stored in, is in",
    r"in vain": "failed, without result",
    r"stands? for|stood for": "means, represents",
    r"who (?:asks|reads|writes|calls|waits|looks|sends|wants|begins)": "the caller, a reader",
    r"of then|as it (?:is|was) then": "previous, current",
    r"goes with": "is deleted with",
    r"it stays": "it persists",
    r"made to be": "bound to, assigned",
    r"(?:is|are|was|were|been) said": "published, declared, reported",
    r"speaks? of|spoken of": "mentions",
    r"(?:is|are|was|were) away": "is unavailable, is down",
    r"brings? (?:back|along|over)|brought (?:back|along|over)": "moves, fetches, updates",
    r"nobody": "no one, or name the subject",
    r"beforehand|therein|thereof|whereof|hereby": "rephrase",
}
PATTERN = re.compile(r"\b(?:" + "|".join(PHRASES) + r")\b")
OPENING_OF = re.compile(r'(?:^|"""|# |\* |- )Of (?:a|an|the|what|each|all|one|those|its|which|two)\b')
AREAS = (
    "bench",
    "cli",
    "docs",
    "libs",
    "services",
    "tests",
    "training",
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
)
# Left out: this file, which quotes the phrases, and the corpora that tests search.
LEFT_OUT = ("tests/unit/docs/test_words.py", "tests/fixtures/")
# A license, and what people type into a search.
QUOTATION = re.compile(
    r"Permission is hereby granted|who calls (?:find_route|main|mian|the payment service|X\b)"
)
WRAPPED = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/guides",
    "docs/runbooks",
    "docs/glossary.md",
    "docs/storage.md",
    "docs/decisions",
    "docs/crashes.md",
    "docs/invariants.md",
    "docs/operations.md",
    "docs/security.md",
    "CHANGELOG.md",
)
LONG_BY_NATURE = re.compile(r"^\||https?://|`tests/|^\s*[$#{}\"'>│├└]|^make |^claude |^\s*\d+ ")


def files(*places: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--", *places], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.split() if name.endswith((".py", ".md"))]


def flagged(text: str) -> list[tuple[int, str]]:
    return [
        (number, line.strip())
        for number, line in enumerate(text.splitlines(), 1)
        if (PATTERN.search(line) or OPENING_OF.search(line)) and not QUOTATION.search(line)
    ]


@pytest.mark.parametrize("area", AREAS)
def test_phrases_of_the_old_style_stay_out(area):
    found, read = [], 0
    for file in files(area):
        name = str(file.relative_to(ROOT))
        if name.startswith(LEFT_OUT):
            continue
        read += 1
        found += [f"{name}:{number}: {line}" for number, line in flagged(file.read_text(encoding="utf-8"))]
    assert read
    assert not found, "\n".join([*found, "PHRASES has what to write instead."])


@pytest.mark.parametrize("place", WRAPPED)
def test_lines_of_prose_are_short(place):
    long = []
    for file in files(place):
        inside = False
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            inside ^= line.lstrip().startswith("```")
            if not inside and len(line) > PROSE_CHARS_MAX and not LONG_BY_NATURE.search(line):
                long.append(f"{file.relative_to(ROOT)}:{number}: {len(line)} characters")
    assert not long, "\n".join(long)


@pytest.mark.parametrize(
    "sentence", ["It lies in the store.", "# Of a layer, the files.", "What is told of it."]
)
def test_the_check_finds_the_old_style(sentence):
    assert flagged(sentence)


def test_the_check_accepts_plain_sentences():
    assert not flagged("The store keeps the files of a layer. It reports each of them.")
