"""Settings of search."""

from pathlib import Path

from pydantic import Field

from prism_model.static_model import SHIPPED_WEIGHTS
from prism_runtime.settings import ServiceSettings


class SearchSettings(ServiceSettings):
    """Read from `PRISM_…` at start."""

    deep_enabled: bool = Field(
        default=False, description="Ask the deep tier as well; it says so if it does not answer."
    )
    embed_timeout_s: float = Field(0.5, gt=0, description="Longest wait for a deep vector, in seconds.")
    embedder_fast_folder: Path = Field(
        SHIPPED_WEIGHTS, description="Folder of the static model's weights, the same as the embedder's."
    )
    search_deadline_s: float = Field(8.0, gt=0, description="Longest time for one question, in seconds.")
    grep_deadline_s: float = Field(8.0, gt=0, description="Longest time for one exact search, in seconds.")
    texts_kept_bytes_max: int = Field(
        256 * 1024 * 1024, ge=0, description="Memory for texts that exact search has read, in bytes."
    )
    answers_enabled: bool = Field(
        default=True,
        description="Give a question that was asked before its answer again while the index is the same.",
    )
    answers_kept_bytes_max: int = Field(
        32 * 1024 * 1024, ge=0, description="Memory for answers in each process, in bytes."
    )
    answers_shared_bytes_max: int = Field(
        64 * 1024 * 1024, gt=0, description="Room for answers in NATS, shared by all processes, in bytes."
    )
    answers_ttl_s: float = Field(3600.0, ge=1, description="How long an answer is kept in NATS, in seconds.")
