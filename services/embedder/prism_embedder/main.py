"""The embedder as a process of one tier: assembles its parts, subscribes them to the bus, and runs them."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from prometheus_client import REGISTRY, CollectorRegistry

from prism_catalog.cancelled_jobs import CancelledJobs
from prism_catalog.shared_buckets import open_deep_vectors
from prism_contracts import names, topics
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import DeepModelStarted
from prism_contracts.records import DEEP_MODEL_KEY, FAST_MODEL_KEY, ModelVersion
from prism_contracts.rpc.search import EMBED_DEEP_QUERY
from prism_embedder.adapters.metrics import EmbeddingMetrics
from prism_embedder.adapters.model_check import ModelCheck
from prism_embedder.handlers import FastHandlers
from prism_embedder.settings import EmbedderSettings
from prism_model.static_model import StaticModel
from prism_runtime.bus import Bus
from prism_runtime.health import cached
from prism_runtime.process import run
from prism_runtime.records import Records, open_bucket
from prism_runtime.service import Service

if TYPE_CHECKING:  # a process of the fast tier loads nothing of the deep one
    from prism_embedder.adapters.deep import DeepModel
    from prism_embedder.deep_handlers import DeepEmbeddingHandlers

SERVICE_FAST = "embedder"
SERVICE_DEEP = "embedder-deep"
MODEL_CHECKED_EVERY_S = 10.0
DEEP_REQUESTS_AT_ONCE = 1  # per lane; a request is a page of cards


@dataclass(frozen=True)
class EmbedderApp:
    """The handlers of one tier, its model, and the record of model versions."""

    model: ModelVersion
    model_versions: Records[ModelVersion]
    fast: FastHandlers | None = None
    deep: "DeepEmbeddingHandlers | None" = None


async def build(
    bus: Bus,
    settings: EmbedderSettings,
    model: "StaticModel | DeepModel",
    metrics: CollectorRegistry = REGISTRY,
) -> EmbedderApp:
    """Assemble the tier of a model on a connected bus. Nothing runs until `register` and `Bus.start`."""
    version = ModelVersion(version=model.fingerprint, dimension=model.dimension)
    bucket = await open_bucket(bus.js, names.KV_MODEL_VERSIONS, replicas=settings.nats_replicas)
    model_versions = Records(bucket, ModelVersion)
    embedding = EmbeddingMetrics(metrics)
    if isinstance(model, StaticModel):
        cancelled = await CancelledJobs.open(bus)
        return EmbedderApp(version, model_versions, fast=FastHandlers(bus, model, cancelled, embedding))
    return EmbedderApp(version, model_versions, deep=await _deep_handlers(bus, settings, model, embedding))


async def _deep_handlers(
    bus: Bus, settings: EmbedderSettings, model: "DeepModel", metrics: EmbeddingMetrics
) -> "DeepEmbeddingHandlers":
    from prism_embedder.adapters.kv_cache import KvVectorCache
    from prism_embedder.deep_handlers import DeepEmbeddingHandlers

    vectors = await open_deep_vectors(bus, replicas=settings.nats_replicas)
    return DeepEmbeddingHandlers(bus, model, KvVectorCache(vectors), settings.embedder_deep_threads, metrics)


def register(bus: Bus, app: EmbedderApp, *, workers: int) -> None:
    """Subscribe the handlers. `workers` is the number of files in progress in the fast tier, per lane."""
    if app.fast:
        bus.consume_bytes(topics.FILE_CHUNKED, app.fast.on_chunked, workers=workers)
    if app.deep:
        bus.consume(topics.DEEP_REQUESTED, app.deep.on_requested, workers=DEEP_REQUESTS_AT_ONCE)
        bus.serve(EMBED_DEEP_QUERY, app.deep.query)


async def announce(bus: Bus, app: EmbedderApp, *, adopt: bool) -> None:
    """Record the model; for the deep tier, publish its start, so that missing vectors are requested.

    Raises MODEL_MISMATCH if another fast model built the index, unless `adopt` is set.
    """
    if app.deep:
        await app.model_versions.put(DEEP_MODEL_KEY, app.model)
        await bus.publish(DeepModelStarted(model=app.model.version, start=uuid4().hex), lane=Lane.BULK)
        return
    known = await app.model_versions.get(FAST_MODEL_KEY)
    if known is not None and known != app.model and not adopt:
        raise PrismError(
            ErrorCode.MODEL_MISMATCH,
            f"The index was built by model {known.version} of {known.dimension} dimensions; "
            f"this one is {app.model.version} of {app.model.dimension}.",
            "Start with the model that built the index, or set PRISM_EMBEDDER_ADOPT_MODEL=true and index again.",
        )
    await app.model_versions.put(FAST_MODEL_KEY, app.model)


async def serve() -> None:
    """Build everything, then run until a signal arrives."""
    settings = EmbedderSettings()
    service = Service(SERVICE_DEEP if settings.embedder_tier == "deep" else SERVICE_FAST, settings)
    bus, model_check = service.bus, ModelCheck()

    async def start() -> None:
        await bus.connect()
        # In a thread: it may download the model, and /livez answers meanwhile.
        model_check.model = model = await asyncio.to_thread(_load_model, settings)
        app = await build(bus, settings, model)
        register(bus, app, workers=settings.embedder_workers)
        await announce(bus, app, adopt=settings.embedder_adopt_model)
        await bus.start()

    await service.run(start, checks={"model": cached(model_check.check, MODEL_CHECKED_EVERY_S)})


def _load_model(settings: EmbedderSettings) -> "StaticModel | DeepModel":
    if settings.embedder_tier == "fast":
        return StaticModel.load(settings.embedder_fast_folder)

    from prism_embedder.adapters.deep import DeepModel, DeepOptions
    from prism_embedder.adapters.remote_encoder import Endpoint
    from prism_embedder.packaged import FOLDER

    if settings.embedder_deep_url:
        endpoint = Endpoint(
            settings.embedder_deep_url,
            settings.embedder_deep_model,
            settings.embedder_deep_key.get_secret_value(),
            settings.embedder_deep_query_prompt,
            settings.embedder_deep_document_prompt,
        )
        return DeepModel.connect(endpoint, settings.embedder_deep_tokens_max)
    options = DeepOptions(
        device=settings.embedder_deep_device,
        threads=settings.embedder_deep_threads,
        tokens_max=settings.embedder_deep_tokens_max,
    )
    return DeepModel.load(settings.embedder_deep_model or str(FOLDER), options)


if __name__ == "__main__":
    run(serve)
