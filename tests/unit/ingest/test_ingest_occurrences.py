"""The usable content of SCIP indexes: which files, and which of their names."""

from collections.abc import Iterator

import pytest
from scip_files import FEE_RATE, FILES, STANDARD, ZONE, ZONE_RATE, At, define, document, own, parcels

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.files import ManifestEntry
from prism_ingest.core import occurrences
from prism_ingest.core.occurrences import IndexContent, read_index
from prism_resolver.occurrences import Columns, OccurrenceIndex
from prism_scip.scip_pb2 import Document, Occurrence, PositionEncoding, SymbolRole

DEPOT = "parcels/depot.py"


def entry(path: str, version: int = 1) -> ManifestEntry:
    return ManifestEntry(path=path, blob=f"blob of {path}", generation="g", status="indexed", version=version)


def content(
    documents: list[Document], paths: list[str] | None = None, root: str = "", version: int = 1
) -> IndexContent:
    if paths is None:
        paths = [*FILES]
    return read_index(lambda: iter(documents), [entry(path) for path in paths], version, root)


def uses(found: IndexContent, path: str) -> dict[tuple[int, str], list[str]]:
    """Returns the definitions of what a file uses, as `path:line name`, from the packed form."""
    columns = Columns.unpacked(found.columns.packed())
    index = OccurrenceIndex(columns, lambda path: path)
    places = {(line, name) for line in columns.use_line.tolist() for name in columns.names}
    told = {place: index.find(path, f"blob of {path}", *place) for place in places}
    return {
        place: [f"{spot.file}:{spot.line} {spot.name}" for spot in spots]
        for place, spots in told.items()
        if spots is not None
    }


def of_depot(*places: At, **fields: object) -> dict[tuple[int, str], list[str]]:
    """Returns the uses of a file with the given occurrences."""
    return uses(content([*parcels()[:2], document(DEPOT, places, **fields)]), DEPOT)


def test_a_use_leads_to_its_definition_in_1_based_lines() -> None:
    assert uses(content(list(parcels())), DEPOT) == {(2, "rate"): ["parcels/rates.py:2 rate"]}


def test_another_content_of_a_file_has_no_occurrences() -> None:
    index = OccurrenceIndex(content(list(parcels())).columns, lambda path: path)
    assert index.find(DEPOT, "another blob", 2, "rate") is None


def test_a_document_may_precede_the_definitions_it_uses() -> None:
    assert uses(content([*reversed(parcels())]), DEPOT) == {(2, "rate"): ["parcels/rates.py:2 rate"]}


def test_symbols_of_other_packages_are_outside() -> None:
    assert of_depot(At(STANDARD + "json/dumps().", 4, 0, 5)) == {(5, "dumps"): []}


def test_an_undefined_symbol_of_the_own_package_is_omitted() -> None:
    assert of_depot(At(own("generated/dumps()."), 4, 0, 5)) == {}
    assert of_depot(At("scip-python python parcels 2.0 generated/dumps().", 4, 0, 5)) == {}


def test_definitions_and_forward_definitions_are_not_uses() -> None:
    announced = At(ZONE_RATE, 4, 0, 4, SymbolRole.ForwardDefinition)
    assert of_depot(define(own("depot/price()."), 0, 4, 9), announced) == {}


def test_two_uses_on_a_line_count_if_they_mean_the_same() -> None:
    assert of_depot(At(ZONE_RATE, 1, 0, 4), At(ZONE_RATE, 1, 9, 13))
    assert of_depot(At(ZONE_RATE, 1, 0, 4), At(FEE_RATE, 1, 9, 13)) == {}


def test_a_local_of_that_width_on_the_line_hides_a_use() -> None:
    assert of_depot(At(ZONE_RATE, 1, 0, 4), At("local 1", 1, 6, 10)) == {}
    assert of_depot(At(ZONE_RATE, 1, 0, 4), At("local 1", 1, 6, 11))
    assert of_depot(At(ZONE_RATE, 1, 0, 4), At("local 1", 2, 6, 10))


def test_an_unknown_use_hides_one_of_the_same_name() -> None:
    generated = own("generated/rate().")
    assert of_depot(At(ZONE_RATE, 1, 0, 4), At(generated, 1, 9, 13)) == {}


def test_two_symbols_at_one_place_are_both_used() -> None:
    both = of_depot(At(ZONE_RATE, 1, 0, 4), At(FEE_RATE, 1, 0, 4))
    assert both == {(2, "rate"): ["parcels/rates.py:2 rate", "parcels/fees.py:2 rate"]}


def test_a_constructor_is_used_by_its_class_name() -> None:
    made = own("`parcels.rates`/Zone#`<init>`().")
    files = [document("parcels/rates.py", [define(ZONE, 0, 6, 10), define(made, 1, 8, 12)])]
    found = uses(content([*files, document(DEPOT, [At(made, 3, 0, 4)])]), DEPOT)
    assert found == {(4, "Zone"): ["parcels/rates.py:2 Zone"]}


@pytest.mark.parametrize(
    ("encoding", "width"),
    [
        (PositionEncoding.UTF8CodeUnitOffsetFromLineStart, 8),
        (PositionEncoding.UTF16CodeUnitOffsetFromLineStart, 6),
        (PositionEncoding.UTF32CodeUnitOffsetFromLineStart, 5),
        (PositionEncoding.UnspecifiedPositionEncoding, 6),
    ],
)
def test_widths_follow_the_encoding_of_the_document(encoding, width) -> None:
    made = own("`parcels.rates`/`Zone\U0001d6fc`#`<init>`().")
    defining = document("parcels/rates.py", [define(made, 1, 8, 8 + width)], encoding=encoding)
    found = uses(content([defining, document(DEPOT, [At(made, 3, 0, width)], encoding=encoding)]), DEPOT)
    assert found == {(4, "Zone\U0001d6fc"): ["parcels/rates.py:2 Zone\U0001d6fc"]}


@pytest.mark.parametrize(
    "range_", [[], [1], [1, 2], [-1, 0, 4], [1, 4, 0], [1, -1, 4], [2, 0, 1, 4], [1, 2, 3, 4, 5]]
)
def test_impossible_places_are_counted_and_omitted(range_) -> None:
    broken = Document(relative_path=DEPOT, occurrences=[Occurrence(range=range_, symbol=ZONE_RATE)])
    found = content([*parcels()[:2], broken])
    assert found.unreadable == 1
    assert uses(found, DEPOT) == {}


def test_ignored_documents_are_counted_by_reason() -> None:
    documents = [
        document("../secret.py", [define(ZONE, 0, 6, 10)]),
        document("/etc/passwd", []),
        document("generated.py", []),
        *parcels(),
        document(DEPOT, []),
    ]
    found = content(documents)
    assert found.documents == len(documents)
    assert dict(found.left_out) == {"outside": 2, "not_indexed": 1, "repeated": 1}
    assert ("../secret.py", "outside") in found.examples
    assert list(found.columns.paths) == list(FILES)


def test_a_changed_file_and_its_definitions_are_omitted() -> None:
    entries = [entry("parcels/rates.py", version=3), entry(DEPOT, version=2)]
    found = read_index(lambda: iter(parcels()), entries, 2, "")
    assert found.left_out == {"changed": 1, "not_indexed": 1}
    assert uses(found, DEPOT) == {}


def test_paths_are_relative_to_the_root() -> None:
    found = content(list(parcels("parcels/")), root="parcels")
    assert uses(found, DEPOT) == {(2, "rate"): ["parcels/rates.py:2 rate"]}
    assert content(list(parcels("parcels/"))).left_out == {"not_indexed": 3}
    assert content([document("../rates.py", [])], root="parcels").left_out == {"outside": 1}


def test_implementations_are_listed_at_their_definition() -> None:
    files = [
        *parcels()[:1],
        document(
            DEPOT, [define(own("depot/Yard#rate()."), 6, 4, 8)], [(own("depot/Yard#rate()."), ZONE_RATE)]
        ),
    ]
    index = OccurrenceIndex(content(files).columns, lambda path: path)
    (found,) = index.implementations(DEPOT, f"blob of {DEPOT}")
    assert (found.line, found.name) == (7, "rate")
    assert [(spot.file, spot.line) for spot in found.implemented] == [("parcels/rates.py", 2)]
    assert index.implementing(["parcels/rates.py"]) == {DEPOT}
    assert index.implementing([DEPOT]) == set()


def test_a_symbol_with_too_many_definitions_is_omitted() -> None:
    for count, is_told in ((occurrences.SPOTS_MAX, True), (occurrences.SPOTS_MAX + 1, False)):
        defining = document("parcels/rates.py", [define(ZONE_RATE, line, 8, 12) for line in range(count)])
        found = uses(content([defining, parcels()[2]]), DEPOT)
        assert bool(found) is is_told


def test_an_index_past_the_row_limit_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(occurrences, "ROWS_MAX", 3)
    content(list(parcels()))
    monkeypatch.setattr(occurrences, "ROWS_MAX", 2)
    with pytest.raises(PrismError) as error:
        content(list(parcels()))
    assert error.value.code is ErrorCode.PAYLOAD_TOO_LARGE


def test_documents_are_read_one_at_a_time() -> None:
    alive = 0

    def begin() -> Iterator[Document]:
        nonlocal alive
        for one in parcels():
            alive += 1
            yield one
            alive -= 1

    read_index(begin, [entry(path) for path in FILES], 1, "")
    assert alive == 0
