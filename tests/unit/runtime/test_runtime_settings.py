import pytest
from pydantic import ValidationError

from prism_indexer.settings import IndexerSettings
from prism_ingest.settings import IngestSettings
from prism_runtime.settings import ServiceSettings
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
    with pytest.raises(ValidationError):
        ServiceSettings()
