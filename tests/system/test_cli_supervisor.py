"""`prism up` and `prism down` from outside, with stand-ins for the services: a process, a run file, /readyz.

nats-server is the real one; other tests cover the real services.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from forked_processes import run_prism

from prism_cli.stack.forkserver import FORKSERVER_NAME

pytestmark = pytest.mark.system

PRISM = str(Path(sys.executable).with_name("prism"))
SERVICES = ("ingest", "chunker", "embedder", "indexer", "search", "atlas", "workspace", "scribe", "gateway")
COMMAND_SECONDS_MAX = 300
WAIT_SECONDS_MAX = 180
FIRST_PAUSE_S = 0.5

# Runs when a service is loaded, to run or to be forked.
LOADED = """
import os

if os.environ.get("FAKE_MODULES") == "broken":
    raise ImportError("a library is missing")

"""

# Publishes its address, answers /readyz, and misbehaves on demand: FAKE_<NAME>=crash | stubborn | parent |
# deaf.
STAND_IN = """
import http.server, json, os, pathlib, signal, subprocess, sys, time

NAME = "@NAME@"
mood = os.environ.get("FAKE_" + NAME.upper(), "")
if mood == "crash":
    sys.exit("model weights are missing")
if mood == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
if mood == "parent":
    worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    pathlib.Path(os.environ["PRISM_RUN_DIR"], NAME + ".worker").write_text(str(worker.pid))


class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503 if mood == "deaf" else 200)
        self.end_headers()
        self.wfile.write(b'{"checks": {"nats": "no answer", "model": "ok"}}')

    def log_message(self, *_):
        pass


port = int(os.environ.get("PRISM_GATEWAY_PORT" if NAME == "gateway" else "PRISM_QDRANT_LOCAL_PORT", "0"))
server = http.server.HTTPServer(("127.0.0.1", port if NAME in ("gateway", "qdrant_local") else 0), Health)
if NAME == "qdrant_local":
    target, text = pathlib.Path(os.environ["PRISM_QDRANT_LOCAL_DATA_DIR"], "qdrant.port"), str(server.server_port)
else:
    target = pathlib.Path(os.environ["PRISM_RUN_DIR"], NAME + ".json")
    text = json.dumps({"pid": os.getpid(), "host": "127.0.0.1", "port": server.server_port})
partial = target.with_suffix(".partial")
partial.write_text(text)
partial.replace(target)
server.serve_forever()
"""


class Stack:
    """A data folder, and `prism` on it with stand-ins for the services."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.settings: dict[str, str] = {}
        self._modules = folder / "modules"
        for name in (*SERVICES, "qdrant_local"):
            package = self._modules / f"prism_{name}"
            package.mkdir(parents=True)
            (package / "__init__.py").touch()
            program = textwrap.indent(STAND_IN.replace("@NAME@", name), "    ")
            (package / "main.py").write_text(f"{LOADED}if __name__ == '__main__':\n{program}")

    def environment(self, **moods: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PRISM_")}
        fakes = {f"FAKE_{name.upper()}": mood for name, mood in moods.items()}
        return (
            kept
            | fakes
            | self.settings
            | {"PYTHONPATH": str(self._modules), "PRISM_CONFIG": os.devnull, "PRISM_DATA_DIR": str(self.data)}
        )

    def prism(self, *arguments: str, **moods: str) -> subprocess.CompletedProcess[str]:
        return run_prism(arguments, self.environment(**moods), COMMAND_SECONDS_MAX)

    def up(self, **moods: str) -> dict[str, Any]:
        done = self.prism("up", "--port", "0", "--detach", "--json", **moods)
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout)

    def state(self) -> dict[str, Any]:
        return json.loads((self.data / "run" / "supervisor.json").read_text())

    def pid(self, service: str) -> int:
        return self.state()["services"][service]["pid"]

    def pids(self) -> list[int]:
        return [facts["pid"] for facts in self.state()["services"].values() if facts["pid"]]

    def supervisor_log(self) -> str:
        return (self.data / "logs" / "supervisor.log").read_text()


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    stack = Stack(tmp_path)
    yield stack
    stack.prism("down")
    shutil.rmtree(tmp_path, ignore_errors=True)


def is_running(pid: int) -> bool:
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.returncode == 0 and not done.stdout.startswith("Z")


def wait_until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not is_true():
        assert time.monotonic() < deadline, "the condition did not become true in time"
        time.sleep(0.05)


def test_detached_up_prints_json_and_down_stops_everything(stack: Stack):
    up = stack.up()
    assert set(up) == {"url", "mcp_url", "token", "data_dir"}
    assert up["mcp_url"] == f"{up['url']}/mcp"
    assert up["token"].startswith("prism_")
    pids = stack.pids()
    assert len(pids) == len(SERVICES) + 2
    assert all(facts["ready"] for facts in stack.state()["services"].values())

    assert stack.prism("down").returncode == 0

    assert not any(map(is_running, pids))
    assert not (stack.data / "up.json").exists()
    again = stack.prism("down")
    assert again.returncode == 0
    assert "was not running" in again.stderr


def test_secrets_are_private_to_the_owner_and_stable(stack: Stack):
    first = stack.up()
    for name in ("token", "up.json", "nats/nats.conf", "secrets/nats", "secrets/qdrant"):
        assert (stack.data / name).stat().st_mode & 0o777 == 0o600, name
    assert stack.data.stat().st_mode & 0o777 == 0o700
    stack.prism("down")
    assert stack.up()["token"] == first["token"]


def test_second_up_is_refused_and_names_the_running_stack(stack: Stack):
    up = stack.up()
    for arguments in (("up", "--port", "0"), ("up", "--port", "0", "--detach")):
        refused = stack.prism(*arguments)
        assert refused.returncode == 3
        assert up["url"] in refused.stderr
        assert "prism down" in refused.stderr
    as_json = stack.prism("up", "--port", "0", "--detach", "--json")
    assert json.loads(as_json.stdout)["error"]["code"] == "already_running"
    assert all(map(is_running, stack.pids()))


def test_deleted_lock_files_do_not_admit_a_second_stack(stack: Stack):
    stack.up()
    pids = stack.pids()
    (stack.data / "up.lock").unlink()
    (stack.data / "run" / "supervisor.json").unlink()
    wait_until((stack.data / "run" / "supervisor.json").exists)
    assert stack.prism("up", "--port", "0", "--detach").returncode == 3
    assert stack.pids() == pids
    assert stack.prism("down").returncode == 0
    assert not any(map(is_running, pids))


def test_a_used_port_is_reported_before_anything_starts(stack: Stack):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        refused = stack.prism("up", "--port", port, "--detach")
    assert refused.returncode == 6
    assert port in refused.stderr
    assert not (stack.data / "logs" / "nats.log").exists()


@pytest.mark.parametrize("service", ["chunker", "nats", "qdrant", "gateway"])
def test_a_killed_service_restarts_on_its_port(stack: Stack, service: str):
    stack.up()
    before = stack.state()["services"][service]
    os.kill(before["pid"], signal.SIGKILL)
    wait_until(lambda: stack.state()["services"][service]["restarts"] == 1)
    wait_until(lambda: stack.state()["services"][service]["ready"])
    after = stack.state()["services"][service]
    assert after["pid"] != before["pid"]
    assert after["last_exit"] == "killed by SIGKILL"
    if service != "chunker":
        assert after["port"] == before["port"]
    assert f"{service} died (killed by SIGKILL)" in stack.supervisor_log()
    assert f"{service} is back" in stack.supervisor_log()


def test_hung_services_are_shown_and_replaced(stack: Stack):
    stack.settings = {"PRISM_PROBE_EVERY_S": "0.2", "PRISM_SILENT_S_MAX": "5"}
    stack.up()
    hung = {name: stack.pid(name) for name in ("search", "nats")}
    for pid in hung.values():
        os.kill(pid, signal.SIGSTOP)
        # Each of its threads stops when it is next scheduled.
        wait_until(lambda pid=pid: psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    shown = {facts["name"]: facts for facts in json.loads(stack.prism("status", "--json").stdout)["services"]}
    # On a busy machine they may be replaced before the command has looked.
    assert not any(shown[name]["ready"] and shown[name]["pid"] == pid for name, pid in hung.items())
    for name, pid in hung.items():
        wait_until(lambda name=name: stack.state()["services"][name]["restarts"] == 1)
        wait_until(lambda name=name: stack.state()["services"][name]["ready"])
        facts = stack.state()["services"][name]
        assert facts["pid"] != pid
        # A busy machine notices a little later.
        assert re.fullmatch(r"no answer for \d+ s: killed by SIGKILL", facts["last_exit"])
        assert re.search(rf"{name} hangs \(no answer for \d+ s\); replacing it", stack.supervisor_log())
    assert re.search(r"restarted 1 times, last: no answer for \d+ s", stack.prism("doctor").stdout)


def test_unwritable_state_does_not_stop_the_supervisor(stack: Stack):
    stack.up()
    supervisor, search = stack.state()["pid"], stack.pid("search")
    hidden = {stack.data / name: stack.data / f"{name}-hidden" for name in ("run", "logs")}
    for folder, away in hidden.items():
        folder.rename(away)
    os.kill(search, signal.SIGKILL)
    wait_until(lambda: not is_running(search))
    time.sleep(2 * FIRST_PAUSE_S)  # one start is attempted, and fails
    for folder, away in hidden.items():
        away.rename(folder)
    wait_until(
        lambda: stack.pid("search") not in (None, search) and stack.state()["services"]["search"]["ready"]
    )
    assert stack.state()["pid"] == supervisor


def test_foreground_stack_prints_deaths_on_the_terminal(stack: Stack):
    process = subprocess.Popen(
        [PRISM, "up", "--port", "0"],
        env=stack.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    wait_until((stack.data / "up.json").exists)
    pids = stack.pids()
    os.kill(stack.pid("search"), signal.SIGKILL)
    wait_until(lambda: "search is back" in stack.supervisor_log())
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=WAIT_SECONDS_MAX)
    assert process.returncode == 0
    assert "search died (killed by SIGKILL)" in output
    for next_command in ("prism index", "prism connect claude --write"):
        assert next_command in output
    assert not any(map(is_running, pids))


def test_a_killed_supervisor_restarts_at_the_same_address(stack: Stack):
    up = stack.up(chunker="parent")
    pids = [*stack.pids(), worker := int((stack.data / "run" / "chunker.worker").read_text())]
    supervisor = stack.state()["pid"]
    os.kill(supervisor, signal.SIGKILL)
    wait_until(lambda: not any(is_running(pid) for pid in pids if pid != worker))
    wait_until(lambda: is_up(stack) and stack.state()["pid"] != supervisor)
    assert not is_running(worker)
    assert json.loads((stack.data / "up.json").read_text())["url"] == up["url"]
    assert "the supervisor ended with code 137" in stack.supervisor_log()

    assert (
        sys.platform != "linux" or len(guards(stack)) == 2
    )  # the guard and its subshell, which checks whether the supervisor hangs
    assert stack.prism("down").returncode == 0
    wait_until(lambda: not guards(stack))


def test_down_ends_the_guard_of_a_killed_supervisor(stack: Stack):
    stack.up()
    os.kill(stack.state()["pid"], signal.SIGKILL)
    wait_until(lambda: "the supervisor ended with code 137" in stack.supervisor_log())
    assert stack.prism("down").returncode == 0
    wait_until(lambda: not guards(stack))
    assert stack.prism("status").returncode == 5


def is_up(stack: Stack) -> bool:
    return (stack.data / "up.json").exists() and (stack.data / "run" / "supervisor.json").exists()


def guards(stack: Stack) -> list[int]:
    mark = f"PRISM_GUARD_OF={stack.data}".encode()
    return [pid for pid in psutil.pids() if mark in environment_of(pid).split(b"\0")]


def environment_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def test_worker_of_a_dead_service_is_ended(stack: Stack):
    stack.up(chunker="parent")
    worker = int((stack.data / "run" / "chunker.worker").read_text())
    os.kill(stack.pid("chunker"), signal.SIGKILL)
    wait_until(lambda: not psutil.pid_exists(worker))


@pytest.mark.skipif(sys.platform != "linux", reason="services are forked on Linux only")
def test_forked_services_have_own_name_session_and_log(stack: Stack):
    stack.up()
    state = stack.state()
    for name in (*SERVICES, "qdrant"):
        process = psutil.Process(state["services"][name]["pid"])
        module = "prism_qdrant_local" if name == "qdrant" else f"prism_{name}"
        assert process.name() == module[:15]
        assert " ".join(process.cmdline()).strip().endswith(f"python -P -m {module}.main")
        assert f"PRISM_SUPERVISED_BY={stack.data}".encode() in environment_of(process.pid).split(b"\0")
        assert process.ppid() == state["pid"]
        assert os.getsid(process.pid) == process.pid
        assert process.cwd() == str(stack.data / "run")
        handles = Path("/proc", str(process.pid), "fd")
        assert (handles / "2").readlink() == stack.data / "logs" / f"{name}.log"
        # Neither the lock of the supervisor nor the pipes of the fork server.
        assert not [
            one for one in map(os.readlink, handles.iterdir()) if "pipe" in one or one.endswith(".lock")
        ]


def test_service_starts_without_the_fork_server(stack: Stack):
    stack.up()
    killed = stack.state()["forkserver_pid"]
    os.kill(killed, signal.SIGKILL)
    os.kill(stack.pid("search"), signal.SIGKILL)
    wait_until(lambda: "search is back" in stack.supervisor_log())
    assert psutil.Process(stack.pid("search")).name().startswith("python")
    wait_until(lambda: stack.state()["forkserver_pid"] not in (killed, None))
    wait_until(lambda: psutil.Process(stack.state()["forkserver_pid"]).name() == FORKSERVER_NAME)
    os.kill(stack.pid("search"), signal.SIGKILL)
    wait_until(lambda: stack.supervisor_log().count("search is back") == 2)
    assert psutil.Process(stack.pid("search")).name() == "prism_search"


def test_import_errors_appear_in_the_log_of_the_service(stack: Stack):
    failed = stack.prism("up", "--port", "0", "--detach", modules="broken")
    assert failed.returncode == 7
    assert "a library is missing" in failed.stderr


def test_stale_run_files_are_ignored(stack: Stack):
    (stack.data / "run").mkdir(parents=True)
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        stale = json.dumps({"pid": bystander.pid, "host": "127.0.0.1", "port": 1})
        for service in SERVICES:
            (stack.data / "run" / f"{service}.json").write_text(stale)
        (stack.data / "up.json").write_text(json.dumps({"pid": bystander.pid, "url": "http://127.0.0.1:1"}))
        (stack.data / "up.lock").write_text(json.dumps({"pid": bystander.pid}))
        assert stack.up()["url"] != "http://127.0.0.1:1"
        assert stack.prism("down").returncode == 0
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_up_fails_with_the_log_of_a_service_that_cannot_start(stack: Stack):
    failed = stack.prism("up", "--port", "0", "--detach", embedder="crash")
    assert failed.returncode == 7
    assert "embedder" in failed.stderr
    assert "model weights are missing" in failed.stderr
    assert str(stack.data / "logs" / "embedder.log") in failed.stderr.replace("\n", "")
    assert not (stack.data / "run" / "supervisor.json").exists()


def test_down_kills_a_service_that_ignores_sigterm(stack: Stack):
    stack.up(search="stubborn")
    pids = stack.pids()
    started_at = time.monotonic()
    assert stack.prism("down").returncode == 0
    assert time.monotonic() - started_at > 14  # it got its time to stop
    assert not any(map(is_running, pids))


def test_down_works_while_the_stack_starts(stack: Stack):
    process = subprocess.Popen(
        [PRISM, "up", "--port", "0", "--detach"],
        env=stack.environment(search="deaf"),
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until((stack.data / "run" / "search.json").exists)
    pids = stack.pids()
    assert stack.prism("down").returncode == 0
    _, errors = process.communicate(timeout=WAIT_SECONDS_MAX)
    assert process.returncode == 7
    assert "before the stack was ready" in errors
    assert not any(map(is_running, pids))


def test_commands_without_a_stack_show_how_to_start_one(stack: Stack):
    for arguments in (("status",), ("search", "x"), ("index", "."), ("connect",)):
        done = stack.prism(*arguments)
        assert done.returncode == 5
        assert "prism up" in done.stderr
        assert "Traceback" not in done.stderr
