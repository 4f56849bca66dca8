"""The names of language models: who serves one, and what it is called there.

openai:gpt-5                       OpenAI
anthropic:claude-sonnet-4-5        Anthropic
openrouter/openai/gpt-4o           OpenRouter
gateway/openai:gpt-4o              Pydantic AI Gateway, which serves models of OpenAI and Anthropic
endpoint:qwen3                     any other server of OpenAI's protocol: Ollama, vLLM, LiteLLM
"""

from enum import StrEnum
from typing import NamedTuple

MODELS_MAX = 5
NAME_CHARS_MAX = 120


class Host(StrEnum):
    """Who serves a model."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    OPENROUTER = "openrouter"
    GATEWAY_OPENAI = "gateway/openai"
    GATEWAY_ANTHROPIC = "gateway/anthropic"
    ENDPOINT = "endpoint"


class ModelName(NamedTuple):
    """A model at a host."""

    host: Host
    name: str

    def __str__(self) -> str:
        return f"{self.host}{'/' if self.host is Host.OPENROUTER else ':'}{self.name}"


def read_models(text: str) -> tuple[ModelName, ...]:
    """Returns the models of a comma-separated list, in its order. Raises ValueError."""
    models = tuple(dict.fromkeys(_read(part.strip()) for part in text.split(",") if part.strip()))
    if len(models) > MODELS_MAX:
        raise ValueError(f"{len(models)} models are too many: name at most {MODELS_MAX}.")
    return models


def _read(text: str) -> ModelName:
    for host in Host:
        # OpenRouter's models have their vendor in their name, and are written with either sign.
        for sign in (":", "/") if host is Host.OPENROUTER else (":",):
            prefix = f"{host}{sign}"
            name = text.removeprefix(prefix)
            if text.startswith(prefix) and 0 < len(name) <= NAME_CHARS_MAX and name.isprintable():
                return ModelName(host, name)
    hosts = ", ".join(f"{host}{'/' if host is Host.OPENROUTER else ':'}…" for host in Host)
    raise ValueError(f"{text[:NAME_CHARS_MAX]!r} is no model: it must look like one of {hosts}.")
