"""The base class of all messages, and the identifiers that every part derives in the same way."""

import uuid
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

BASE_LAYER = "base"
DEFAULT_TENANT = "default"


class Message(BaseModel):
    """Something that crosses a process border. Frozen; fields unknown to the reader are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_bytes="base64", val_json_bytes="base64")


class Lane(StrEnum):
    """Which queue a piece of work waits in: a live edit never waits behind somebody's bulk import."""

    LIVE = "live"
    BULK = "bulk"


def repo_id(full_name: str) -> str:
    """The id of a repository, a UUID5 of its lower-cased full name such as `owner/name`."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, full_name.lower()))
