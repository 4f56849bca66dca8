"""What a language model may say on a page."""

import pytest

from prism_scribe.core.wiki.introductions import (
    STATEMENTS_MAX,
    TITLE,
    WrittenIntroduction,
    WrittenSentence,
    accepted,
    statements,
    with_introduction,
)
from prism_scribe.core.writing import require_bounded

PAGE = """# depot

12 files with 900 lines use each other.

> Depot plans how parcels travel.
>
> — `README.md:5`

## Main files

| file | its first description |
| --- | --- |
| `src/depot.py:1` | Where parcels wait. |

```mermaid
flowchart LR
```

- `Depot.send`, `src/depot.py:14`. Send a parcel.
"""
EVIDENCE = statements(PAGE)


def written(text: str, *sources: str) -> WrittenIntroduction:
    return WrittenIntroduction(sentences=[WrittenSentence(text=text, sources=list(sources))])


def test_statements_are_the_lines_that_say_something():
    assert [(one.id, one.where, one.text[:24]) for one in EVIDENCE] == [
        ("s1", "depot", "12 files with 900 lines "),
        ("s2", "depot", "> Depot plans how parcel"),
        ("s3", "depot", "> — `README.md:5`"),
        ("s4", "Main files", "| file | its first descr"),
        ("s5", "Main files", "| `src/depot.py:1` | Whe"),
        ("s6", "Main files", "- `Depot.send`, `src/dep"),
    ]


def test_a_long_page_gives_a_bounded_number_of_statements():
    assert len(statements("# a\n" + "x y\n" * 1000)) == STATEMENTS_MAX


def test_a_sentence_has_the_places_of_its_statements():
    [sentence] = accepted(written("Parcels are sent by `Depot.send`.", "s6"), EVIDENCE)

    assert sentence.places == ("src/depot.py:14",)


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("Depot plans parcels.", ()),
        ("Depot plans parcels.", ("s99",)),
        ("Parcels are sent by `Depot.drop`.", ("s6",)),
        ("Parcels are sent by `Depot.send`.", ("s1",)),
        ("It has 13 files.", ("s1",)),
        ("See src/secret/keys.py for more.", ("s6",)),
        ("It calls sendParcel first.", ("s6",)),
        ("", ("s1",)),
        ("[](https://evil.test)", ("s1",)),
    ],
)
def test_what_its_statements_do_not_hold_is_dropped(text, sources):
    assert accepted(written(text, *sources), EVIDENCE) == []


@pytest.mark.parametrize(
    "text", ["Depot plans how parcels travel.", "It has 12 files.", "Read `src/depot.py:14` first."]
)
def test_what_its_statements_hold_is_kept(text):
    assert len(accepted(written(text, "s1", "s2", "s6"), EVIDENCE)) == 1


def test_markup_of_a_model_stays_text():
    [sentence] = accepted(written("Depot <img src=x> plans [parcels](https://evil.test).", "s2"), EVIDENCE)

    page = with_introduction(PAGE, [sentence])

    assert "evil.test" not in page
    assert "<img" not in page


def test_the_introduction_follows_the_title():
    [sentence] = accepted(written("Parcels are sent by `Depot.send`.", "s6"), EVIDENCE)

    assert with_introduction(PAGE, [sentence]).startswith(
        f"# depot\n\n## {TITLE}\n\n- Parcels are sent by `Depot.send`. (`src/depot.py:14`)\n\n12 files"
    )


def test_the_answer_of_a_model_is_bounded():
    require_bounded(WrittenIntroduction)
