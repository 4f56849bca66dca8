"""Settings of the gateway."""

from pydantic import Field, SecretStr

from prism_contracts.base import DEFAULT_TENANT
from prism_contracts.types import EDIT_BYTES_MAX, PACK_BYTES_MAX, TENANT_PATTERN
from prism_runtime.settings import ServiceSettings

MIB = 1024 * 1024


class GatewaySettings(ServiceSettings):
    """What the gateway reads from `PRISM_…` variables."""

    gateway_host: str = Field("127.0.0.1", description="Address that MCP and REST listen on.")
    gateway_port: int = Field(8780, ge=0, le=65535, description="Their port; 0 picks a free one.")
    public_url: str = Field("", description="Address that clients use, if a proxy stands in front.")
    allowed_hosts: str = Field(
        "127.0.0.1:*,localhost:*,[::1]:*",
        description="`Host` headers that MCP answers to, with commas; `name:*` allows any port. "
        "The host of `public_url` is added.",
    )
    bootstrap_token_sha256: str = Field("", description="SHA-256 (hex) of a first token, stored at start.")
    bootstrap_tenant: str = Field(
        DEFAULT_TENANT, pattern=TENANT_PATTERN, description="Tenant of the first token."
    )
    json_bytes_max: int = Field(MIB, gt=0, description="Largest body of an ordinary request, bytes.")
    mcp_bytes_max: int = Field(MIB, gt=0, description="Largest body of an MCP message, bytes.")
    snapshot_bytes_max: int = Field(64 * MIB, gt=0, description="Largest snapshot on the wire, bytes.")
    snapshot_unpacked_bytes_max: int = Field(
        128 * MIB, gt=0, description="Largest snapshot after decompression, bytes."
    )
    pack_bytes_max: int = Field(
        16 * MIB, gt=0, le=PACK_BYTES_MAX, description="Largest pack of file contents, bytes."
    )
    scip_bytes_max: int = Field(512 * MIB, gt=0, description="Largest SCIP index on the wire, bytes.")
    edit_bytes_max: int = Field(
        8 * MIB, gt=0, le=EDIT_BYTES_MAX, description="Largest edit of files or diff, bytes."
    )
    webhook_bytes_max: int = Field(
        25 * MIB, gt=0, description="Largest webhook, bytes; GitHub sends no larger ones."
    )
    webhook_memory_bytes_max: int = Field(
        64 * MIB,
        gt=0,
        description="Memory for webhooks whose signature is not checked yet, bytes: once for bodies of up to 1 MiB, "
        "once for larger ones.",
    )
    webhook_secret: SecretStr = Field(
        SecretStr(""),
        description="Secret of webhooks about repositories that have none of their own; empty: there is no such secret.",
    )
    questions_max: int = Field(64, ge=1, description="Questions that are worked on at once.")
    questions_of_tenant_shared: int = Field(
        2, ge=1, description="Of these, how many one tenant may have while other tenants ask."
    )
    questions_queued_max: int = Field(
        256, ge=0, description="Questions of one tenant that wait for their turn; more are refused."
    )
    edit_contexts_max: int = Field(
        8, ge=1, description="Questions of `prepare_to_edit` that are worked on at once."
    )
    waiters_of_tenant_max: int = Field(
        64, ge=1, description="Requests of one tenant that wait for a commit; more are refused."
    )
    rpc_timeout_s: float = Field(15.0, gt=0, description="Longest wait for an answer, seconds.")
    rpc_snapshot_timeout_s: float = Field(60.0, gt=0, description="The same for opening a snapshot.")
    rpc_scip_timeout_s: float = Field(290.0, gt=0, description="The same for taking a SCIP index in.")
    status_timeout_s: float = Field(3.0, gt=0, description="The same for one part of the status.")
    publish_timeout_s: float = Field(20.0, gt=0, description="Longest wait for room on the bus, seconds.")
