"""Secrets that a service needs if other hosts reach it."""

import ipaddress
from collections.abc import Iterable, Mapping

from pydantic import SecretStr

from prism_runtime.settings import InvalidSettingsError, Problem


def require_secrets(
    hosts: Iterable[str],
    secrets: Mapping[str, SecretStr | None],
    *,
    allow_missing: bool,
    switch: str = "PRISM_ALLOW_MISSING_SECRETS",
) -> None:
    """Raise InvalidSettingsError if a host is not a loopback address and a secret is empty.

    `switch` is the variable of `allow_missing`.
    """
    exposed = [host for host in hosts if not is_loopback(host)]
    missing = [name for name, secret in secrets.items() if not (secret and secret.get_secret_value())]
    if not exposed or not missing or allow_missing:
        return
    raise InvalidSettingsError(
        tuple(
            Problem(
                name,
                "environment",
                f"It is required, because the service listens on {exposed[0]}. Set it, or {name}_FILE. "
                f"{switch}=true starts without it.",
            )
            for name in missing
        )
    )


def is_loopback(host: str) -> bool:
    """Whether only processes of this machine reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
