"""`prism scip`: the file arrives complete and compressed, and the result is readable."""

import gzip
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from cli_server import Server

from prism_cli import scip, terminal
from prism_cli.exits import CommandError, Exit
from prism_contracts.rpc.imports import (
    LeftOutDocument,
    ListScipReply,
    RemoveScipReply,
    ScipIndexEntry,
    StoreScipReply,
)

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


ENTRY = ScipIndexEntry(
    indexer="scip-python",
    root="packages/app",
    commit="c" * 40,
    files=1_200,
    stored_at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
)


def test_indexes_are_listed_with_what_removing_one_needs() -> None:
    with terminal.out.capture() as shown:
        scip.show(ListScipReply(repo="acme/parcels", indexes=(ENTRY,)))
    assert shown.get().split()[-6:] == [
        "scip-python",
        "packages/app",
        "c" * 10,
        "1,200",
        "2026-01-02",
        "03:04",
    ]


def test_a_repository_without_indexes_says_so() -> None:
    with terminal.out.capture() as shown:
        scip.show(ListScipReply(repo="acme/parcels"))
    assert shown.get() == "acme/parcels has no SCIP index.\n"


def test_a_removed_index_is_named() -> None:
    with terminal.out.capture() as shown:
        scip.show(RemoveScipReply(repo="acme/parcels", removed=ENTRY))
    assert "by scip-python for packages/app is removed" in shown.get()


@pytest.mark.parametrize(
    ("file", "commit", "is_list", "remove"),
    [
        (None, "", False, ""),
        (Path("index.scip"), "c", True, ""),
        (None, "", True, "scip-go"),
        (Path("index.scip"), "", False, ""),
    ],
    ids=["nothing", "upload and list", "list and remove", "no commit"],
)
def test_options_that_do_not_fit_are_wrong_usage(file, commit, is_list, remove) -> None:
    with pytest.raises(CommandError) as refusal:
        scip.wish(file, commit, "", is_list=is_list, remove=remove)
    assert refusal.value.exit_code is Exit.USAGE


async def test_an_index_is_removed_over_rest(server: Server) -> None:
    reply = RemoveScipReply(repo="acme/parcels", removed=ENTRY)
    server.answers = [httpx.Response(200, json=reply.model_dump(mode="json"))]
    removal = scip.wish(None, "", "packages/app", is_list=False, remove="scip-python")
    async with server.prism() as prism:
        assert await scip.ask(prism, "acme/parcels", removal) == reply
    request = server.requests[0]
    assert (request.method, request.url.params["indexer"], request.url.params["root"]) == (
        "DELETE",
        "scip-python",
        "packages/app",
    )
