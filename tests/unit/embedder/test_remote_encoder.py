"""A model on a server: what is sent, and what is made of every reply."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx2
import numpy as np
import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_embedder.adapters import remote_encoder
from prism_embedder.adapters.deep import DeepModel
from prism_embedder.adapters.remote_encoder import ATTEMPTS_MAX, Endpoint, RemoteEncoder

ENDPOINT = Endpoint("http://models.example/v1/", "small", "k-1", "query: ", "document: ")


def vector(text: str) -> list[float]:
    return [float(text.count(letter)) for letter in "abc"] + [1.0]


class Server:
    """Answers requests by `replies`, in order, and then well."""

    def __init__(self) -> None:
        self.requests: list[httpx2.Request] = []
        self.replies: list[httpx2.Response | Exception] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if self.replies:
            reply = self.replies.pop(0)
            if isinstance(reply, Exception):
                raise reply
            return reply
        return good(json.loads(request.content)["input"])

    def texts(self) -> list[list[str]]:
        return [json.loads(request.content)["input"] for request in self.requests]


def good(texts: list[str]) -> httpx2.Response:
    items = [{"index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
    return httpx2.Response(200, json={"data": items[::-1]})


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def encoder(server, pauses) -> RemoteEncoder:
    made = RemoteEncoder(ENDPOINT, 8, transport=httpx2.MockTransport(server), sleep=pauses.append)
    server.requests.clear()
    return made


def test_vectors_have_the_order_of_the_texts_and_length_one(encoder) -> None:
    rows = encoder.encode_documents(["aab", "c"])
    assert encoder.dimension == 4
    expected = np.array([vector("document: aab"), vector("document: c")], np.float32)
    np.testing.assert_allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)


def test_questions_and_documents_have_their_prompts_and_texts_are_cut(encoder, server) -> None:
    encoder.encode_queries(["x" * 100])
    encoder.encode_documents(["y" * 100])
    assert server.texts() == [["query: " + "x" * 32], ["document: " + "y" * 32]]
    (request, _) = server.requests
    assert str(request.url) == "http://models.example/v1/embeddings"
    assert request.headers["authorization"] == "Bearer k-1"
    assert json.loads(request.content)["model"] == "small"


@pytest.mark.parametrize("failure", [httpx2.Response(503), httpx2.Response(429), httpx2.ConnectError("away")])
def test_documents_are_sent_again_to_a_busy_server(encoder, server, pauses, failure) -> None:
    server.replies = [failure, failure]
    assert encoder.encode_documents(["a"]).shape == (1, 4)
    assert len(server.requests) == ATTEMPTS_MAX
    assert pauses == list(remote_encoder.PAUSES_S)


def test_the_server_may_say_how_long_to_wait_within_bounds(encoder, server, pauses) -> None:
    server.replies = [
        httpx2.Response(429, headers={"retry-after": "7"}),
        httpx2.Response(429, headers={"retry-after": "9999"}),
    ]
    encoder.encode_documents(["a"])
    assert pauses == [7.0, remote_encoder.PAUSE_S_MAX]


def test_a_question_is_sent_once(encoder, server) -> None:
    server.replies = [httpx2.Response(503, text="loading the model")]
    assert "503: loading the model" in refused(encoder.encode_queries)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (httpx2.Response(401, text="wrong key"), "401: wrong key"),
        (httpx2.Response(307, headers={"location": "http://other.example/"}), "it answers 307"),
        (httpx2.Response(200, text="<html>"), "not a list of 1 vectors"),
        (httpx2.Response(200, json={"data": []}), "not a list of 1 vectors"),
        (httpx2.Response(200, json={"data": [{"index": 5, "embedding": [1, 2, 3, 4]}]}), "not a list"),
        (httpx2.Response(200, json={"data": [{"embedding": [1, 2]}]}), "2 numbers instead of 4"),
        (httpx2.Response(200, json={"data": [{"embedding": []}]}), "finite"),
        (httpx2.Response(200, json={"data": [{"embedding": "AAAA"}]}), "not a list"),
        (httpx2.Response(200, text='{"data": [{"embedding": [NaN, 1, 1, 1]}]}'), "finite"),
        (httpx2.Response(200, content=b"x" * (remote_encoder.REPLY_BYTES_MAX + 1)), "larger than"),
    ],
)  # fmt: skip
def test_every_other_reply_is_a_clear_error_at_once(encoder, server, reply, reason) -> None:
    server.replies = [reply]
    assert reason in refused(encoder.encode_documents)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", sorted(remote_encoder.REFUSED))
def test_texts_that_the_server_refuses_do_not_wait(encoder, server, status) -> None:
    server.replies = [httpx2.Response(status, text="too long")]
    assert "too long" in refused(encoder.encode_documents, ErrorCode.MESSAGE_INVALID)
    assert len(server.requests) == 1


def refused(encode, code: ErrorCode = ErrorCode.UNAVAILABLE) -> str:
    with pytest.raises(PrismError) as caught:
        encode(["a"])
    assert caught.value.code is code
    assert "PRISM_EMBEDDER_DEEP_URL" in caught.value.body.next_action
    assert "k-1" not in str(caught.value)
    return str(caught.value)


def test_another_model_or_prompt_has_another_fingerprint() -> None:
    endpoints = [
        Endpoint("http://a/v1", "m"),
        Endpoint("http://a/v1", "n"),
        Endpoint("http://a/v1", "m", "", "query: "),
        Endpoint("http://a/v1", "m", "", "", "query: "),
    ]
    assert len({endpoint.identity for endpoint in endpoints}) == 4
    assert endpoints[0].identity == Endpoint("https://b/v1", "m", "key").identity


class Handler(BaseHTTPRequestHandler):
    """A real server, which answers one connection after the other."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = good(asked["input"]).content
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def real_server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def test_a_deep_model_works_with_a_real_server(real_server) -> None:
    model = DeepModel.connect(Endpoint(real_server, "small"), 192)
    texts = [f"{'a' * number} b" for number in range(100)]
    rows = model.embed_documents(texts)
    assert rows.shape == (100, 4)
    np.testing.assert_allclose(rows[3], model.embed_queries([texts[3]])[0], rtol=1e-6)


def test_a_server_that_is_away_is_told_at_the_start() -> None:
    with pytest.raises(PrismError, match="ConnectError"):
        DeepModel.connect(Endpoint("http://127.0.0.1:9/v1", "small"), 192)
