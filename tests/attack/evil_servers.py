"""Servers that misbehave as git servers, on loopback."""

import itertools
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LINES_PER_WRITE = 2_000


@contextmanager
def endless_refs() -> Iterator[str]:
    """Announces references as long as the client reads them. Yields the URL of a repository."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
            self.end_headers()
            try:
                self.wfile.write(_line(b"# service=git-upload-pack\n") + b"0000")
                first = _line(b"0" * 39 + b"1 HEAD\0 agent=git/2 object-format=sha1\n")
                self.wfile.write(first)
                for start in itertools.count(step=LINES_PER_WRITE):
                    self.wfile.write(b"".join(map(_reference, range(start, start + LINES_PER_WRITE))))
            except OSError:
                return  # the client has had enough

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/flood/refs.git"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def silent_server() -> Iterator[str]:
    """Accepts connections, and sends nothing. Yields the URL of a folder of repositories."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    kept: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                kept.append(listener.accept()[0])
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/silent"
    finally:
        listener.close()
        for connection in kept:
            connection.close()


def _line(text: bytes) -> bytes:
    """A pkt-line of git's protocol."""
    return b"%04x" % (len(text) + 4) + text


def _reference(number: int) -> bytes:
    return _line(b"%040x refs/heads/branch-%d\n" % (number + 1, number))
