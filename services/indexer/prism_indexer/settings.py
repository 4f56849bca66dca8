"""Settings of the indexer."""

from pydantic import Field

from prism_runtime.settings import ServiceSettings


class IndexerSettings(ServiceSettings):
    """Read from `PRISM_…` at start."""

    indexer_workers: int = Field(128, ge=1, le=512, description="Files in progress at once, per lane.")
    deep_enabled: bool = Field(
        default=False, description="Add deep vectors to all indexed files in the background."
    )
