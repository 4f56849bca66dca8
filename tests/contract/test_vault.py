"""Secrets on the records of a real nats-server."""

from collections.abc import AsyncIterator

import nats
import pytest
from nats.js import JetStreamContext
from pydantic import SecretStr

from prism_catalog.vault import KEY_CHARS_MIN, Vault, VaultSettings
from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Secrets
from prism_runtime.settings import InvalidSettingsError

KEY = "a key that is long enough to be one"


@pytest.fixture
async def js(nats_server) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(nats_server.url)
    yield client.jetstream()
    await client.close()


async def opened(js: JetStreamContext, key: str = KEY) -> Vault:
    vault = Vault(VaultSettings(secrets_key=SecretStr(key)))
    await vault.open(js, replicas=1)
    return vault


async def test_secrets_change_by_field_and_are_shared(js) -> None:
    vault = await opened(js)
    await vault.change("t", "r", {"webhook_secret": "hook"})
    kept = await vault.change("t", "r", {"git_password": "token"})
    assert kept == Secrets(webhook_secret="hook", git_password="token")
    assert await (await opened(js)).get("t", "r") == kept
    assert await vault.get("t", "other") == Secrets()


async def test_stored_secrets_are_encrypted_and_never_alike(js) -> None:
    vault = await opened(js)
    bucket = await js.key_value(names.KV_SECRETS)
    stored = []
    for _ in range(2):
        await vault.change("t", "r", {"git_password": "hunter2xyz"})
        stored.append((await bucket.get("t.r")).value)
    assert not any(b"hunter2xyz" in value for value in stored)
    assert stored[0] != stored[1]
    assert "hunter2xyz" not in repr(await vault.get("t", "r"))


async def test_a_secret_opens_only_for_its_repository(js) -> None:
    vault = await opened(js)
    await vault.change("t", "mine", {"git_password": "token"})
    bucket = await js.key_value(names.KV_SECRETS)
    await bucket.put("thief.theirs", (await bucket.get("t.mine")).value)
    with pytest.raises(PrismError) as caught:
        await vault.get("thief", "theirs")
    assert caught.value.code is ErrorCode.UNAVAILABLE


async def test_secrets_do_not_open_with_another_key_or_none(js) -> None:
    await (await opened(js)).change("t", "r", {"git_password": "token"})
    for vault in (await opened(js, "x" * KEY_CHARS_MIN), await opened(js, "")):
        with pytest.raises(PrismError) as caught:
            await vault.get("t", "r")
        assert caught.value.body.next_action
        assert await vault.get("t", "other") == Secrets()
    with pytest.raises(PrismError):
        await vault.change("t", "new", {"git_password": "token"})


def test_a_short_key_is_refused() -> None:
    with pytest.raises(InvalidSettingsError, match="needs 32"):
        VaultSettings(secrets_key=SecretStr("x" * (KEY_CHARS_MIN - 1)))
