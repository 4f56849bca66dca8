"""The deep model's own logic, with a substitute for the weights. Real weights: tests/models."""

import importlib

import numpy as np
import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_embedder.adapters import deep
from prism_embedder.adapters.deep import BATCH_DOCUMENTS, TEXT_CHARS_MAX, DeepModel, DeepOptions
from prism_embedder.core.rows import unit_rows


class LetterEncoder:
    """Counts letters: a vector depends on the text alone."""

    dimension = 26

    def __init__(self, tokens_max=256):
        self.tokens_max = tokens_max
        self.calls = []

    def encode_queries(self, texts):
        return self._encode("query", texts)

    def encode_documents(self, texts):
        return self._encode("document", texts)

    def _encode(self, kind, texts):
        self.calls.append((kind, list(texts)))
        return np.array([letters(text) for text in texts], np.float32)


def letters(text):
    return unit_rows(np.array([[text.count(chr(97 + i)) for i in range(26)]], np.float64))[0]


@pytest.fixture
def encoder():
    return LetterEncoder()


@pytest.fixture
def model(encoder):
    return DeepModel(encoder, "weights", DeepOptions())


def test_rows_have_the_order_of_the_texts(model):
    texts = ["x" * length + "abc"[length % 3] for length in (9, 1, 7, 3, 5, 2)]
    rows = model.embed_documents(texts)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, [letters(text) for text in texts])


def test_distinct_texts_are_embedded_in_batches_by_length(model, encoder):
    model.embed_documents([f"text {'a' * (number % 10)}" for number in range(20)])
    assert all(kind == "document" and len(texts) <= BATCH_DOCUMENTS for kind, texts in encoder.calls)
    embedded = [text for _, texts in encoder.calls for text in texts]
    assert embedded == [f"text {'a' * number}" for number in range(10)]


def test_questions_and_documents_are_embedded_differently(model, encoder):
    np.testing.assert_array_equal(model.embed_queries(["abc"])[0], letters("abc"))
    assert encoder.calls == [("query", ["abc"])]


def test_a_text_is_cut_at_the_limit(model, encoder):
    model.embed_queries(["a" * TEXT_CHARS_MAX, "a" * (TEXT_CHARS_MAX + 1)])
    model.embed_documents(["b" * (TEXT_CHARS_MAX + 1)])
    assert [len(text) for _, texts in encoder.calls for text in texts] == [TEXT_CHARS_MAX] * 3


def test_no_texts_give_no_rows(model, encoder):
    assert model.embed_documents([]).shape == (0, 26)
    assert model.embed_queries([]).shape == (0, 26)
    assert encoder.calls == []


def test_the_fingerprint_covers_everything_that_affects_vectors():
    def of(identity="weights", tokens_max=256, **options):
        return DeepModel(LetterEncoder(tokens_max), identity, DeepOptions(**options)).fingerprint

    assert of() == of(threads=7) == of(device="cuda")
    assert len({of(), of("others"), of(tokens_max=128)}) == 3


def refused(name):
    with pytest.raises(PrismError) as caught:
        DeepModel.load(name)
    assert caught.value.code is ErrorCode.UNAVAILABLE
    assert "make setup-models" in caught.value.body.next_action
    return str(caught.value)


def test_missing_package_folder_or_library_has_a_next_action(monkeypatch, tmp_path):
    assert "no_such_model" in refused("package:no_such_model")
    assert "not/a" in refused("package:not/a")
    assert "no model folder" in refused(str(tmp_path / "none"))
    monkeypatch.setattr(importlib, "import_module", missing)
    assert "torch" in refused(str(tmp_path))
    (tmp_path / "model.onnx").touch()
    assert "onnxruntime" in refused(str(tmp_path))
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").touch()
    assert "2 .onnx files" in refused(str(tmp_path))


def missing(name):
    raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_a_package_is_found_without_running_its_code(monkeypatch, tmp_path):
    package = tmp_path / "packed_model"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('ran')")
    (package / "model" / "modules.json").write_text("[]")
    monkeypatch.syspath_prepend(tmp_path)
    assert deep._package_folder("packed_model") == package / "model"


def test_folder_identity_is_its_contents(tmp_path):
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
