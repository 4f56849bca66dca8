"""The base classes of all messages, and the derivation of identifiers that services share."""

import hashlib
import uuid
from enum import StrEnum

import msgspec
from pydantic import BaseModel, ConfigDict

BASE_LAYER = "base"
DEFAULT_TENANT = "default"
# Begins the names of layers that hold one version of one file.
VARIANT_PREFIX = "~"
REF_PREFIXES = ("refs/heads/", "refs/tags/", "refs/")

# A point id has 36 characters: the file's share, then for chunks the generation, then the position.
FILE_CHARS = 24
GENERATION_CHARS = 8
NO_CHUNK = "0" * 12
CHUNKS_MAX = 2**16 - 1
HIT_ID_CHARS = 12


class Message(BaseModel):
    """A model that crosses a process boundary. Frozen. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_bytes="base64", val_json_bytes="base64")


class Event(Message):
    """A message on JetStream. `topics` declares where each event type travels."""

    @property
    def message_id(self) -> str:
        """The idempotency key: the same for every attempt to publish the same event."""
        raise NotImplementedError


class Fact(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A small record that a file has hundreds of.

    Travels in packed lists only, and costs a tenth of a `Message`.
    """


class Lane(StrEnum):
    """The queue that work waits in. A live edit never waits behind a bulk import."""

    LIVE = "live"
    BULK = "bulk"


def repo_id(full_name: str) -> str:
    """Returns the id of a repository: a UUID5 of its lower-cased full name, such as `owner/name`.

    Another repository has this name if it was removed before: see `RepositoryName`.
    """
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, full_name.lower()))


def next_repo_id(repo: str) -> str:
    """Returns the id of the next repository with the name of a removed one, given the removed one's id.

    An id is never used twice, so what is left of a removed repository is never part of the next one.
    """
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{repo}/next"))


def scope_key(repo: str, layer: str) -> str:
    """Returns the value of the payload field `scope` of a layer's points."""
    return f"{repo}/{layer}"


def file_id(tenant: str, repo: str, layer: str, path: str) -> str:
    """Returns the id of a file in a layer, which is also the id of its point.

    A UUID8 (RFC 9562): 74 bits of a hash, then 48 zeros where the ids of its chunks have their position.
    """
    digest = hashlib.sha256(f"{tenant}\0{repo}\0{layer}\0{path}".encode()).hexdigest()
    variant = "89ab"[int(digest[15], 16) % 4]
    return f"{digest[:8]}-{digest[8:12]}-8{digest[12:15]}-{variant}{digest[16:19]}-{NO_CHUNK}"


def layer_id(ref: str) -> str:
    """Returns the id of a ref's layer: a hash, because ref names may contain characters that keys may not."""
    return hashlib.sha256(ref.encode()).hexdigest()[:16]


def short_names(ref: str) -> list[str]:
    """Returns the short names of a full ref such as `refs/heads/main` or `refs/pull/12/head`, the usual one
    first.
    """
    named = ref.removesuffix("/head") if ref.startswith("refs/pull/") else ref
    return [named.removeprefix(prefix) for prefix in REF_PREFIXES if named.startswith(prefix)]


def variant_layer(path: str, blob: str, basis: str) -> str:
    """Returns the layer of one content of one path. Branch layers with that content share its points.

    `basis` identifies chunker and model: a different one makes a different variant.
    """
    digest = hashlib.sha256(f"{path}\0{blob}\0{basis}".encode()).hexdigest()
    return f"{VARIANT_PREFIX}{digest[:20]}"


def text_version(chunker: str, redaction: str) -> str:
    """Returns the version that the text of chunks depends on: chunker and redaction rules."""
    return f"{chunker}.{redaction}" if redaction else chunker


def generation(blob: str, chunker: str, model: str) -> str:
    """Returns the content address of an indexed file: equal for equal content, chunker and model."""
    return hashlib.sha256(f"{blob}\0{chunker}\0{model}".encode()).hexdigest()[:16]


def hit_id(repo: str, path: str, place: str, generation_: str) -> str:
    """Returns the id of a hit: the same for the same content, whatever the question.

    `place` is the name of its symbol, or its first line.
    """
    digest = hashlib.sha256(f"{repo}\0{path}\0{place}\0{generation_}".encode(errors="surrogatepass"))
    return digest.hexdigest()[:HIT_ID_CHARS]


def chunk_id(file: str, generation_: str, ordinal: int) -> str:
    """Returns the id of a chunk's point: its file's id, with 32 bits of the generation and the position in
    place of the zeros.

    It depends on file, content and position, never on time, and identifies the file without a lookup.

    """
    if not 0 <= ordinal < CHUNKS_MAX:
        raise ValueError(f"chunk {ordinal}: a file has at most {CHUNKS_MAX} chunks")
    return f"{file[:FILE_CHARS]}{generation_[:GENERATION_CHARS]}{ordinal + 1:04x}"


def file_of(chunk: str) -> str:
    """Returns the file id of a chunk id."""
    return chunk[:FILE_CHARS] + NO_CHUNK


def ordinal_of(chunk: str) -> int:
    """Returns the position of a chunk in its file, from 0."""
    return int(chunk[FILE_CHARS + GENERATION_CHARS :], 16) - 1


def is_of_generation(chunk: str, generation_: str) -> bool:
    """Whether a chunk id belongs to a generation of its file."""
    return chunk[FILE_CHARS : FILE_CHARS + GENERATION_CHARS] == generation_[:GENERATION_CHARS]
