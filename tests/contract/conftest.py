"""Fixtures shared by several contract suites: a local Qdrant server, and a real one if the environment names
it.
"""

import os
from collections.abc import Iterator

import pytest
from test_qdrant_server import LocalQdrant

REAL_URL = os.environ.get("PRISM_TEST_QDRANT_URL")


@pytest.fixture(scope="session", params=["local", *(["real"] if REAL_URL else [])])
def qdrant_url(request, tmp_path_factory) -> Iterator[str]:
    if request.param == "real":
        yield REAL_URL
        return
    server = LocalQdrant(tmp_path_factory.mktemp("qdrant"))
    server.start()
    yield server.url
    server.stop()
