"""Settings of scribe."""

import os
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from prism_runtime.settings import ServiceSettings
from prism_scribe.core.model_names import Host, ModelName, read_models

# A provider's own name for its key, which is read if the variable of Prism is empty.
KEYS_OF_PROVIDERS = {
    "openai_api_key": "OPENAI_API_KEY",
    "anthropic_api_key": "ANTHROPIC_API_KEY",
    "openrouter_api_key": "OPENROUTER_API_KEY",
    "pydantic_ai_gateway_api_key": "PYDANTIC_AI_GATEWAY_API_KEY",
}
KEY_OF_HOST: Mapping[Host, str] = {
    Host.OPENAI: "openai_api_key",
    Host.ANTHROPIC: "anthropic_api_key",
    Host.OPENROUTER: "openrouter_api_key",
    Host.GATEWAY_OPENAI: "pydantic_ai_gateway_api_key",
    Host.GATEWAY_ANTHROPIC: "pydantic_ai_gateway_api_key",
    Host.ENDPOINT: "llm_api_key",
}


class ScribeSettings(ServiceSettings):
    """Settings that are read from `PRISM_…` at start."""

    context_s: float = Field(
        4.0,
        gt=0,
        description="Longest time for a round of a context, in seconds; then the context is answered as it is.",
    )
    context_calls_max: int = Field(48, ge=6, description="Most requests to search and atlas for one context.")
    context_cache_bytes_max: int = Field(
        64 * 1024 * 1024,
        ge=0,
        description="Memory for contexts that were answered and for their searches, in bytes.",
    )
    wiki_renew: bool = Field(
        default=True,
        description="Renew wikis after imports, try failed pages again, and resume runs that were stopped.",
    )
    wiki_model: bool = Field(
        default=True, description="Have the language model introduce the pages of wikis, if one is set."
    )
    wiki_settle_s: float = Field(
        30.0,
        ge=0,
        description="How long the index of a repository is unchanged before its wiki is renewed, in seconds.",
    )
    wiki_pause_s: float = Field(
        300.0, ge=0, description="Shortest time between two renewals of one wiki, in seconds."
    )
    context_answer_s: float = Field(
        45.0, gt=0, le=50, description="Longest time that a language model answers a question, in seconds."
    )
    context_answer_tokens_max: int = Field(
        30_000,
        ge=1_000,
        description="Tokens of a language model for one question, after which it is not asked again.",
    )
    context_answers_bytes_max: int = Field(
        16 * 1024 * 1024, ge=0, description="Memory for answers of the language model, in bytes."
    )
    scribe_deadline_s: float = Field(10.0, gt=0, description="Longest time for one question, in seconds.")
    llm_models: str = Field(
        "",
        max_length=1_000,
        description="Language models, comma-separated; the next one is asked if one fails: `openai:…`, "
        "`anthropic:…`, `openrouter/…`, `gateway/openai:…`, `gateway/anthropic:…`, or `endpoint:…` for the server at "
        "PRISM_LLM_BASE_URL. Empty: none.",
    )
    llm_base_url: str = Field(
        "",
        max_length=2_000,
        description="URL of a server of OpenAI's protocol for `endpoint:…`, such as `http://127.0.0.1:11434/v1`.",
    )
    llm_api_key: SecretStr = Field(SecretStr(""), description="Key for PRISM_LLM_BASE_URL, if it needs one.")
    openai_api_key: SecretStr = Field(
        SecretStr(""), description="Key for models `openai:…`; if it is empty, that of OPENAI_API_KEY."
    )
    anthropic_api_key: SecretStr = Field(
        SecretStr(""), description="Key for models `anthropic:…`; if it is empty, that of ANTHROPIC_API_KEY."
    )
    openrouter_api_key: SecretStr = Field(
        SecretStr(""),
        description="Key for models `openrouter/…`; if it is empty, that of OPENROUTER_API_KEY.",
    )
    pydantic_ai_gateway_api_key: SecretStr = Field(
        SecretStr(""),
        description="Key for models `gateway/…`; if it is empty, that of PYDANTIC_AI_GATEWAY_API_KEY.",
    )
    llm_timeout_s: float = Field(
        30.0, gt=0, le=600, description="Longest wait for one answer of a language model, in seconds."
    )
    llm_concurrency: int = Field(
        4, ge=1, le=100, description="Calls to language models at once, per copy of scribe."
    )
    llm_tokens_per_day: int = Field(
        1_000_000,
        ge=0,
        description="Tokens that a tenant may use of language models in a day (UTC), unless its plan or its own limits "
        "have model_tokens_per_day.",
    )
    llm_cents_per_day: int = Field(
        500,
        ge=0,
        description="US cents that a tenant may spend on language models in a day (UTC), unless its plan or its own "
        "limits have model_cents_per_day. Models whose price is not known count tokens only.",
    )

    descriptions_files_max: int = Field(
        500,
        ge=0,
        le=20_000,
        description="Files of a repository that a language model describes, the most depended-upon first.",
    )

    @model_validator(mode="before")
    @classmethod
    def _read_keys_of_providers(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        theirs = {
            name: os.environ[variable]
            for name, variable in KEYS_OF_PROVIDERS.items()
            if not values.get(name) and os.environ.get(variable)
        }
        return {**values, **theirs}

    @model_validator(mode="after")
    def _check_models(self) -> Self:
        for model in self.models:
            self._check_model(model)
        return self

    def _check_model(self, model: ModelName) -> None:
        if model.host is Host.ENDPOINT:
            url = urlsplit(self.llm_base_url)
            if url.scheme not in {"http", "https"} or not url.hostname or "@" in url.netloc:
                raise ValueError(
                    f"The model {model} needs PRISM_LLM_BASE_URL, which begins with http:// or https:// and has no login."
                )
        elif not self.key_of(model.host):
            raise ValueError(f"The model {model} needs PRISM_{KEY_OF_HOST[model.host].upper()}.")
        key = self.key_of(model.host)
        if not (key.isascii() and key.isprintable()):
            raise ValueError(
                f"PRISM_{KEY_OF_HOST[model.host].upper()} is no key: it has characters beyond printable ASCII."
            )

    @property
    def models(self) -> tuple[ModelName, ...]:
        """The language models, in the order in which they are asked."""
        return read_models(self.llm_models)

    def key_of(self, host: Host) -> str:
        """Returns the key for a host of models; empty if there is none."""
        key: SecretStr = getattr(self, KEY_OF_HOST[host])
        return key.get_secret_value()
