"""Cuts excerpts from chunks, for every way to split a text into chunks of whole lines."""

from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.base import chunk_id, file_id, repo_id
from prism_search.adapters.texts import Excerpt, read_excerpts
from prism_store.reader import StoredPoint
from prism_store.scope import Scope

REPO = repo_id("owner/name")
FILE = file_id("t", REPO, "base", "a.py")
SCOPE = Scope(tenant="t", repos=(REPO,), layer="base")


class Chunks:
    """A reader with points in memory."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = {chunk_id(FILE, "g", ordinal): text for ordinal, text in enumerate(texts)}
        self.read = 0

    async def points(self, _: Scope, ids: list[str], __: list[str]) -> dict[str, StoredPoint]:
        self.read += len(ids)
        return {id_: StoredPoint(id_, 0.0, {"text": self.texts[id_]}) for id_ in ids if id_ in self.texts}


def starts_of(texts: list[str]) -> str:
    """Returns the first lines of chunks, as the `starts` field has them."""
    line, found = 1, []
    for text in texts:
        found.append(line)
        line += text.count("\n")
    return " ".join(map(str, found))


@given(
    st.lists(st.text("ab\n", max_size=8).map(lambda text: f"{text}\n"), min_size=1, max_size=6),
    st.integers(1, 12),
    st.integers(0, 6),
)
async def test_excerpts_equal_the_lines_of_the_text(texts, first, more):
    excerpt = Excerpt(FILE, "g", starts_of(texts), first, first + more)
    assert await read_excerpts(Chunks(texts), SCOPE, [excerpt]) == [
        "\n".join("".join(texts).split("\n")[first - 1 : first + more])
    ]


async def test_only_chunks_of_the_excerpt_are_read():
    chunks = Chunks([f"{number}\n" for number in range(100)])
    starts = starts_of(list(chunks.texts.values()))
    assert await read_excerpts(chunks, SCOPE, [Excerpt(FILE, "g", starts, 50, 51)]) == ["49\n50"]
    assert chunks.read == 2


async def test_replaced_files_have_no_excerpt():
    chunks = Chunks(["a\n", "b\n"])
    gone, there = Excerpt(FILE, "old", "1 2", 1, 2), Excerpt(FILE, "g", "1 2", 2, 2)
    assert await read_excerpts(chunks, SCOPE, [gone, there]) == [None, "b"]


async def test_an_empty_file_has_no_lines():
    assert await read_excerpts(Chunks([]), SCOPE, [Excerpt(FILE, "g", "", 1, 40)]) == [""]
    assert await read_excerpts(Chunks([]), SCOPE, []) == []
