"""Settings that every service has. One frozen class a service extends this; nothing else reads the environment."""

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class ServiceSettings(BaseSettings):
    """Read from `PRISM_…` variables at start, never again."""

    model_config = SettingsConfigDict(env_prefix="PRISM_", frozen=True, extra="ignore")

    nats_url: str = Field("nats://127.0.0.1:4222", description="Address of NATS; several with commas.")
    nats_token: str = Field("", description="Token for NATS, if it wants one.")
    nats_replicas: int = Field(1, ge=1, le=5, description="Copies of each stream and bucket.")
    ack_wait_s: float = Field(
        20.0,
        ge=1,
        description="How long a message stays with a process that gives no sign of life, in seconds.",
    )
    nats_storage_scale: float = Field(1.0, gt=0, description="Multiplies the byte limits of the streams.")
    health_host: str = Field("127.0.0.1", description="Address that /livez, /readyz and /metrics listen on.")
    health_port: int = Field(0, ge=0, le=65535, description="Their port; 0 picks a free one.")
    log_level: str = Field("INFO", description="DEBUG, INFO, WARNING or ERROR.")
    otlp_endpoint: str = Field("", description="OTLP/HTTP collector for traces; empty turns tracing off.")
    disk_dir: str = Field(
        "",
        description="A folder on the disk that NATS and the store write to; empty: its free space is not watched.",
    )
    disk_free_bytes_min: int = Field(
        512 * 1024**2,
        ge=0,
        description="Free space below which writes are refused with `disk_full`, in bytes; reads go on. Below half of it "
        "services wait with what is under way.",
    )
    run_dir: str = Field("", description="Folder where the process leaves `<service>.json` with its address.")
    crash_dir: str = Field(
        "", description="For tests: a folder whose files end the process before a chosen write. Empty: off."
    )
