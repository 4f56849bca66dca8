"""The documents that a reranker gets, how its replies are read, and its settings."""

import pytest

from prism_runtime.settings import InvalidSettingsError
from prism_search.core.passages import Range
from prism_search.core.reranking import DOCUMENT_CHARS_MAX, document_of, in_order, read_order
from prism_search.core.retrieval.candidates import Candidate
from prism_search.settings import SearchSettings

VALID = {
    "reranker_enabled": True,
    "reranker_url": "https://rank.example.com/v1/rerank",
    "reranker_model": "m",
}


def candidate(path: str) -> Candidate:
    return Candidate(file=path, repo="r", path=path, generation="g", legs={"keyword": 2})


def test_a_document_begins_with_its_place_and_is_bounded():
    passage = (candidate("src/kiln.py"), Range(3, 9, "Kiln.fire"))
    assert document_of(passage, "def fire(self):") == "src/kiln.py Kiln.fire\ndef fire(self):"
    assert document_of(passage, None) == "src/kiln.py Kiln.fire\n"
    assert len(document_of(passage, "x" * DOCUMENT_CHARS_MAX)) == DOCUMENT_CHARS_MAX


def test_equal_scores_keep_their_order():
    results = ",".join(f'{{"index": {index}, "relevance_score": {index % 2}}}' for index in (3, 2, 1, 0))
    assert read_order(f'{{"results": [{results}]}}'.encode(), 4) == [1, 3, 0, 2]


def test_an_error_does_not_quote_the_reply():
    with pytest.raises(ValueError, match="not a list of indices and finite scores") as refused:
        read_order(b'{"results": "def private(): pass"}', 1)
    assert refused.value.__suppress_context__


def test_a_file_is_placed_by_its_best_passage_and_the_rest_follows():
    kiln, pot = candidate("kiln.py"), candidate("pot.py")
    passages = [(pot, Range(1, 2)), (kiln, Range(1, 2)), (kiln, Range(5, 6)), (pot, Range(8, 9))]
    assert in_order(passages, [2, 0, 1]) == [passages[2], passages[0], passages[1], passages[3]]
    assert [file.legs for file in (kiln, pot)] == [
        {"keyword": 2, "reranker": 1},
        {"keyword": 2, "reranker": 2},
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"reranker_url": ""},
        {"reranker_url": "rank.example.com/v1"},
        {"reranker_url": "file:///etc/passwd"},
        {"reranker_url": "https://"},
        {"reranker_url": "https://me:secret@rank.example.com"},
        {"reranker_model": ""},
        {"reranker_api_key": "two\nlines"},
        {"reranker_candidates": 1},
        {"reranker_candidates": 101},
        {"reranker_timeout_s": 0},
        {"reranker_timeout_s": 5.1},
    ],
)
def test_settings_that_cannot_work_are_refused(wrong):
    with pytest.raises(InvalidSettingsError) as refused:
        SearchSettings(**VALID | wrong)
    assert "secret" not in str(refused.value)
    assert "two" not in str(refused.value)


def test_no_reranker_is_asked_by_default():
    assert not SearchSettings().reranker_enabled
    assert SearchSettings(**VALID).reranker_candidates == 50
