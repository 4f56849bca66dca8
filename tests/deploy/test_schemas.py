"""Every object matches the schema of its kind, and an unknown field does not pass."""

import copy
from pathlib import Path

import pytest

from deploy.checks.manifests import Manifests, Object, schema_problems

NOT_A_FIELD = "notAField"


def test_an_overlay_matches_the_schemas(manifests: Manifests, tmp_path: Path) -> None:
    assert schema_problems(manifests.objects, tmp_path) == []


def test_an_unknown_field_is_refused_in_every_kind(overlays: dict[str, Manifests], tmp_path: Path) -> None:
    kinds: dict[str, Object] = {}
    for manifests in overlays.values():
        for item in manifests.objects:
            if "spec" in item:
                kinds.setdefault(item["kind"], copy.deepcopy(item))
    for item in kinds.values():
        item["spec"][NOT_A_FIELD] = 1
    problems = schema_problems(kinds.values(), tmp_path)
    assert [kind for kind in kinds if not any(kind.lower() in line.lower() for line in problems)] == []
    assert sum(NOT_A_FIELD in line for line in problems) == len(kinds)


@pytest.mark.parametrize(
    "edit",
    [
        lambda pod: pod["containers"][0].pop("name"),
        lambda pod: pod["containers"][0]["resources"]["limits"].update(memory=["1Gi"]),
        lambda pod: pod.update(terminationGracePeriodSeconds="long"),
    ],
    ids=["a required field is missing", "a list for a quantity", "a word for a number"],
)
def test_a_broken_pod_is_refused(overlays: dict[str, Manifests], tmp_path: Path, edit) -> None:
    deployment = copy.deepcopy(next(overlays["dev"].of("Deployment")))
    edit(deployment["spec"]["template"]["spec"])
    assert schema_problems([deployment], tmp_path)
