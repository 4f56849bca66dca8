"""Settings of the indexer."""

from pydantic import Field

from prism_runtime.settings import ServiceSettings


class IndexerSettings(ServiceSettings):
    """Read from `PRISM_…` at start."""

    indexer_workers: int = Field(
        128, ge=1, le=512, description="Files of one lane that are worked on at once."
    )
    deep_enabled: bool = Field(
        default=False, description="Have deep vectors filled in behind, of all that is indexed."
    )
