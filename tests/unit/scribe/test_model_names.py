"""Names of models, and the settings that name them."""

import pytest

from prism_runtime.settings import InvalidSettingsError
from prism_scribe.core.model_names import Host, ModelName, read_models
from prism_scribe.settings import KEYS_OF_PROVIDERS, ScribeSettings


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("openai:gpt-5", ModelName(Host.OPENAI, "gpt-5")),
        ("anthropic:claude-sonnet-4-5", ModelName(Host.ANTHROPIC, "claude-sonnet-4-5")),
        ("openrouter/openai/gpt-4o", ModelName(Host.OPENROUTER, "openai/gpt-4o")),
        ("gateway/openai:gpt-4o", ModelName(Host.GATEWAY_OPENAI, "gpt-4o")),
        ("gateway/anthropic:claude-sonnet-4-5", ModelName(Host.GATEWAY_ANTHROPIC, "claude-sonnet-4-5")),
        ("endpoint:qwen3:8b", ModelName(Host.ENDPOINT, "qwen3:8b")),
    ],
)
def test_a_name_says_who_serves_the_model(text: str, model: ModelName) -> None:
    assert read_models(text) == (model,)
    assert str(model) == text


def test_openrouter_is_written_with_either_sign() -> None:
    assert read_models("openrouter:openai/gpt-4o") == read_models("openrouter/openai/gpt-4o")


def test_models_keep_their_order_and_come_once() -> None:
    models = read_models(" openai:a , endpoint:b,openai:a,")
    assert [str(model) for model in models] == ["openai:a", "endpoint:b"]


@pytest.mark.parametrize(
    "text",
    ["gpt-5", "openai:", "openai/gpt", "http:x", "openai:a\x00", ",".join(f"openai:{n}" for n in range(6))],
)
def test_what_is_no_model_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="model"):
        read_models(text)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in KEYS_OF_PROVIDERS.values():
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(
    ("models", "variable"),
    [
        ("openai:a", "PRISM_OPENAI_API_KEY"),
        ("anthropic:a", "PRISM_ANTHROPIC_API_KEY"),
        ("openrouter/a/b", "PRISM_OPENROUTER_API_KEY"),
        ("gateway/openai:a", "PRISM_PYDANTIC_AI_GATEWAY_API_KEY"),
        ("endpoint:a", "PRISM_LLM_BASE_URL"),
    ],
)
def test_a_model_without_what_it_needs_stops_the_start(models: str, variable: str) -> None:
    with pytest.raises(InvalidSettingsError, match=variable):
        ScribeSettings(llm_models=models)


@pytest.mark.parametrize("url", ["ftp://a/v1", "https://user:pass@a/v1", "a/v1"])
def test_an_endpoint_needs_a_url_without_a_login(url: str) -> None:
    with pytest.raises(InvalidSettingsError, match="PRISM_LLM_BASE_URL"):
        ScribeSettings(llm_models="endpoint:a", llm_base_url=url)


def test_the_names_that_providers_give_to_keys_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYDANTIC_AI_GATEWAY_API_KEY", "theirs")
    monkeypatch.setenv("OPENROUTER_API_KEY", "theirs")
    monkeypatch.setenv("PRISM_OPENROUTER_API_KEY", "ours")
    settings = ScribeSettings(llm_models="gateway/openai:a,openrouter/b/c")
    assert [settings.key_of(model.host) for model in settings.models] == ["theirs", "ours"]


def test_the_key_of_a_provider_never_goes_to_another_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    settings = ScribeSettings(llm_models="endpoint:a", llm_base_url="http://127.0.0.1:1/v1")
    assert settings.key_of(Host.ENDPOINT) == ""
    assert "theirs" not in repr(settings)
