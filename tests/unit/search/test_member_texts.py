"""The texts around hits are read once, and kept within their memory."""

from collections.abc import Sequence

import pytest

from prism_contracts.base import chunk_id
from prism_search.adapters.member_texts import WEIGHT, MemberTexts
from prism_search.adapters.texts import Excerpt
from prism_store.reader import StoredPoint
from prism_store.scope import Scope

SCOPE = Scope("default", ("app",), "")
EXCERPT = Excerpt("app/main.py", "g1", "1", 1, 2)
LONG = 1_000


class ReaderStandIn:
    """Has the chunks that it was given, and counts what it is asked."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.asked = 0

    async def points(self, scope: Scope, ids: Sequence[str], fields: Sequence[str]) -> dict[str, StoredPoint]:
        self.asked += 1
        return {id_: StoredPoint(id_, 1.0, {"text": self.texts[id_]}) for id_ in ids if id_ in self.texts}


@pytest.fixture
def reader() -> ReaderStandIn:
    return ReaderStandIn({chunk_id(EXCERPT.file, EXCERPT.generation, 0): "one\ntwo\n"})


async def test_a_text_is_read_once(reader) -> None:
    texts = MemberTexts(reader, LONG)
    for _ in range(2):
        (text,) = await texts.read(SCOPE, [EXCERPT], ["python"])
        assert dict(text.lines) == {1: "one", 2: "two"}
    assert reader.asked == 1


async def test_a_text_beyond_the_memory_is_read_again(reader) -> None:
    texts = MemberTexts(reader, WEIGHT * len("one\ntwo") - 1)
    for _ in range(2):
        assert await texts.read(SCOPE, [EXCERPT], ["python"]) != [None]
    assert reader.asked == 2


async def test_a_replaced_file_has_no_text_and_is_asked_for_again(reader) -> None:
    texts, stale = MemberTexts(reader, LONG), EXCERPT._replace(generation="g0")
    for _ in range(2):
        found = await texts.read(SCOPE, [stale, EXCERPT], ["python", "python"])
        assert [text is None for text in found] == [True, False]
    assert reader.asked == 2
