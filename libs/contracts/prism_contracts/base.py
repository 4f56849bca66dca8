"""The base class of all messages, and the identifiers that every part derives in the same way."""

import hashlib
import uuid
from enum import StrEnum

import msgspec
from pydantic import BaseModel, ConfigDict

BASE_LAYER = "base"
DEFAULT_TENANT = "default"


class Message(BaseModel):
    """Something that crosses a process border. Frozen; fields unknown to the reader are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_bytes="base64", val_json_bytes="base64")


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
    """The id of a file of a layer, and of the point that stands for it, a UUID5."""
    return str(uuid.uuid5(uuid.UUID(repo), f"{tenant}\0{layer}\0{path}"))


def generation(blob: str, chunker: str, model: str) -> str:
    """Content address of what is indexed of a file: the same content, chunked and embedded in the same way."""
    return hashlib.sha256(f"{blob}\0{chunker}\0{model}".encode()).hexdigest()[:16]


def chunk_id(file: str, generation_: str, ordinal: int) -> str:
    """The id of a chunk's point, a UUID5: a function of file, content and position, never of time."""
    return str(uuid.uuid5(uuid.UUID(file), f"{generation_}:{ordinal}"))
