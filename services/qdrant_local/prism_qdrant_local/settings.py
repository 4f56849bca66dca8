"""Settings of the local Qdrant server, read from `PRISM_QDRANT_LOCAL_*`."""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from prism_runtime.settings import PrismSettings


class QdrantLocalSettings(PrismSettings):
    """All settings of the server."""

    model_config = SettingsConfigDict(env_prefix="PRISM_QDRANT_LOCAL_")

    data_dir: Path = Field(description="Folder of collections, state and port file; one server at a time.")
    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=6333, ge=0, le=65_535, description="Port to listen on; 0 picks a free one.")
    api_key: SecretStr | None = Field(
        default=None, description="Key that every request but health checks must carry."
    )
    max_body_bytes: int = Field(
        default=32 * 1024 * 1024, ge=1_024, description="Longest request body in bytes, as in Qdrant."
    )
    flush_interval_s: float = Field(
        default=5.0,
        gt=0,
        description="Seconds between flushes of writes; a kill loses nothing either way.",
    )
    compaction_idle_s: float = Field(
        default=5.0,
        gt=0,
        description="Seconds without a write after which a collection is compacted, which frees memory.",
    )
    disk_free_bytes_min: int = Field(
        default=512 * 1024**2,
        ge=0,
        description="Floor of free space in bytes: below half of it writes are refused with status 507.",
    )
    allow_missing_secrets: bool = Field(
        default=False, description="Listen on other than loopback addresses without an API key."
    )
