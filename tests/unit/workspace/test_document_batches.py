"""Which documents an import takes while more of them wait than fit."""

from datetime import UTC, datetime, timedelta

from prism_contracts.records import DocumentRecord
from prism_workspace.operations.projection import FILES_MAX, OLDEST_EVERY, chosen

OLDEST = FILES_MAX // OLDEST_EVERY
NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


def waiting(count: int) -> list[DocumentRecord]:
    """Returns documents, the one that has waited longest first."""
    times = [NOON + timedelta(seconds=number) for number in range(count)]
    return [
        DocumentRecord(
            tenant="acme",
            document=f"{at}",
            path=f"{at}.md",
            blob="1",
            title="A",
            created_at=at,
            modified_at=at,
        )
        for at in times
    ]


def test_all_are_taken_if_they_fit() -> None:
    found = waiting(FILES_MAX)
    assert chosen(found) == found[::-1]


def test_the_newest_and_the_oldest_are_taken() -> None:
    found = waiting(FILES_MAX * 3)
    taken = chosen(found)
    assert len(taken) == FILES_MAX
    assert set(map(id, taken)) == {*map(id, found[:OLDEST]), *map(id, found[OLDEST - FILES_MAX :])}


def test_an_import_that_is_cut_short_has_both() -> None:
    found = waiting(FILES_MAX * 3)
    assert chosen(found)[:3] == [found[-1], found[-2], found[0]]
    for short in range(3, FILES_MAX):
        assert found[0] in chosen(found)[:short]


def test_one_more_than_fits_is_no_document_twice() -> None:
    taken = chosen(waiting(FILES_MAX + 1))
    assert len({one.document for one in taken}) == FILES_MAX
