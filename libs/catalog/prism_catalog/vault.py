"""Secrets of repositories, encrypted in a key-value bucket:

NATS, its replicas and its backups hold only ciphertext.

AES-256-GCM with a fresh nonce each time, and the record's key as associated data: a secret of one repository
cannot be decrypted for another (https://csrc.nist.gov/pubs/sp/800/38/d/final). See docs/decisions/0027.
"""

import hashlib
import os
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from nats.js import JetStreamContext
from pydantic import Field, SecretStr, field_validator

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import SealedSecrets, Secrets, repository_key
from prism_runtime.records import Records, open_bucket, opened
from prism_runtime.settings import PrismSettings

NONCE_BYTES = 12
KEY_CHARS_MIN = 32


class VaultSettings(PrismSettings):
    """Settings from `PRISM_…` variables, read at the start."""

    secrets_key: SecretStr = Field(
        SecretStr(""),
        description="Key that encrypts webhook secrets and git credentials: random, 32 characters or more, the same for gateway, "
        "ingest and workspace. Empty: secrets are not stored. `prism up` generates one per data folder.",
    )

    @field_validator("secrets_key")
    @classmethod
    def _hard_to_guess(cls, key: SecretStr) -> SecretStr:
        if 0 < len(key.get_secret_value()) < KEY_CHARS_MIN:
            raise ValueError(f"a key needs {KEY_CHARS_MIN} characters or more")
        return key


class Vault:
    """Secrets by repository."""

    def __init__(self, settings: VaultSettings) -> None:
        key = settings.secrets_key.get_secret_value()
        self._cipher = AESGCM(hashlib.sha256(key.encode()).digest()) if key else None
        self._bucket: Records[SealedSecrets] | None = None

    async def open(self, js: JetStreamContext, *, replicas: int) -> None:
        """Open the bucket, and create it if it does not exist."""
        self._bucket = Records(await open_bucket(js, names.KV_SECRETS, replicas=replicas), SealedSecrets)

    async def get(self, tenant: str, repo: str) -> Secrets:
        """Returns the secrets of a repository; empty if there are none.

        Raises UNAVAILABLE before `open`, and if the key is missing or does not decrypt them.
        """
        key = repository_key(tenant, repo)
        record = await self._records().get(key)
        return self._open(key, record.sealed) if record else Secrets()

    async def change(self, tenant: str, repo: str, changed: Mapping[str, str]) -> Secrets:
        """Store these fields in addition to the stored ones.

        Returns all of them. Raises UNAVAILABLE without a key.
        """
        key = repository_key(tenant, repo)
        sealed = await self._records().modify(
            key, lambda found: self._seal(key, self._changed(key, found, changed))
        )
        return self._open(key, sealed.sealed)

    def _records(self) -> Records[SealedSecrets]:
        return opened(self._bucket)

    def _changed(self, key: str, found: SealedSecrets | None, changed: Mapping[str, str]) -> Secrets:
        known = self._open(key, found.sealed) if found else Secrets()
        return known.model_copy(update=changed)

    def _seal(self, key: str, secrets: Secrets) -> SealedSecrets:
        nonce = os.urandom(NONCE_BYTES)
        sealed = self._with_key().encrypt(nonce, secrets.model_dump_json().encode(), key.encode())
        return SealedSecrets(sealed=nonce + sealed)

    def _open(self, key: str, sealed: bytes) -> Secrets:
        try:
            opened = self._with_key().decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], key.encode())
        except InvalidTag:
            raise PrismError(
                ErrorCode.UNAVAILABLE,
                "The secrets of the repository were encrypted with another key.",
                "Restart with the previous PRISM_SECRETS_KEY, or store the secrets again.",
            ) from None
        return Secrets.model_validate_json(opened)

    def _with_key(self) -> AESGCM:
        if self._cipher is None:
            raise PrismError(
                ErrorCode.UNAVAILABLE,
                "Prism cannot store secrets: it was started without PRISM_SECRETS_KEY.",
                "Set PRISM_SECRETS_KEY for the gateway, ingest and workspace, and restart them.",
            )
        return self._cipher
