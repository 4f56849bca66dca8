"""The check of /readyz that the model embeds a text."""

import asyncio
import threading

import numpy as np
import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_embedder.adapters.model_check import ModelCheck


class Model:
    """Waits for its gate, and counts calls."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.calls = 0

    def embed_queries(self, texts):
        self.calls += 1
        assert self.gate.wait(20)
        return np.ones((len(texts), 2), np.float32)


async def test_a_model_that_is_not_loaded_is_not_ready():
    with pytest.raises(PrismError) as caught:
        await ModelCheck().check()
    assert caught.value.code is ErrorCode.UNAVAILABLE


async def test_a_model_that_hangs_is_asked_once():
    check = ModelCheck()
    check.model = model = Model()
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await check.check()
    model.gate.set()
    await check.check()
    assert model.calls == 1
    await check.check()
    assert model.calls == 2


async def test_the_error_of_a_model_is_the_reason():
    class Broken:
        def embed_queries(self, texts):
            raise RuntimeError("no memory")

    check = ModelCheck()
    check.model = Broken()
    with pytest.raises(RuntimeError, match="no memory"):
        await check.check()
