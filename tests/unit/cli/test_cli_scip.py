"""`prism scip`: the file arrives complete and compressed, and the result is readable."""

import gzip

import httpx
from cli_server import Server

from prism_cli import scip, terminal
from prism_contracts.rpc.imports import LeftOutDocument, StoreScipReply

REPLY = StoreScipReply(
    repo="acme/parcels",
    commit="c" * 40,
    indexer="scip-python",
    stored=True,
    documents=3,
    files=2,
    definitions=20,
    uses=1_300,
    implementations=0,
    left_out={"changed": 1},
    examples=(LeftOutDocument(path="a\x1b[2J.py", reason="changed"),),
)


async def test_an_index_is_sent_gzipped_block_by_block(server: Server, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(scip, "BLOCK_BYTES", 100)
    path = tmp_path / "index.scip"
    path.write_bytes(bytes(range(256)) * 10)
    received = bytearray()

    async def take(request: httpx.Request) -> httpx.Response:
        received.extend(await request.aread())
        server.requests.append(request)
        return httpx.Response(200, json=REPLY.model_dump(mode="json"))

    monkeypatch.setattr(server, "handle", take)
    async with server.prism() as prism:
        query = {"repo": "acme/parcels", "commit": "c", "root": ""}
        assert await prism.send_scip(scip.gzipped(path), query) == REPLY
    assert gzip.decompress(bytes(received)) == path.read_bytes()
    assert dict(server.requests[0].url.params) == query


def test_omitted_files_are_shown_without_control_characters() -> None:
    with terminal.out.capture() as shown:
        scip.show(REPLY)
    text = shown.get()
    assert "2 files, 1,300 uses" in text
    assert "1 documents left out, changed: a" in text
    assert "\x1b" not in text


def test_an_older_scip_index_is_reported() -> None:
    with terminal.out.capture() as shown:
        scip.show(REPLY.model_copy(update={"stored": False}))
    assert "newer commit" in shown.get()
