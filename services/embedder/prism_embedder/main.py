"""The embedder as a process, for one of its two tiers."""

from uuid import uuid4

from nats.js import JetStreamContext

from prism_contracts import names
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import DeepModelStarted
from prism_contracts.records import COMPONENT_DEEP_MODEL, COMPONENT_FAST_MODEL, Component
from prism_embedder.handlers import FastHandlers
from prism_embedder.settings import EmbedderSettings
from prism_model.static_model import StaticModel
from prism_runtime.bus import Bus
from prism_runtime.process import run
from prism_runtime.records import Records, open_bucket
from prism_runtime.service import Service

SERVICE_FAST = "embedder"
SERVICE_DEEP = "embedder-deep"
DEEP_VECTORS_KEPT_S = 30 * 24 * 3600.0


async def serve() -> None:
    """Build the service, and run it until a signal."""
    settings = EmbedderSettings()
    deep = settings.embedder_tier == "deep"
    service = Service(SERVICE_DEEP if deep else SERVICE_FAST, settings)

    async def start() -> None:
        await service.bus.connect()
        await (_start_deep if deep else _start_fast)(service.bus, settings)
        await service.bus.start()

    await service.run(start)


async def _start_fast(bus: Bus, settings: EmbedderSettings) -> None:
    model = StaticModel.load(settings.embedder_fast_folder)
    component = Component(version=model.fingerprint, dimension=model.dimension)
    await _say_fast_model(bus.js, component, settings)
    FastHandlers(bus, model, settings.embedder_workers).register()


async def _start_deep(bus: Bus, settings: EmbedderSettings) -> None:
    from prism_embedder.adapters.deep import DeepModel, DeepOptions
    from prism_embedder.adapters.kv_cache import KvVectorCache
    from prism_embedder.deep_handlers import DeepEmbeddingHandlers
    from prism_embedder.packaged import FOLDER

    options = DeepOptions(
        device=settings.embedder_deep_device,
        threads=settings.embedder_deep_threads,
        tokens_max=settings.embedder_deep_tokens_max,
    )
    model = DeepModel.load(settings.embedder_deep_model or str(FOLDER), options)
    component = Component(version=model.fingerprint, dimension=model.dimension)
    await (await _components(bus.js, settings)).put(COMPONENT_DEEP_MODEL, component)
    bucket = await open_bucket(
        bus.js, names.KV_DEEP_VECTORS, ttl_s=DEEP_VECTORS_KEPT_S, replicas=settings.nats_replicas
    )
    DeepEmbeddingHandlers(bus, model, KvVectorCache(bucket), settings.embedder_deep_threads).register()
    started = DeepModelStarted(model=model.fingerprint, start=uuid4().hex)
    await bus.publish(started, lane=Lane.BULK)


async def _say_fast_model(js: JetStreamContext, model: Component, settings: EmbedderSettings) -> None:
    """Record the model. Raises MODEL_MISMATCH if another model built the index."""
    records = await _components(js, settings)
    known = await records.get(COMPONENT_FAST_MODEL)
    if known is not None and known != model and not settings.embedder_adopt_model:
        raise PrismError(
            ErrorCode.MODEL_MISMATCH,
            f"The index was built by model {known.version} of {known.dimension} dimensions; "
            f"this one is {model.version} of {model.dimension}.",
            "Start with the model that built the index, or set PRISM_EMBEDDER_ADOPT_MODEL=true and index again.",
        )
    await records.put(COMPONENT_FAST_MODEL, model)


async def _components(js: JetStreamContext, settings: EmbedderSettings) -> Records[Component]:
    return Records(await open_bucket(js, names.KV_COMPONENTS, replicas=settings.nats_replicas), Component)


if __name__ == "__main__":
    run(serve)
