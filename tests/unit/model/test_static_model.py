import hashlib
import json
import shutil
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from static_reference import Reference

from prism_contracts.errors import ErrorCode, PrismError
from prism_model import tokens
from prism_model.static_model import BATCH_TEXTS, TEXT_CHARS_MAX, FileChunks, StaticModel

CODE = """
def request(self, method, url, retries=None, statusCode=200):
    # HTTPConnectionPool keeps 2 connections; naïve café ends here, 日本語 too
    while retries.is_exhausted() and XMLHttpRequest is not None:
        return self._pool.urlopen(method, url, retries=retries.increment(), chunk_size=4096)
"""
PATH = "src/http/retry_policy.py"

words = st.sampled_from(
    [
        *[
            "getUserName",
            "HTTPServer2",
            "status",
            "code",
            "statusCode",
            "parse_json",
            "x",
            "ID",
            "404",
            "naïve",
            "日本",
            "__init__",
            "self",
        ],
        "a" * 60,
    ]
)
texts = st.lists(words | st.text(max_size=12), max_size=30).map(" ".join)
paths = st.sampled_from(
    ["src/http/client.py", "README.md", ".gitignore", "日本/日本", "", "a\\b\\HashMap.test.ts"]
)


@pytest.fixture(scope="session")
def reference(fast_folder):
    return Reference(fast_folder)


@given(path=paths, text=texts)
@settings(max_examples=150)
def test_agrees_with_the_plain_reference(model, reference, path, text):
    expected = reference.chunk(path, text)
    if expected.any():
        np.testing.assert_allclose(model.embed_chunks(path, [text])[0], expected, atol=1e-4)
    np.testing.assert_allclose(model.embed_queries([text])[0], reference.query(text), atol=1e-4)


def test_agrees_with_the_reference_on_code(model, reference):
    np.testing.assert_allclose(model.embed_chunks(PATH, [CODE])[0], reference.chunk(PATH, CODE), atol=1e-4)
    question = "how does the HTTP client retry on a status code"
    np.testing.assert_allclose(model.embed_queries([question])[0], reference.query(question), atol=1e-4)


@given(files=st.lists(st.tuples(paths, st.lists(texts, max_size=5)), max_size=8), data=st.data())
@settings(max_examples=60)
def test_a_vector_is_the_same_bit_by_bit_in_any_batch(model, files, data):
    order = data.draw(st.permutations(range(len(files))))
    together = model.embed_files([FileChunks(*files[position]) for position in order])
    for position, rows in zip(order, together, strict=True):
        path, chunks = files[position]
        alone = [model.embed_chunks(path, [chunk])[0] for chunk in chunks]
        assert rows.shape == (len(chunks), model.dimension)
        assert rows.tobytes() == b"".join(row.tobytes() for row in alone)


def test_a_vector_is_the_same_after_the_memo_is_cleared(model, fast_folder, monkeypatch):
    chunks = [CODE, *(f"word{number} {'x' * (number % 50)} status code" for number in range(300))]
    expected = model.embed_chunks(PATH, chunks)
    monkeypatch.setattr(tokens, "IDENTIFIERS_MAX", 20)
    monkeypatch.setattr(tokens, "WORDS_MAX", 20)
    forgetful = StaticModel.load(fast_folder)
    assert forgetful.embed_chunks(PATH, chunks).tobytes() == expected.tobytes()
    assert forgetful.embed_chunks(PATH, chunks[::-1])[::-1].tobytes() == expected.tobytes()


def test_threads_get_the_same_vectors(model):
    chunks = [f"{CODE}\nvalue{number} = {number}" for number in range(200)]
    expected = model.embed_chunks(PATH, chunks).tobytes()
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(model.embed_chunks(PATH, chunks).tobytes()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_rows_are_unit_vectors(model):
    rows = model.embed_chunks(PATH, [CODE, "", "日本語", "x" * 100])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_a_chunk_without_words_has_the_vector_of_its_path(model):
    empty, symbols = model.embed_chunks(PATH, ["", "{}\n// 日本語"])
    assert empty.tobytes() == symbols.tobytes()
    assert empty @ model.embed_queries(["retry policy"])[0] > 0.5


def test_no_words_at_all_give_one_constant_unit_vector(model):
    rows = np.concatenate([model.embed_chunks("日本", ["{}", ""]), model.embed_chunks("", ["--"])])
    assert (rows == rows[0]).all()
    assert np.linalg.norm(rows[0]) == pytest.approx(1)


def test_a_question_without_words_is_a_zero_row(model):
    assert not model.embed_queries(["???"]).any()


def test_no_texts_give_no_rows(model):
    assert model.embed_files([]) == []
    assert model.embed_chunks(PATH, []).shape == (0, model.dimension)
    assert model.embed_queries([]).shape == (0, model.dimension)


def test_more_texts_than_a_batch_are_embedded(model):
    chunks = [f"number {number}" for number in range(BATCH_TEXTS * 2 + 1)]
    rows = model.embed_chunks(PATH, chunks)
    assert rows[-1].tobytes() == model.embed_chunks(PATH, chunks[-1:])[0].tobytes()


def test_a_text_is_read_up_to_the_limit(model):
    full = "ab " * (TEXT_CHARS_MAX // 3) + "z"
    assert len(full) == TEXT_CHARS_MAX
    at, past, short = model.embed_chunks(PATH, [full, full + " retry", full[:-1]])
    assert at.tobytes() == past.tobytes()
    assert at.tobytes() != short.tobytes()


def test_the_right_code_is_nearest(model):
    rows = np.concatenate(
        [
            model.embed_chunks(
                "net/retry.py", ["def backoff(attempt):\n    return min(cap, base * 2 ** attempt)"]
            ),
            model.embed_chunks("gui/palette.py", ["def mix(red, green):\n    return blend(red, green)"]),
            model.embed_chunks("db/schema.py", ["def migrate(table):\n    add_column(table, 'name')"]),
        ]
    )
    questions = [
        "wait longer after each failed attempt",
        "combine two colors",
        "change the columns of a table",
    ]
    assert (rows @ model.embed_queries(questions).T).argmax(axis=0).tolist() == [0, 1, 2]


def test_the_fingerprint_names_the_weights(model, fast_folder, tmp_path):
    assert model.fingerprint == StaticModel.load(fast_folder).fingerprint
    assert len(model.fingerprint) == 12
    assert (model.dimension, model.fingerprint) == (256, "35bda3ca8c93")
    other = shutil.copytree(fast_folder, tmp_path / "other")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"path_weight": 0.4}))
    assert StaticModel.load(other).fingerprint != model.fingerprint


def test_the_shipped_weights_are_the_trained_ones(fast_folder):
    digests = {
        name: hashlib.sha256((fast_folder / name).read_bytes()).hexdigest()[:8]
        for name in ("model.npz", "tokenizer.json")
    }
    assert digests == {"model.npz": "2f7a4094", "tokenizer.json": "0552affd"}


def change_config(folder, **values):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | values))


def change_weights(folder, **arrays):
    with np.load(folder / "model.npz") as archive:
        np.savez(folder / "model.npz", **(dict(archive) | arrays))


DAMAGES = {
    "other dimension": lambda folder: change_config(folder, dim=128),
    "other vocabulary": lambda folder: change_config(folder, vocabulary=36_999),
    "missing key": lambda folder: (folder / "config.json").write_text("{}"),
    "no json": lambda folder: (folder / "config.json").write_text("{"),
    "list": lambda folder: (folder / "config.json").write_text("[]"),
    "fewer weights": lambda folder: change_weights(folder, weights=np.ones(36_999, np.float16)),
    "not finite": lambda folder: change_weights(folder, query_weights=np.full(37_000, np.nan, np.float16)),
    "cut off": lambda folder: (folder / "model.npz").write_bytes((folder / "model.npz").read_bytes()[:1000]),
    "missing file": lambda folder: (folder / "tokenizer.json").unlink(),
    "other tokenizer": lambda folder: (folder / "tokenizer.json").write_text('{"model": {"type": "BPE"}}'),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_mismatched_files_are_refused(fast_folder, tmp_path, damage):
    folder = shutil.copytree(fast_folder, tmp_path / "model")
    damage(folder)
    with pytest.raises(PrismError) as caught:
        StaticModel.load(folder)
    assert caught.value.code is ErrorCode.MODEL_MISMATCH


def test_memory_mapped_vectors_are_the_same(model, fast_folder):
    texts = ["where is a parcel routed", "HTTPConnectionPool", "???", "status code status code"]
    mapped = StaticModel.load(fast_folder, mapped=True)
    assert mapped.fingerprint == model.fingerprint
    np.testing.assert_array_equal(mapped.embed_queries(texts), model.embed_queries(texts))
    np.testing.assert_array_equal(mapped.embed_chunks("a/b.py", texts), model.embed_chunks("a/b.py", texts))


def test_compressed_vectors_cannot_be_memory_mapped(fast_folder, tmp_path):
    for name in ("tokenizer.json", "config.json"):
        shutil.copy(fast_folder / name, tmp_path)
    with np.load(fast_folder / "model.npz") as archive:
        np.savez_compressed(tmp_path / "model.npz", **archive)
    with pytest.raises(PrismError, match="compressed"):
        StaticModel.load(tmp_path, mapped=True)
