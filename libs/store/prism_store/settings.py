"""The settings of the connection to Qdrant."""

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class StoreSettings(BaseSettings):
    """Settings that are read from `PRISM_QDRANT_…` at start."""

    model_config = SettingsConfigDict(env_prefix="PRISM_QDRANT_", frozen=True, extra="ignore")

    url: str = Field("http://127.0.0.1:6333", description="URL of Qdrant (1.20 or newer).")
    api_key: str = Field("", description="API key, if Qdrant requires one.")
    timeout_s: int = Field(20, ge=1, description="Longest wait for one call, in seconds.")
