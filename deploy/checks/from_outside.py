"""What stands around the pods of `make kube-smoke`: nginx as the Ingress says, a forge, and an agent."""

import asyncio
import hashlib
import hmac
import json
import os
import socket
import ssl
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from deploy.checks.manifests import Object

ANNOTATION = "nginx.ingress.kubernetes.io/"
# The annotations of ingress-nginx that become directives, and those that nothing here can show.
DIRECTIVES = {
    "proxy-body-size": "client_max_body_size",
    "proxy-request-buffering": "proxy_request_buffering",
    "proxy-buffering": "proxy_buffering",
    "proxy-http-version": "proxy_http_version",
    "proxy-read-timeout": "proxy_read_timeout",
    "proxy-send-timeout": "proxy_send_timeout",
}
NOT_SHOWN = {"ssl-redirect"}
NGINX_CONF = """\
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/bodies;
  proxy_temp_path {folder}/answers;
  ssl_certificate {folder}/tls.crt;
  ssl_certificate_key {folder}/tls.key;
  server {{ listen 127.0.0.1:{port} ssl default_server; return 404; }}
  server {{
    listen 127.0.0.1:{port} ssl;
    server_name {host};
    {directives}
    # As ingress-nginx passes them on.
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Proto $scheme;
    {locations}
    location / {{ return 404; }}
  }}
}}
"""
START_S_MAX, CALL_S_MAX, SEARCHABLE_S_MAX = 10.0, 30.0, 60.0
PAUSE_S = 0.2
GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
GIT |= {
    f"GIT_{who}_{what}": "smoke@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


class Outside:
    """Calls through the proxy, as from another machine: over TLS, by the public host."""

    def __init__(self, address: str, host: str, certificate: Path) -> None:
        self._address = address
        self._host = host
        self._trust = ssl.create_default_context(cafile=certificate)

    def status_of(self, path: str, **headers: str) -> int:
        """Returns the status of a GET. Raises httpx2.HTTPError."""
        with self._http(**headers) as http:
            return http.get(path).status_code

    def push(self, repo: str, clone_url: str, commit: str, secret: str) -> int:
        """Announce a commit of `main` as GitHub does, and return the status. Raises httpx2.HTTPError.

        Source: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
        """
        repository = {"full_name": repo, "clone_url": clone_url, "default_branch": "main"}
        payload = {"ref": "refs/heads/main", "before": "1" * 40, "after": commit, "repository": repository}
        body = json.dumps(payload).encode()
        signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/smoke",
            "X-GitHub-Event": "push",
            "X-GitHub-Delivery": str(uuid.uuid4()),
            "X-Hub-Signature-256": f"sha256={signature}",
        }
        with self._http(**headers) as http:
            return http.post("/api/v1/ingest/webhook", content=body).status_code

    def ask(self, token: str, repo: str, query: str, line: str, commit: str) -> float:
        """Ask `search_code` over MCP until an answer has the line, and its receipt names the commit.

        Returns the seconds it took. Raises TimeoutError with the last answer.
        """
        return asyncio.run(self._ask(token, repo, query, line, commit))

    async def _ask(self, token: str, repo: str, query: str, line: str, commit: str) -> float:
        start = time.monotonic()
        headers = {"Host": self._host, "Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, verify=self._trust, timeout=CALL_S_MAX) as http,
            Client(
                streamable_http_client(f"{self._address}/mcp?structured=true", http_client=http)
            ) as client,
        ):
            while True:
                result = await client.call_tool("search_code", {"repo": repo, "query": query})
                content: dict[str, Any] = result.structured_content or {}
                is_new = content.get("receipt", {}).get("indexed_commit") == commit
                if is_new and line in json.dumps(content.get("results", [])):
                    return time.monotonic() - start
                if time.monotonic() - start > SEARCHABLE_S_MAX:
                    raise TimeoutError(f"Not searchable after {SEARCHABLE_S_MAX:g} s: {content}")
                await asyncio.sleep(PAUSE_S)

    def _http(self, **headers: str) -> httpx2.Client:
        given = {"Host": self._host, **headers}
        return httpx2.Client(base_url=self._address, headers=given, verify=self._trust, timeout=CALL_S_MAX)


@contextmanager
def proxy(ingress: Object, upstream: str, folder: Path) -> Iterator[Outside]:
    """Runs nginx in front of `upstream` (host:port) while inside, as ingress-nginx runs it for `ingress`.

    The certificate is made for the host of the Ingress. Raises CalledProcessError, and TimeoutError with nginx'
    log if it does not listen.
    """
    folder.mkdir()
    host = ingress["spec"]["rules"][0]["host"]
    _make_certificate(folder, host)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "nginx.conf").write_text(nginx_conf(ingress, upstream, folder, port), encoding="utf-8")
    process = subprocess.Popen(["nginx", "-e", folder / "error.log", "-c", folder / "nginx.conf"])
    try:
        _wait_for(port, process, folder / "error.log")
        yield Outside(f"https://127.0.0.1:{port}", host, folder / "tls.crt")
    finally:
        process.terminate()
        process.wait()


def nginx_conf(ingress: Object, upstream: str, folder: Path, port: int) -> str:
    """Returns the configuration of nginx. Raises KeyError for an annotation that is not known here."""
    annotations = ingress["metadata"]["annotations"]
    names = [name.removeprefix(ANNOTATION) for name in annotations if name.startswith(ANNOTATION)]
    directives = [
        f"{DIRECTIVES[name]} {annotations[ANNOTATION + name]};" for name in names if name not in NOT_SHOWN
    ]
    (rule,) = ingress["spec"]["rules"]
    locations = []
    for path in rule["http"]["paths"]:
        locations.append(f"location = {path['path']} {{ proxy_pass http://{upstream}; }}")
        if path["pathType"] == "Prefix":
            locations.append(f"location {path['path']}/ {{ proxy_pass http://{upstream}; }}")
    return NGINX_CONF.format(
        folder=folder,
        port=port,
        host=rule["host"],
        directives="\n    ".join(directives),
        locations="\n    ".join(locations),
    )


class ServedRepository:
    """A work tree, and the bare repository that a git server serves."""

    def __init__(self, work: Path, bare: Path, files: Mapping[str, str]) -> None:
        self._work, self._bare = work, bare
        work.mkdir()
        self._git("init", "--quiet", "--initial-branch=main")
        self._commit(files)
        bare.parent.mkdir(parents=True)
        self._git("clone", "--quiet", "--bare", str(work), str(bare))

    def push(self, files: Mapping[str, str]) -> str:
        """Push a commit with these files. Returns its hash."""
        self._commit(files)
        self._git("push", "--quiet", str(self._bare), "main")
        return self._git("rev-parse", "HEAD")

    def _commit(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (self._work / name).write_text(text, encoding="utf-8")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message", "Go on")

    def _git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments],
            cwd=self._work,
            env=os.environ | GIT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout.strip()


def _make_certificate(folder: Path, host: str) -> None:
    """A certificate that signs itself, for the public host and the address where nginx listens."""
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ),
            *("-days", "1", "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host},IP:127.0.0.1"),
            *("-keyout", folder / "tls.key", "-out", folder / "tls.crt"),
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )


def _wait_for(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + START_S_MAX
    while process.poll() is None and time.monotonic() < end:
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(PAUSE_S)
    raise TimeoutError(f"nginx does not listen:\n{log.read_text(encoding='utf-8')}")
