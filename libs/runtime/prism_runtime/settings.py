"""Settings: frozen classes that are read once, at the start of a process. Nothing else reads the environment.

A value comes from its `PRISM_…` variable, else from the file that `PRISM_…_FILE` names (secrets only), else from
`prism.toml`, else it is the default.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, get_args

from pydantic import Field, SecretStr, ValidationError
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

    nats_url: str = Field("nats://127.0.0.1:4222", description="URLs of NATS, comma-separated.")
    nats_token: SecretStr = Field(SecretStr(""), description="Token for NATS, if it requires one.")
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
