"""Reverse proxies in front of the gateways, with the health checks that an ingress has."""

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from prism_cli.stack.probes import HOST, free_port

START_S_MAX = 10.0
STOP_S_MAX = 20.0
POLL_S = 0.1

# Only connections that were refused are tried again, which is the default: a POST that was sent once is not sent twice.
HAPROXY = """
global
  maxconn 512
defaults
  mode http
  timeout connect 2s
  timeout client 300s
  timeout server 300s
  timeout http-request 30s
  timeout check 3s
  option redispatch
  retries 3
frontend in
  bind {host}:{port}
  default_backend prism
backend prism
  balance roundrobin
  option httpchk GET /readyz
  http-reuse safe
{servers}
"""
HAPROXY_SERVER = "  server g{number} {host}:{port} check inter 500ms fall 2 rise 1"

# nginx has no health checks of its own: a gateway that fails is left out for two seconds.
NGINX = """
worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx-error.log warn;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxied;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream prism {{ {servers} keepalive 32; keepalive_timeout 4s; }}
  server {{
    listen {host}:{port};
    client_max_body_size 512m;
    location / {{
      proxy_pass http://prism; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $http_host; proxy_buffering off; proxy_request_buffering off;
      proxy_connect_timeout 2s; proxy_read_timeout 300s; proxy_send_timeout 300s;
      proxy_next_upstream error timeout http_503; proxy_next_upstream_tries 2;
    }}
  }}
}}
"""
NGINX_SERVER = "server {host}:{port} max_fails=1 fail_timeout=2s;"

TRAEFIK = """
entryPoints: {{web: {{address: "{host}:{port}", transport: {{respondingTimeouts: {{readTimeout: 300s}}}}}}}}
providers: {{file: {{filename: "{folder}/routes.yml"}}}}
log: {{level: ERROR}}
global: {{checkNewVersion: false, sendAnonymousUsage: false}}
"""
TRAEFIK_ROUTES = """
http:
  routers: {{prism: {{rule: "PathPrefix(`/`)", entryPoints: [web], service: prism}}}}
  services:
    prism:
      loadBalancer:
        servers: [{servers}]
        healthCheck: {{path: /readyz, interval: 500ms, timeout: 2s}}
"""
TRAEFIK_SERVER = '{{url: "http://{host}:{port}"}},'

ENVOY = """
static_resources:
  listeners:
  - address: {{socket_address: {{address: {host}, port_value: {port}}}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          stream_idle_timeout: 300s
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {{prefix: /}}
                route: {{cluster: prism, timeout: 300s, retry_policy: {{retry_on: connect-failure, num_retries: 2}}}}
  clusters:
  - name: prism
    type: STATIC
    connect_timeout: 2s
    health_checks:
    - {{timeout: 2s, interval: 0.5s, unhealthy_threshold: 2, healthy_threshold: 1, http_health_check: {{path: /readyz}}}}
    load_assignment: {{cluster_name: prism, endpoints: [{{lb_endpoints: [{servers}]}}]}}
"""
ENVOY_SERVER = "{{endpoint: {{address: {{socket_address: {{address: {host}, port_value: {port}}}}}}}}},"
KINDS = ("haproxy", "nginx", "traefik", "envoy")


@contextmanager
def proxy(kind: str, folder: Path, gateways: Sequence[int]) -> Iterator[str]:
    """Run a proxy in front of gateways on these ports. Yields its URL. Raises FileNotFoundError if it is not installed."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = _command(kind, folder, port, gateways)
    with (folder / f"{kind}.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    url = f"http://{HOST}:{port}"
    try:
        _until_answers(url, folder / f"{kind}.log")
        yield url
    finally:
        process.terminate()
        process.wait(STOP_S_MAX)


def _command(kind: str, folder: Path, port: int, gateways: Sequence[int]) -> list[str]:
    """Write the configuration, and return the command."""
    config = folder / f"{kind}.yaml"  # Traefik and Envoy read the format from the name
    line, text = {
        "haproxy": (HAPROXY_SERVER, HAPROXY),
        "nginx": (NGINX_SERVER, NGINX),
        "traefik": (TRAEFIK_SERVER, TRAEFIK),
        "envoy": (ENVOY_SERVER, ENVOY),
    }[kind]
    servers = "\n".join(
        line.format(host=HOST, port=gateway, number=number) for number, gateway in enumerate(gateways)
    )
    config.write_text(text.format(host=HOST, port=port, folder=folder, servers=servers))
    if kind == "traefik":
        (folder / "routes.yml").write_text(TRAEFIK_ROUTES.format(servers=servers))
    arguments = {
        "haproxy": ["-db", "-f", str(config)],
        "nginx": ["-c", str(config)],
        "traefik": [f"--configFile={config}"],
        "envoy": ["--concurrency", "1", "-l", "error", "--disable-hot-restart", "-c", str(config)],
    }[kind]
    return [_binary(kind), *arguments]


def _binary(kind: str) -> str:
    beside = Path(sys.executable).with_name(kind)
    found = str(beside) if beside.exists() else shutil.which(kind, path=f"{os.environ['PATH']}:/usr/sbin")
    if not found:
        raise FileNotFoundError(f"{kind} is not installed")
    return found


def _until_answers(url: str, log: Path) -> None:
    deadline = time.monotonic() + START_S_MAX
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{url}/livez", timeout=1).close()
        except urllib.error.HTTPError:  # a proxy that waits for its first health check
            pass
        except OSError:
            pass
        else:
            return
        time.sleep(POLL_S)
    raise TimeoutError(log.read_text(errors="replace"))
