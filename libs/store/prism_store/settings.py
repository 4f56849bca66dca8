"""The settings of the connection to Qdrant."""

import ssl
from typing import Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import SettingsConfigDict

from prism_runtime.settings import InvalidSettingsError, PrismSettings, Problem

CA_FILE = "PRISM_QDRANT_CA_FILE"


class StoreSettings(PrismSettings):
    """Settings of the connection to Qdrant, from `PRISM_QDRANT_…`."""

    model_config = SettingsConfigDict(env_prefix="PRISM_QDRANT_")

    url: str = Field("http://127.0.0.1:6333", description="URL of Qdrant (1.20 or newer).")
    api_key: SecretStr = Field(SecretStr(""), description="API key, if Qdrant requires one.")
    ca_file: str = Field(
        "", description="Certificates, in PEM format, that sign that of Qdrant; empty: those of the system."
    )
    timeout_s: int = Field(20, ge=1, description="Longest wait for one call, in seconds.")
    replication_factor: int = Field(
        1, ge=1, le=16, description="Copies of each new collection, on as many nodes of a Qdrant cluster."
    )
    write_consistency_factor: int = Field(
        1,
        ge=1,
        le=16,
        description="Copies that must store a write before it counts. With 1, Qdrant still writes to every copy that it "
        "can reach, and takes the others out of service until they have caught up.",
    )
    shard_number: int = Field(
        1,
        ge=1,
        le=256,
        description="Shards of each new collection. Each tenant has a collection, so one is enough for most.",
    )

    @model_validator(mode="after")
    def _check_tls(self) -> Self:
        if self.ca_file and not self.url.startswith("https://"):
            raise ValueError("PRISM_QDRANT_CA_FILE needs TLS: begin PRISM_QDRANT_URL with https://.")
        return self

    def tls(self) -> ssl.SSLContext:
        """Returns how the certificate of Qdrant is checked. Raises InvalidSettingsError."""
        try:
            return ssl.create_default_context(cafile=self.ca_file or None)
        except ssl.SSLError as error:
            reason = f"{self.ca_file} has no certificates in PEM format."
            raise InvalidSettingsError((Problem(CA_FILE, "environment", reason),)) from error
        except OSError as error:
            reason = f"The file cannot be read: {error.strerror}."
            raise InvalidSettingsError((Problem(CA_FILE, "environment", reason),)) from error
