"""Settings of search."""

from pathlib import Path

from pydantic import Field

from prism_model.static_model import SHIPPED_WEIGHTS
from prism_runtime.settings import ServiceSettings


class SearchSettings(ServiceSettings):
    """Read from `PRISM_…` at start."""

    deep_enabled: bool = Field(
        default=False, description="Also query the deep tier; the receipt shows if it fails."
    )
    embed_timeout_s: float = Field(0.5, gt=0, description="Longest wait for a deep vector, in seconds.")
    embedder_fast_folder: Path = Field(
        SHIPPED_WEIGHTS, description="Folder of the static model's weights, the same as the embedder's."
    )
    search_deadline_s: float = Field(8.0, gt=0, description="Longest time for one question, in seconds.")
    grep_deadline_s: float = Field(8.0, gt=0, description="Longest time for one exact search, in seconds.")
    texts_kept_bytes_max: int = Field(
        256 * 1024 * 1024, ge=0, description="Memory for the texts that exact search has read, in bytes."
    )
    answers_enabled: bool = Field(
        default=True,
        description="Answer repeated questions from the cache while the index is unchanged.",
    )
    answers_kept_bytes_max: int = Field(
        32 * 1024 * 1024, ge=0, description="Memory for cached answers per process, in bytes."
    )
    answers_shared_bytes_max: int = Field(
        64 * 1024 * 1024,
        gt=0,
        description="Space for cached answers in NATS, shared by all processes, in bytes.",
    )
    answers_ttl_s: float = Field(3600.0, ge=1, description="How long answers are cached in NATS, in seconds.")
