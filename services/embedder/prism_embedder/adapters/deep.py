"""The deep model: any encoder of texts as documents and questions in, unit vectors out.

A model has one of three names: a folder, `package:NAME` (weights inside an installed Python package), or the
id of a model on the Hugging Face hub, which is downloaded at first use. A folder with an `.onnx` file runs on
onnxruntime; everything else is a sentence-transformers model and needs torch. With an endpoint, the model is
one that a server knows by this name.

All calls block: run them in a thread. Never runs code that comes with a model, nor code of the package that
contains it.
"""

import hashlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from prism_contracts.errors import ErrorCode, PrismError
from prism_embedder.adapters.onnx_encoder import OnnxEncoder, onnx_file
from prism_embedder.adapters.remote_encoder import Endpoint, RemoteEncoder
from prism_embedder.adapters.torch_encoder import TorchEncoder
from prism_embedder.core.rows import Matrix

PACKAGE_PREFIX = "package:"

# Documents per call. On a CPU larger batches are hardly faster, and padding costs; a GPU would idle.
BATCH_DOCUMENTS = 4
BATCH_DOCUMENTS_GPU = 64
BATCH_DOCUMENTS_REMOTE = 64
# Characters of a text passed to the tokenizer. Models read some 256 to 512 tokens, which is far less.
TEXT_CHARS_MAX = 16_384
# Part of the fingerprint: raised when this code returns other vectors for the same weights.
ENCODING = "deep-2"

_FINGERPRINT_HEX = 12
_MODEL_MARK = "modules.json"  # the file that marks a sentence-transformers model


class Encoder(Protocol):
    """A loaded model. Called from several threads at once."""

    dimension: int
    tokens_max: int  # per text

    def encode_queries(self, texts: Sequence[str]) -> Matrix:
        """Returns unit vectors of questions."""

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Returns unit vectors of documents, few enough for one call."""


@dataclass(frozen=True)
class DeepOptions:
    """How a deep model runs. The weights and `tokens_max` change the vectors, so they are part of the
    fingerprint.
    """

    device: str = "cpu"  # cpu, cuda; with torch also mps
    threads: int = 1  # CPU threads of torch, for the whole process
    revision: str = ""  # commit of a hub model, empty for the newest
    tokens_max: int = 0  # tokens read per text, 0 for the model's own limit


class DeepModel:
    """A loaded model. Safe to use from several threads."""

    def __init__(self, encoder: Encoder, identity: str, options: DeepOptions) -> None:
        """`identity` names the weights: equal for equal weights, on every machine."""
        self.dimension = encoder.dimension
        self.fingerprint = _fingerprint(identity, encoder.tokens_max)
        self._encoder = encoder
        self._batch = BATCH_DOCUMENTS if options.device == "cpu" else BATCH_DOCUMENTS_GPU
        if isinstance(encoder, RemoteEncoder):
            self._batch = BATCH_DOCUMENTS_REMOTE

    @classmethod
    def load(cls, name: str, options: DeepOptions | None = None) -> "DeepModel":
        """Loads the named model: a fifth of a second with onnxruntime, seconds with torch.

        Raises PrismError(UNAVAILABLE) if the libraries or the model are missing.
        """
        options = options or DeepOptions()
        folder = _folder(name)
        try:
            if folder and onnx_file(folder):
                encoder: Encoder = OnnxEncoder(folder, options.device, options.tokens_max)
                return cls(encoder, _folder_identity(folder), options)
            torch_encoder = TorchEncoder(
                str(folder or name), options.device, options.revision, options.threads, options.tokens_max
            )
            identity = _folder_identity(folder) if folder else torch_encoder.hub_identity()
            return cls(torch_encoder, identity, options)
        except ImportError as error:
            raise _unavailable(f"The deep tier needs the package {error.name}") from error
        except (OSError, ValueError, RuntimeError) as error:
            raise _unavailable(f"The deep model {name} cannot be loaded: {error}") from error

    @classmethod
    def connect(cls, endpoint: Endpoint, tokens_max: int) -> "DeepModel":
        """Connects to a model on a server. Raises PrismError(UNAVAILABLE) if the server gives no vectors."""
        return cls(RemoteEncoder(endpoint, tokens_max), endpoint.identity, DeepOptions(tokens_max=tokens_max))

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        """Returns unit vectors of documents, shape (texts, dimension).

        A vector depends slightly on its batch: a batch is padded to its longest text, and int8 weights scale
        by the batch. Texts are sorted by length to reduce padding, and each distinct text is embedded once.
        """
        unique = sorted(set(texts), key=lambda text: (len(text), text))
        rows = np.empty((len(unique), self.dimension), np.float32)
        for low in range(0, len(unique), self._batch):
            batch = [text[:TEXT_CHARS_MAX] for text in unique[low : low + self._batch]]
            rows[low : low + self._batch] = self._encoder.encode_documents(batch)
        position = {text: row for row, text in enumerate(unique)}
        return rows[[position[text] for text in texts]]

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Returns unit vectors of questions, shape (texts, dimension)."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return self._encoder.encode_queries([text[:TEXT_CHARS_MAX] for text in texts])


def _folder(name: str) -> Path | None:
    """Returns the folder of the model; None for a model of the hub."""
    if name.startswith(PACKAGE_PREFIX):
        return _package_folder(name.removeprefix(PACKAGE_PREFIX))
    if Path(name).is_dir():
        return Path(name)
    if name.startswith(("/", ".", "~")):
        raise _unavailable(f"There is no model folder {name}")
    return None


def _package_folder(package: str) -> Path:
    """Returns the model inside an installed package, found without importing the package."""
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    for root in (spec.submodule_search_locations or []) if spec else []:
        for mark in (Path(root) / _MODEL_MARK, *sorted(Path(root).glob(f"*/{_MODEL_MARK}"))):
            if mark.is_file():
                return mark.parent
    raise _unavailable(f"The Python package {package} with the deep model is not installed")


def _folder_identity(folder: Path) -> str:
    """Returns the SHA-256 over the names and contents of the model's files."""
    digest = hashlib.sha256()
    for file in sorted(
        file for file in folder.rglob("*") if _is_part(file.relative_to(folder)) and file.is_file()
    ):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0")
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _is_part(file: Path) -> bool:
    """Whether a file of a model folder can change its vectors."""
    hidden = any(part.startswith(".") for part in file.parts)
    return not hidden and file.suffix in {".onnx", ".safetensors", ".bin", ".json", ".txt", ".model"}


def _fingerprint(identity: str, tokens_max: int) -> str:
    return hashlib.sha256(f"{ENCODING}\n{identity}\n{tokens_max}".encode()).hexdigest()[:_FINGERPRINT_HEX]


def _unavailable(message: str) -> PrismError:
    return PrismError(
        ErrorCode.UNAVAILABLE,
        message,
        "Run `make setup-models` (models for onnxruntime) or `make setup-torch` (any sentence-transformers model), or "
        "turn the deep tier off: the fast tier works without it.",
    )
