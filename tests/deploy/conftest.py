import os
from pathlib import Path

import pytest

from deploy.checks.manifests import KUSTOMIZE, OVERLAYS, Manifests, render

# The production overlay with the components that it leaves out, as the guide says to add them.
OTHER_WAY_IN = "production with an Ingress, and more"


@pytest.fixture(scope="session")
def overlays(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Manifests]:
    folders = {name: KUSTOMIZE / "overlays" / name for name in OVERLAYS}
    folders[OTHER_WAY_IN] = _with_other_components(tmp_path_factory.mktemp("overlay"))
    return {name: Manifests(render(folder)) for name, folder in folders.items()}


def _with_other_components(folder: Path) -> Path:
    text = (KUSTOMIZE / "overlays" / "production" / "kustomization.yaml").read_text()
    parts = "".join(
        f"\n  - ../../components/{name}"
        for name in ("ingress-nginx", "sign-on", "tracing", "reranker", "language-model", "external-secrets")
    )
    text = text.replace("\n  - ../../components/gateway-api", parts)
    (folder / "kustomization.yaml").write_text(
        text.replace("- ../../", f"- {os.path.relpath(KUSTOMIZE, folder.resolve())}/")
    )
    return folder


@pytest.fixture(params=[*OVERLAYS, OTHER_WAY_IN])
def manifests(request: pytest.FixtureRequest, overlays: dict[str, Manifests]) -> Manifests:
    return overlays[request.param]
