"""The search in the pages of a wiki."""

import pytest

from prism_scribe.core.wiki.search import EXCERPT_LINES, WikiIndex, sections_of

OVERVIEW = """# acme/depot

> Depot plans how parcels travel.

## Where to begin reading

| file | what it says of itself |
| --- | --- |
| `src/rates.py:1` | Prices of parcels. |
| `src/depot.py:1` | Where parcels wait. |

```sh
# not a heading
```
"""
GUIDE = """# How to run and test

## Commands of `Makefile`

- `make lint`
- `make build`
- `make docs`
- `make clean`
- `make testsuite` runs the tests (`Makefile:9`)
"""
INDEX = WikiIndex({"overview": OVERVIEW, "run-and-test": GUIDE})


def test_a_page_is_split_at_its_headings():
    assert [(section.heading, section.line) for section in sections_of("overview", OVERVIEW)] == [
        ("acme/depot", 1),
        ("Where to begin reading", 5),
    ]


def test_a_section_that_says_nothing_is_none():
    assert [section.heading for section in sections_of("g", GUIDE)] == ["Commands of `Makefile`"]


def test_the_section_with_the_rarest_words_is_first_and_shows_its_best_lines():
    hit = INDEX.search("which command runs the tests", 5)[0]

    assert hit.section.page == "run-and-test"
    assert "make testsuite" in hit.excerpt
    assert GUIDE.split("\n")[hit.line - 1] == hit.excerpt.split("\n")[0]
    assert len(hit.excerpt.split("\n")) <= EXCERPT_LINES


def test_the_excerpt_of_a_table_has_the_rows_that_match():
    rows = [f"| `file{number}.go` | nothing |" for number in range(20)]
    rows[3], rows[15] = "| `migrations.go` | database |", "| `pool.go` | database |"
    index = WikiIndex({"a": "\n".join(["# A", "", "| file | about |", "| --- | --- |", *rows])})

    hit = index.search("database migrations", 1)[0]

    assert (hit.line, hit.excerpt) == (8, f"{rows[3]}\n{rows[15]}")


def test_words_of_a_heading_count_more():
    pages = {"a": "# A\n\n## Flows\n\nmain calls plan.\n", "b": "# Types\n\n## B\n\nFlows are long.\n"}

    assert [hit.section.page for hit in WikiIndex(pages).search("flows", 5)] == ["a", "b"]


def test_identifiers_are_found_by_their_parts():
    index = WikiIndex({"a": "# A\n\n`ParcelTracker.send_all`\n", "b": "# B\n\nnothing\n"})

    assert [hit.section.page for hit in index.search("tracker", 5)] == ["a"]


@pytest.mark.parametrize(
    ("asked", "said"), [("tests", "test"), ("running", "runs"), ("handler", "handles"), ("caches", "cache")]
)
def test_forms_of_a_word_match(asked, said):
    assert WikiIndex({"a": f"# A\n\n{said} it.\n"}).search(asked, 1)


def test_a_query_without_a_known_word_finds_nothing():
    for query in ("zebra", "", "the of and", "\x00", "*" * 1000):
        assert INDEX.search(query, 5) == []


def test_an_empty_wiki_is_searched():
    assert WikiIndex({}).search("tests", 5) == []


def test_hits_are_limited():
    assert len(INDEX.search("parcels make", 1)) == 1
