"""What the embedder counts of texts and batches."""

from types import SimpleNamespace

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from prism_contracts.base import Lane
from prism_contracts.events import Card, DeepEmbeddingRequested
from prism_embedder.adapters.metrics import EmbeddingMetrics
from prism_embedder.deep_handlers import DeepEmbeddingHandlers
from prism_embedder.handlers import FastHandlers


class Model:
    """Returns the same vector for every text."""

    fingerprint, dimension = "m", 2

    def embed_files(self, files):
        return [np.ones((len(file.texts), 2), np.float32) for file in files]

    def embed_documents(self, texts):
        return np.ones((len(texts), 2), np.float32)


class Cache(dict):
    """A cache in memory."""

    async def get_many(self, keys):
        return {key: self[key] for key in keys if key in self}

    async def put_many(self, rows):
        self.update(rows)


class Bus:
    """Drops what is published."""

    async def publish(self, event, lane):
        pass


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def shown(registry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(name, labels)


async def test_a_batch_of_the_fast_tier_counts_the_texts_of_its_files(registry):
    handlers = FastHandlers(Bus(), Model(), frozenset(), EmbeddingMetrics(registry))
    assert shown(registry, "prism_embedded_texts_total", tier="fast", source="computed") == 0
    chunks = [SimpleNamespace(text="a"), SimpleNamespace(text="b")]
    await handlers._embed(
        [SimpleNamespace(path="a", chunks=chunks), SimpleNamespace(path="b", chunks=chunks[:1])]
    )
    assert shown(registry, "prism_embedded_texts_total", tier="fast", source="computed") == 3
    assert shown(registry, "prism_embedding_batch_texts_sum", tier="fast") == 3
    assert shown(registry, "prism_embedding_batch_seconds_count", tier="fast") == 1


async def test_the_deep_tier_reuses_the_vectors_of_known_texts(registry):
    handlers = DeepEmbeddingHandlers(Bus(), Model(), Cache(), 1, EmbeddingMetrics(registry))

    async def request(*texts: str) -> None:
        cards = tuple(Card(file="f", generation="g", text=text) for text in texts)
        await handlers.on_requested(
            DeepEmbeddingRequested(tenant="t", model="m", cards=cards, lane=Lane.BULK)
        )

    await request("a", "b")
    await request("a", "c")
    await request("a", "b")
    sources = [
        shown(registry, "prism_embedded_texts_total", tier="deep", source=source)
        for source in ("computed", "reused")
    ]
    assert sources == [3, 3]
    assert shown(registry, "prism_embedding_batch_seconds_count", tier="deep") == 2
