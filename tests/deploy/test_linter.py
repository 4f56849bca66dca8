"""The linter finds what is accepted, and nothing else."""

import copy

import pytest

from deploy.checks.linter import ACCEPTED, findings, is_accepted
from deploy.checks.manifests import Manifests


@pytest.fixture(scope="module")
def found(overlays: dict[str, Manifests], tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str]]:
    """The findings about all overlays, and about a pod that gets every capability."""
    privileged = copy.deepcopy(next(overlays["dev"].of("Deployment")))
    privileged["metadata"]["name"] = "privileged"
    container = privileged["spec"]["template"]["spec"]["containers"][0]
    container["securityContext"] |= {"privileged": True}
    everything = [item for manifests in overlays.values() for item in manifests.objects]
    return findings([*everything, privileged], tmp_path_factory.mktemp("linter") / "objects.yaml")


def test_nothing_is_found_but_what_is_accepted(found: set[tuple[str, str]]) -> None:
    assert {one for one in found if not is_accepted(*one) and not one[1].endswith(".privileged")} == set()


def test_everything_that_is_accepted_is_found(found: set[tuple[str, str]]) -> None:
    assert {check for check, _ in found} >= set(ACCEPTED)


def test_a_privileged_container_is_found(found: set[tuple[str, str]]) -> None:
    assert ("CKV_K8S_16", "Deployment.prism.privileged") in found
