"""Classifies the documents of a repository by their paths: vision, architecture, decisions and others."""

import re
from collections.abc import Iterable, Mapping

from prism_contracts.rpc.guidance import ContextSection

DOCUMENTS_MAX = 6  # per section
DECISIONS_MAX = 40
PROSE = frozenset({"markdown", "rst", "asciidoc", "org", "text", ""})
CHARS_MAX: Mapping[ContextSection, int] = {
    ContextSection.VISION: 3_000,
    ContextSection.README: 6_000,
    ContextSection.ARCHITECTURE: 8_000,
    ContextSection.DECISIONS: 1_200,
    ContextSection.CONTRIBUTING: 4_000,
    ContextSection.CHANGELOG: 3_000,
}
# Headings of a README section about the purpose of the project.
ABOUT_PURPOSE = re.compile(
    r"^(?:why|about|what is|vision|mission|goals?|non-goals?|motivation|philosophy|introduction|overview|principles)\b",
    re.IGNORECASE,
)
_ENDING = r"(?:[._-][\w.-]*)?"
_NAMES: Mapping[ContextSection, re.Pattern[str]] = {
    section: re.compile(pattern, re.IGNORECASE)
    for section, pattern in (
        (ContextSection.DECISIONS, r"(?:.*/)?(?:adrs?|decisions?|decision[-_]records?|rfcs?)/[^/]+|(?:.*/)?adr[-_]?\d+[^/]*"),
        (ContextSection.README, rf"(?:.*/)?readme{_ENDING}"),
        (ContextSection.VISION, rf"(?:.*/)?(?:vision|mission|goals|roadmap|philosophy|manifesto|principles){_ENDING}"),
        (ContextSection.ARCHITECTURE, rf"(?:.*/)?(?:architecture|design|internals|how[-_]it[-_]works){_ENDING}|(?:.*/)?(?:architecture|internals)/[^/]+"),
        (ContextSection.CONTRIBUTING, rf"(?:.*/)?(?:contributing|developing|development|hacking){_ENDING}"),
        (ContextSection.CHANGELOG, rf"(?:.*/)?(?:change[-_]?log|changes|history|news|release[-_]?notes|releases){_ENDING}"),
    )
}  # fmt: skip
_ASIDE = re.compile(
    r"(?:^|/)(?:node_modules|vendor|third[-_]?party|testdata|fixtures?|examples?|templates?|tests?)/",
    re.IGNORECASE,
)


def section_of(path: str, language: str) -> ContextSection | None:
    """Returns the section of a document; None for code, tests, examples and vendored files."""
    if language not in PROSE or _ASIDE.search(path):
        return None
    return next((section for section, pattern in _NAMES.items() if pattern.fullmatch(path)), None)


def choose(files: Iterable[tuple[str, str]]) -> dict[ContextSection, list[str]]:
    """Returns the paths of each section, top folders first; `files` are paths with languages."""
    found: dict[ContextSection, list[str]] = {section: [] for section in ContextSection}
    for path, language in files:
        section = section_of(path, language)
        if section:
            found[section].append(path)
    return {
        section: sorted(paths, key=lambda path: (path.count("/"), path)) for section, paths in found.items()
    }


def documents_max(section: ContextSection) -> int:
    """Returns how many documents of a section are quoted: more decisions, as they are short."""
    return DECISIONS_MAX if section is ContextSection.DECISIONS else DOCUMENTS_MAX
