"""Settings: frozen classes that are read once, at the start of a process. Nothing else reads the environment.

A value comes from its `PRISM_…` variable, else from the file that `PRISM_…_FILE` names (secrets only), else from
`prism.toml`, else it is the default.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, Self, get_args
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from prism_runtime import configuration
from prism_runtime.configuration import ConfigurationError


class Problem(NamedTuple):
    """A setting that is not valid: its variable, where its value comes from, and why."""

    variable: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.variable}: {self.message}" if self.variable else self.message


class InvalidSettingsError(ValueError):
    """Settings with which a process does not start."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class PrismSettings(BaseSettings):
    """The base of all settings."""

    model_config = SettingsConfigDict(env_prefix=configuration.PREFIX, frozen=True, extra="ignore")

    def __init__(self, **values: Any) -> None:
        """Read the settings. Raises InvalidSettingsError."""
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise InvalidSettingsError(tuple(self._problems(error))) from error
        except SettingsError as error:
            raise InvalidSettingsError((self._unparsed(error),)) from error
        except ConfigurationError as error:
            raise InvalidSettingsError((Problem("", "", f"{error.message} {error.next_action}"),)) from error

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - replaced by _Variables
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Returns where values come from, the strongest source first."""
        return init_settings, _Variables(settings_cls)

    @classmethod
    def variables(cls) -> dict[str, FieldInfo]:
        """Returns the fields by the name of their variable."""
        prefix = str(cls.model_config.get("env_prefix", ""))
        return {prefix + name.upper(): field for name, field in cls.model_fields.items()}

    @classmethod
    def _problems(cls, error: ValidationError) -> Iterator[Problem]:
        names = dict(zip(cls.model_fields, cls.variables(), strict=True))
        for found in error.errors(include_input=False, include_url=False):
            field, *inner = map(str, found["loc"]) if found["loc"] else ("",)
            variable = names.get(field, "")
            message = str(found["msg"]).removeprefix("Value error, ")
            # pydantic marks the key of a mapping by one more part.
            where = [part for part in inner if part != "[key]"]
            yield Problem(variable, _place_of(variable), ": ".join([*where, message]))

    @classmethod
    def _unparsed(cls, error: SettingsError) -> Problem:
        """A list or table whose text is not JSON. The library names its field in its message alone."""
        named = [name for name in cls.model_fields if f'"{name}"' in str(error)]
        variable = dict(zip(cls.model_fields, cls.variables(), strict=True))[named[0]] if named else ""
        return Problem(variable, _place_of(variable), f"It is not JSON: {error.__cause__ or error}")


def is_secret(field: FieldInfo) -> bool:
    """Whether a setting is a secret: masked where settings are shown, and readable from a file."""
    return SecretStr in (field.annotation, *get_args(field.annotation))


class _Variables(EnvSettingsSource):
    """The environment, the files of secrets, and `prism.toml`."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        found = configuration.merged(os.environ)
        assert issubclass(self.settings_cls, PrismSettings)
        for variable, field in self.settings_cls.variables().items():
            if is_secret(field):
                secret = configuration.with_secret(found, variable)
                if secret is not None:
                    found[variable] = secret
        return {name.lower(): value for name, value in found.items()}


def _place_of(variable: str) -> str:
    if variable in os.environ:
        return "environment"
    path = configuration.config_path()
    key = configuration.key_of(variable)
    return configuration.place_of(path, key) if key in configuration.read_values(path) else "environment"


class ServiceSettings(PrismSettings):
    """Settings that every service reads."""

    nats_url: str = Field(
        "nats://127.0.0.1:4222",
        description="URLs of NATS, comma-separated; `tls://` for TLS. They may have a login: "
        "`tls://user:password@host:4222`.",
    )
    nats_token: SecretStr = Field(SecretStr(""), description="Token for NATS, if it requires one.")
    nats_nkey: SecretStr = Field(
        SecretStr(""), description="Seed of the nkey that the service logs in to NATS with: `SU…`."
    )
    nats_credentials: SecretStr = Field(
        SecretStr(""),
        description="Content of a `.creds` file that the service logs in to NATS with: a JWT and its seed.",
    )
    nats_tls_ca_file: str = Field(
        "",
        description="Certificates, in PEM format, that sign that of NATS; empty: those of the system.",
    )
    nats_tls_cert_file: str = Field(
        "",
        description="Certificate that the service presents to NATS, in PEM format. It is read again at each "
        "connection.",
    )
    nats_tls_key_file: str = Field("", description="Key of that certificate, in PEM format.")
    nats_tls_first: bool = Field(
        default=False,
        description="Start TLS before NATS sends anything, so that no one on the way can turn TLS off. NATS needs "
        "`handshake_first` in its `tls` block.",
    )
    nats_declare: bool = Field(
        default=True,
        description="Create the streams and buckets that the service needs. Without that right, as with the "
        "permissions of `prism nats-logins`, it waits until ingest and the gateway have created them.",
    )
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
    build_revision: str = Field(
        "", description="Revision that this build was made from, shown by the metric prism_build_info."
    )
    log_format: Literal["auto", "console", "json"] = Field(
        "auto",
        description="How log lines look: `json`, `console` (for people), or `auto`: for people on a terminal, else JSON.",
    )
    otlp_endpoint: str = Field(
        "", description="URL of an OTLP/HTTP collector for traces, without `/v1/traces`; empty: no tracing."
    )
    otlp_headers: SecretStr = Field(
        SecretStr(""),
        description="Headers for the collector, as `name=value` pairs, comma-separated, such as "
        "`Authorization=Bearer …`.",
    )
    trace_sample: float = Field(1.0, ge=0, le=1, description="Share of traces that are exported.")
    trace_imported_files: float = Field(
        0.01,
        ge=0,
        le=1,
        description="Share of the files of traced imports that are traced. Pushes and edits of a few files are always.",
    )
    environment: str = Field(
        "", max_length=64, description="Name of this deployment in traces, such as `production`."
    )
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
    allow_missing_secrets: bool = Field(
        default=False,
        description="Start although a secret is missing that a service needs if it listens on other than loopback "
        "addresses: keys of NATS, of the store, of the vault.",
    )
    run_dir: str = Field(
        "", description="Folder in which the process writes its address to `<service>.json`."
    )
    crash_dir: str = Field(
        "", description="For tests: a folder whose files end the process before a chosen write; empty: off."
    )

    @model_validator(mode="after")
    def _check_nats(self) -> Self:
        urls = [urlsplit(url.strip()) for url in self.nats_url.split(",")]
        logins = {
            "PRISM_NATS_TOKEN": self.nats_token.get_secret_value(),
            "PRISM_NATS_NKEY": self.nats_nkey.get_secret_value(),
            "PRISM_NATS_CREDENTIALS": self.nats_credentials.get_secret_value(),
            "the login in PRISM_NATS_URL": any(url.username for url in urls),
        }
        given = [name for name, value in logins.items() if value]
        if len(given) > 1:
            raise ValueError(f"Set one login for NATS, not {' and '.join(given)}.")
        if bool(self.nats_tls_cert_file) != bool(self.nats_tls_key_file):
            raise ValueError("Set both PRISM_NATS_TLS_CERT_FILE and PRISM_NATS_TLS_KEY_FILE, or neither.")
        wants_tls = self.nats_tls_ca_file or self.nats_tls_cert_file or self.nats_tls_first
        if wants_tls and any(url.scheme != "tls" for url in urls):
            raise ValueError("PRISM_NATS_TLS_… needs TLS: begin each URL of PRISM_NATS_URL with tls://.")
        return self
