"""Checkov over rendered manifests, and the findings that are accepted."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path

import yaml

from deploy.checks.manifests import TOOLS, Object

# Check -> workloads ("" for all), and why.
ACCEPTED = {
    "CKV_K8S_11": ({""}, "a limit of CPU throttles a burst on an idle node; requests share a busy one"),
    "CKV_K8S_15": (
        {""},
        "tags are not reused, so what a node has is right, and a registry that is down stops no pod",
    ),
    "CKV_K8S_43": ({""}, "the guide pins the digest of what is deployed; it is not known here"),
    "CKV_K8S_35": (
        {"gateway", "nats", "qdrant"},
        "NATS and Qdrant read no file for these; the gateway's is the hash of a token",
    ),
    "CKV_K8S_40": ({"qdrant"}, "the user 1000 owns the files of Qdrant's image"),
}


def findings(objects: Iterable[Object], scratch: Path) -> set[tuple[str, str]]:
    """Returns the checks that fail, each with its `Kind.namespace.name`. `scratch` is a file that is overwritten.

    Raises JSONDecodeError if the linter fails.
    """
    scratch.write_text(yaml.safe_dump_all(list(objects)), encoding="utf-8")
    done = subprocess.run(
        [
            TOOLS / "checkov",
            "--framework",
            "kubernetes",
            "--skip-download",
            "--quiet",
            "-o",
            "json",
            "-f",
            scratch,
        ],
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    return {
        (found["check_id"], found["resource"])
        for found in json.loads(done.stdout)["results"]["failed_checks"]
    }


def is_accepted(check: str, resource: str) -> bool:
    """Whether a finding is accepted for this workload."""
    workloads, _ = ACCEPTED.get(check, (set(), ""))
    return "" in workloads or resource.rpartition(".")[2] in workloads
