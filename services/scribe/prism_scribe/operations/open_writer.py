"""Makes the writer that the settings ask for."""

import logging

from prometheus_client import CollectorRegistry

from prism_catalog.tenants import PlanSettings, Tenants
from prism_runtime.bus import Bus
from prism_scribe.adapters.model_days import ModelDays, caps_of
from prism_scribe.adapters.model_endpoints import MissingExtraError, endpoints
from prism_scribe.adapters.model_metrics import ModelMetrics
from prism_scribe.core.writing import NoWriter, TextWriter
from prism_scribe.operations.writing import ModelWriter
from prism_scribe.settings import ScribeSettings

log = logging.getLogger(__name__)


async def open_writer(
    bus: Bus, settings: ScribeSettings, plans: PlanSettings, metrics: CollectorRegistry
) -> TextWriter:
    """Returns a writer with the models of the settings; one that declines if there are none.

    The library is imported here, so that it slows the start and not the first question.
    """
    counted = ModelMetrics(metrics)
    if not settings.models:
        return NoWriter()
    keys = [settings.key_of(model.host) for model in settings.models]
    try:
        models = endpoints(settings.models, keys, settings.llm_base_url)
    except MissingExtraError as error:
        log.error("no language model: %s", error)  # noqa: TRY400 - the message says it all
        return NoWriter(f"A language model is set, but {error}")
    tenants = Tenants(plans)
    await tenants.open(bus, replicas=settings.nats_replicas)
    caps = caps_of(tenants, tokens=settings.llm_tokens_per_day, cents=settings.llm_cents_per_day)
    budgets = await ModelDays.open(bus, caps, replicas=settings.nats_replicas)
    return ModelWriter(
        models,
        budgets,
        counted,
        timeout_s=settings.llm_timeout_s,
        concurrency=settings.llm_concurrency,
    )
