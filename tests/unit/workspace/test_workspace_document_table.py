"""Documents in memory: what each tenant has, what its index lacks, and which commits it names."""

import random
from datetime import UTC, datetime

import pytest

from prism_contracts.records import DocumentRecord, document_id
from prism_workspace.adapters.document_table import DocumentTable

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
TENANTS = ("acme", "other")


def record(path: str, tenant: str = "acme", **fields: str) -> DocumentRecord:
    return DocumentRecord(
        tenant=tenant, document=document_id(tenant, path), path=path, title=path, created_at=NOON, modified_at=NOON,
        **({"blob": "1", "committed_blob": "1", "commit": "c", "indexed_blob": "1"} | fields),
    )  # fmt: skip


def filled(*records: DocumentRecord) -> DocumentTable:
    table = DocumentTable()
    for one in records:
        table.put(one.key, one)
    return table


def test_a_document_is_found_by_its_id_in_its_tenant_alone() -> None:
    mine, theirs = record("a.md"), record("a.md", tenant="other")
    table = filled(mine, theirs)
    assert table.find("acme", mine.document) == mine
    assert table.find("acme", theirs.document) is None
    assert (table.of("acme"), table.of("other"), table.of("third")) == ([mine], [theirs], [])


def test_documents_are_found_by_all_of_their_tags() -> None:
    both, one = record("a.md", tags=("Retries", "delivery", "retries")), record("b.md", tags=("retries",))
    table = filled(both, one, record("c.md"), record("d.md", tags=("delivery",), blob=""))
    assert table.of("acme", ["RETRIES", "Delivery"]) == [both]
    assert sorted(found.path for found in table.of("acme", ["retries"])) == ["a.md", "b.md"]
    assert table.of("acme", ["delivery"]) == [both]
    assert table.of("acme", ["unknown"]) == []
    table.put(both.key, both.model_copy(update={"tags": ()}))
    assert table.of("acme", ["retries"]) == [one]
    table.remove(one.key)
    assert table.of("acme", ["retries"]) == []


def test_a_document_that_is_gone_is_unindexed_and_not_listed() -> None:
    gone, kept = record("a.md", blob="", committed_blob="", commit=""), record("b.md")
    table = filled(gone, kept)
    assert (table.of("acme"), table.unindexed("acme")) == ([kept], [gone])
    assert table.find("acme", gone.document) == gone


def test_a_changed_document_replaces_its_older_version() -> None:
    draft = record("a.md", blob="2", commit="b")
    table = filled(record("a.md"), draft)
    assert (table.of("acme"), table.unindexed("acme")) == ([draft], [draft])
    assert (table.has_drafts("acme"), set(table.commits("acme"))) == (True, {"b"})
    committed = draft.model_copy(update={"indexed_blob": "2", "committed_blob": "2", "commit": "d"})
    table.put(committed.key, committed)
    assert (table.unindexed("acme"), table.has_drafts("acme")) == ([], False)
    assert set(table.commits("acme")) == {"d"}


def test_a_tenant_without_documents_is_forgotten() -> None:
    table = filled(record("a.md"))
    table.remove(record("b.md").key)
    assert table.tenants() == ["acme"]
    table.remove(record("a.md").key)
    assert (table.tenants(), table.has("acme"), table.of("acme")) == ([], False, [])
    assert (table.unindexed("acme"), table.has_drafts("acme"), set(table.commits("acme"))) == (
        [],
        False,
        set(),
    )


@pytest.mark.parametrize("seed", range(5))
def test_any_order_of_writes_leaves_what_the_last_records_say(seed: int) -> None:
    rng = random.Random(seed)
    table, last = DocumentTable(), {}
    for _ in range(400):
        one = record(
            f"{rng.randrange(12)}.md", rng.choice(TENANTS), blob=rng.choice(["", "1", "2"]),
            commit=rng.choice("cde"), indexed_blob=rng.choice(["", "1", "2"]),
        )  # fmt: skip
        if rng.random() < 0.3:
            table.remove(one.key)
            last.pop(one.key, None)
        else:
            table.put(one.key, one)
            last[one.key] = one
    for tenant in TENANTS:
        own = [one for one in last.values() if one.tenant == tenant]
        paths = sorted(one.path for one in own if not one.is_removed)
        assert sorted(one.path for one in table.of(tenant)) == paths
        unindexed = sorted(one.path for one in own if not one.is_indexed)
        assert sorted(one.path for one in table.unindexed(tenant)) == unindexed
        assert table.has_drafts(tenant) == any(one.is_draft for one in own)
        assert table.commits(tenant) == {one.commit for one in own}
