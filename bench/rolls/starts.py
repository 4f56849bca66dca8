"""Starts: on an empty cluster, with more replicas than before, with an authority that is not trusted; and revocation."""

import asyncio
import secrets
import subprocess
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import httpx2

from bench.measure_index import until_final
from bench.rolls.changes import Origin
from bench.rolls.cluster import NatsCluster
from bench.rolls.copies import SERVICES, TOKEN, Copies, Copy
from bench.rolls.points import compared, points_of
from prism_cli.client import Prism
from prism_cli.stack.probes import HOST
from prism_cli.target import ServerTarget

COLD_STARTS = 5
REVOCATIONS = 5
BETWEEN_REVOCATIONS_S = 8.0
UNTRUSTED_S = 60.0
REFUSED_S_MAX = 120.0
POLL_S = 0.02
REPO = "rolls/grown"
FILES = {f"grown/{number}.py": f"def grown_{number}():\n    return {number}\n" for number in range(20)}
TOKENS = "/api/v1/developer-tokens"
Found = dict[str, Any]


def cold_starts(folder: Path, python: Path) -> Found:
    """Start everything at once on an empty cluster, several times."""
    exits: list[list[Any]] = []
    times: list[float] = []
    for number in range(COLD_STARTS):
        token = secrets.token_hex(16)
        own = folder / str(number)
        with NatsCluster(own / "nats", token) as cluster:
            began = time.monotonic()
            with Copies(own, cluster.urls, token, python, {"PRISM_NATS_REPLICAS": "3"}) as copies:
                times.append(round(time.monotonic() - began, 1))
                exits.append([list(one) for one in copies.exits])
    failed = [f"{copy} {code}" for one in exits for copy, code in one]
    return {
        "result": f"{sum(map(bool, exits))} of {COLD_STARTS} starts with exits ({', '.join(failed) or 'none'}); "
        f"ready after {min(times):.1f}-{max(times):.1f} s",
        "exits": exits,
        "ready_s": times,
    }


def more_replicas(folder: Path, python: Path) -> Found:
    """Index with one replica, then start everything again with three."""
    token = secrets.token_hex(16)
    origin = Origin(folder / "origin", FILES)
    with NatsCluster(folder / "nats", token) as cluster:
        with Copies(folder, cluster.urls, token, python, {"PRISM_NATS_REPLICAS": "1"}) as copies:
            asyncio.run(_cloned(_target(copies), origin))
            before = points_of(copies.store_url, REPO)
        grown = Copies(folder, cluster.urls, token, python, {"PRISM_NATS_REPLICAS": "3"})
        try:
            grown.launch_all()
            grown.wait_ready(seconds=UNTRUSTED_S)
            ready = "ready"
            index = str(compared(points_of(grown.store_url, REPO), before))
        except TimeoutError as error:
            ready, index = f"not ready after {UNTRUSTED_S:g} s: {str(error).splitlines()[0]}", "not read"
        finally:
            grown.stop_all()
        kept = sorted(name for name, count in cluster.replicas().items() if count == 1)
    return {
        "result": f"{ready}; {len(grown.exits)} exits; {len(kept)} streams and buckets still have one copy "
        f"({', '.join(kept[:4]) or 'none'}); index {index}",
        "exits": [list(one) for one in grown.exits],
        "one_copy": kept,
    }


def untrusted_authority(folder: Path, python: Path) -> Found:
    """Start services that do not trust the certificate of NATS."""
    folder.mkdir(parents=True)
    certificate = _certificate(folder)
    numbers = dict.fromkeys(SERVICES, 0) | {"gateway": 1, "chunker": 1}
    token = secrets.token_hex(16)
    with NatsCluster(folder / "nats", token, certificate=certificate) as cluster:
        copies = Copies(folder, cluster.urls, token, python, numbers=numbers)
        copies.launch_all()
        began = time.monotonic()
        while time.monotonic() < began + UNTRUSTED_S and not copies.exits:
            time.sleep(POLL_S)
        seconds = time.monotonic() - began
        readiness = {str(copy): copies.readiness(copy) for copy in copies.all}
        log = copies.tail(Copy("chunker"), 2_000)
        copies.stop_all()
    ended = ", ".join(f"{one.copy} ended with {one.code}" for one in copies.exits)
    last = log.strip().splitlines()[-1:]
    return {
        "result": f"{ended or 'neither ready nor ended'} after {seconds:.0f} s; log: {' '.join(last)[:160]}",
        "exits": [list(one) for one in copies.exits],
        "readiness": readiness,
        "log": log,
    }


def revocations(folder: Path, python: Path) -> Found:
    """Revoke tokens right after the leader of their bucket was killed."""
    token = secrets.token_hex(16)
    with (
        NatsCluster(folder / "nats", token) as cluster,
        Copies(folder, cluster.urls, token, python, {"PRISM_NATS_REPLICAS": "3"}) as copies,
    ):
        times = [asyncio.run(_revoke(cluster, copies)) for _ in range(REVOCATIONS)]
    stored, refused = [one[0] for one in times], [second for one in times for second in one[1]]
    return {
        "result": f"stored after {min(stored):.1f}-{max(stored):.1f} s, then refused by each gateway after "
        f"{min(refused):.1f}-{max(refused):.1f} s ({len(refused)} measured)",
        "stored_s": stored,
        "refused_s": refused,
    }


STARTS: Final[Mapping[str, tuple[str, Callable[[Path, Path], Found]]]] = {
    "cold-start": (f"cold start on an empty cluster, {COLD_STARTS} times", cold_starts),
    "replicas": ("replicas 1 to 3 on existing data", more_replicas),
    "untrusted-ca": ("start with a CA that is not trusted", untrusted_authority),
    "revocation": ("revocation while the bucket's leader is killed", revocations),
}


def _target(copies: Copies) -> ServerTarget:
    return ServerTarget(f"http://{HOST}:{copies.port(Copy('gateway'))}", TOKEN)


async def _cloned(target: ServerTarget, origin: Origin) -> None:
    async with Prism(target) as prism:
        await until_final(prism, await prism.clone(origin.url, REPO, ""))


async def _revoke(cluster: NatsCluster, copies: Copies) -> tuple[float, list[float]]:
    """Returns seconds until the revocation was stored, and from then until each gateway refused the token."""
    urls = [f"http://{HOST}:{copies.port(copy)}" for copy in copies.of("gateway")]
    async with httpx2.AsyncClient(timeout=REFUSED_S_MAX) as http:
        for url in urls:
            await _until(http, url, TOKEN, HTTPStatus.OK)
        made = await http.post(f"{urls[0]}{TOKENS}", json={"label": "bench"}, headers=_bearer(TOKEN))
        made.raise_for_status()
        secret, name = made.json()["secret"], made.json()["token"]["id"]
        for url in urls:
            await _until(http, url, secret, HTTPStatus.OK)
        leader = await asyncio.to_thread(cluster.leader, "KV_prism_tokens")
        await asyncio.to_thread(cluster.kill, leader)
        began = time.monotonic()
        stored = await _revoked(http, f"{urls[0]}{TOKENS}/{name}")
        refused = await asyncio.gather(*(_until(http, url, secret, HTTPStatus.UNAUTHORIZED) for url in urls))
    cluster.start(leader)
    await asyncio.to_thread(cluster.wait_healthy)
    await asyncio.sleep(BETWEEN_REVOCATIONS_S)
    return stored - began, [max(0.0, at - stored) for at in refused]


async def _revoked(http: httpx2.AsyncClient, url: str) -> float:
    """Returns when the revocation was confirmed."""
    while True:
        if (await http.delete(url, headers=_bearer(TOKEN))).is_success:
            return time.monotonic()
        await asyncio.sleep(POLL_S)


async def _until(http: httpx2.AsyncClient, url: str, secret: str, expected: HTTPStatus) -> float:
    """Returns when a gateway first answered so. Raises TimeoutError with its last answer."""
    deadline = time.monotonic() + REFUSED_S_MAX
    while True:
        answer = await http.get(f"{url}/api/v1/whoami", headers=_bearer(secret))
        if answer.status_code == expected:
            return time.monotonic()
        if time.monotonic() > deadline:
            raise TimeoutError(f"{url} answers {answer.status_code} {answer.text}, not {expected}")
        await asyncio.sleep(POLL_S)


def _bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def _certificate(folder: Path) -> Path:
    """Write a self-signed certificate of this host, and its key."""
    both, key = folder / "server.pem", folder / "server.key"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=prism"]
    names = ["-addext", f"subjectAltName=IP:{HOST}", "-keyout", str(key), "-out", str(both)]
    subprocess.run([*command, *names], check=True, capture_output=True)
    both.write_text(key.read_text() + both.read_text())
    return both
