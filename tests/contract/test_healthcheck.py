"""The health check of containers, against real servers on loopback."""

import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from deploy.image.healthcheck import is_alive

StartServer = Callable[[dict[str, int]], int]


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """Returns a function that starts a server, whose answers are the statuses of its paths, on a free port."""
    running: list[ThreadingHTTPServer] = []

    def start(statuses: dict[str, int]) -> int:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(statuses.get(self.path, 404))
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)
        return server.server_port

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_a_server_that_answers_livez_is_alive(start_server: StartServer) -> None:
    assert is_alive([start_server({"/livez": 200})])


def test_the_ports_of_other_services_are_passed_over(start_server: StartServer, closed_port: int) -> None:
    assert is_alive([closed_port, start_server({"/livez": 200})])


def test_a_server_that_is_alive_but_not_ready_is_healthy(start_server: StartServer) -> None:
    assert is_alive([start_server({"/livez": 200, "/readyz": 503})])


def test_another_status_is_unhealthy(start_server: StartServer) -> None:
    assert not is_alive([start_server({"/livez": 503})])


def test_no_server_is_unhealthy(closed_port: int) -> None:
    assert not is_alive([closed_port])


def test_a_server_that_accepts_and_says_nothing_is_unhealthy(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deploy.image.healthcheck.TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert not is_alive([silent.getsockname()[1], start_server({"/livez": 200})])
