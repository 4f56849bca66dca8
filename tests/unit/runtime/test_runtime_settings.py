import pytest
from pydantic import ValidationError

from prism_catalog.tenants import PlanSettings
from prism_catalog.vault import VaultSettings
from prism_indexer.settings import IndexerSettings
from prism_ingest.settings import IngestSettings
from prism_runtime.settings import InvalidSettingsError, ServiceSettings
from prism_search.settings import SearchSettings
from prism_store.settings import StoreSettings

ALL = [ServiceSettings, IngestSettings, IndexerSettings, SearchSettings, StoreSettings]


@pytest.mark.parametrize("settings_type", ALL)
def test_settings_do_not_change_after_the_start(settings_type):
    settings = settings_type()
    for name in settings_type.model_fields:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(settings, name, getattr(settings, name))


@pytest.mark.parametrize("settings_type", ALL)
def test_every_setting_has_a_description(settings_type):
    for name, field in settings_type.model_fields.items():
        assert field.description, name


def test_settings_are_read_from_the_environment_at_the_start(monkeypatch):
    monkeypatch.setenv("PRISM_NATS_REPLICAS", "3")
    monkeypatch.setenv("PRISM_QDRANT_URL", "http://qdrant:6333")
    settings = ServiceSettings()
    monkeypatch.setenv("PRISM_NATS_REPLICAS", "5")
    assert settings.nats_replicas == 3
    assert StoreSettings().url == "http://qdrant:6333"


@pytest.mark.parametrize(
    ("name", "value"), [("NATS_REPLICAS", "6"), ("HEALTH_PORT", "65536"), ("NATS_STORAGE_SCALE", "0")]
)
def test_an_invalid_setting_prevents_the_start(monkeypatch, name, value):
    monkeypatch.setenv(f"PRISM_{name}", value)
    with pytest.raises(InvalidSettingsError, match=f"environment: PRISM_{name}: "):
        ServiceSettings()


# The configuration file and secrets in files.


@pytest.fixture
def config(monkeypatch, tmp_path):
    """Writes the configuration file, and returns its path."""
    path = tmp_path / "prism.toml"
    monkeypatch.setenv("PRISM_CONFIG", str(path))

    def write(text: str):
        path.write_text(text)
        return path

    return write


def test_file_sets_what_the_environment_does_not(monkeypatch, config):
    config('log_level = "DEBUG"\nnats_replicas = 3\nqdrant_url = "http://store"\n')
    monkeypatch.setenv("PRISM_LOG_LEVEL", "WARNING")
    settings = ServiceSettings()
    assert (settings.log_level, settings.nats_replicas) == ("WARNING", 3)
    assert StoreSettings().url == "http://store"


def test_tables_of_the_file_set_structured_settings(config):
    config("[plans.small]\nrepositories = 2\n")
    assert PlanSettings().plans == {"small": {"repositories": 2}}


def test_error_names_file_line_and_setting(config):
    path = config('# mine\nlog_level = "DEBUG"\nnats_replicas = 9\n')
    with pytest.raises(InvalidSettingsError) as caught:
        ServiceSettings()
    assert f"{path}:3: PRISM_NATS_REPLICAS: " in str(caught.value)


def test_error_of_the_environment_names_the_variable_and_not_its_value(monkeypatch):
    monkeypatch.setenv("PRISM_SECRETS_KEY", "too-short-secret")
    with pytest.raises(InvalidSettingsError) as caught:
        VaultSettings()
    assert str(caught.value).startswith("environment: PRISM_SECRETS_KEY: ")
    assert "too-short-secret" not in str(caught.value)


def test_file_that_is_not_toml_prevents_the_start(config):
    path = config("log_level = \n")
    with pytest.raises(InvalidSettingsError, match=f"{path} is not TOML.*line 1"):
        ServiceSettings()


@pytest.mark.parametrize(
    ("settings_type", "variable", "name"),
    [
        (ServiceSettings, "PRISM_NATS_TOKEN", "nats_token"),
        (StoreSettings, "PRISM_QDRANT_API_KEY", "api_key"),
        (VaultSettings, "PRISM_SECRETS_KEY", "secrets_key"),
    ],
)
def test_secret_is_read_from_the_file_that_is_named(monkeypatch, tmp_path, settings_type, variable, name):
    secret = tmp_path / "secret"
    secret.write_text("s" * 40 + "\n")
    monkeypatch.setenv(f"{variable}_FILE", str(secret))
    assert getattr(settings_type(), name).get_secret_value() == "s" * 40
    monkeypatch.setenv(variable, "x" * 40)
    with pytest.raises(InvalidSettingsError, match="both set"):
        settings_type()


def test_secret_file_of_the_environment_takes_precedence_over_the_configuration(
    monkeypatch, tmp_path, config
):
    config('nats_token = "of-the-file"\n')
    secret = tmp_path / "secret"
    secret.write_text("of-the-environment")
    monkeypatch.setenv("PRISM_NATS_TOKEN_FILE", str(secret))
    assert ServiceSettings().nats_token.get_secret_value() == "of-the-environment"


def test_missing_secret_file_prevents_the_start(monkeypatch, tmp_path):
    monkeypatch.setenv("PRISM_NATS_TOKEN_FILE", str(tmp_path / "none"))
    with pytest.raises(InvalidSettingsError, match="PRISM_NATS_TOKEN_FILE, cannot be read"):
        ServiceSettings()


def test_secrets_are_masked_in_text():
    shown = repr(ServiceSettings(nats_token="very-secret")) + repr(StoreSettings(api_key="very-secret"))
    assert "very-secret" not in shown
