"""What the guide says to change: the host, in a copy of the production overlay; and the nginx of `make kube-smoke`."""

import copy
import os
from pathlib import Path

import pytest

from deploy.checks.from_outside import nginx_conf
from deploy.checks.manifests import KUSTOMIZE, Manifests, Object, render

HOST = "code.example.org"


def _ingress(manifests: Manifests) -> Object:
    ingress = manifests.find("Ingress", "prism")
    assert ingress is not None
    return ingress


@pytest.mark.parametrize("way_in", ["gateway-api", "ingress-nginx"])
def test_a_copied_overlay_has_its_host_everywhere(way_in: str, tmp_path: Path) -> None:
    text = (KUSTOMIZE / "overlays" / "production" / "kustomization.yaml").read_text()
    text = text.replace("PRISM_PUBLIC_URL=https://prism.example.com", f"PRISM_PUBLIC_URL=https://{HOST}")
    text = text.replace("\n  - ../../components/gateway-api", f"\n  - ../../components/{way_in}")
    text = text.replace("- ../../", f"- {os.path.relpath(KUSTOMIZE, tmp_path.resolve())}/")
    (tmp_path / "kustomization.yaml").write_text(text)
    manifests = Manifests(render(tmp_path))
    certificate = manifests.find("Certificate", "prism-tls")
    assert certificate is not None
    hosts = [*certificate["spec"]["dnsNames"]]
    for gateway in manifests.of("Gateway"):
        hosts += [listener["hostname"] for listener in gateway["spec"]["listeners"]]
    for route in manifests.of("HTTPRoute"):
        hosts += route["spec"]["hostnames"]
    for ingress in manifests.of("Ingress"):
        hosts += [rule["host"] for rule in ingress["spec"]["rules"]]
        hosts += [host for tls in ingress["spec"]["tls"] for host in tls["hosts"]]
    assert hosts == [HOST] * 3


def test_nginx_of_the_smoke_test_has_the_limits_and_paths_of_the_ingress(
    overlays: dict[str, Manifests],
) -> None:
    ingress = next(_ingress(one) for one in overlays.values() if one.find("Ingress", "prism"))
    conf = nginx_conf(ingress, "10.0.0.1:8780", Path("/run/nginx"), 8443)
    for line in (
        "client_max_body_size 513m;",
        "proxy_request_buffering off;",
        "proxy_buffering off;",
        "proxy_http_version 1.1;",
        "proxy_read_timeout 900;",
        "proxy_send_timeout 900;",
        "location = /mcp { proxy_pass http://10.0.0.1:8780; }",
        "location /api/v1/ { proxy_pass http://10.0.0.1:8780; }",
        "location / { return 404; }",
    ):
        assert line in conf
    assert "location /mcp/" not in conf


def test_an_annotation_that_the_smoke_test_would_leave_out_is_an_error(
    overlays: dict[str, Manifests],
) -> None:
    ingress = copy.deepcopy(next(_ingress(one) for one in overlays.values() if one.find("Ingress", "prism")))
    ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/limit-rps"] = "5"
    with pytest.raises(KeyError, match="limit-rps"):
        nginx_conf(ingress, "10.0.0.1:8780", Path("/run/nginx"), 8443)
