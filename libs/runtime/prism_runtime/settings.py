"""Settings of every service. Each service extends this frozen class; nothing else reads the environment."""

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class ServiceSettings(BaseSettings):
    """Settings from `PRISM_…` variables, read once at the start."""

    model_config = SettingsConfigDict(env_prefix="PRISM_", frozen=True, extra="ignore")

    nats_url: str = Field("nats://127.0.0.1:4222", description="URLs of NATS, comma-separated.")
    nats_token: str = Field("", description="Token for NATS, if it requires one.")
    nats_replicas: int = Field(1, ge=1, le=5, description="Replicas of each stream and bucket.")
    ack_wait_s: float = Field(
        20.0,
        ge=1,
        description="Seconds without a heartbeat after which a message is redelivered.",
    )
    nats_storage_scale: float = Field(1.0, gt=0, description="Multiplies the byte limits of the streams.")
    health_host: str = Field("127.0.0.1", description="Address that /livez, /readyz and /metrics listen on.")
    health_port: int = Field(
        0, ge=0, le=65535, description="Port of /livez, /readyz and /metrics; 0 picks a free one."
    )
    log_level: str = Field("INFO", description="DEBUG, INFO, WARNING or ERROR.")
    otlp_endpoint: str = Field("", description="OTLP/HTTP collector for traces; empty disables tracing.")
    disk_dir: str = Field(
        "",
        description="A folder on the disk of NATS and the store; empty: free space is not monitored.",
    )
    disk_free_bytes_min: int = Field(
        512 * 1024**2,
        ge=0,
        description="Free space below which writes are refused with `disk_full`, in bytes; reads still work. Below half of it, "
        "running imports pause too.",
    )
    run_dir: str = Field(
        "", description="Folder in which the process writes its address to `<service>.json`."
    )
    crash_dir: str = Field(
        "", description="For tests: a folder whose files end the process before a chosen write; empty: off."
    )
