"""Is it up? Small blocking questions to processes on this machine. An empty answer means yes."""

import http.client
import json
import socket

PROBE_TIMEOUT_S = 3.0
HOST = "127.0.0.1"
NATS_INFO_BYTES_MAX = 8192
STATUS_OK = 200


def nats_problem(port: int) -> str:
    """Why nats-server cannot be used yet. It greets every connection with what it offers."""
    try:
        with socket.create_connection((HOST, port), PROBE_TIMEOUT_S) as connection:
            greeting = connection.recv(NATS_INFO_BYTES_MAX)
    except OSError as error:
        return f"port {port}: {error}"
    return "" if b'"jetstream":true' in greeting else "JetStream is not enabled"


def http_problem(port: int, path: str = "/readyz") -> str:
    """Why a service is not ready; the checks that fail, where it tells them."""
    connection = http.client.HTTPConnection(HOST, port, timeout=PROBE_TIMEOUT_S)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException) as error:
        return f"port {port}: {error or type(error).__name__}"
    finally:
        connection.close()
    return "" if response.status == STATUS_OK else _failed_checks(body) or f"{path} says {response.status}"


def _failed_checks(body: bytes) -> str:
    try:
        checks = json.loads(body)["checks"]
        return ", ".join(f"{name}: {result}" for name, result in checks.items() if result != "ok")
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""


def is_port_free(port: int) -> bool:
    """Whether a server could listen on the port."""
    try:
        with socket.create_server((HOST, port)):
            return True
    except OSError:
        return False


def free_port() -> int:
    """A port that is free now."""
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
