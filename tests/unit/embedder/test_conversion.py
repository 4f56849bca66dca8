"""A chunked file becomes an embedded one, and the fields for the indexer pass through unread."""

import numpy as np

from prism_contracts.base import Lane, repo_id
from prism_contracts.code import Chunk, FileFlags, Symbol, SymbolKind
from prism_contracts.events import FileChunked, FileEmbedded
from prism_embedder.conversion import ChunkTexts, embedded_body
from prism_runtime.vectors import to_message

CHUNKED = FileChunked(
    tenant="default",
    repo=repo_id("shop/cart"),
    path='src/"größe".py',
    version=7,
    job="j1",
    ordinal=3,
    lane=Lane.LIVE,
    blob="0" * 40,
    size_bytes=30,
    line_count=2,
    language="python",
    flags=FileFlags(test=True),
    chunker="5",
    chunks=(
        Chunk(ordinal=0, start_line=1, end_line=1, text="def total():\n", symbol="total"),
        Chunk(ordinal=1, start_line=2, end_line=2, text='    return "}"\n'),
    ),
    symbols=(
        Symbol(
            name="total",
            qualified_name="total",
            kind=SymbolKind.FUNCTION,
            start_line=1,
            end_line=2,
            name_line=1,
        ),
    ),
    references="eJyrVg==",
    chunk_ms=1.5,
)


def test_an_embedded_file_is_the_chunked_one_with_its_vectors() -> None:
    body = CHUNKED.model_dump_json().encode()
    vectors = to_message("m1", np.eye(2, 4, dtype=np.float32))
    whole = FileEmbedded(**CHUNKED.address, file=CHUNKED, vectors=vectors)

    event = ChunkTexts.model_validate_json(body)
    embedded = embedded_body(event, body, vectors)

    assert [chunk.text for chunk in event.chunks] == [chunk.text for chunk in CHUNKED.chunks]
    assert embedded.decode() == whole.model_dump_json()
    assert event.message_id_of(FileEmbedded) == whole.message_id
