"""Buckets of services that may create none: ingest creates them at its start, and they wait for it.

Whoever may create streams can have NATS copy any stream into a new one, so few services may.
"""

from nats.js.kv import KeyValue
from pydantic import Field

from prism_contracts import names
from prism_runtime.bus import Bus
from prism_runtime.records import open_bucket
from prism_runtime.settings import PrismSettings

DEEP_VECTORS_KEPT_S = 30 * 24 * 3600.0
MODEL_DAYS_KEPT_S = 90 * 24 * 3600.0


class AnswersSettings(PrismSettings):
    """Settings of the cache of answers, which ingest creates and search uses."""

    answers_shared_bytes_max: int = Field(
        64 * 1024 * 1024,
        gt=0,
        description="Space for cached answers in NATS, shared by all processes, in bytes.",
    )
    answers_ttl_s: float = Field(3600.0, ge=1, description="How long answers are cached in NATS, in seconds.")


async def create_shared_buckets(bus: Bus, settings: AnswersSettings, *, replicas: int) -> None:
    """Create the buckets of atlas, scribe, search, workspace and the deep embedder that do not exist."""
    await open_bucket(bus.js, names.KV_GRAPHS, replicas=replicas)
    await bus.objects(names.OBJECTS_GRAPHS)
    await open_bucket(bus.js, names.KV_WIKI, replicas=replicas)
    await bus.objects(names.OBJECTS_WIKI)
    await open_bucket(bus.js, names.KV_DESCRIPTIONS, replicas=replicas)
    await open_bucket(bus.js, names.KV_WRITTEN_DESCRIPTIONS, replicas=replicas)
    workspace = (
        names.KV_DOCUMENTS,
        names.KV_GIT_OBJECTS,
        names.KV_GIT_REFS,
        names.KV_DOCUMENT_REMOTES,
        names.KV_ANCHORS,
        names.KV_TASKS,
    )
    for bucket in workspace:
        await open_bucket(bus.js, bucket, replicas=replicas)
    await bus.objects(names.OBJECTS_GIT)
    await open_model_days(bus, replicas=replicas)
    await open_deep_vectors(bus, replicas=replicas)
    await open_answers(bus, settings)


async def open_answers(bus: Bus, settings: AnswersSettings) -> KeyValue:
    """Returns the cache of answers. It has one replica: its loss costs time only."""
    return await bus.cache(
        names.KV_ANSWERS, ttl_s=settings.answers_ttl_s, bytes_max=settings.answers_shared_bytes_max
    )


async def open_deep_vectors(bus: Bus, *, replicas: int) -> KeyValue:
    """Returns the deep vectors by hash of model and text."""
    return await open_bucket(bus.js, names.KV_DEEP_VECTORS, ttl_s=DEEP_VECTORS_KEPT_S, replicas=replicas)


async def open_model_days(bus: Bus, *, replicas: int) -> KeyValue:
    """Returns what tenants used of language models by day."""
    return await open_bucket(bus.js, names.KV_MODEL_DAYS, ttl_s=MODEL_DAYS_KEPT_S, replicas=replicas)
