"""Settings of the embedder."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from prism_model.static_model import SHIPPED_WEIGHTS
from prism_runtime.settings import ServiceSettings


class EmbedderSettings(ServiceSettings):
    """Read from `PRISM_…` at start. A process runs one tier; both tiers run side by side as processes."""

    embedder_tier: Literal["fast", "deep"] = Field(
        "fast", description="fast: the static model; deep: a transformer, see PRISM_EMBEDDER_DEEP_MODEL."
    )
    embedder_fast_folder: Path = Field(SHIPPED_WEIGHTS, description="Folder of the static model's weights.")
    embedder_deep_model: str = Field(
        "",
        description="Deep model: a folder, `package:NAME`, or an id of the Hugging Face hub; empty: the one that "
        "`make setup-models` installs. A folder with an .onnx file runs on onnxruntime, all else on torch.",
    )
    embedder_deep_url: str = Field(
        "",
        pattern="^(https?://.+)?$",
        description="Server with OpenAI's endpoint for embeddings, such as http://127.0.0.1:11434/v1 of Ollama. Then "
        "PRISM_EMBEDDER_DEEP_MODEL is the name of a model there.",
    )
    embedder_deep_key: SecretStr = Field(SecretStr(""), description="Key of that server, if it needs one.")
    embedder_deep_query_prompt: str = Field(
        "", description="Text put before each question that is sent to that server, if its model wants one."
    )
    embedder_deep_document_prompt: str = Field(
        "", description="Text put before each document that is sent to that server, if its model wants one."
    )
    embedder_deep_device: str = Field(
        "cpu", description="Device of the deep model: cpu, cuda; on torch also mps."
    )
    embedder_deep_threads: int = Field(
        1, ge=1, le=64, description="Threads that embed files for the deep tier, at low priority."
    )
    embedder_deep_tokens_max: int = Field(
        192, ge=16, description="Tokens per text that the deep model reads. More cost time and memory."
    )
    embedder_workers: int = Field(32, ge=1, le=256, description="Files in progress at once, per lane.")
    embedder_adopt_model: bool = Field(
        default=False,
        description="Start even if the index was built by another model; index again afterwards.",
    )
