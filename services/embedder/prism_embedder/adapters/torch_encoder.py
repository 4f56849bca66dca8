"""Any sentence-transformers model as an encoder. Needs torch, which takes seconds to import.

One call at a time, because the tokenizers of transformers are not thread-safe: a question waits for at most
one call of documents.
"""

import importlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from prism_embedder.core.rows import Matrix, unit_rows


class TorchEncoder:
    """A loaded model."""

    def __init__(self, name: str, device: str, revision: str, threads: int, tokens_max: int) -> None:
        """`name` is a folder or an id of the hub.

        Raises OSError, ValueError or RuntimeError if it cannot be loaded, ImportError without the libraries.
        """
        importlib.import_module("torch").set_num_threads(threads)
        library = importlib.import_module("sentence_transformers")
        self._model = library.SentenceTransformer(
            name, device=device, revision=revision or None, trust_remote_code=False
        )
        if tokens_max:
            self._model.max_seq_length = tokens_max
        self._name, self._revision = name, revision
        self._turns = QueriesFirst()
        self.dimension = int(self._model.get_embedding_dimension() or 0)
        self.tokens_max = int(self._model.max_seq_length)

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """Returns unit vectors of questions, with the model's prompt; they precede waiting documents."""
        with self._turns.turn(query=True):
            return _encode(self._model.encode_query, texts)

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Returns unit vectors of documents, with the model's prompt for documents."""
        with self._turns.turn(query=False):
            return _encode(self._model.encode_document, texts)

    def hub_identity(self) -> str:
        """Returns name and commit of a hub model. The commit is the name of a folder in the local copy."""
        hub = importlib.import_module("huggingface_hub")
        file = hub.try_to_load_from_cache(self._name, "config.json", revision=self._revision or None)
        if not isinstance(file, str):
            raise OSError(f"no local copy of {self._name} after it was loaded")
        commit = re.search(r"[/\\]snapshots[/\\]([^/\\]+)", file)
        return f"{self._name}@{commit.group(1) if commit else file}"


class QueriesFirst:
    """A lock for one caller at a time; documents let every waiting question pass."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = False
        self._queries = 0

    @contextmanager
    def turn(self, *, query: bool) -> Iterator[None]:
        """Waits for the lock and holds it."""
        with self._changed:
            self._queries += query
            self._changed.wait_for(lambda: not self._busy and (query or not self._queries))
            self._queries -= query
            self._busy = True
        try:
            yield
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()


def _encode(encode: Callable[..., Any], texts: Sequence[str]) -> Matrix:
    rows = encode(list(texts), batch_size=len(texts), show_progress_bar=False, convert_to_numpy=True)
    return unit_rows(np.asarray(rows, np.float32))
