from datetime import UTC, datetime

from prism_contracts.records import LayerState, Repository
from prism_contracts.rpc import Scope
from prism_search.adapters.facts import Facts
from prism_search.adapters.repositories import Target
from prism_store.reader import StoredPoint

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def target(next_version: int, served: int, active_job: str = "") -> Target:
    state = LayerState(commit="c", version=served, job="j", indexed_at=NOW)
    repository = Repository(
        tenant="t", repo="r", name="o/n", source="upload", created_at=NOW, next_version=next_version,
        active_job=active_job, layers={"base": state},
    )  # fmt: skip
    return Target(Scope(tenant="t", repos=("r",)), (repository,))


class FakeReader:
    """Holds one file of a generation that the test changes, and counts what is asked for."""

    def __init__(self) -> None:
        self.generation = "g1"
        self.asked: list[list[str]] = []

    async def points(self, scope, ids, fields):
        if not ids:
            return {}
        self.asked.append(list(ids))
        payload = {"scope": "r/base", "path": "a.py", "file": "f", "generation": self.generation}
        return {id_: StoredPoint(id_, 0.0, payload) for id_ in ids}


async def test_a_file_is_read_once_while_its_repository_is_quiet():
    reader = FakeReader()
    facts = Facts(reader)
    for _ in range(2):
        assert (await facts.files(target(2, 1), ["f"]))["f"].generation == "g1"
    assert reader.asked == [["f"]]


async def test_a_file_is_read_again_after_an_import_and_during_one():
    reader = FakeReader()
    facts = Facts(reader)
    await facts.files(target(2, 1), ["f"])
    reader.generation = "g2"
    assert (await facts.files(target(3, 1, active_job="j2"), ["f"]))["f"].generation == "g2"
    reader.generation = "g3"
    assert (await facts.files(target(3, 2), ["f"]))["f"].generation == "g3"


async def test_after_an_import_that_was_given_up_nothing_is_believed():
    reader = FakeReader()
    facts = Facts(reader)
    for generation in ("g1", "g2"):
        reader.generation = generation
        assert (await facts.files(target(3, 1), ["f"]))["f"].generation == generation


async def test_what_is_forgotten_is_read_again():
    reader = FakeReader()
    facts = Facts(reader)
    await facts.files(target(2, 1), ["f"])
    facts.forget(["f", "unknown"])
    await facts.files(target(2, 1), ["f"])
    assert len(reader.asked) == 2
