"""Is it up? Small blocking questions to processes on this machine. An empty answer means yes."""

import http.client
import json
import random
import socket

PROBE_TIMEOUT_S = 3.0
HOST = "127.0.0.1"
NATS_INFO_BYTES_MAX = 8192
STATUS_OK = 200
# Below what Linux (32768), macOS and Windows (49152) take for outgoing connections: a port that is chosen first and
# listened on a second later must not become the other end of somebody's connection.
PORTS_TO_GIVE = range(20_000, 32_000)
PORT_TRIES = 100


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
        return f"port {port}: {str(error) or type(error).__name__}"
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
    """A port that is free now, and that the system gives to no outgoing connection in the meantime."""
    tries = random.sample(PORTS_TO_GIVE, PORT_TRIES)
    return next((port for port in tries if is_port_free(port)), 0) or _any_port()


def _any_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
