"""Settings of the chunker."""

from pydantic import Field

from prism_runtime.settings import ServiceSettings


class ChunkerSettings(ServiceSettings):
    """Read from `PRISM_…` at start."""

    chunker_workers: int = Field(16, ge=1, le=256, description="Files in progress at once, per lane.")
