"""Priority of questions over documents. The encoder with a real model: tests/models."""

import threading

import pytest

from prism_embedder.adapters.torch_encoder import QueriesFirst


def test_waiting_questions_go_before_documents():
    turns, order, threads = QueriesFirst(), [], []

    def work(name, *, query):
        with turns.turn(query=query):
            order.append(name)

    with turns.turn(query=False):
        for name, query in (("document", False), ("question", True), ("another", True)):
            threads.append(threading.Thread(target=work, args=(name,), kwargs={"query": query}))
            threads[-1].start()
        while turns._queries < 2:
            threading.Event().wait(0.001)
    for thread in threads:
        thread.join()
    assert order[-1] == "document"
    assert set(order[:2]) == {"question", "another"}


def test_a_failed_turn_gives_the_turn_back():
    turns = QueriesFirst()
    with pytest.raises(ZeroDivisionError), turns.turn(query=True):
        1 / 0  # noqa: B018
    with turns.turn(query=False):
        pass
