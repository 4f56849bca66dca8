"""The fast model: chunks of code and questions in, unit vectors out, thousands per second on one thread.

A vector is the weighted sum of the vectors of a text's tokens (`tokens.py`): a lookup and a sum, so it needs
numpy only. A chunk is unit(code) + path_weight x unit(path) + stem_weight x unit(file name), normalised to
length one. The path as a separate field is worth more than any other part of the model (see
training/README.md).

The same (path, text) always has the same vector, bit by bit, whatever is embedded beside it or before it:
each row is summed on its own, in order of token id, by element-wise multiplications and additions.
"""

import hashlib
import io
import json
import re
import struct
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from prism_contracts.errors import ErrorCode, PrismError
from prism_model.tokens import Bags, Ints, Tokenizer, Vocabulary

Matrix = NDArray[np.float32]

# Characters of a text that are used. A chunk has some two thousand; a longer text is one endless line of
# data, whose start is as representative as its end.
TEXT_CHARS_MAX = 16_384
# Texts tokenized together: enough to spread the cost of a numpy call, few enough to stay in the CPU cache and
# to delay a waiting query by some milliseconds only.
BATCH_TEXTS = 64
# Part of the fingerprint: raised when this code returns other vectors for the same weights.
ENCODING = b"static-1"

SHIPPED_WEIGHTS = Path(__file__).with_name("weights") / "fast"
WEIGHTS_FILE, VOCABULARY_FILE, CONFIG_FILE = "model.npz", "tokenizer.json", "config.json"
_FINGERPRINT_HEX = 12
_INT16_MAX = 32_767
VECTORS = "vectors"
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")  # of a member of a zip file


class FileChunks(NamedTuple):
    """The chunk texts of a file."""

    path: str
    texts: Sequence[str]


class StaticModel:
    """The loaded model. Safe to use from several threads."""

    def __init__(
        self,
        table: "Table",
        weights: Mapping[str, NDArray[Any]],
        vocabulary: Vocabulary,
        config: dict[str, Any],
    ) -> None:
        self.fingerprint = ""
        self.dimension = int(config["dim"])
        self._table = table
        self._chunk_weights = weights["weights"].astype(np.float32)
        self._query_weights = weights["query_weights"].astype(np.float32)
        self._power = np.arange(TEXT_CHARS_MAX + 1, dtype=np.float64) ** config["tf_power"]
        self._path_weight = np.float32(config["path_weight"])
        self._stem_weight = np.float32(config["stem_weight"])
        self._tokenizer = Tokenizer(vocabulary)
        self._tokenizing = Lock()

    @classmethod
    def load(cls, folder: Path, *, mapped: bool = False) -> "StaticModel":
        """Loads model.npz, tokenizer.json and config.json.

        `mapped` leaves the vectors in their file, for callers that embed a question now and then and not
        thousands of chunks. The vectors are the same. Raises PrismError(MODEL_MISMATCH) if a file is missing
        or damaged, or the files do not match.
        """
        try:
            data = {
                name: (folder / name).read_bytes() for name in (WEIGHTS_FILE, VOCABULARY_FILE, CONFIG_FILE)
            }
            weights = _weights(data[WEIGHTS_FILE])
            vocabulary, config = Vocabulary.parse(data[VOCABULARY_FILE]), json.loads(data[CONFIG_FILE])
            _check(weights, vocabulary, config)
            table = MappedTable(folder / WEIGHTS_FILE) if mapped else KeptTable(weights[VECTORS])
            model = cls(table, weights, vocabulary, config)
        except (OSError, EOFError, BadZipFile, ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"The fast model in {folder} cannot be loaded: {error}"
            raise PrismError(
                ErrorCode.MODEL_MISMATCH, message, "Reinstall Prism, or give the folder of a complete model."
            ) from error
        model.fingerprint = _fingerprint(data)
        return model

    def embed_chunks(self, path: str, texts: Sequence[str]) -> Matrix:
        """Returns unit vectors of the chunks of a file, shape (texts, dimension).

        A chunk without a known word has the vector of its path, and a constant vector if the path has no
        known word either. Never a zero vector: Qdrant stores one as it is, and by cosine it scores 0 with
        every question, above all chunks that point away from the question.
        """
        return self.embed_files([FileChunks(path, texts)])[0]

    def embed_files(self, files: Sequence[FileChunks]) -> list[Matrix]:
        """Like `embed_chunks`, for many files at once."""
        paths = [file.path for file in files]
        texts = [text for file in files for text in file.texts]
        # In one call: for few texts, the number of calls into numpy dominates the cost.
        rows = self._embed([*paths, *map(_stem, paths), *texts], self._chunk_weights)
        wholes, stems, codes = np.split(rows, [len(files), 2 * len(files)])
        # The contribution of the path and the file name to each chunk of a file.
        places = wholes * self._path_weight + stems * self._stem_weight
        bounds = pairwise(accumulate((len(file.texts) for file in files), initial=0))
        return [
            self._compose(codes[low:high], place) for (low, high), place in zip(bounds, places, strict=True)
        ]

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Returns unit vectors of questions, shape (texts, dimension). The row of a question without a known
        word is zero.

        Such a question (`???`, or words in non-Latin letters) has nothing to rank by: omit this leg for it.
        """
        return self._embed(texts, self._query_weights)

    def _compose(self, codes: Matrix, place: NDArray[np.float32]) -> Matrix:
        rows = _unit(codes + place)
        rows[~rows.any(axis=1)] = np.float32(self.dimension**-0.5)
        return rows

    def _embed(self, texts: Sequence[str], weights: NDArray[np.float32]) -> Matrix:
        rows = np.empty((len(texts), self.dimension), np.float32)
        for low in range(0, len(texts), BATCH_TEXTS):
            batch = [text[:TEXT_CHARS_MAX] for text in texts[low : low + BATCH_TEXTS]]
            with self._tokenizing:
                bags = self._tokenizer.bags(batch)
            rows[low : low + BATCH_TEXTS] = _unit(self._sum(bags, weights))
        return rows

    def _sum(self, bags: Bags, weights: NDArray[np.float32]) -> Matrix:
        """Row by row: only then is the order of the additions the same in every batch."""
        rows = np.empty((len(bags.starts) - 1, self.dimension), np.float32)
        scales = self._table.scales(bags.tokens) * weights[bags.tokens]
        factors = (scales * self._power[bags.counts]).astype(np.float32)[:, None]
        for row, (low, high) in enumerate(pairwise(bags.starts.tolist())):
            vectors = self._table.steps(bags.tokens[low:high]).astype(np.float32)
            vectors *= factors[low:high]
            np.add.reduce(vectors, axis=0, out=rows[row])
        return rows


class Table(Protocol):
    """The vectors of tokens: 16-bit steps, and a step size for each row."""

    def steps(self, tokens: Ints) -> NDArray[np.int16]:
        """Returns shape (tokens, dimension)."""
        ...

    def scales(self, tokens: Ints) -> NDArray[np.float32]:
        """Returns shape (tokens,)."""
        ...


class KeptTable:
    """In memory, as steps: numpy converts them to float32 ten times as fast as the float16 of the file."""

    def __init__(self, vectors: NDArray[np.float16]) -> None:
        self._steps, self._scales = _quantize(vectors)

    def steps(self, tokens: Ints) -> NDArray[np.int16]:
        """See `Table`."""
        return self._steps.take(tokens, axis=0)

    def scales(self, tokens: Ints) -> NDArray[np.float32]:
        """See `Table`."""
        return self._scales[tokens]


class MappedTable:
    """In the file, cached by the system; rows are converted to steps on demand."""

    def __init__(self, weights_file: Path) -> None:
        self._vectors = _map_member(weights_file, f"{VECTORS}.npy")

    def steps(self, tokens: Ints) -> NDArray[np.int16]:
        """See `Table`."""
        return _quantize(self._vectors[tokens])[0]

    def scales(self, tokens: Ints) -> NDArray[np.float32]:
        """See `Table`."""
        return _quantize(self._vectors[tokens])[1]


def _map_member(path: Path, name: str) -> NDArray[np.float16]:
    """Maps an array of an .npz file, which must be uncompressed. numpy itself maps .npy files only."""
    with ZipFile(path) as archive, archive.open(name) as member:
        info = archive.getinfo(name)
        if info.compress_type != ZIP_STORED:
            raise ValueError(f"{name} is compressed")
        np.lib.format.read_magic(member)
        shape, _, dtype = np.lib.format.read_array_header_1_0(member)
        header_bytes = member.tell()
    with path.open("rb") as file:
        # The local header: its last four bytes are the lengths of the name and of the extra field.
        file.seek(info.header_offset + _LOCAL_HEADER.size - 4)
        before = info.header_offset + _LOCAL_HEADER.size + sum(struct.unpack("<HH", file.read(4)))
    return np.memmap(path, dtype, mode="r", offset=before + header_bytes, shape=shape)


def _weights(data: bytes) -> dict[str, NDArray[Any]]:
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return {name: archive[name] for name in (VECTORS, "weights", "query_weights")}


def _check(weights: dict[str, NDArray[Any]], vocabulary: Vocabulary, config: dict[str, Any]) -> None:
    wanted = {
        VECTORS: (vocabulary.size, config["dim"]),
        "weights": (vocabulary.size,),
        "query_weights": (vocabulary.size,),
    }
    if config["vocabulary"] != vocabulary.size:
        raise ValueError(f"config names {config['vocabulary']} tokens, the vocabulary has {vocabulary.size}")
    for name, shape in wanted.items():
        if weights[name].shape != shape:
            raise ValueError(f"{name} has shape {weights[name].shape}, not {shape}")
        if not np.isfinite(weights[name]).all():
            raise ValueError(f"{name} holds values that are not finite")


def _quantize(vectors: NDArray[Any]) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
    """Vectors as 16-bit steps with one step size per row.

    As small as the float16 of the file and finer, and numpy converts them to float32 ten times as fast.
    """
    steps = np.empty(vectors.shape, np.int16)
    scales = np.empty(len(vectors), np.float32)
    for low in range(0, len(vectors), 1024):  # in parts: the whole as float32 would double the memory
        part = vectors[low : low + 1024].astype(np.float32)
        scale = np.maximum(np.abs(part).max(axis=1), np.finfo(np.float32).tiny) / _INT16_MAX
        steps[low : low + 1024] = np.rint(part / scale[:, None])
        scales[low : low + 1024] = scale
    return steps, scales


def _fingerprint(data: dict[str, bytes]) -> str:
    digest = hashlib.sha256(ENCODING)
    for name in (WEIGHTS_FILE, VOCABULARY_FILE, CONFIG_FILE):
        digest.update(hashlib.sha256(data[name]).digest())
    return digest.hexdigest()[:_FINGERPRINT_HEX]


def _stem(path: str) -> str:
    """Returns the file name up to its first dot."""
    return re.split(r"[/\\]", path)[-1].split(".")[0]


def _unit(rows: Matrix) -> Matrix:
    """Returns rows of length one; zero rows stay zero."""
    length = np.sqrt(np.add.reduce(np.square(rows), axis=1, keepdims=True), dtype=np.float32)
    length[length == 0] = 1
    return np.divide(rows, length, dtype=np.float32)
