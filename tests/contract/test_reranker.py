"""The reranker over HTTP, and searches that it orders, on a real nats-server and a real store."""

import asyncio
import gzip
import json
import logging
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from indexed_texts import file_point, open_index
from prometheus_client import CollectorRegistry
from rerank_server import KEY, RerankServer, last_first, reranker, results, scores

from prism_contracts.errors import PrismError
from prism_contracts.rpc.search import RERANKER, Hit, SearchReply, SearchRequest
from prism_search.adapters.reranker import (
    FAILURES_MAX,
    PAUSE_S,
    REPLY_BYTES_MAX,
    Reranker,
    RerankerMetrics,
    Result,
)
from prism_search.operations.retrieval import Retrieval
from prism_search.settings import SearchSettings

NAME = "acme/pottery"
WORDS = "glaze fires in the kiln"
FILES = {f"src/kiln{number}.py": f"def fire{number}():\n    glaze(kiln, {number})\n" for number in range(8)}
DOCUMENTS = ["first", "second", "third"]
ENDS_S = 120  # for tests of what could hang


class Client:
    """A reranker client with a clock of its own, and its counts."""

    def __init__(self, server: RerankServer, **fields: object) -> None:
        self.seconds = 1_000.0
        self.registry = CollectorRegistry()
        settings = SearchSettings(**server.settings(**fields))
        self.reranker = Reranker(settings, RerankerMetrics(self.registry), now=lambda: self.seconds)

    async def order(self, wait_s: float = ENDS_S) -> list[int] | None:
        async with asyncio.timeout(2 * ENDS_S):
            deadline = asyncio.get_running_loop().time() + wait_s
            return await self.reranker.order(WORDS, DOCUMENTS, deadline)

    def counts(self) -> dict[str, float | None]:
        found = {
            result: self.registry.get_sample_value("prism_search_reranks_total", {"result": result})
            for result in Result
        }
        return {result: count for result, count in found.items() if count}


@pytest.fixture
async def server() -> AsyncIterator[RerankServer]:
    async with reranker() as started:
        yield started


@pytest.fixture
async def client(server: RerankServer) -> AsyncIterator[Client]:
    made = Client(server)
    yield made
    await made.reranker.close()


async def test_documents_come_back_best_first(client: Client, server: RerankServer) -> None:
    server.answer = scores(0.2, 0.9, 0.2)
    assert await client.order() == [1, 0, 2]
    assert server.asked == [{"model": "rank-1", "query": WORDS, "documents": DOCUMENTS, "top_n": 3}]
    assert server.keys == [f"Bearer {KEY}"]
    assert client.counts() == {Result.ORDERED: 1}


async def status_500(_: web.Request, __: dict[str, Any]) -> web.Response:
    return web.json_response({"results": []}, status=500)


async def redirect(request: web.Request, __: dict[str, Any]) -> web.Response:
    raise web.HTTPTemporaryRedirect(str(request.url.with_path("/other")))


async def broken(request: web.Request, __: dict[str, Any]) -> web.Response:
    assert request.transport
    request.transport.abort()
    return web.Response()


@pytest.mark.parametrize("answer", [status_500, redirect, broken])
async def test_a_failure_gives_no_order(client: Client, server: RerankServer, answer) -> None:
    server.answer = answer
    assert await client.order() is None
    assert client.counts() == {Result.FAILED: 1}
    assert server.elsewhere == 0


async def test_a_port_that_refuses_gives_no_order(unused_tcp_port: int) -> None:
    client = Client(RerankServer(url=f"http://127.0.0.1:{unused_tcp_port}/"))
    assert await client.order() is None
    assert client.counts() == {Result.FAILED: 1}
    await client.reranker.close()


def plain(body: bytes) -> Any:
    async def answer(_: web.Request, __: dict[str, Any]) -> web.Response:
        return web.Response(body=body)

    return answer


async def compressed(_: web.Request, __: dict[str, Any]) -> web.Response:
    body = json.dumps({"results": [{"index": index, "relevance_score": 1} for index in range(3)]})
    return web.Response(body=gzip.compress(body.encode()), headers={"Content-Encoding": "gzip"})


async def endless(request: web.Request, __: dict[str, Any]) -> web.StreamResponse:
    reply = web.StreamResponse()
    await reply.prepare(request)
    while True:
        await reply.write(b" " * REPLY_BYTES_MAX)


@pytest.mark.parametrize(
    "answer",
    [
        plain(b""),
        plain(b"<html>"),
        plain(b"[" * 100_000),
        plain(b'{"results": [{"index": 0, "relevance_score": NaN}]}'),
        plain(b'{"data": []}'),
        compressed,
        endless,
        scores(0.5, float("nan"), 0.1),
        scores(0.5, float("inf"), 0.1),
        scores(0.5, "0.7", 0.1),
        scores(0.5, None, 0.1),
        scores(0.5, 0.1),
        scores(0.5, 0.1, 0.2, 0.3),
        results([]),
        results([{"index": index, "relevance_score": 0.5} for index in (0, 1, 1)]),
        results([{"index": index, "relevance_score": 0.5} for index in (1, 2, 3)]),
        results([{"index": index, "relevance_score": 0.5} for index in (-1, 0, 1)]),
    ],
)
async def test_a_reply_that_does_not_score_each_document_gives_no_order(
    client: Client, server: RerankServer, answer
) -> None:
    server.answer = answer
    assert await client.order() is None
    assert client.counts() == {Result.INVALID: 1}


async def silent(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


async def cut_off(request: web.Request, __: dict[str, Any]) -> web.StreamResponse:
    reply = web.StreamResponse()
    await reply.prepare(request)
    await reply.write(b'{"results": [')
    await asyncio.Event().wait()
    return reply


@pytest.mark.parametrize("answer", [silent, cut_off])
async def test_a_late_reply_is_not_awaited(client: Client, server: RerankServer, answer) -> None:
    server.answer = answer
    assert await client.order(wait_s=0.2) is None
    assert client.counts() == {Result.LATE: 1}


async def test_a_reranker_that_keeps_failing_is_left_alone_for_a_while(
    client: Client, server: RerankServer
) -> None:
    server.answer = status_500
    for _ in range(FAILURES_MAX):
        assert client.reranker.is_asked()
        await client.order()
    assert not client.reranker.is_asked()
    client.seconds += PAUSE_S
    assert client.reranker.is_asked()
    await client.order()
    assert not client.reranker.is_asked()
    client.seconds += PAUSE_S
    server.answer = last_first
    assert await client.order() == [2, 1, 0]
    server.answer = status_500
    await client.order()
    assert client.reranker.is_asked()
    assert client.counts() == {Result.FAILED: FAILURES_MAX + 2, Result.PAUSED: 2, Result.ORDERED: 1}


async def test_logs_have_neither_the_key_nor_the_url_nor_the_reply(server: RerankServer, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    client = Client(server, reranker_url=f"{server.url}?token=also-secret")
    for answer in (status_500, broken, plain(b'{"results": "def private(): pass"}'), silent):
        server.answer = answer
        await client.order(wait_s=0.2)
    await client.reranker.close()
    own = [record.getMessage() for record in caplog.records if record.name.startswith("prism")]
    assert "the reranker did not order an answer: status 500" in own
    for secret in (KEY, "also-secret", "private"):
        assert secret not in "\n".join(own)
    assert KEY not in caplog.text


@pytest.fixture
def ask(nats_server, qdrant_url):
    """Searches eight files, with these settings."""
    tenant = f"t{uuid.uuid4().hex}"
    points = [file_point(tenant, NAME, path, text) for path, text in FILES.items()]

    @asynccontextmanager
    async def start(**fields: object) -> AsyncIterator[Any]:
        async with open_index(nats_server.url, qdrant_url, tenant, [NAME], points, **fields) as index:

            async def search(query: str = WORDS, **asked: object) -> SearchReply:
                request = SearchRequest(tenant=tenant, query=query, **asked)
                return await index.search.search.search(request)

            yield search

    return start


def paths(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.file_path for hit in hits]


async def test_hits_are_in_the_order_of_the_reranker(ask, server: RerankServer) -> None:
    async with ask() as search:
        plain_order = paths((await search()).results)
    async with ask(**server.settings()) as search:
        reply = await search()
    assert paths(reply.results) == plain_order[::-1]
    assert [hit.legs[RERANKER] for hit in reply.results] == list(range(1, len(FILES) + 1))
    assert sorted((hit.score for hit in reply.results), reverse=True) == [hit.score for hit in reply.results]
    assert reply.receipt.missing_legs == ()
    assert "rerank" in reply.timings_ms
    [asked] = server.asked
    assert asked["documents"][0].startswith(f"{plain_order[0]} fire")
    assert FILES[plain_order[0]].strip() in asked["documents"][0]


async def test_only_the_candidates_are_reordered(ask, server: RerankServer) -> None:
    async with ask() as search:
        plain_order = paths((await search()).results)
    async with ask(**server.settings(reranker_candidates=3)) as search:
        reply = await search()
        after = await search(limit=3, cursor=(await search(limit=3)).next_cursor)
    assert paths(reply.results) == [*plain_order[2::-1], *plain_order[3:]]
    assert paths(after.results) == plain_order[3:6]
    assert [len(asked["documents"]) for asked in server.asked] == [3, 3]


async def test_pages_follow_one_order(ask, server: RerankServer) -> None:
    async with ask(**server.settings()) as search:
        whole = paths((await search()).results)
        page, found = await search(limit=3), []
        found += paths(page.results)
        while page.next_cursor:
            page = await search(limit=3, cursor=page.next_cursor)
            found += paths(page.results)
    assert found == whole


@pytest.mark.parametrize("answer", [status_500, silent, scores(0.5)])
async def test_without_an_order_the_hits_stay_and_the_receipt_says_so(
    ask, server: RerankServer, answer
) -> None:
    async with ask() as search:
        before = await search()
    server.answer = answer
    async with asyncio.timeout(ENDS_S), ask(**server.settings(reranker_timeout_s=0.3)) as search:
        after = await search()
    assert after.results == before.results
    assert (before.receipt.missing_legs, after.receipt.missing_legs) == ((), (RERANKER,))


async def test_a_paused_reranker_is_in_the_receipt_and_not_asked(ask, server: RerankServer) -> None:
    server.answer = status_500
    async with ask(**server.settings()) as search:
        replies = [await search() for _ in range(FAILURES_MAX + 2)]
    assert {reply.receipt.missing_legs for reply in replies} == {(RERANKER,)}
    assert len(server.asked) == FAILURES_MAX


async def test_a_search_that_is_repeated_has_the_timeout_once(ask, server: RerankServer, monkeypatch) -> None:
    read, reads = Retrieval.hits, []

    async def replaced_at_first(self, *what):
        reads.append(what)
        return (await read(self, *what))._replace(is_whole=len(reads) > 1)

    monkeypatch.setattr(Retrieval, "hits", replaced_at_first)
    server.answer = silent
    async with ask(**server.settings(reranker_timeout_s=0.3)) as search:
        reply = await search()
    assert (len(reads), len(server.asked)) == (2, 1)
    assert (paths(reply.results), reply.receipt.missing_legs) == (list(FILES), (RERANKER,))


async def test_texts_that_are_late_are_no_failure_of_the_reranker(
    ask, server: RerankServer, monkeypatch
) -> None:
    read = Retrieval.contents

    async def late_at_first(self, *what):
        monkeypatch.setattr(Retrieval, "contents", read)
        await asyncio.Event().wait()

    async with ask(**server.settings(reranker_timeout_s=0.3)) as search:
        for _ in range(FAILURES_MAX):
            monkeypatch.setattr(Retrieval, "contents", late_at_first)
            assert (await search()).receipt.missing_legs == (RERANKER,)
        assert server.asked == []
        assert (await search()).receipt.missing_legs == ()


async def test_explained_answers_keep_the_order_of_their_signals(ask, server: RerankServer) -> None:
    async with ask(**server.settings()) as search:
        reply = await search(explain=True)
    sums = [sum(hit.signals.values()) for hit in reply.results]
    assert sums == sorted(sums, reverse=True)
    assert (server.asked, reply.receipt.missing_legs) == ([], ())


async def test_one_hit_and_none_need_no_reranker(ask, server: RerankServer) -> None:
    async with ask(**server.settings()) as search:
        one = await search("fire3", path_filter="src/kiln3.py")
        none = await search("fire3", path_filter="nowhere/**")
        with pytest.raises(PrismError):
            await search("fire3", language="klingon")
    assert (paths(one.results), none.results, server.asked) == (["src/kiln3.py"], (), [])
