"""Settings of search."""

from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from prism_catalog.shared_buckets import AnswersSettings
from prism_model.static_model import SHIPPED_WEIGHTS
from prism_runtime.settings import ServiceSettings


class SearchSettings(AnswersSettings, ServiceSettings):
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
    member_texts_kept_bytes_max: int = Field(
        32 * 1024 * 1024,
        ge=0,
        description="Memory for the texts around hits that search has read, in bytes.",
    )
    answers_enabled: bool = Field(
        default=True,
        description="Answer repeated questions from the cache while the index is unchanged.",
    )
    answers_kept_bytes_max: int = Field(
        32 * 1024 * 1024, ge=0, description="Memory for cached answers per process, in bytes."
    )
    reranker_enabled: bool = Field(
        default=False,
        description="Let a remote reranker order the best hits. It gets the text of questions and passages.",
    )
    reranker_url: str = Field(
        "",
        max_length=2_000,
        description="URL that rerank requests are posted to, such as `https://rerank.example.com/v1/rerank`.",
    )
    reranker_api_key: SecretStr = Field(
        SecretStr(""), description="Key that the reranker gets as a bearer token, if it requires one."
    )
    reranker_model: str = Field("", max_length=200, description="Name of the model that reranks.")
    reranker_candidates: int = Field(
        50, ge=2, le=100, description="Hits that the reranker orders: the best ones."
    )
    reranker_timeout_s: float = Field(
        0.3,
        gt=0,
        le=5,
        description="Longest time that reranking adds to a question, in seconds. Then the order stays as it was, and the "
        "receipt says so.",
    )

    @model_validator(mode="after")
    def _check_reranker(self) -> Self:
        key, url = self.reranker_api_key.get_secret_value(), urlsplit(self.reranker_url)
        if not (key.isascii() and key.isprintable()):
            raise ValueError("PRISM_RERANKER_API_KEY is no header: it has characters beyond printable ASCII.")
        if not self.reranker_enabled:
            return self
        if url.scheme not in {"http", "https"} or not url.hostname or "@" in url.netloc:
            raise ValueError(
                "PRISM_RERANKER_ENABLED needs PRISM_RERANKER_URL, which begins with http:// or https:// and has no login."
            )
        if not self.reranker_model:
            raise ValueError("PRISM_RERANKER_ENABLED needs PRISM_RERANKER_MODEL.")
        return self
