import pytest
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from prism_runtime.exposure import is_loopback, require_secrets
from prism_runtime.service import Service
from prism_runtime.settings import InvalidSettingsError, ServiceSettings

EMPTY, GIVEN = SecretStr(""), SecretStr("given")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"])
def test_loopback_addresses_need_no_secret(host: str):
    assert is_loopback(host)
    require_secrets([host], {"PRISM_X": EMPTY}, allow_missing=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "prism.example", ""])
def test_other_addresses_need_every_secret(host: str):
    with pytest.raises(InvalidSettingsError) as caught:
        require_secrets(["127.0.0.1", host], {"PRISM_X": EMPTY, "PRISM_Y": GIVEN}, allow_missing=False)
    assert "PRISM_X_FILE" in str(caught.value)
    assert "PRISM_Y" not in str(caught.value)
    require_secrets([host], {"PRISM_X": EMPTY}, allow_missing=True)
    require_secrets([host], {"PRISM_X": GIVEN}, allow_missing=False)


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        ({"health_host": "0.0.0.0"}, True),
        ({"health_host": "0.0.0.0", "nats_token": "t"}, False),
        ({"health_host": "0.0.0.0", "nats_url": "nats://me:secret@nats:4222"}, False),
        ({"health_host": "0.0.0.0", "nats_url": "nats://me:secret@a:4222,nats://b:4222"}, True),
        ({"health_host": "0.0.0.0", "allow_missing_secrets": True}, False),
        ({}, False),
    ],
)
def test_service_needs_a_login_for_nats_if_others_reach_it(settings: dict[str, object], missing: bool):
    if not missing:
        Service("test", ServiceSettings(**settings), metrics=CollectorRegistry())
        return
    with pytest.raises(InvalidSettingsError, match="PRISM_NATS_TOKEN"):
        Service("test", ServiceSettings(**settings), metrics=CollectorRegistry())


def test_service_needs_its_own_secrets_for_each_address():
    settings = ServiceSettings(nats_token="t")
    Service("test", settings, hosts=("127.0.0.1",), secrets={"PRISM_X": EMPTY}, metrics=CollectorRegistry())
    with pytest.raises(InvalidSettingsError, match="listens on 0"):
        Service("test", settings, hosts=("0.0.0.0",), secrets={"PRISM_X": EMPTY}, metrics=CollectorRegistry())
