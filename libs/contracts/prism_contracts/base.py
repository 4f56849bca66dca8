"""The base class of all messages, and the identifiers that every part derives in the same way."""

import hashlib
import uuid
from enum import StrEnum

import msgspec
from pydantic import BaseModel, ConfigDict

BASE_LAYER = "base"
DEFAULT_TENANT = "default"
# Of the names of layers that hold one version of one file.
VARIANT_PREFIX = "~"
REF_PREFIXES = ("refs/heads/", "refs/tags/", "refs/")

# Of the 36 characters of a point's id: what all points of a file share, then of chunks the generation, then the position.
FILE_CHARS = 24
GENERATION_CHARS = 8
NO_CHUNK = "0" * 12
CHUNKS_MAX = 2**16 - 1


class Message(BaseModel):
    """Something that crosses a process border. Frozen; fields unknown to the reader are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_bytes="base64", val_json_bytes="base64")


class Event(Message):
    """A message on JetStream. `topics` declares where each event type travels."""

    @property
    def message_id(self) -> str:
        """The idempotency key: the same for every attempt to publish the same event."""
        raise NotImplementedError


class Fact(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Something of which a file has hundreds: it crosses process borders in packed lists only, and is a tenth of a message."""


class Lane(StrEnum):
    """Which queue a piece of work waits in: a live edit never waits behind somebody's bulk import."""

    LIVE = "live"
    BULK = "bulk"


def repo_id(full_name: str) -> str:
    """The id of a repository, a UUID5 of its lower-cased full name such as `owner/name`."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, full_name.lower()))


def file_id(tenant: str, repo: str, layer: str, path: str) -> str:
    """The id of a file of a layer, and of the point that stands for it: a UUID8 (RFC 9562) of 74 bits of a hash, and 48
    zeros that leave room for its chunks.
    """
    digest = hashlib.sha256(f"{tenant}\0{repo}\0{layer}\0{path}".encode()).hexdigest()
    variant = "89ab"[int(digest[15], 16) % 4]
    return f"{digest[:8]}-{digest[8:12]}-8{digest[12:15]}-{variant}{digest[16:19]}-{NO_CHUNK}"


def layer_id(ref: str) -> str:
    """The id of the layer of a branch, a tag or a pull request; names of refs may hold what keys may not."""
    return hashlib.sha256(ref.encode()).hexdigest()[:16]


def short_names(ref: str) -> list[str]:
    """What people call a full ref, such as `refs/heads/main` or `refs/pull/12/head`, the usual name first."""
    named = ref.removesuffix("/head") if ref.startswith("refs/pull/") else ref
    return [named.removeprefix(prefix) for prefix in REF_PREFIXES if named.startswith(prefix)]


def variant_layer(path: str, blob: str, basis: str) -> str:
    """The layer of its own that one content of one path has, so that all layers with it share its points.

    `basis` is what files are indexed with: another chunker or model makes another variant.
    """
    digest = hashlib.sha256(f"{path}\0{blob}\0{basis}".encode()).hexdigest()
    return f"{VARIANT_PREFIX}{digest[:20]}"


def text_version(chunker: str, redaction: str) -> str:
    """What the text of chunks depends on beside the file: the chunker, and the rules that take secrets out."""
    return f"{chunker}.{redaction}" if redaction else chunker


def generation(blob: str, chunker: str, model: str) -> str:
    """Content address of what is indexed of a file: the same content, chunked and embedded in the same way."""
    return hashlib.sha256(f"{blob}\0{chunker}\0{model}".encode()).hexdigest()[:16]


def chunk_id(file: str, generation_: str, ordinal: int) -> str:
    """The id of a chunk's point: that of its file, with 32 bits of the generation and the position in the place of the zeros.

    A function of file, content and position, never of time; it tells whose chunk it is without a look at the point.
    """
    if not 0 <= ordinal < CHUNKS_MAX:
        raise ValueError(f"chunk {ordinal} of a file, at most {CHUNKS_MAX}")
    return f"{file[:FILE_CHARS]}{generation_[:GENERATION_CHARS]}{ordinal + 1:04x}"


def file_of(chunk: str) -> str:
    """The file of a chunk, by their ids."""
    return chunk[:FILE_CHARS] + NO_CHUNK


def ordinal_of(chunk: str) -> int:
    """The position of a chunk in its file, from 0."""
    return int(chunk[FILE_CHARS + GENERATION_CHARS :], 16) - 1


def is_of_generation(chunk: str, generation_: str) -> bool:
    """Whether a chunk's id is one of a generation of its file."""
    return chunk[FILE_CHARS : FILE_CHARS + GENERATION_CHARS] == generation_[:GENERATION_CHARS]
