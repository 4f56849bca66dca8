"""The content of the store, in a form that can be compared between repositories and between stacks."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import httpx2

from bench.rolls.copies import STORE_KEY
from prism_contracts.base import repo_id

PAGE = 1_000
SECONDS_MAX = 60.0
# What differs between two repositories with the same files: the time of the write, and names made of the repository's id.
OWN = frozenset({"version", "file", "generation"})
Points = Counter[str]


class Difference(NamedTuple):
    """Two indexes: how many points both have, and how many only one of them has."""

    same: int
    missing: int
    unexpected: int
    examples: list[str]

    def __str__(self) -> str:
        if not self.missing and not self.unexpected:
            return f"equal ({self.same:,})"
        return f"{self.missing} missing, {self.unexpected} unexpected of {self.same + self.missing:,}"


def points_of(store_url: str, repo: str) -> Points:
    """Returns the points of a repository, with vector and payload, without the ids that name the repository."""
    own = repo_id(repo)
    with httpx2.Client(base_url=store_url, headers={"api-key": STORE_KEY}, timeout=SECONDS_MAX) as http:
        names = [one["name"] for one in http.get("/collections").json()["result"]["collections"]]
        return Points(
            comparable(point, own)
            for name in names
            for point in _all(http, name)
            if str(point["payload"].get("scope", "")).startswith(f"{own}/")
        )


def comparable(point: Mapping[str, Any], repo: str) -> str:
    """Returns payload and vector of a point, without what names the repository (its id) or the time of the write."""
    payload = {name: value for name, value in point["payload"].items() if name not in OWN}
    text = json.dumps({"payload": payload, "vector": point["vector"]}, sort_keys=True)
    return text.replace(repo, "<repo>")


def compared(found: Points, expected: Points) -> Difference:
    """Compare point by point."""
    missing, unexpected = expected - found, found - expected
    return Difference(
        (found & expected).total(),
        missing.total(),
        unexpected.total(),
        [*list(missing)[:2], *list(unexpected)[:2]],
    )


def _all(http: httpx2.Client, collection: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    body: dict[str, Any] = {"limit": PAGE, "with_payload": True, "with_vector": True}
    while True:
        answer = http.post(f"/collections/{collection}/points/scroll", json=body)
        answer.raise_for_status()
        result = answer.json()["result"]
        found += result["points"]
        if result.get("next_page_offset") is None:
            return found
        body["offset"] = result["next_page_offset"]
