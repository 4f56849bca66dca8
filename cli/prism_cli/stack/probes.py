"""Liveness and readiness probes of processes on this machine, without blocking."""

import json
import os
import random
import re
import select
import socket
import time
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

ANSWER_SECONDS_MAX = 3.0
HOST = "127.0.0.1"
ANSWER_BYTES_MAX = 64 * 1024
STATUS_OK = 200
STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3})")
LIVE_PATH = "/livez"
READY_PATH = "/readyz"
# Below the ports that Linux (32768), macOS and Windows (49152) use for outgoing connections: a port that is
# chosen first and bound a second later must not become the other end of a connection.
PORTS_TO_GIVE = range(20_000, 32_000)
PORT_TRIES = 100


class ProbeResult(NamedTuple):
    """The result of a probe. `is_alive`: it answered at all; `problem`: why it is not ready,
    empty if it is.
    """

    is_alive: bool
    problem: str = ""


# response -> result
Read = Callable[[bytes], ProbeResult]


class Probe:
    """A probe on its own connection. Call `advance` when the socket is ready; nothing here waits.

    `read` gets the response up to `end`, or until the other side closes if `end` is empty.
    """

    def __init__(self, port: int, request: bytes, read: Read, end: bytes = b"") -> None:
        self.answer: ProbeResult | None = None
        self.is_sent = False
        self._port = port
        self._request = request
        self._read = read
        self._end = end
        self._received = b""
        self._socket = socket.socket()
        self._socket.setblocking(False)  # noqa: FBT003 - a positional of the standard library
        self._socket.connect_ex((HOST, port))

    def fileno(self) -> int:
        """Returns the file descriptor, for `select`."""
        return self._socket.fileno()

    def advance(self) -> None:
        """Continue as far as possible without waiting; sets `answer` at the end."""
        try:
            if not self.is_sent:
                self._send()
            self._receive()
        except BlockingIOError:
            return
        except OSError as error:
            self._finish(ProbeResult(is_alive=False, problem=f"port {self._port}: {error.strerror or error}"))

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _send(self) -> None:
        error = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            raise OSError(error, os.strerror(error))
        self._socket.sendall(self._request)  # some dozen bytes: they fit into the buffer of the socket
        self.is_sent = True

    def _receive(self) -> None:
        is_whole = False
        while not is_whole:
            part = self._socket.recv(ANSWER_BYTES_MAX)
            self._received += part
            is_whole = not part or len(self._received) >= ANSWER_BYTES_MAX
            is_whole = is_whole or (bool(self._end) and self._end in self._received)
        self._finish(self._read(self._received))

    def _finish(self, answer: ProbeResult) -> None:
        self.answer = answer
        self._socket.close()


def probe_for(service: str, port: int) -> Probe:
    """Probe the readiness of a process of the stack."""
    return nats_probe(port) if service == "nats" else http_probe(port)


def nats_probe(port: int, path: str = "") -> Probe:  # noqa: ARG001 - the signature is that of `http_probe`
    """Probe nats-server, which greets every connection with its capabilities."""
    return Probe(port, b"", _read_greeting, end=b"\r\n")


def http_probe(port: int, path: str = READY_PATH) -> Probe:
    """Probe a service."""
    return Probe(port, f"GET {path} HTTP/1.0\r\nHost: {HOST}\r\n\r\n".encode(), _read_response)


def ask_all(probes: Mapping[str, Probe], seconds: float = ANSWER_SECONDS_MAX) -> dict[str, str]:
    """Probe concurrently. Returns by name why it is not ready, empty if it is."""
    deadline = time.monotonic() + seconds
    while waiting := [probe for probe in probes.values() if probe.answer is None]:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            break
        advance(waiting, left_s)
    for probe in probes.values():
        probe.close()
    silence = f"no answer within {seconds:g} s"
    return {name: silence if probe.answer is None else probe.answer.problem for name, probe in probes.items()}


def advance(probes: Collection[Probe], seconds: float, wakeups: int | None = None) -> bool:
    """Wait until a probe can continue, `wakeups` is readable or the time is over. Returns whether `wakeups`
    is readable.
    """
    reading = [probe for probe in probes if probe.is_sent]
    writing = [probe for probe in probes if not probe.is_sent]
    others: list[Probe | int] = [] if wakeups is None else [wakeups]
    readable, writable, _ = select.select([*reading, *others], writing, [], seconds)
    for found in (*readable, *writable):
        if isinstance(found, Probe):
            found.advance()
    return wakeups in readable


def _read_greeting(received: bytes) -> ProbeResult:
    if b'"jetstream":true' in received:
        return ProbeResult(is_alive=True)
    return ProbeResult(is_alive=bool(received), problem="JetStream is not enabled")


def _read_response(received: bytes) -> ProbeResult:
    """HTTP/1.0: the server closes the connection after the body."""
    head, _, body = received.partition(b"\r\n\r\n")
    found = STATUS_LINE.match(head)
    if found is None:
        return ProbeResult(is_alive=False, problem="closed without an answer")
    if int(found[1]) == STATUS_OK:
        return ProbeResult(is_alive=True)
    return ProbeResult(
        is_alive=True, problem=_failed_checks(body) or f"the health check returned {int(found[1])}"
    )


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
    """Returns a free port that the system does not use for an outgoing connection in the meantime."""
    tries = random.sample(PORTS_TO_GIVE, PORT_TRIES)
    return next((port for port in tries if is_port_free(port)), 0) or _any_port()


def _any_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
