"""How a process connects to NATS: the secret that it logs in with, and TLS. Every connection uses it."""

import logging
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import nkeys  # type: ignore[import-untyped]
from faststream.nats.security import NatsCredentials, NatsNKey, NatsSecurity, NatsToken

from prism_contracts.errors import reason_of
from prism_runtime.patience import StartError
from prism_runtime.settings import InvalidSettingsError, Problem, ServiceSettings

AUTHORIZATION = "authorization violation"

log = logging.getLogger(__name__)


def nats_security(settings: ServiceSettings) -> NatsSecurity:
    """Returns the login and the TLS of a connection. Raises InvalidSettingsError if one cannot be used.

    Without a login in the settings, that of the URL is used, if it has one.
    """
    security = _login(settings)
    security.ssl_context = _tls(settings)
    security.tls_handshake_first = settings.nats_tls_first
    return security


def has_login(settings: ServiceSettings) -> bool:
    """Whether every connection to NATS logs in, by a secret or by a client certificate."""
    secrets = (settings.nats_token, settings.nats_nkey, settings.nats_credentials)
    return bool(
        any(secret.get_secret_value() for secret in secrets)
        or settings.nats_tls_cert_file
        or all(urlsplit(url.strip()).username for url in settings.nats_url.split(","))
    )


class ConnectionErrors:
    """What goes wrong with a connection: logged once each, and fatal if only another configuration helps.

    The client repeats its first connection without end and says nothing: a service with the wrong authority
    would neither be ready nor end.
    """

    def __init__(self) -> None:
        self._is_connected = False
        self._last = ""

    @property
    def last(self) -> str:
        """What went wrong last."""
        return self._last or "no server has answered yet"

    def connected(self) -> None:
        """Take note of the first connection: later errors end no process."""
        self._is_connected = True

    async def report(self, error: Exception) -> None:
        """Log an error. Raises StartError before the first connection if it cannot pass."""
        text = reason_of(error)
        if not self._is_connected and isinstance(error, ssl.SSLCertVerificationError):
            raise StartError(
                f"The certificate of NATS is not trusted: {error.verify_message}. Check PRISM_NATS_TLS_CA_FILE and "
                "the host in PRISM_NATS_URL.",
                os.EX_CONFIG,
            ) from error
        if not self._is_connected and AUTHORIZATION in text.lower():
            raise StartError(
                "NATS refuses the login. Check PRISM_NATS_NKEY_FILE or the other login of the service, and "
                "that NATS has loaded the accounts of the same keys.",
                os.EX_CONFIG,
            ) from error
        if text != self._last:
            self._last = text
            log.warning("NATS: %s", text)


def _login(settings: ServiceSettings) -> NatsSecurity:
    if token := settings.nats_token.get_secret_value():
        return NatsToken(token)
    if seed := settings.nats_nkey.get_secret_value():
        with _refused("PRISM_NATS_NKEY", "It is not the seed of an nkey, which begins with SU."):
            nkeys.from_seed(bytearray(seed.encode()))
        return NatsNKey.from_seed(seed)
    if credentials := settings.nats_credentials.get_secret_value():
        with _refused("PRISM_NATS_CREDENTIALS", "It is not a .creds file, with a user's JWT and seed."):
            return NatsCredentials.from_raw(credentials)
    return NatsSecurity()


def _tls(settings: ServiceSettings) -> ssl.SSLContext | None:
    """Returns the TLS of the settings; None: none, or for `tls://` that of the system."""
    ca_file, cert_file = settings.nats_tls_ca_file, settings.nats_tls_cert_file
    if not ca_file and not cert_file:
        return None
    context = _RenewedContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_file:
        with _refused("PRISM_NATS_TLS_CA_FILE", f"{ca_file} has no certificates in PEM format."):
            context.load_verify_locations(ca_file)
    else:
        context.load_default_certs()
    if cert_file:
        context.identity = (cert_file, settings.nats_tls_key_file)
        with _refused("PRISM_NATS_TLS_CERT_FILE", f"{cert_file} is no certificate of the key."):
            context.load_cert_chain(*context.identity)
    return context


class _RenewedContext(ssl.SSLContext):
    """TLS of a client that reads its certificate again for each connection.

    Certificates are short-lived, and are replaced in place while the process runs.
    """

    identity: tuple[str, str] | None = None  # paths of the certificate and of its key

    def wrap_bio(self, *args: Any, **options: Any) -> ssl.SSLObject:
        """Begin a connection."""
        if self.identity:
            try:
                self.load_cert_chain(*self.identity)
            except OSError as error:  # the files are being replaced: the former certificate serves once more
                log.warning("cannot read the certificate %s: %s", self.identity[0], error)
        return super().wrap_bio(*args, **options)


@contextmanager
def _refused(variable: str, message: str) -> Iterator[None]:
    """Reports a value or a file that cannot be used. The message shows nothing of a secret."""
    try:
        yield
    except ssl.SSLError as error:
        raise _invalid(variable, message) from error
    except OSError as error:
        raise _invalid(variable, f"The file cannot be read: {error.strerror}.") from error
    except (ValueError, nkeys.NkeysError) as error:
        raise _invalid(variable, message) from error


def _invalid(variable: str, message: str) -> InvalidSettingsError:
    return InvalidSettingsError((Problem(variable, "environment", message),))
