"""Which lines of a document are quoted."""

import re

from prism_chunker.core import chunk_file
from prism_search.core.documents import ABOUT_WORK, LineRange, head, headings, opening, sections_about

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


def test_headings_come_with_their_lines_and_levels() -> None:
    assert headings(SYMBOLS) == (
        "1 # Parcels", "5 ## Conduct", "9 ## Testing", "13 ### Slow tests", "17 ## Code style",
    )  # fmt: skip


def test_of_many_headings_the_upper_ones_are_told() -> None:
    text = "# Changes\n" + "".join(f"## {n}\n\n### Fixed\n\nIt.\n\n" for n in range(30))
    told = headings(chunk_file("CHANGELOG.md", text).symbols)
    assert len(told) == 20
    assert not any("###" in heading for heading in told)


def test_sections_are_chosen_by_heading_and_hold_what_is_below() -> None:
    assert sections_about(SYMBOLS, ABOUT_WORK) == [LineRange(9, 16), LineRange(17, 19)]


def test_the_title_is_no_section() -> None:
    assert sections_about(SYMBOLS, re.compile("Parcels")) == []


def test_the_head_is_what_fits_without_empty_lines_at_its_end() -> None:
    assert head(LINES, 30) == LineRange(1, 1)
    assert head(LINES, 36) == LineRange(1, 3)
    assert head(LINES, 10_000, LineRange(9, 16)) == LineRange(9, 15)


def test_a_line_that_is_longer_than_all_that_fits_is_still_the_head() -> None:
    assert head(["x" * 1_000_000], 100) == LineRange(1, 1)


def test_the_opening_goes_to_the_first_heading_with_text_above_it() -> None:
    assert opening(LINES, SYMBOLS) == LineRange(1, 4)
    assert opening(["one", "two"], ()) == LineRange(1, 2)
