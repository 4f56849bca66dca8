"""Tests that text is preferred to lists of links."""

import pytest

from prism_search.core.links import is_list_of_links
from prism_search.core.matching import Question
from prism_search.core.passages import Range
from prism_search.core.query import parse_query
from prism_search.core.retrieval.candidates import Candidate, ChunkHit
from prism_search.operations.prose import LINKS_WEIGHT, prefer_text

CONTENTS = """# Contents

- [Install](install.md)
- [Overdraft rules](rules.md#overdraft) and limits
* [Transfers][transfers]

[transfers]: https://example.com/transfers
"""
TEXT = """## Overdraft rules

An account may go below zero by five hundred coins ([why](why.md)) and no further. See [the rules](rules.md)
for what happens then, and <https://example.com/rules> for the law.
"""


@pytest.mark.parametrize(
    "text",
    [
        CONTENTS,
        "1. `Install <install.rst>`_\n2. `Rules <rules.rst>`__\n3. `More <more.rst>`_\n",
        "* xref:install.adoc[Install]\n* link:rules.html[Rules]\n* xref:more.adoc[More]\n",
        "https://a.example\nhttps://b.example\nhttps://c.example\n",
        "![build](a.svg) ![tests](b.svg)\n[![docs](c.svg)](d)\n[chat](e)\n",
    ],
)
def test_list_of_links_is_detected(text) -> None:
    assert is_list_of_links(text)


@pytest.mark.parametrize(
    "text", ["", "# A heading\n", TEXT, "[one](a.md)\n[two](b.md)\n", "- a\n- b\n- c\n", CONTENTS + TEXT * 3]
)
def test_text_with_links_is_not_a_list_of_links(text) -> None:
    assert not is_list_of_links(text)


QUESTION = Question(parse_query("overdraft rules"), {"overdraft": 1.0, "rule": 1.0})


def file(name: str, score: float, *starts: int) -> Candidate:
    chunks = [ChunkHit(f"{name}{start}", 1 / start, start, start + 9) for start in starts]
    return Candidate(name, "r", f"{name}.md", "g", score=score, keyword_chunks=chunks)


def reads(**texts: str):
    async def read(passages):
        return [texts.get(f"{file.file}{found.start}", TEXT) for file, found in passages]

    return read


async def preferred(shown: list[tuple[Candidate, Range]], read) -> list[tuple[str, int, float]]:
    passages, contents = await prefer_text(QUESTION, shown, await read(shown), read)
    assert contents == await read(passages)
    return [(file.file, found.start, round(file.score, 2)) for file, found in passages]


async def test_text_of_the_file_replaces_a_list_of_links() -> None:
    shown = [(file("a", 2.0, 1, 11, 21), Range(1, 10)), (file("b", 1.9, 1), Range(1, 10))]
    assert await preferred(shown, reads(a1=CONTENTS, a11=CONTENTS)) == [("a", 21, 2.0), ("b", 1, 1.9)]


async def test_list_of_links_without_other_text_ranks_lower() -> None:
    shown = [
        (file("a", 2.0, 1), Range(1, 10)),
        (file("b", 1.9, 1), Range(1, 10)),
        (file("c", 0.5, 1), Range(1, 10)),
    ]
    expected = [("b", 1, 1.9), ("a", 1, 2.0 + LINKS_WEIGHT), ("c", 1, 0.5)]
    assert await preferred(shown, reads(a1=CONTENTS)) == expected


async def test_no_passage_is_shown_twice() -> None:
    one = file("a", 2.0, 1, 11, 21)
    shown = [(one, Range(1, 10)), (one, Range(11, 20))]
    assert await preferred(shown, reads(a1=CONTENTS, a11=CONTENTS)) == [
        ("a", 21, 2.0),
        ("a", 11, 2.0 + LINKS_WEIGHT),
    ]


async def test_replaced_file_stays_unchanged() -> None:
    shown = [(file("a", 2.0, 1), Range(1, 10))]
    passages, contents = await prefer_text(QUESTION, shown, [None], reads())
    assert (passages, contents) == (shown, [None])
