"""Settings of the gateway."""

from functools import cached_property

from pydantic import Field, SecretStr, model_validator

from prism_catalog.document_settings import DocumentSettings
from prism_contracts.base import DEFAULT_TENANT
from prism_contracts.types import EDIT_BYTES_MAX, PACK_BYTES_MAX, TENANT_PATTERN
from prism_gateway.accounting.history import HistoryRules
from prism_gateway.signon.issuers import Issuer
from prism_runtime.settings import ServiceSettings
from prism_source.secret_policy import read_policy
from prism_source.secrets import redact

MIB = 1024 * 1024


class GatewaySettings(DocumentSettings, ServiceSettings):
    """Settings of the gateway, from `PRISM_…` variables."""

    gateway_host: str = Field("127.0.0.1", description="Address that MCP and REST listen on.")
    gateway_port: int = Field(8780, ge=0, le=65535, description="Port for MCP and REST; 0 picks a free one.")
    drain_s: float = Field(
        0.0,
        ge=0,
        le=300,
        description="Seconds for which a stopping gateway serves everything while `/readyz` answers 503, so that "
        "proxies and Kubernetes send requests elsewhere. 5 to 10 behind them.",
    )
    public_url: str = Field("", description="URL that clients use, if a proxy is in front of the gateway.")
    allowed_hosts: str = Field(
        "127.0.0.1:*,localhost:*,[::1]:*",
        description="`Host` headers that MCP accepts, comma-separated; `name:*` allows any port. "
        "The host of `public_url` is added.",
    )
    bootstrap_token_sha256: str = Field("", description="SHA-256 (hex) of a first token, stored at start.")
    bootstrap_tenant: str = Field(
        DEFAULT_TENANT, pattern=TENANT_PATTERN, description="Tenant of the first token."
    )
    tokens_unconfirmed_s_max: float = Field(
        15.0,
        ge=1,
        description="Seconds for which developer tokens are accepted while NATS cannot say whether one was revoked. An "
        "election takes less. Lower values refuse tokens sooner, with `unavailable`.",
    )
    jwt_issuers: tuple[Issuer, ...] = Field(
        (),
        max_length=16,
        description="Identity providers whose access tokens are accepted, as a JSON list of objects; empty: none. "
        "[The guide](guides/sign-on.md) lists their fields. They need `PRISM_PUBLIC_URL`.",
    )
    jwt_scope_prefix: str = Field(
        "prism.",
        pattern=r"^[!#-\[\]-~]*$",
        max_length=256,
        description="Begins the names of scopes at identity providers: `prism.read` is the scope `read`.",
    )
    jwt_allow_private: bool = Field(
        default=False,
        description="Fetch the keys of identity providers from private networks, and over http.",
    )
    jwt_make_tenants: bool = Field(
        default=False,
        description="Create the tenant that an access token names if it is unknown. Off: the token is refused.",
    )
    console_client_secret: SecretStr = Field(
        SecretStr(""),
        description="Secret of the console at the identity providers with a `client_id`; empty for a public client.",
    )
    console_session_s: int = Field(
        3_600,
        ge=60,
        le=43_200,
        description="Seconds for which a person who signed in to the console through an identity provider stays signed in.",
    )
    json_bytes_max: int = Field(MIB, gt=0, description="Largest body of an ordinary request, bytes.")
    mcp_bytes_max: int = Field(MIB, gt=0, description="Largest body of an MCP message, bytes.")
    snapshot_bytes_max: int = Field(64 * MIB, gt=0, description="Largest snapshot as sent, bytes.")
    snapshot_unpacked_bytes_max: int = Field(
        128 * MIB, gt=0, description="Largest snapshot after decompression, bytes."
    )
    pack_bytes_max: int = Field(
        16 * MIB, gt=0, le=PACK_BYTES_MAX, description="Largest pack of file contents, bytes."
    )
    scip_bytes_max: int = Field(512 * MIB, gt=0, description="Largest SCIP index as sent, bytes.")
    edit_bytes_max: int = Field(
        8 * MIB, gt=0, le=EDIT_BYTES_MAX, description="Largest edit of files or diff, bytes."
    )
    webhook_bytes_max: int = Field(
        25 * MIB, gt=0, description="Largest webhook, bytes. The default is GitHub's own limit."
    )
    webhook_memory_bytes_max: int = Field(
        64 * MIB,
        gt=0,
        description="Memory for webhooks with unchecked signatures, bytes: once for bodies up to 1 MiB, "
        "once for larger ones.",
    )
    webhook_secret: SecretStr = Field(
        SecretStr(""),
        description="Webhook secret of repositories without one of their own; empty: none.",
    )
    unauthenticated_per_minute: int = Field(
        120, ge=1, description="Requests without a valid token that one address may send in a minute."
    )
    usage_days: int = Field(90, ge=1, description="How long hourly sums of usage are kept, in days.")
    usage_bytes_max: int = Field(
        512 * MIB, gt=0, description="Space for usage in NATS; the oldest is dropped beyond it, bytes."
    )
    audit_bytes_max: int = Field(
        1024 * MIB, gt=0, description="Space for the audit in NATS; the oldest is dropped beyond it, bytes."
    )
    search_history: bool = Field(
        default=False,
        description="Keep the questions of tenants that do not decide it themselves, with the places of their hits.",
    )
    log_queries: bool = Field(
        default=False,
        description="Log the text of questions, without secrets; off: only its length is logged.",
    )
    search_history_days: int = Field(30, ge=1, le=400, description="How long questions are kept, in days.")
    search_history_bytes_max: int = Field(
        256 * MIB,
        gt=0,
        description="Space for questions in NATS, and once more for feedback; the oldest is dropped beyond it, bytes.",
    )
    secret_patterns: str = Field(
        "",
        description="Additional secrets to redact in questions and comments. Ingest reads the same variable.",
    )
    questions_max: int = Field(64, ge=1, description="Questions in progress at once.")
    questions_of_tenant_shared: int = Field(
        2, ge=1, description="Questions of one tenant in progress while other tenants ask too."
    )
    questions_queued_max: int = Field(
        256, ge=0, description="Waiting questions of one tenant; more are refused."
    )
    edit_contexts_max: int = Field(8, ge=1, description="Calls of `prepare_to_edit` in progress at once.")
    waiters_of_tenant_max: int = Field(
        64,
        ge=1,
        description="Requests of one tenant that wait for a commit or follow a job; more are refused, or do not follow it.",
    )
    rpc_model_timeout_s: float = Field(
        65.0, gt=0, description="Longest wait for a reply that a language model writes, in seconds."
    )
    model_answers_max: int = Field(
        16, ge=1, description="Replies of language models that one copy waits for at once."
    )
    model_answers_of_tenant_shared: int = Field(
        4, ge=1, description="Model answers that one tenant may wait for while other tenants wait too."
    )
    rpc_timeout_s: float = Field(15.0, gt=0, description="Longest wait for a reply of a service, seconds.")
    rpc_snapshot_timeout_s: float = Field(
        60.0, gt=0, description="Longest wait for an import to start, seconds."
    )
    rpc_scip_timeout_s: float = Field(
        290.0, gt=0, description="Longest wait for a SCIP index to be stored, seconds."
    )
    status_timeout_s: float = Field(
        3.0, gt=0, description="Longest wait for one part of the status, seconds."
    )
    publish_timeout_s: float = Field(
        20.0, gt=0, description="Longest wait for space in the upload queue, seconds."
    )

    @cached_property
    def history(self) -> HistoryRules:
        """Which questions are kept, and how long. Raises PrismError if a pattern is not valid."""
        return HistoryRules(
            is_on=self.search_history,
            days=self.search_history_days,
            bytes_max=self.search_history_bytes_max,
            secrets=read_policy(self.secret_patterns, withhold=True, file_patterns=""),
        )

    def redacted(self, text: str) -> str:
        """Returns a text without secrets, as the history keeps it."""
        return redact(text, self.history.secrets.rules).text

    @model_validator(mode="after")
    def _check_patterns(self) -> "GatewaySettings":
        _ = self.history
        return self

    @model_validator(mode="after")
    def _issuers_are_usable(self) -> "GatewaySettings":
        names = [issuer.issuer for issuer in self.jwt_issuers]
        if len(names) != len(set(names)):
            raise ValueError("PRISM_JWT_ISSUERS has an issuer twice")
        if names and not self.public_url:
            raise ValueError("PRISM_JWT_ISSUERS needs PRISM_PUBLIC_URL, for which tokens are issued")
        return self
