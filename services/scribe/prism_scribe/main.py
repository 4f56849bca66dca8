"""Scribe as a process: assembles its parts, subscribes them to the bus, and runs them."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from prometheus_client import REGISTRY, CollectorRegistry

from prism_catalog.tenants import PlanSettings
from prism_contracts import names
from prism_contracts.records import DescriptionsRecord, Repository, WikiRecord
from prism_contracts.rpc.context import ANSWER_CONTEXT, CONTEXT
from prism_contracts.rpc.descriptions import DESCRIBE, DESCRIPTIONS
from prism_contracts.rpc.documents import WRITE_TAGS
from prism_contracts.rpc.wiki import GENERATE_WIKI, GET_WIKI_PAGE, LIST_WIKI_PAGES
from prism_runtime.bus import Bus
from prism_runtime.objects import reclaim_regularly
from prism_runtime.process import run
from prism_runtime.service import Service
from prism_runtime.tasks import cancelled
from prism_scribe.adapters.description_sources import DescriptionSources
from prism_scribe.adapters.description_store import DescriptionStore
from prism_scribe.adapters.wiki_sources import WikiSources
from prism_scribe.adapters.wiki_store import WikiStore
from prism_scribe.core.wiki.renewal import RenewalTimes
from prism_scribe.core.writing import TextWriter
from prism_scribe.handlers.contexts import ContextHandler
from prism_scribe.handlers.descriptions import DescriptionHandlers
from prism_scribe.handlers.tags import TagHandler
from prism_scribe.handlers.wiki import WikiHandlers
from prism_scribe.operations.context_answers import ContextAnswers
from prism_scribe.operations.contexts import Contexts
from prism_scribe.operations.description_runs import DescriptionRenewal, DescriptionRuns
from prism_scribe.operations.open_writer import open_writer
from prism_scribe.operations.tagging import Tagging
from prism_scribe.operations.wiki_renewal import WikiRenewal
from prism_scribe.operations.wiki_runs import WikiRuns
from prism_scribe.settings import ScribeSettings

SERVICE = "scribe"


@dataclass(frozen=True)
class ScribeApp:
    """The parts of scribe that something outside calls."""

    contexts: ContextHandler
    tags: TagHandler
    wikis: WikiHandlers
    wiki_runs: WikiRuns
    wiki_store: WikiStore
    wiki_renewal: WikiRenewal
    writer: TextWriter
    descriptions: DescriptionHandlers
    description_runs: DescriptionRuns
    description_renewal: DescriptionRenewal


async def build(
    bus: Bus, settings: ScribeSettings, plans: PlanSettings, metrics: CollectorRegistry = REGISTRY
) -> ScribeApp:
    """Assemble scribe on a connected bus. Nothing runs until `register` and `Bus.start`."""
    writer = await open_writer(bus, settings, plans, metrics)
    repositories = await bus.follow(names.KV_REPOSITORIES, Repository)
    store = await WikiStore.open(bus, replicas=settings.nats_replicas)
    runs = WikiRuns(
        store,
        repositories,
        lambda known: WikiSources(bus, known.tenant, known.repo, known.name),
        writer if settings.wiki_model else None,
    )
    descriptions = await DescriptionStore.open(bus, replicas=settings.nats_replicas)
    sources_of = partial(DescriptionSources, bus)
    describing = DescriptionRuns(descriptions, writer, sources_of, files_max=settings.descriptions_files_max)
    contexts = Contexts(bus, settings)
    return ScribeApp(
        contexts=ContextHandler(contexts, ContextAnswers(contexts, writer, settings)),
        tags=TagHandler(Tagging(writer)),
        wikis=WikiHandlers(bus, store, repositories, runs),
        wiki_runs=runs,
        wiki_store=store,
        wiki_renewal=WikiRenewal(
            await bus.follow(names.KV_WIKI, WikiRecord),
            repositories,
            runs,
            RenewalTimes(settle_s=settings.wiki_settle_s, pause_s=settings.wiki_pause_s),
        ),
        writer=writer,
        descriptions=DescriptionHandlers(bus, descriptions, repositories, describing, sources_of),
        description_runs=describing,
        description_renewal=DescriptionRenewal(
            await bus.follow(names.KV_DESCRIPTIONS, DescriptionsRecord), repositories, describing
        ),
    )


def register(bus: Bus, app: ScribeApp, *, deadline_s: float) -> None:
    """Subscribe the handlers. `deadline_s` is the longest time for one question."""
    bus.serve(CONTEXT, app.contexts.context, deadline_s=deadline_s)
    bus.serve(ANSWER_CONTEXT, app.contexts.answer, deadline_s=ANSWER_CONTEXT.deadline_s)
    bus.serve(WRITE_TAGS, app.tags.write, deadline_s=WRITE_TAGS.deadline_s)
    bus.serve(DESCRIPTIONS, app.descriptions.list_descriptions, deadline_s=deadline_s)
    bus.serve(DESCRIBE, app.descriptions.describe, deadline_s=deadline_s)
    bus.serve(LIST_WIKI_PAGES, app.wikis.list_pages, deadline_s=deadline_s)
    bus.serve(GET_WIKI_PAGE, app.wikis.page, deadline_s=deadline_s)
    bus.serve(GENERATE_WIKI, app.wikis.generate, deadline_s=deadline_s)


async def serve() -> None:
    """Build everything, then run until a signal arrives."""
    settings, plans = ScribeSettings(), PlanSettings()
    service = Service(SERVICE, settings)
    bus = service.bus
    open_until_stop = AsyncExitStack()

    async def start() -> None:
        await bus.connect()
        app = await build(bus, settings, plans)
        open_until_stop.push_async_callback(app.writer.close)
        open_until_stop.push_async_callback(app.wiki_runs.close)
        open_until_stop.push_async_callback(app.description_runs.close)
        register(bus, app, deadline_s=settings.scribe_deadline_s)
        await bus.start()
        reclaiming = asyncio.create_task(
            reclaim_regularly(bus.js, {names.OBJECTS_WIKI: app.wiki_store.named_objects})
        )
        open_until_stop.push_async_callback(cancelled, reclaiming)
        if app.description_runs.model:
            describing = asyncio.create_task(app.description_renewal.run())
            open_until_stop.push_async_callback(cancelled, describing)
        if settings.wiki_renew:
            renewing = asyncio.create_task(app.wiki_renewal.run())
            open_until_stop.push_async_callback(cancelled, renewing)

    await service.run(start, close=open_until_stop.aclose)


if __name__ == "__main__":
    run(serve)
