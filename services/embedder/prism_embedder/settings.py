"""Settings of the embedder."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from prism_runtime.settings import ServiceSettings

SHIPPED_WEIGHTS = Path(__file__).with_name("weights") / "fast"


class EmbedderSettings(ServiceSettings):
    """Read from `PRISM_…` at start. A process runs one tier; both tiers run side by side as processes."""

    embedder_tier: Literal["fast", "deep"] = Field(
        "fast", description="fast: the static model; deep: sentence-transformers."
    )
    embedder_fast_folder: Path = Field(SHIPPED_WEIGHTS, description="Folder of the static model's weights.")
    embedder_deep_model: str = Field(
        "", description="Hub name, folder or package of the deep model; empty: the packaged one."
    )
    embedder_deep_device: str = Field("cpu", description="Device of the deep model: cpu, cuda, mps.")
    embedder_workers: int = Field(
        32, ge=1, le=256, description="Files of one lane that are under way at once."
    )
    embedder_adopt_model: bool = Field(
        default=False,
        description="Start although the index was built by another model; index again afterwards.",
    )
