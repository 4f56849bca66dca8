from datetime import UTC, datetime

from prism_catalog.target import Target
from prism_contracts.records import LayerState, Repository
from prism_search.adapters import facts as facts_module
from prism_search.adapters.facts import AHEAD_FILES, AHEAD_ROOM_CHARS_MIN, Facts
from prism_store.reader import StoredPoint
from prism_store.scope import Scope

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def target(next_version: int, served: int, active_job: str = "", tenant: str = "t") -> Target:
    state = LayerState(commit="c", version=served, job="j", indexed_at=NOW)
    repository = Repository(
        tenant=tenant, repo="r", name="o/n", source="upload", created_at=NOW, next_version=next_version,
        active_job=active_job, served=state,
    )  # fmt: skip
    return Target(Scope(tenant=tenant, repos=("r",)), (repository,))


class FakeReader:
    """Returns files of a generation that the test changes, and records the requests."""

    def __init__(self) -> None:
        self.generation = "g1"
        self.changed: list[str] = []
        self.asked: list[list[str]] = []
        self.newer_than: list[float] = []
        self.meanwhile = None
        self.scans = 0

    async def points(self, scope, ids, fields):
        if not ids:
            return {}
        self.asked.append(list(ids))
        payload = {"scope": "r/base", "path": "a.py", "file": "f", "generation": self.generation}
        if self.meanwhile:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return {id_: StoredPoint(id_, 0.0, payload) for id_ in ids}

    async def scan(self, scope, conditions, fields):
        assert (scope.repos, scope.layer) == (("r",), "base")
        self.scans += 1
        self.newer_than += [c.range.gt for c in conditions if c.key == "version"]
        for id_ in self.changed:
            yield StoredPoint(id_, 0.0, {})


async def test_a_file_is_read_once_while_its_repository_is_quiet():
    reader = FakeReader()
    facts = Facts(reader)
    for _ in range(2):
        assert (await facts.files(target(2, 1), ["f"]))["f"].generation == "g1"
    assert reader.asked == [["f"]]


async def test_only_files_that_an_import_wrote_are_read_again():
    reader = FakeReader()
    facts = Facts(reader)
    await facts.files(target(2, 1), ["f", "other"])
    reader.generation, reader.changed = "g2", ["f"]
    found = await facts.files(target(5, 4), ["f", "other"])
    assert (found["f"].generation, found["other"].generation) == ("g2", "g1")
    await facts.files(target(5, 4), ["f", "other"])
    assert reader.asked == [["f", "other"], ["f"]]
    # Files that were known have at most the version before the next import.
    assert reader.newer_than == [1]


async def test_nothing_is_cached_unless_the_last_import_succeeded():
    reader = FakeReader()
    facts = Facts(reader)
    await facts.files(target(2, 1), ["f"])
    for generation, unquiet in (("g2", target(3, 1, active_job="j2")), ("g3", target(3, 1))):
        reader.generation = generation
        assert (await facts.files(unquiet, ["f"]))["f"].generation == generation
    reader.changed = ["f"]
    assert (await facts.files(target(4, 3), ["f"]))["f"].generation == "g3"
    assert reader.newer_than == [1]


async def test_read_that_an_import_overtook_is_not_cached():
    reader = FakeReader()
    facts = Facts(reader)

    async def import_and_ask() -> None:
        reader.generation, reader.changed = "g2", ["f"]
        await facts.files(target(3, 2), ["other"])

    reader.meanwhile = import_and_ask
    assert (await facts.files(target(2, 1), ["f"]))["f"].generation == "g1"
    assert (await facts.files(target(3, 2), ["f"]))["f"].generation == "g2"


async def test_imports_are_tracked_per_tenant():
    reader = FakeReader()
    facts = Facts(reader)
    await facts.files(target(2, 1), ["f"])
    await facts.files(target(3, 2, tenant="u"), ["file of u"])
    reader.generation, reader.changed = "g2", ["f"]
    assert (await facts.files(target(3, 2), ["f"]))["f"].generation == "g2"
    assert reader.newer_than == [1]


async def test_read_ahead_is_tracked_per_tenant():
    reader = FakeReader()
    facts = Facts(reader)
    reader.changed = ["f"]
    await facts.read_ahead(target(2, 1))
    reader.changed = ["file of u"]
    await facts.read_ahead(target(2, 1, tenant="u"))
    assert reader.asked == [["f"], ["file of u"]]


async def test_evicted_files_are_read_again():
    reader = FakeReader()
    facts = Facts(reader)
    await facts.files(target(2, 1), ["f"])
    facts.forget(["f", "unknown"])
    await facts.files(target(2, 1), ["f"])
    assert len(reader.asked) == 2


async def test_files_read_ahead_are_not_read_again():
    reader = FakeReader()
    facts = Facts(reader)
    reader.changed = [f"f{number}" for number in range(AHEAD_FILES + 1)]
    await facts.files(target(2, 1), ["f0"])
    for _ in range(2):
        await facts.read_ahead(target(2, 1))
    assert (reader.scans, reader.asked) == (1, [["f0"], reader.changed[1:]])
    await facts.files(target(2, 1), reader.changed)
    assert len(reader.asked) == 2


async def test_nothing_is_read_ahead_during_an_import():
    reader = FakeReader()
    reader.changed = ["f"]
    await Facts(reader).read_ahead(target(3, 1, active_job="j2"))
    assert not reader.asked


async def test_read_ahead_stops_before_it_would_evict(monkeypatch):
    monkeypatch.setattr(facts_module, "OUTLINE_CHARS_MAX", AHEAD_ROOM_CHARS_MIN + AHEAD_FILES - 1)
    reader = FakeReader()
    reader.changed = [f"f{number}" for number in range(2 * AHEAD_FILES)]
    facts = Facts(reader)
    for _ in range(2):
        await facts.read_ahead(target(2, 1))
    assert (reader.scans, reader.asked) == (1, [reader.changed[:AHEAD_FILES]])


async def test_read_ahead_repeats_after_an_import():
    reader = FakeReader()
    facts = Facts(reader)
    reader.changed = [f"f{number}" for number in range(2 * AHEAD_FILES)]

    async def import_and_ask() -> None:
        reader.generation = "g2"
        await facts.files(target(3, 2), ["other"])

    reader.meanwhile = import_and_ask
    await facts.read_ahead(target(2, 1))
    assert reader.asked == [reader.changed[:AHEAD_FILES], ["other"]]
    await facts.read_ahead(target(3, 2))
    found = await facts.files(target(3, 2), reader.changed)
    assert {file.generation for file in found.values()} == {"g2"}
