"""The order of related documents, and what they share."""

from prism_workspace.core.related import ranked, shared_places


def test_a_place_that_few_documents_name_counts_more() -> None:
    shared = shared_places([("common.py", ["a", "b", "c", "d"]), ("rare.py", ["b"])])
    assert shared["b"].places == ("rare.py", "common.py")
    assert shared["b"].weight > 2 * shared["a"].weight


def test_a_document_of_both_orders_is_first() -> None:
    shared = shared_places([("rare.py", ["b"]), ("common.py", ["b", "c"])])
    assert ranked(["a", "b"], shared) == ["b", "a", "c"]


def test_documents_without_shared_places_keep_their_order() -> None:
    assert ranked(["b", "a"], shared_places([])) == ["b", "a"]
    assert ranked([], shared_places([("one.py", ["a"])])) == ["a"]
