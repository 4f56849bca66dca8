"""Sections of a Markdown page that several commands write."""

from pathlib import Path

# Written by bench.agents to the page of bench.quality.
AGENTS_SECTION = "What answers cost an agent"
# Read by a person, and written by hand to the same page.
UNUSED_SECTION = "How right unused code is"


def write_section(page: Path, heading: str, text: str) -> None:
    """Write the section of a heading of level 2, and keep the rest of the page. A new section goes to the end."""
    before, _, rest = _split(page.read_text(encoding="utf-8"), heading)
    page.write_text(
        "\n\n".join(part for part in (before, f"## {heading}\n\n{text.strip()}", rest) if part) + "\n",
        encoding="utf-8",
    )


def with_section_of(page: Path, heading: str, text: str) -> str:
    """Returns a text with the section of this heading that a page has, at its end."""
    section = _split(page.read_text(encoding="utf-8"), heading)[1] if page.exists() else ""
    return f"{text.rstrip()}\n\n{section}\n" if section else text


def _split(text: str, heading: str) -> tuple[str, str, str]:
    """Returns what is before a section, the section, and what is after it, without blank lines around them."""
    before, found, after = f"\n{text}".partition(f"\n## {heading}\n")
    body, following, rest = after.partition("\n## ")
    section = f"## {heading}\n{body}" if found else ""
    return before.strip(), section.strip(), f"## {rest}".strip() if following else ""
