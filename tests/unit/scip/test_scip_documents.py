"""Reading an index: its documents one at a time, and invalid input."""

import io
import tracemalloc
from contextlib import suppress

import pytest
from scip_files import FILES, document, index, parcels

from prism_contracts.errors import ErrorCode, PrismError
from prism_scip import documents as reading
from prism_scip.documents import documents, metadata

INDEX = index(*parcels())


def read(data: bytes) -> list[str]:
    return [document.relative_path for document in documents(io.BytesIO(data))]


def read_whole(data: bytes) -> list[str]:
    metadata(io.BytesIO(data))
    return read(data)


def test_documents_come_in_order() -> None:
    assert read(INDEX) == list(FILES)
    assert metadata(io.BytesIO(INDEX)).tool_info.name == "scip-python"


@pytest.mark.parametrize("length", range(1, len(INDEX)))
def test_truncated_index_yields_its_whole_documents(length) -> None:
    found = []
    with suppress(PrismError):
        for one in documents(io.BytesIO(INDEX[:length])):
            found += [one.relative_path]
    assert found == list(FILES)[: len(found)]
    assert len(found) < len(FILES)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"not protobuf at all",
        b"\x08\x01",  # a number instead of a message
        b"\x0a\x02\x08",
        b"\xff" * 20,
        b"\x12\x04\x0a\xff\xff\xff",  # a document whose path exceeds its length
        b"\x00\x00",
    ],
)
def test_invalid_index_is_refused(data) -> None:
    with pytest.raises(PrismError) as error:
        read_whole(data)
    assert error.value.code is ErrorCode.SCIP_INVALID


def test_a_document_at_the_limit_is_read_and_one_past_it_is_not(monkeypatch) -> None:
    body = document("a.py", [])
    monkeypatch.setattr(reading, "DOCUMENT_BYTES_MAX", body.ByteSize() + 20)
    assert read(index(body)) == ["a.py"]
    monkeypatch.setattr(reading, "DOCUMENT_BYTES_MAX", body.ByteSize() - 1)
    with pytest.raises(PrismError) as error:
        next(documents(io.BytesIO(b"\x12" + bytes([body.ByteSize()]) + body.SerializeToString())))
    assert error.value.code is ErrorCode.PAYLOAD_TOO_LARGE


def test_one_document_is_in_memory_at_a_time(tmp_path) -> None:
    one = document("a.py", [], implements=[("x" * 1_000, "y" * 1_000)] * 100)
    path = tmp_path / "index.scip"
    path.write_bytes(index(*[one] * 100))
    tracemalloc.start()
    with path.open("rb") as file:
        assert sum(1 for _ in documents(file)) == 100
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * one.ByteSize()
