import numpy as np
import pytest

from prism_chunker.core import Budget
from prism_contracts.base import Lane, chunk_id, file_id, generation, repo_id
from prism_contracts.code import (
    Binding,
    Chunk,
    FileFlags,
    Reference,
    ReferenceKind,
    SkipReason,
    Symbol,
    SymbolKind,
)
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileChunked, FileEmbedded, FileEvent, FileFailed, FileRemoved, FileSkipped
from prism_indexer.core import points as points_module
from prism_indexer.core.points import (
    failed_point,
    indexed_point,
    removed_point,
    skipped_point,
)
from prism_indexer.handlers import Work, _rounds
from prism_runtime.packing import pack_bindings, pack_references, unpack_symbols
from prism_runtime.vectors import to_message
from prism_search.core.outline import Outline, OutlineEntry
from prism_search.core.retrieval.candidates import Candidate, ChunkHit, locate_chunks
from prism_store.grams import write_signature
from prism_store.points import FilePoint

REPO = repo_id("acme/parcel-tracker")
PATH = "tracker/routes.py"
ID = file_id("t", REPO, "base", PATH)
SYMBOLS = (
    Symbol(name="Route", qualified_name="Route", kind=SymbolKind.CLASS, start_line=1, end_line=3, name_line=1),
    Symbol(
        name="stop", qualified_name="Route.stop", kind=SymbolKind.METHOD, start_line=2, end_line=3, name_line=2, parent=0
    ),
    Symbol(name="MAX", qualified_name="MAX", kind=SymbolKind.CONSTANT, start_line=4, end_line=4, name_line=4),
)  # fmt: skip
BINDINGS = pack_bindings([Binding(name="depot", line=3, symbol=1, type="Depot")])
REFERENCES = pack_references([Reference(name="find", kind=ReferenceKind.CALL, line=3, symbol=1)])


def where(version: int = 7, path: str = PATH) -> dict:
    return {
        "tenant": "t", "repo": REPO, "path": path, "version": version, "job": "j", "ordinal": 0, "lane": Lane.LIVE,
    }  # fmt: skip


def embedded(version: int = 7, **fields) -> FileEmbedded:
    file = FileChunked(
        **where(version),
        **{
            "blob": "b" * 40,
            "size_bytes": 60,
            "line_count": 4,
            "language": "python",
            "flags": FileFlags(test=True, generated=True),
            "chunker": "1",
            "chunks": (
                Chunk(ordinal=0, start_line=1, end_line=3, text="class Route:\n  def stop():\n    find()\n",
                      symbol="Route", kind=SymbolKind.CLASS),
                Chunk(ordinal=1, start_line=4, end_line=4, text="MAX = 1\n"),
            ),
            "symbols": SYMBOLS,
            "references": REFERENCES,
        "bindings": BINDINGS,
            "redactions": ("b-rule", "a-rule", "b-rule"),
        }
        | fields,
    )  # fmt: skip
    rows = np.array([[0.5, 1.0]] * len(file.chunks), np.float32).reshape(-1, 2)
    return FileEmbedded(**where(version), file=file, vectors=to_message("m", rows))


COMMON = {"scope": f"{REPO}/base", "path": PATH, "version": 7}
ADDRESS = generation("b" * 40, "1", "m")


def test_an_indexed_file_is_exactly_this_point():
    point = indexed_point(embedded())
    assert (point.id, point.version, point.generation) == (ID, 7, ADDRESS)
    payload = dict(point.payload)
    assert unpack_symbols(payload.pop("symbols")) == SYMBOLS
    assert payload == COMMON | {
        "generation": ADDRESS,
        "language": "python",
        "prose": False,
        "status": "indexed",
        "blob": "b" * 40,
        "size": 60,
        "lines": 4,
        "starts": "1 4",
        "chunk_symbols": "class\tRoute\n\t",
        "flags": "gt",
        "parse": "ok",
        "redactions": ["a-rule", "b-rule"],
        "decode_errors": False,
        "names": ["Route", "stop", "Route.stop", "MAX"],
        "grams": write_signature("class Route:\n  def stop():\n    find()\nMAX = 1\n"),
        "path_text": PATH,
        "symbol_text": "Route stop MAX",
        "definitions": "T\tclass\t1\t3\tRoute\nF\tmethod\t2\t3\tRoute.stop\nV\tconstant\t4\t4\tMAX",
        "references": REFERENCES,
        "bindings": BINDINGS,
    }


def test_the_chunks_of_a_file_are_exactly_these_points():
    point = indexed_point(embedded())
    common = COMMON | {"generation": ADDRESS, "language": "python", "prose": False, "file": ID}
    assert [chunk.payload for chunk in point.chunks] == [
        common | {"kind": "class", "text": "class Route:\n  def stop():\n    find()\n"},
        common | {"text": "MAX = 1\n"},
    ]
    assert [chunk.id for chunk in point.chunks] == [chunk_id(ID, ADDRESS, 0), chunk_id(ID, ADDRESS, 1)]
    np.testing.assert_array_equal(point.vectors, [[0.5, 1.0]] * 2)


def test_search_reads_the_definitions_that_the_indexer_writes():
    written = indexed_point(embedded()).payload["definitions"]
    assert Outline(written).definitions() == (
        OutlineEntry("T", "class", 1, 3, "Route"),
        OutlineEntry("F", "method", 2, 3, "Route.stop"),
        OutlineEntry("V", "constant", 4, 4, "MAX"),
    )
    strange = SYMBOLS[0].model_copy(update={"qualified_name": "a\tb\nc"})
    written = indexed_point(embedded(symbols=(strange,))).payload["definitions"]
    assert [d.qualified_name for d in Outline(written).definitions()] == ["a b c"]


def test_search_finds_the_chunks_where_the_indexer_cut_them():
    point = indexed_point(embedded())
    hits = [ChunkHit(chunk.id, 1.0) for chunk in point.chunks]
    payload = {
        name: point.payload[name] for name in ("path", "generation", "lines", "starts", "chunk_symbols")
    }
    file = Candidate(ID, "r", **payload, keyword_chunks=hits, vector_chunks=hits[1:])
    locate_chunks(file)
    first, second = file.keyword_chunks
    assert first[2:] == (1, 3, "Route", "class")
    assert second[2:] == (4, 4, "", "")
    assert file.vector_chunks == [second]


def ids(point: FilePoint) -> list[str]:
    return [point.id, *(chunk.id for chunk in point.chunks)]


def test_ids_depend_on_the_content_not_on_the_version():
    seventh, eighth = indexed_point(embedded(7)), indexed_point(embedded(8))
    assert ids(seventh) == ids(eighth)
    assert (seventh.generation, eighth.version) == (eighth.generation, 8)


@pytest.mark.parametrize("change", [{"blob": "c" * 40}, {"chunker": "2"}])
def test_chunk_ids_depend_on_content_and_chunker(change):
    one, other = ids(indexed_point(embedded())), ids(indexed_point(embedded(**change)))
    assert one[0] == other[0]
    assert not set(one[1:]) & set(other[1:])


@pytest.mark.parametrize("parse", ["timeout", "crashed"])
def test_file_that_failed_to_parse_is_never_current(parse):
    assert points_module.indexed_point(embedded(parse=parse)).generation != ADDRESS
    assert points_module.indexed_point(embedded(parse="partial")).generation == ADDRESS


def test_the_same_event_gives_the_same_points():
    one, other = indexed_point(embedded()), indexed_point(embedded())
    assert (one.payload, one.chunks) == (other.payload, other.chunks)


def test_a_file_without_chunks_is_a_point():
    point = indexed_point(embedded(chunks=()))
    assert (point.chunks, len(point.vectors), point.payload["starts"]) == ((), 0, "")


def test_vectors_that_do_not_fit_are_refused():
    event = embedded()
    wrong = event.model_copy(update={"vectors": to_message("m", np.zeros((3, 2), np.float32))})
    with pytest.raises(PrismError) as caught:
        indexed_point(wrong)
    assert caught.value.code is ErrorCode.MESSAGE_INVALID


@pytest.mark.parametrize(("language", "prose"), [("markdown", True), ("python", False), ("", False)])
def test_prose_is_detected(language, prose):
    point = indexed_point(embedded(language=language))
    assert point.payload["prose"] is prose
    assert point.chunks[0].payload["prose"] is prose


def test_names_and_definitions_have_limits(monkeypatch):
    monkeypatch.setattr(points_module, "NAMES_MAX", 2)
    monkeypatch.setattr(points_module, "DEFINITIONS_MAX", 1)
    payload = indexed_point(embedded()).payload
    assert payload["names"] == ["Route", "stop"]
    assert payload["definitions"].count("\n") == 0


def test_every_symbol_of_a_large_file_has_its_name():
    symbols = tuple(
        SYMBOLS[2].model_copy(update={"name": f"open_{n}", "qualified_name": f"Depot.open_{n}"})
        for n in range(Budget().symbols_max)
    )
    names = indexed_point(embedded(symbols=symbols)).payload["names"]
    assert names[-2:] == [symbols[-1].name, symbols[-1].qualified_name]


def test_a_removed_file_leaves_a_tombstone():
    point = removed_point(FileRemoved(**where()))
    assert (point.id, point.version, point.generation, point.chunks) == (ID, 7, "", ())
    assert point.payload == COMMON | {"generation": "", "status": "removed"}


def test_a_skipped_and_a_failed_file_say_why():
    skipped = skipped_point(
        FileSkipped(**where(), blob="b", size_bytes=9, reason=SkipReason.BINARY, detail="a NUL")
    )
    assert skipped.payload == COMMON | {
        "generation": "", "status": "skipped", "reason": "binary", "detail": "a NUL", "blob": "b", "size": 9,
    }  # fmt: skip
    failed = failed_point(FileFailed(**where(), stage="chunker", code="parse_failed", detail="it died"))
    assert failed.payload == COMMON | {
        "generation": "", "status": "failed", "reason": "parse_failed", "detail": "chunker: it died",
    }  # fmt: skip
    assert skipped.id == failed.id == ID


# Rounds of a batch


def work(tenant: str, path: str, version: int = 1) -> Work:
    event: FileEvent = FileRemoved(**where(version, path) | {"tenant": tenant})
    return Work(event, removed_point(event))


def test_a_batch_of_different_files_is_one_round_per_tenant():
    batch = [work("t", "a"), work("u", "a"), work("t", "b"), work("u", "c")]
    assert _rounds(batch, ()) == [[0, 2], [1, 3]]


def test_of_two_versions_of_a_file_the_second_waits():
    batch = [work("t", "a", 2), work("t", "b"), work("t", "a", 1), work("t", "a", 3), work("t", "b", 2)]
    assert _rounds(batch, ()) == [[0, 1], [2, 4], [3]]
    assert _rounds([], ()) == []
    assert _rounds(batch, {0, 3}) == [[1, 2], [4]]
