"""A model on onnxruntime: bge-small-en-v1.5 in int8, as `make setup-models` unpacks it. No network."""

import hashlib
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cards import CARDS, QUESTIONS

from prism_contracts.errors import ErrorCode, PrismError
from prism_embedder.adapters.deep import DeepModel, DeepOptions
from prism_embedder.packaged import FOLDER, WEIGHTS

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def model():
    return DeepModel.load(str(FOLDER))


@pytest.fixture(scope="module")
def rows(model):
    return model.embed_documents(CARDS)


@pytest.mark.parametrize("name", WEIGHTS)
def test_the_weights_are_the_published_ones(name):
    assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == WEIGHTS[name]


def test_each_question_is_nearest_to_the_card_that_answers_it(model, rows):
    assert rows.shape == (5, model.dimension) == (5, 384)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert (model.embed_queries(QUESTIONS) @ rows.T).argmax(axis=1).tolist() == [0, 1, 2, 3, 4]


def test_a_vector_depends_little_on_its_batch(model, rows):
    alone = np.concatenate([model.embed_documents([card]) for card in CARDS])
    assert ((alone * rows).sum(axis=1) > 0.99).all()


def test_questions_and_documents_are_embedded_at_once(model, rows):
    with ThreadPoolExecutor(8) as threads:
        documents = [threads.submit(model.embed_documents, CARDS) for _ in range(8)]
        questions = [threads.submit(model.embed_queries, QUESTIONS) for _ in range(8)]
        for document in documents:
            np.testing.assert_allclose(document.result(), rows, atol=1e-4)
        expected = model.embed_queries(QUESTIONS)
        for question in questions:
            np.testing.assert_allclose(question.result(), expected, atol=1e-4)


def test_a_question_has_the_prompt_of_questions(model):
    assert model.embed_queries(CARDS[:1])[0] @ model.embed_documents(CARDS[:1])[0] < 0.98


def test_fewer_tokens_are_another_model(model):
    short = DeepModel.load(str(FOLDER), DeepOptions(tokens_max=16))
    assert short.fingerprint != model.fingerprint
    long = "alpha beta gamma delta " * 10
    same = short.embed_documents([long]), short.embed_documents([long + "omega"])
    np.testing.assert_allclose(*same, atol=1e-4)


def test_the_fingerprint_is_stable(model):
    assert model.fingerprint == "8067dc80a7b4"


def test_a_damaged_folder_and_an_unknown_device_say_what_to_do(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "model")
    (tmp_path / "model" / "model_quantized.onnx").write_bytes(b"no model")
    for name, options in (
        (str(tmp_path / "model"), DeepOptions()),
        (str(FOLDER), DeepOptions(device="abacus")),
    ):
        with pytest.raises(PrismError) as caught:
            DeepModel.load(name, options)
        assert caught.value.code is ErrorCode.UNAVAILABLE
        assert "make setup-models" in caught.value.body.next_action
