import os
import ssl
from contextlib import suppress
from pathlib import Path

import nkeys
import pytest
from faststream.nats.security import NatsCredentials, NatsNKey, NatsSecurity, NatsToken
from nats.errors import Error as NatsError

from prism_cli.logins.certificates import AUTHORITY_NAME, Authority, Pair
from prism_runtime.nats_login import ConnectionErrors, has_login, nats_security
from prism_runtime.patience import StartError
from prism_runtime.settings import InvalidSettingsError, ServiceSettings

SEED = nkeys.encode_seed(bytes(32), nkeys.PREFIX_BYTE_USER).decode()
CREDENTIALS = f"""-----BEGIN NATS USER JWT-----
eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.e30.AA
------END NATS USER JWT------
-----BEGIN USER NKEY SEED-----
{SEED}
------END USER NKEY SEED------
"""
TLS_URL = "tls://nats:4222"


AUTHORITY = Authority()
SERVER = AUTHORITY.issue("nats", ["nats"])


def written(pair: Pair, folder: Path) -> dict[str, str]:
    """Writes a certificate and its key, and returns their settings."""
    (folder / "tls.crt").write_text(pair.certificate_pem)
    (folder / "tls.key").write_text(pair.key_pem)
    return {"nats_tls_cert_file": str(folder / "tls.crt"), "nats_tls_key_file": str(folder / "tls.key")}


def name_presented_by(client: ssl.SSLContext, folder: Path) -> str:
    """Returns the name in the certificate that a client presents to a server."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    (folder / "server.pem").write_text(SERVER.certificate_pem + SERVER.key_pem)
    server.load_cert_chain(folder / "server.pem")
    server.load_verify_locations(cadata=AUTHORITY.pair.certificate_pem)
    server.verify_mode = ssl.CERT_REQUIRED
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    one = client.wrap_bio(to_client, to_server, server_hostname="nats")
    other = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (one, other, one, other):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
    ((name,),) = (other.getpeercert() or {})["subject"]
    return name[1]


@pytest.mark.parametrize(
    ("values", "security"),
    [
        ({}, NatsSecurity),
        ({"nats_token": "t"}, NatsToken),
        ({"nats_nkey": SEED}, NatsNKey),
        ({"nats_credentials": CREDENTIALS}, NatsCredentials),
        ({"nats_url": "nats://me:secret@nats:4222"}, NatsSecurity),
    ],
)
def test_each_secret_is_a_login(values: dict[str, str], security: type):
    settings = ServiceSettings(**values)
    found = nats_security(settings)
    assert type(found) is security
    assert found.ssl_context is None
    assert has_login(settings) is bool(values)


def test_a_seed_is_read_from_its_file(monkeypatch, tmp_path: Path):
    file = tmp_path / "chunker.nk"
    file.write_text(f"{SEED}\n")
    monkeypatch.setenv("PRISM_NATS_NKEY_FILE", str(file))
    found = nats_security(ServiceSettings())
    assert isinstance(found, NatsNKey)
    assert found.seed == SEED


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"nats_token": "t", "nats_nkey": SEED}, "PRISM_NATS_TOKEN and PRISM_NATS_NKEY"),
        ({"nats_nkey": SEED, "nats_url": "nats://me:secret@nats:4222"}, "the login in PRISM_NATS_URL"),
        ({"nats_url": TLS_URL, "nats_tls_cert_file": "a.pem"}, "both PRISM_NATS_TLS_CERT_FILE"),
        ({"nats_url": TLS_URL, "nats_tls_key_file": "a.pem"}, "both PRISM_NATS_TLS_CERT_FILE"),
        ({"nats_tls_ca_file": "ca.pem"}, "begin each URL of PRISM_NATS_URL with tls://"),
        ({"nats_tls_first": True, "nats_url": f"{TLS_URL},nats://b:4222"}, "begin each URL"),
    ],
)
def test_settings_that_contradict_each_other_prevent_the_start(values: dict[str, object], message: str):
    with pytest.raises(InvalidSettingsError, match=message):
        ServiceSettings(**values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"nats_nkey": "SUNONSENSE"}, "PRISM_NATS_NKEY: It is not the seed"),
        ({"nats_nkey": "no base32: ü"}, "PRISM_NATS_NKEY: It is not the seed"),
        ({"nats_credentials": "nonsense"}, "PRISM_NATS_CREDENTIALS: It is not a .creds file"),
        ({"nats_tls_ca_file": "/nowhere/ca.pem"}, "PRISM_NATS_TLS_CA_FILE: The file cannot be read: No such"),
        ({"nats_tls_ca_file": os.devnull}, f"PRISM_NATS_TLS_CA_FILE: {os.devnull} has no certificates"),
        (
            {"nats_tls_cert_file": "/nowhere/a.pem", "nats_tls_key_file": "/nowhere/a.key"},
            "PRISM_NATS_TLS_CERT_FILE: The file cannot be read",
        ),
    ],
)
def test_a_login_that_cannot_be_used_is_named_and_not_shown(values: dict[str, str], message: str):
    settings = ServiceSettings(nats_url=TLS_URL, **values)
    with pytest.raises(InvalidSettingsError, match=message) as caught:
        nats_security(settings)
    assert "NONSENSE" not in str(caught.value)


def test_a_key_of_another_certificate_is_refused(tmp_path: Path):
    values = written(AUTHORITY.issue("chunker"), tmp_path)
    (tmp_path / "tls.key").write_text(AUTHORITY.issue("search").key_pem)
    with pytest.raises(InvalidSettingsError, match="is no certificate of the key"):
        nats_security(ServiceSettings(nats_url=TLS_URL, **values))


def test_only_certificates_of_the_given_authority_are_trusted(tmp_path: Path):
    (tmp_path / "ca.crt").write_text(AUTHORITY.pair.certificate_pem)
    settings = ServiceSettings(nats_url=TLS_URL, nats_tls_ca_file=str(tmp_path / "ca.crt"))
    context = nats_security(settings).ssl_context
    assert context is not None
    assert [one["subject"] for one in context.get_ca_certs()] == [((("commonName", AUTHORITY_NAME),),)]
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED


def test_a_certificate_is_read_again_for_each_connection(tmp_path: Path):
    (tmp_path / "ca.crt").write_text(AUTHORITY.pair.certificate_pem)
    values = written(AUTHORITY.issue("chunker"), tmp_path)
    settings = ServiceSettings(nats_url=TLS_URL, nats_tls_ca_file=str(tmp_path / "ca.crt"), **values)
    context = nats_security(settings).ssl_context
    assert context is not None
    assert name_presented_by(context, tmp_path) == "chunker"
    written(AUTHORITY.issue("renewed"), tmp_path)
    assert name_presented_by(context, tmp_path) == "renewed"
    (tmp_path / "tls.crt").unlink()
    assert name_presented_by(context, tmp_path) == "renewed"


async def test_an_error_that_only_another_configuration_ends_prevents_the_start():
    untrusted = ssl.SSLCertVerificationError()
    untrusted.verify_message = "self-signed certificate in certificate chain"
    with pytest.raises(StartError, match=r"self-signed .* PRISM_NATS_TLS_CA_FILE"):
        await ConnectionErrors().report(untrusted)
    with pytest.raises(StartError, match="NATS refuses the login"):
        await ConnectionErrors().report(NatsError("nats: 'Authorization Violation'"))


async def test_an_error_that_may_pass_is_logged_once(caplog):
    errors = ConnectionErrors()
    for _ in range(3):
        await errors.report(ConnectionRefusedError("refused"))
    errors.connected()
    await errors.report(NatsError("nats: 'Authorization Violation'"))
    refused, expired = caplog.messages
    assert "refused" in refused
    assert "Authorization" in expired
