"""The deep model's own logic, on a stand-in for the library. The real one: tests/models/test_deep_model.py."""

import importlib
import threading

import numpy as np
import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_embedder.adapters import deep
from prism_embedder.adapters.deep import BATCH_DOCUMENTS, TEXT_CHARS_MAX, DeepModel, DeepOptions, QueriesFirst


class LetterEncoder:
    """Counts letters: a vector depends on the text alone."""

    def __init__(self):
        self.max_seq_length = 256
        self.calls = []

    def encode_query(self, inputs, **options):
        return self._encode("query", inputs)

    def encode_document(self, inputs, **options):
        return self._encode("document", inputs)

    def get_embedding_dimension(self):
        return 26

    def _encode(self, kind, inputs):
        self.calls.append((kind, list(inputs)))
        return np.array([[text.count(chr(97 + i)) for i in range(26)] for text in inputs], np.float64)


def unit(text):
    row = np.array([text.count(chr(97 + i)) for i in range(26)], np.float64)
    return row / np.linalg.norm(row)


@pytest.fixture
def encoder():
    return LetterEncoder()


@pytest.fixture
def model(encoder):
    return DeepModel(encoder, "weights", DeepOptions())


def test_a_document_is_code_path_and_file_name(model):
    row = model.embed_documents(["src/retry_policy.py"], ["wait"])[0]
    expected = unit("wait") + 0.25 * unit("src/retry_policy.py") + 0.25 * unit("retry policy")
    np.testing.assert_allclose(row, expected / np.linalg.norm(expected), atol=1e-6)
    assert row.dtype == np.float32


def test_rows_come_back_in_the_order_of_the_texts(model):
    texts = ["x" * length + "abc"[length % 3] for length in (9, 1, 7, 3, 5, 2)]
    rows = model.embed_documents(["p.py"] * 6, texts)
    for text, row in zip(texts, rows, strict=True):
        np.testing.assert_allclose(row, model.embed_documents(["p.py"], [text])[0], atol=1e-6)


def test_equal_texts_and_paths_are_embedded_once_in_small_batches(model, encoder):
    model.embed_documents(["p.py"] * 20, [f"text {'a' * (number % 10)}" for number in range(20)])
    assert all(kind == "document" and len(texts) <= BATCH_DOCUMENTS for kind, texts in encoder.calls)
    assert sum(len(texts) for _, texts in encoder.calls) == 10 + 1 + 1


def test_questions_take_the_prompt_of_questions(model, encoder):
    np.testing.assert_allclose(model.embed_queries(["abc"])[0], unit("abc"), atol=1e-6)
    assert encoder.calls == [("query", ["abc"])]


def test_a_text_is_cut_at_the_limit(model, encoder):
    model.embed_queries(["a" * TEXT_CHARS_MAX, "a" * (TEXT_CHARS_MAX + 1)])
    assert [len(text) for text in encoder.calls[0][1]] == [TEXT_CHARS_MAX, TEXT_CHARS_MAX]


def test_nothing_in_gives_nothing_out(model, encoder):
    assert model.embed_documents([], []).shape == (0, 26)
    assert model.embed_queries([]).shape == (0, 26)
    assert encoder.calls == []


def test_a_path_is_wanted_for_every_text(model):
    with pytest.raises(ValueError, match="1 paths for 2 texts"):
        model.embed_documents(["a"], ["x", "y"])


def test_the_fingerprint_changes_with_all_that_changes_vectors(encoder):
    def of(identity="weights", **options):
        return DeepModel(LetterEncoder(), identity, DeepOptions(**options)).fingerprint

    assert of() == of(threads=7) == of(device="cuda")
    assert len({of(), of("others"), of(tokens_max=128), of(path_weight=0.5), of(stem_weight=0.5)}) == 5


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


def refused(name):
    with pytest.raises(PrismError) as caught:
        DeepModel.load(name)
    assert caught.value.code is ErrorCode.UNAVAILABLE
    assert "make setup-models" in caught.value.body.next_action
    return str(caught.value)


def test_a_missing_package_a_missing_folder_and_a_missing_library_say_what_to_do(monkeypatch, tmp_path):
    assert "no_such_model" in refused("package:no_such_model")
    assert "not/a" in refused("package:not/a")
    assert "no model folder" in refused(str(tmp_path / "none"))
    monkeypatch.setattr(importlib, "import_module", missing)
    assert "torch" in refused(str(tmp_path))


def missing(name):
    raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_a_package_is_found_without_running_its_code(monkeypatch, tmp_path):
    package = tmp_path / "packed_model"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('ran')")
    (package / "model" / "modules.json").write_text("[]")
    monkeypatch.syspath_prepend(tmp_path)
    assert deep._package_folder("packed_model") == package / "model"


def test_a_folder_is_known_by_what_is_in_it(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        (folder / "1_Pooling").mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(b"weights")
        (folder / "1_Pooling" / "config.json").write_text("{}")
    (other / "README.md").write_text("words")
    (other / ".cache.json").write_text("{}")
    assert deep._folder_identity(one) == deep._folder_identity(other)
    (other / "model.safetensors").write_bytes(b"other weights")
    assert deep._folder_identity(one) != deep._folder_identity(other)
