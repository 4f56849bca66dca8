"""Try the image: `make image-test`. Build it, look into it, run the stack of Docker Compose, ask, and stop it.

It takes minutes, so it is not part of `make test`. With Podman, everything that it makes is in one folder, which it
removes at the end unless `--storage` names it. It ends with 1 at the first thing that is wrong.
"""

import argparse
import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from deploy.compose.make_secrets import write
from deploy.image.build import BASE, build
from deploy.image.engine import Engine, find_engine
from prism_contracts.rpc.search import SearchReply

IMAGE = "localhost/prism:trial"
PROJECT = "prism-image-trial"
FILES = ("deploy/compose.yaml", "deploy/compose.local-store.yaml")
SERVICES = (
    "gateway",
    "ingest",
    "chunker",
    "embedder",
    "indexer",
    "search",
    "atlas",
    "workspace",
    "scribe",
    "qdrant",
    "nats",
)
SAMPLES = Path("tests/fixtures/chunker")
FIXTURE = Path("tests/fixtures/agents/parcels")
REPOSITORY = "trial/parcels"
QUESTION = "Which function decides the distance of a place that is not known?"
ANSWER = "zones.py"
PYTHON = "/opt/prism/bin/python"
# Nothing is measured by them: a machine that builds an image may be slow.
READY_S_MAX = 300
STOP_S_MAX = 60
HTTP_S_MAX = 60
PODMAN_NEEDS = ("runc", "netavark", "aardvark-dns")
# Where Debian keeps programs that only Podman calls.
LIBRARIES = ("/usr/lib/podman", "/usr/libexec/podman")

# What Linux says about the first process of a container: no capability, no new rights, and a user that is not root.
STATUS = """
import pathlib
lines = pathlib.Path("/proc/1/status").read_text().splitlines()
fields = dict(line.split(":\\t", 1) for line in lines if ":\\t" in line)
assert int(fields["CapEff"], 16) == int(fields["CapBnd"], 16) == 0, "it has capabilities"
assert fields["NoNewPrivs"] == "1", "it may get new rights"
assert "0" not in fields["Uid"].split(), "it runs as root"
try:
    pathlib.Path("/opt/prism/changed").touch()
except OSError as error:
    assert error.errno == 30, error
else:
    raise AssertionError("its root file system can be changed")
"""


class Stack:
    """The services of the Compose files, from one image, on a free port."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self._engine = engine
        self._folder = folder
        self._port = _free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        write(folder / "secrets")
        self.token = (folder / "secrets" / "bootstrap-token").read_text()

    def compose(self, *arguments: str) -> None:
        """Run a command of Docker Compose or of podman-compose. Raises CalledProcessError."""
        program = ["docker", "compose"] if self._engine.is_docker else ["podman-compose"]
        files = [option for file in FILES for option in ("--file", file)]
        variables = {
            **os.environ,
            **self._engine.env,
            "PATH": f"{Path(sys.executable).parent.parent / 'deploy/bin'}:{os.environ['PATH']}",
            "PRISM_IMAGE": IMAGE,
            "PRISM_PORT": str(self._port),
            "PRISM_SECRETS": str(self._folder / "secrets"),
        }
        command = [*program, "--project-name", PROJECT, *files, *arguments]
        subprocess.run(
            command, env=variables, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def containers(self) -> dict[str, str]:
        """Returns the ids of the containers by service."""
        return {
            service: self._engine.read(
                "ps",
                "--all",
                "--quiet",
                "--filter",
                f"label=com.docker.compose.project={PROJECT}",
                "--filter",
                f"label=com.docker.compose.service={service}",
            )
            for service in SERVICES
        }

    def wait(self) -> None:
        """Wait until the gateway is ready. Ends the process if it never is."""
        deadline = time.monotonic() + READY_S_MAX
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.url}/readyz", timeout=HTTP_S_MAX).is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.5)
        for service, container in self.containers().items():
            print(f"--- {service}")
            self._engine.call("logs", "--tail", "20", container)
        _fail("the gateway did not become ready")


def missing_programs(engine: Engine) -> list[str]:
    """Returns what Podman needs and this machine lacks; Docker brings all it needs."""
    if engine.is_docker:
        return []
    path = os.pathsep.join([os.environ["PATH"], *LIBRARIES])
    return [program for program in PODMAN_NEEDS if not shutil.which(program, path=path)]


def look_inside(engine: Engine, marker: str) -> None:
    """Ends the process if the image has what it must not have, or a language does not parse in it."""
    _python_in_image(engine, Path("deploy/image/inside.py"), marker)
    if marker in engine.read("history", "--no-trunc", IMAGE):
        _fail("the history of the image has a secret of the build")
    mount = f"{SAMPLES.resolve()}:/samples:ro"
    parsed = json.loads(_python_in_image(engine, Path("deploy/image/samples.py"), "/samples", volume=mount))
    if wrong := {name: seen for name, seen in parsed.items() if tuple(seen) != _expected(name)}:
        _fail(f"samples are parsed in another way than in the tests: {wrong}")
    print(f"every one of {len(parsed)} samples is parsed as in the tests")
    version = engine.read("run", "--rm", *_hardened(), "--entrypoint", "prism", IMAGE, "--version")
    print(f"the command line answers: {version}")


def _expected(name: str) -> tuple[str, str, int]:
    """Returns the language, the way of parsing and the number of symbols in a sample's golden file."""
    first, *lines = (SAMPLES / f"{name}.golden").read_text().splitlines()
    language, parse = first.split()
    return language, parse, sum(line.startswith(("+ ", "- ")) for line in lines)


def _python_in_image(engine: Engine, script: Path, argument: str, volume: str = "") -> str:
    mounts = ["--volume", volume] if volume else []
    command = ["run", "--rm", "-i", *_hardened(), *mounts, "--entrypoint", PYTHON, IMAGE, "-P", "-", argument]
    done = subprocess.run(
        [engine.program, *command],
        env={**os.environ, **engine.env},
        check=False,
        input=script.read_text(),
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        _fail(f"{script.name} in the image:\n{done.stdout}")
    return done.stdout


def _hardened() -> list[str]:
    options = "--read-only --cap-drop=ALL --security-opt=no-new-privileges --network=none --tmpfs=/tmp --no-healthcheck"
    return options.split()


def look_at_rights(engine: Engine, containers: Mapping[str, str]) -> None:
    """Ends the process if a container has rights: by what Linux says about it, not by its configuration."""
    for service, container in containers.items():
        if not engine.succeeds("exec", container, PYTHON, "-c", STATUS):
            _fail(f"{service} has rights that it must not have, or does not run")
        if service != "nats" and not engine.succeeds(
            "exec", container, PYTHON, "-I", "-S", "/app/bin/healthcheck.py"
        ):
            _fail(f"the health check of {service} fails")
    print(f"{len(containers)} containers: no root, no capability, nothing to write to; health checks pass")


def index_and_ask(stack: Stack) -> None:
    """Index a folder over REST, and ask over MCP. Ends the process if the answer is wrong."""
    prism = Path(sys.executable).with_name("prism")
    variables = {**os.environ, "PRISM_URL": stack.url, "PRISM_TOKEN": stack.token, "PRISM_CONFIG": os.devnull}
    subprocess.run([prism, "index", str(FIXTURE), "--name", REPOSITORY, "--wait"], env=variables, check=True)
    found = asyncio.run(_ask(stack))
    first = found.results[0].file_path if found.results else "nothing"
    if first != ANSWER:
        _fail(f"the answer over MCP is {first}, not {ANSWER}")
    print(f"the answer over MCP is right: {first}")


async def _ask(stack: Stack) -> SearchReply:
    headers = {
        "Authorization": f"Bearer {stack.token}",
        "X-Prism-Repo": REPOSITORY,
        "X-Prism-Structured": "true",
    }
    async with (
        httpx2.AsyncClient(headers=headers, timeout=HTTP_S_MAX) as http,
        Client(streamable_http_client(f"{stack.url}/mcp", http_client=http)) as client,
    ):
        answer = await client.call_tool("search_code", {"query": QUESTION})
    if answer.is_error or answer.structured_content is None:
        _fail(f"the question over MCP failed: {answer.content}")
    return SearchReply.model_validate(answer.structured_content)


def stop_all(engine: Engine, containers: Mapping[str, str]) -> None:
    """Stop each container by SIGTERM. Ends the process if one does not end by itself with 0."""
    for service, container in containers.items():
        began = time.monotonic()
        engine.read("stop", "-t", str(STOP_S_MAX), container)
        code = engine.read("inspect", "--format", "{{.State.ExitCode}}", container)
        if code != "0":
            engine.call("logs", "--tail", "30", container)
            _fail(f"{service} ended with {code}")
        print(f"{service} ended with 0, {time.monotonic() - began:.1f} s after SIGTERM")


def print_sizes(engine: Engine) -> None:
    """Print the size of the image as it is on disk, and compressed as registries keep it."""
    size = int(engine.read("image", "inspect", IMAGE, "--format", "{{.Size}}"))
    packer = zlib.compressobj()
    compressed = 0
    saving = subprocess.Popen(
        [engine.program, "save", IMAGE], env={**os.environ, **engine.env}, stdout=subprocess.PIPE
    )
    assert saving.stdout
    while block := saving.stdout.read(2**20):
        compressed += len(packer.compress(block))
    compressed += len(packer.flush())
    if saving.wait():
        _fail("the image cannot be saved")
    print(f"size: {size // 10**6} MB, compressed {compressed // 10**6} MB")


def try_image(engine: Engine, folder: Path, base: str) -> None:
    """Build the image and try it, in a folder for secrets. Ends the process at the first problem."""
    marker = _secret_of_build(folder)
    build(engine, IMAGE, base=base, target="runtime")
    look_inside(engine, marker)
    print_sizes(engine)
    with _stack(engine, folder) as stack:
        stack.wait()
        containers = stack.containers()
        look_at_rights(engine, containers)
        index_and_ask(stack)
        stop_all(engine, containers)


def _secret_of_build(folder: Path) -> str:
    """Write the configuration of pip that the build has as a secret, with a text that must not be in the image."""
    marker = f"marker-{os.urandom(16).hex()}"
    given = os.environ.get("PIP_CONFIG_FILE", "")
    path = folder / "pip.conf"
    path.write_text((Path(given).read_text() if given else "") + f"\n# {marker}\n")
    os.environ["PIP_CONFIG_FILE"] = str(path)
    return marker


@contextmanager
def _stack(engine: Engine, folder: Path) -> Iterator[Stack]:
    stack = Stack(engine, folder)
    try:
        stack.compose("up", "--detach")
        yield stack
    finally:
        stack.compose("down", "--volumes", "--timeout", "10")


@contextmanager
def _storage(given: Path | None) -> Iterator[Path]:
    """Returns the folder of everything that Podman keeps: the given one, or one that is removed at the end."""
    if given:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    # Gigabytes: not where files may be kept in memory.
    folder = Path(tempfile.mkdtemp(prefix="prism-image-", dir="/var/tmp"))
    try:
        yield folder
    finally:
        # Without root, files in there belong to users that only Podman's namespace can act for.
        as_its_users = ["podman", "unshare"] if os.geteuid() else []
        subprocess.run([*as_its_users, "rm", "-rf", folder], check=True)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _fail(message: str) -> NoReturn:
    sys.exit(f"image-test: {message}")


def main() -> None:
    """Try the image that this checkout makes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default=BASE)
    parser.add_argument(
        "--storage", type=Path, help="folder in which Podman keeps everything; it is not removed"
    )
    given = parser.parse_args()
    engine = find_engine(given.storage)
    if missing := missing_programs(engine):
        _fail(f"Podman needs {', '.join(missing)}. On Debian: apt-get install {' '.join(missing)}")
    with _storage(given.storage) as folder, tempfile.TemporaryDirectory(prefix="prism-trial-") as secrets:
        try_image(engine if engine.is_docker else find_engine(folder), Path(secrets), given.base)
    print("image-test: everything passed")


if __name__ == "__main__":
    main()
