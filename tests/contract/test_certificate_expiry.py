"""How long the certificate of a server is valid, read over a real connection."""

import ssl
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from test_sign_on_tls import DAY, Keys, certificate

from prism_cli import doctor
from prism_cli.doctor import Level
from prism_cli.signals import certificate_seconds

HOST = "localhost"


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    return certificate(HOST, tmp_path)


@pytest.fixture
def url(pem: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Keys)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"https://{HOST}:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_certificate_that_expires_tomorrow_is_a_warning(url: str, pem: Path, monkeypatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    left = certificate_seconds(url)
    assert left is not None
    assert DAY.total_seconds() - 600 < left <= DAY.total_seconds()
    (finding,) = doctor._certificate(url)
    assert finding.level is Level.WARNING
    assert finding.seen == f"The certificate of {url} expires in 24 h."
    assert "docs/runbooks/certificate-expires.md" in finding.advice


def test_a_certificate_without_trust_is_wrong(url: str) -> None:
    (finding,) = doctor._certificate(url)
    assert finding.level is Level.WRONG
    assert "certificate" in finding.seen
