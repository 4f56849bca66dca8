"""Fixtures shared by several contract suites: a local Qdrant server, or a real one if the environment names it."""

import os
from collections.abc import Iterator

import pytest
from qdrant_api import Gate, gate_to
from test_qdrant_server import LocalQdrant

# `make test-qdrant` sets it.
REAL_URL = os.environ.get("PRISM_TEST_QDRANT_URL")
REAL_API_KEY = os.environ.get("PRISM_TEST_QDRANT_API_KEY")


@pytest.fixture(scope="session")
def qdrant_server_url(tmp_path_factory) -> Iterator[str]:
    """A Qdrant server, which needs no key."""
    if REAL_URL and REAL_API_KEY:
        with gate_to(REAL_URL, api_key=REAL_API_KEY, is_strict=False) as keyed:
            yield keyed.url
        return
    if REAL_URL:
        yield REAL_URL
        return
    server = LocalQdrant(tmp_path_factory.mktemp("qdrant"))
    server.start()
    yield server.url
    server.stop()


@pytest.fixture(scope="session")
def qdrant_gate(qdrant_server_url) -> Iterator[Gate]:
    """A proxy to that server which refuses requests that Qdrant's API does not have."""
    with gate_to(qdrant_server_url) as gate:
        yield gate
        assert not gate.refused


@pytest.fixture(scope="session")
def qdrant_url(qdrant_gate) -> str:
    """The server for Prism's own code, behind the proxy."""
    return qdrant_gate.url
