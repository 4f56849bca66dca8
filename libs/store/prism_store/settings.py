"""The settings of the connection to Qdrant."""

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from prism_runtime.settings import PrismSettings


class StoreSettings(PrismSettings):
    """Settings of the connection to Qdrant, from `PRISM_QDRANT_…`."""

    model_config = SettingsConfigDict(env_prefix="PRISM_QDRANT_")

    url: str = Field("http://127.0.0.1:6333", description="URL of Qdrant (1.20 or newer).")
    api_key: SecretStr = Field(SecretStr(""), description="API key, if Qdrant requires one.")
    timeout_s: int = Field(20, ge=1, description="Longest wait for one call, in seconds.")
