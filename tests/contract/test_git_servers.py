"""Hostile git servers: the cost of each, measured on the processes of git."""

import contextlib
import json
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator

MIB = 1024**2
MEMORY_BYTES_MAX = 96 * MIB
REFS = b"".join(b"003f%040x refs/heads/%07d\n" % (number, number) for number in range(10_000))
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\nConnection: close\r\n\r\n"
    b"001e# service=git-upload-pack\n0000"
)
# In a process of its own, so that nothing else counts as its child.
LOOK = """
import json, resource, sys
from prism_contracts.errors import PrismError
from prism_source.clone import CloneRules, remote_refs
rules = CloneRules(allow_private=True, silence_s_max=int(sys.argv[2]), memory_bytes_max=int(sys.argv[3]))
try:
    remote_refs(sys.argv[1], rules)
except PrismError as error:
    peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(json.dumps({"code": error.code.value, "text": str(error.body), "peak_bytes": peak_kib * 1024}))
"""


class Flood(socketserver.BaseRequestHandler):
    """Sends endless refs."""

    def handle(self) -> None:
        self.request.recv(4096)
        with contextlib.suppress(OSError):
            self.request.sendall(HEAD)
            while True:
                self.request.sendall(REFS)


class Silence(socketserver.BaseRequestHandler):
    """Accepts the request, and never answers."""

    def handle(self) -> None:
        while self.request.recv(4096):
            pass


@contextlib.contextmanager
def served(handler: type[socketserver.BaseRequestHandler]) -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/a/b"
        server.shutdown()


def look(url: str, *, silence_s_max: int) -> dict:
    arguments = (url, str(silence_s_max), str(MEMORY_BYTES_MAX))
    done = subprocess.run(
        [sys.executable, "-c", LOOK, *arguments], capture_output=True, check=True, timeout=120
    )
    return json.loads(done.stdout)


def test_endless_refs_are_cut_at_the_memory_limit():
    with served(Flood) as url:
        report = look(url, silence_s_max=30)
    assert report["code"] == "payload_too_large"
    assert "PRISM_GIT_MEMORY_BYTES_MAX" in report["text"]
    # Memory mapped for reading (programs, libraries) comes on top of the limit.
    assert report["peak_bytes"] < MEMORY_BYTES_MAX + 32 * MIB


def test_a_silent_server_is_abandoned():
    with served(Silence) as url:
        report = look(url, silence_s_max=1)
    assert report["code"] == "deadline_exceeded"
    assert "PRISM_CLONE_SILENCE_S_MAX" in report["text"]
