"""An encoder on onnxruntime and tokenizers alone: a fifth of a second to load, no torch.

A model is a folder in the layout of the Hugging Face hub: one `.onnx` file (in it or in its folder `onnx`),
`tokenizer.json`, and the files of sentence-transformers: `1_Pooling/config.json` (required),
`config_sentence_transformers.json` (prompts) and `sentence_bert_config.json` (token limit).

Never runs code that comes with a model. Safe to use from several threads at once, so a question never waits
for a document.
"""

import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prism_embedder.core.rows import Matrix, unit_rows

TOKENS_MAX = 512  # of a model without a limit
PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}

Pooling = Callable[[Matrix, NDArray[np.int64]], Matrix]


def onnx_file(folder: Path) -> Path | None:
    """Returns the model's file, None if the folder has none. Raises ValueError if it has several."""
    files = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if len(files) > 1:
        raise ValueError(f"{folder} holds {len(files)} .onnx files; keep one of them")
    return files[0] if files else None


class OnnxEncoder:
    """A loaded model."""

    def __init__(self, folder: Path, device: str, tokens_max: int) -> None:
        """Raises OSError or ValueError if the folder is not a model, ImportError without the libraries."""
        self._session, self._tokenizer = _load(folder, device)
        self._inputs = {wanted.name for wanted in self._session.get_inputs()}
        self.dimension = int(self._session.get_outputs()[0].shape[-1])
        self.tokens_max = tokens_max or int(
            _config(folder / "sentence_bert_config.json").get("max_seq_length") or TOKENS_MAX
        )
        self._pool = _pooling(_config(folder / "1_Pooling" / "config.json"))
        self._prompts = _config(folder / "config_sentence_transformers.json").get("prompts", {})
        self._tokenizer.enable_truncation(self.tokens_max)
        self._tokenizer.enable_padding()

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """Returns unit vectors of questions, with the model's prompt for questions."""
        return self._encode([self._prompts.get("query", "") + text for text in texts])

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Returns unit vectors of documents, with the model's prompt for documents."""
        return self._encode([self._prompts.get("document", "") + text for text in texts])

    def _encode(self, texts: list[str]) -> Matrix:
        encodings = self._tokenizer.encode_batch(texts)
        ids = np.array([encoding.ids for encoding in encodings], np.int64)
        mask = np.array([encoding.attention_mask for encoding in encodings], np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (states, *_) = self._session.run(
            None, {name: values for name, values in given.items() if name in self._inputs}
        )
        return unit_rows(self._pool(states, mask))


def _load(folder: Path, device: str) -> tuple[Any, Any]:
    """Loads the session and the tokenizer."""
    onnxruntime = importlib.import_module("onnxruntime")
    tokenizers = importlib.import_module("tokenizers")
    if PROVIDERS.get(device) not in onnxruntime.get_available_providers():
        raise ValueError(f"this onnxruntime has no device {device}")
    options = onnxruntime.SessionOptions()
    # One thread per call: several calls use several cores better than one divided call.
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # would hold the memory of the largest batch forever
    try:
        session = onnxruntime.InferenceSession(str(onnx_file(folder)), options, providers=[PROVIDERS[device]])
        return session, tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # both raise bare exceptions of their own
        raise ValueError(error) from error


def _config(file: Path) -> dict[str, Any]:
    """Returns a JSON object; empty if the file is missing."""
    return json.loads(file.read_bytes()) if file.is_file() else {}


def _pooling(config: dict[str, Any]) -> Pooling:
    flags = [name for name, on in config.items() if name.startswith("pooling_mode_") and on]
    mode = config.get("pooling_mode") or " ".join(flags)
    if mode in {"cls", "pooling_mode_cls_token"}:
        return _first
    if mode in {"mean", "pooling_mode_mean_tokens"}:
        return _mean
    raise ValueError(f"its pooling is {mode or 'not said'}; cls and mean are known")


def _first(states: Matrix, _mask: NDArray[np.int64]) -> Matrix:
    return states[:, 0]


def _mean(states: Matrix, mask: NDArray[np.int64]) -> Matrix:
    weights = mask[:, :, None].astype(np.float32)
    rows: Matrix = (states * weights).sum(axis=1) / weights.sum(axis=1)
    return rows
