"""Tests which lines of a document are quoted."""

import re

import pytest

from prism_chunker.core import chunk_file
from prism_search.core.documents import (
    ABOUT_WORK,
    LineRange,
    about_edits,
    head,
    headings,
    opening,
    sections_about,
)

TEXT = """# Parcels

Says where a parcel is.

## Conduct

Be kind.

## Testing

Run all of it.

### Slow tests

Once a day.

## Code style

Short lines.
"""
LINES = TEXT.split("\n")
SYMBOLS = chunk_file("CONTRIBUTING.md", TEXT).symbols


def test_headings_have_lines_and_levels() -> None:
    assert headings(SYMBOLS) == (
        "1 # Parcels", "5 ## Conduct", "9 ## Testing", "13 ### Slow tests", "17 ## Code style",
    )  # fmt: skip


def test_only_upper_headings_if_there_are_many() -> None:
    text = "# Changes\n" + "".join(f"## {n}\n\n### Fixed\n\nIt.\n\n" for n in range(30))
    listed = headings(chunk_file("CHANGELOG.md", text).symbols)
    assert len(listed) == 20
    assert not any("###" in heading for heading in listed)


def test_matching_sections_include_their_subsections() -> None:
    assert sections_about(SYMBOLS, ABOUT_WORK) == [LineRange(9, 16), LineRange(17, 19)]


@pytest.mark.parametrize(
    ("heading", "followed_by"),
    [
        ("Code style", {"code", "tests"}),
        ("Naming conventions", {"code", "tests"}),
        ("Typing", {"code", "tests"}),
        ("Writing tests", {"tests", "prose"}),
        ("Documentation", {"prose"}),
        ("Submitting a Pull Request", set()),
        ("Pictures of failed style checks", set()),
        ("Commit message format", set()),
        ("Code of conduct", set()),
        ("Reporting issues with types", set()),
        ("Development setup", set()),
    ],
)
def test_edits_follow_sections_about_their_kind_of_file(heading, followed_by) -> None:
    kinds = {
        "code": about_edits(is_test=False, is_prose=False),
        "tests": about_edits(is_test=True, is_prose=False),
        "prose": about_edits(is_test=False, is_prose=True),
    }
    assert {kind for kind, headings in kinds.items() if headings.search(heading)} == followed_by


def test_the_title_is_not_a_section() -> None:
    assert sections_about(SYMBOLS, re.compile("Parcels")) == []


def test_head_fits_and_has_no_trailing_empty_lines() -> None:
    assert head(LINES, 30) == LineRange(1, 1)
    assert head(LINES, 36) == LineRange(1, 3)
    assert head(LINES, 10_000, LineRange(9, 16)) == LineRange(9, 15)


def test_head_has_at_least_one_line() -> None:
    assert head(["x" * 1_000_000], 100) == LineRange(1, 1)


def test_opening_ends_at_first_heading_after_text() -> None:
    assert opening(LINES, SYMBOLS) == LineRange(1, 4)
    assert opening(["one", "two"], ()) == LineRange(1, 2)
