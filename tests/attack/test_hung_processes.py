"""A suspended process is replaced, and the status reports it."""

import os
import shutil
import signal
import time

import pytest
from figures import Figures
from running_stack import RunningStack, wait_until

REPLACED_SECONDS_MAX = 90.0
SEEN_SECONDS_MAX = 12.0
BACK_SECONDS_MAX = 90.0
SUPERVISOR_SECONDS_MAX = 150.0


@pytest.mark.parametrize(
    "service", ["search", "atlas", "gateway", "ingest", "chunker", "embedder", "indexer"]
)
def test_a_stopped_service_is_replaced(stack: RunningStack, figures: Figures, service: str) -> None:
    pid = stack.pid(service)
    os.kill(pid, signal.SIGSTOP)
    started = time.monotonic()
    wait_until(
        lambda: stack.state()["services"][service]["pid"] != pid, REPLACED_SECONDS_MAX, "it is replaced"
    )
    replaced_s = time.monotonic() - started
    wait_until(lambda: stack.state()["services"][service]["ready"], what="its successor is ready")
    with stack.http() as http:
        answer = http.post("/api/v1/search", json={"query": "withdraw money", "repo": "acme/ledger"})
    figures.add(
        f"{service} stands still", f"replaced after {replaced_s:.0f} s", f"{REPLACED_SECONDS_MAX:.0f} s"
    )
    assert answer.status_code == 200, answer.text


def test_the_status_shows_a_hung_service(stack: RunningStack, figures: Figures) -> None:
    with stack.stopped("search"):
        started = time.monotonic()
        wait_until(lambda: _shown(stack, "search") != "ready", SEEN_SECONDS_MAX, "prism status says so")
        seconds = time.monotonic() - started
    figures.add(
        "prism status of a hung service", f"says so after {seconds:.0f} s", f"{SEEN_SECONDS_MAX:.0f} s"
    )
    wait_until(lambda: _shown(stack, "search") == "ready", what="search is ready again")


def test_a_stopped_supervisor_is_replaced(stack: RunningStack, figures: Figures) -> None:
    pid = stack.state()["pid"]
    os.kill(pid, signal.SIGSTOP)
    started = time.monotonic()
    wait_until(lambda: _shown(stack, "supervisor") != "ready", SEEN_SECONDS_MAX, "prism status says so")
    shown_s = time.monotonic() - started
    assert "has not answered" in stack.prism("doctor").stdout
    wait_until(lambda: _supervisor(stack) not in (None, pid), SUPERVISOR_SECONDS_MAX, "it is replaced")
    replaced_s = time.monotonic() - started
    wait_until(lambda: _shown(stack, "gateway") == "ready", what="the gateway is ready")
    figures.add(
        "the supervisor stands still",
        f"status says so after {shown_s:.0f} s, replaced after {replaced_s:.0f} s",
        f"{SEEN_SECONDS_MAX:.0f} s, {SUPERVISOR_SECONDS_MAX:.0f} s",
    )


def test_the_gateway_says_that_the_store_hangs(stack: RunningStack, figures: Figures) -> None:
    with stack.stopped("qdrant"), stack.http() as http:
        started = time.monotonic()
        wait_until(
            lambda: "qdrant" in http.get("/readyz").json()["optional"]["search"],
            SEEN_SECONDS_MAX,
            "/readyz says so",
        )
        figures.add(
            "gateway without a store",
            f"says so after {time.monotonic() - started:.0f} s",
            f"{SEEN_SECONDS_MAX:.0f} s",
        )
        assert http.get("/readyz").status_code == 200  # it still takes pushes
    wait_until(lambda: _shown(stack, "search") == "ready", what="search is ready again")


def test_streams_that_vanish_are_declared_again(stack: RunningStack, figures: Figures) -> None:
    shutil.rmtree(stack.data / "nats" / "jetstream")
    stack.kill("nats")
    started = time.monotonic()

    def works() -> bool:
        done = stack.prism(
            "index", str(stack.data.parent / "again"), "--name", "acme/again", "--wait", "--json"
        )
        return done.returncode == 0

    folder = stack.data.parent / "again"
    folder.mkdir()
    (folder / "again.py").write_text("def again(): ...\n")
    wait_until(works, BACK_SECONDS_MAX, "an import works again")
    figures.add(
        "all streams deleted, NATS killed",
        f"an import works again after {time.monotonic() - started:.0f} s",
        f"{BACK_SECONDS_MAX:.0f} s, without a restart by hand",
    )


def _shown(stack: RunningStack, name: str) -> str:
    services = stack.prism_json("status")["services"]
    return next((str(facts["state"]) for facts in services if facts["name"] == name), "unknown")


def _supervisor(stack: RunningStack) -> int | None:
    """Returns the process of the supervisor once the stack is up; None while it starts."""
    try:
        state = stack.state()
    except (OSError, ValueError):
        return None
    return int(state["pid"]) if state["state"] == "ready" else None
