"""Documents of identity providers over TLS: the connection goes to a checked address, and is of the host."""

import ipaddress
import json
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from prism_gateway.signon.fetching import JsonFetcher

HOST, OTHER = "login.example.com", "other.example.com"
DAY = timedelta(days=1)


def certificate(name: str, folder: Path) -> Path:
    """Writes a key and a certificate, signed by itself, for a host."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


class Keys(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections

    def do_GET(self) -> None:
        body = json.dumps({"host": self.headers["Host"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def pem(tmp_path) -> Path:
    return certificate(HOST, tmp_path)


@pytest.fixture
def port(pem) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Keys)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


async def on_this_machine(host: str, port: int) -> list:
    return [ipaddress.ip_address("127.0.0.1")]


async def test_the_certificate_must_be_of_the_host(pem, port, monkeypatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    fetcher = JsonFetcher(allow_private=True, resolve=on_this_machine)
    assert await fetcher.get(f"https://{HOST}:{port}/keys") == {"host": f"{HOST}:{port}"}
    # The connection to the first host is not used for another one at the same address.
    with pytest.raises(httpx2.ConnectError, match="certificate"):
        await fetcher.get(f"https://{OTHER}:{port}/keys")
    await fetcher.close()


async def test_an_unknown_authority_is_refused(port) -> None:
    fetcher = JsonFetcher(allow_private=True, resolve=on_this_machine)
    with pytest.raises(httpx2.ConnectError, match="certificate"):
        await fetcher.get(f"https://{HOST}:{port}/keys")
    await fetcher.close()
