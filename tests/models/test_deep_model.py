"""The deep tier with a real model: all-MiniLM-L6-v2, from the package that `make setup-models` installs. No network."""

import hashlib
import importlib.util
import os
import shutil
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_embedder.adapters.deep import DEFAULT_MODEL, DeepModel, DeepOptions

pytestmark = pytest.mark.models

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
COMMIT = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"

CHUNKS = {
    "net/backoff.py": "def delay(attempt):\n    return min(CAP, BASE * 2 ** attempt) + random.uniform(0, JITTER)",
    "gui/palette.py": "def mix(red, green, share):\n    return tuple(a * share + b * (1 - share) for a, b in zip(red, green))",
    "db/migrate.py": "def upgrade(connection):\n    connection.execute('ALTER TABLE users ADD COLUMN email TEXT')",
    "io/archive.go": "func Unpack(src string) error {\n\tr, err := zip.OpenReader(src)\n\treturn extract(r.File, err)\n}",
    "auth/Session.java": "boolean isValid(Token token) {\n    return token.expiresAt().isAfter(clock.instant());\n}",
}
QUESTIONS = [
    "how long to wait before the next retry",
    "blend two colors",
    "add a field to a database table",
    "extract a compressed file",
    "has the login expired",
]


@pytest.fixture(scope="session")
def folder() -> Path:
    spec = importlib.util.find_spec(DEFAULT_MODEL.removeprefix("package:"))
    return Path(spec.origin).parent / "model"


@pytest.fixture(scope="session")
def model():
    return DeepModel.load()


@pytest.fixture(scope="session")
def rows(model):
    return model.embed_documents(list(CHUNKS), list(CHUNKS.values()))


def test_the_weights_are_the_published_ones(folder):
    with (folder / "model.safetensors").open("rb") as stream:
        assert hashlib.file_digest(stream, "sha256").hexdigest() == WEIGHTS_SHA256


def test_vectors_are_unit_rows_of_384(model, rows):
    assert (model.dimension, model.tokens_max) == (384, 256)
    assert rows.shape == (5, 384)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_each_question_is_nearest_to_the_code_that_answers_it(model, rows):
    scores = model.embed_queries(QUESTIONS) @ rows.T
    assert scores.argmax(axis=1).tolist() == [0, 1, 2, 3, 4]


def test_the_code_is_found_without_help_of_its_path(model):
    rows = model.embed_documents(["a.txt"] * 5, list(CHUNKS.values()))
    assert (model.embed_queries(QUESTIONS) @ rows.T).argmax(axis=1).tolist() == [0, 1, 2, 3, 4]


def test_the_path_counts(model):
    plain, told = model.embed_documents(["a.txt", "net/retry_backoff.py"], ["x = 1", "x = 1"])
    question = model.embed_queries(["retry backoff"])[0]
    assert told @ question > plain @ question + 0.1


def test_a_vector_does_not_depend_on_its_batch(model, rows):
    for row, (path, text) in zip(rows, CHUNKS.items(), strict=True):
        np.testing.assert_allclose(model.embed_documents([path], [text])[0], row, atol=1e-4)
    again = model.embed_documents(list(CHUNKS)[::-1], list(CHUNKS.values())[::-1])[::-1]
    np.testing.assert_allclose(again, rows, atol=1e-4)


def test_package_and_folder_are_the_same_model(model, folder):
    assert DeepModel.load(str(folder)).fingerprint == model.fingerprint


def test_the_fingerprint_is_stable(model):
    assert model.fingerprint == "ad4197a005f3"


def test_fewer_tokens_are_another_model(folder, model):
    short = DeepModel.load(str(folder), DeepOptions(tokens_max=16))
    assert short.tokens_max == 16
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
