"""Search as a process: assembles its parts, subscribes them to the bus, and runs them."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from prometheus_client import REGISTRY, CollectorRegistry

from prism_catalog.descriptions import Descriptions
from prism_catalog.histories import Histories, HistoryStore
from prism_catalog.layer_files import LayerFilesStore
from prism_catalog.layers import Layers
from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.scip_indexes import ScipIndexes
from prism_catalog.shared_buckets import open_answers
from prism_contracts import names
from prism_contracts.records import Layer, ModelVersion, Repository
from prism_contracts.rpc.common import RECEIPT
from prism_contracts.rpc.files import (
    COUNT_CHUNKS,
    COVERAGE,
    LINES,
    LIST_FILES,
    MANIFEST,
    OUTLINE,
    POINT_COUNTS,
    READ_FILE,
)
from prism_contracts.rpc.guidance import (
    CONVENTIONS,
    EDIT_CONTEXT,
    EXISTING,
    REPO_CONTEXT,
)
from prism_contracts.rpc.search import GREP, SEARCH
from prism_contracts.rpc.symbols import DEFINITIONS, REFERENCES
from prism_contracts.rpc.unused import NAME_LINES
from prism_model.static_model import StaticModel
from prism_runtime.bus import Bus
from prism_runtime.process import run
from prism_runtime.records import WatchedRecords
from prism_runtime.service import Service
from prism_runtime.tasks import cancelled
from prism_search.adapters.answers import AnswerMetrics, Answers
from prism_search.adapters.commits import Commits
from prism_search.adapters.definitions import Definitions
from prism_search.adapters.documents import Documents
from prism_search.adapters.embedding import QueryEmbedding, QueryModel
from prism_search.adapters.facts import Facts
from prism_search.adapters.known_names import NameReader
from prism_search.adapters.leg_checks import LegChecks
from prism_search.adapters.listing import Listing
from prism_search.adapters.manifests import Manifests
from prism_search.adapters.member_texts import MemberTexts
from prism_search.adapters.metrics import QueryEmbeddingMetrics, SearchMetrics
from prism_search.adapters.occurrences import OccurrenceReader
from prism_search.adapters.reranker import Reranker, RerankerMetrics
from prism_search.adapters.sources import Sources
from prism_search.adapters.texts import Texts
from prism_search.adapters.uses import GraphUses
from prism_search.handlers.conventions import ConventionsHandler
from prism_search.handlers.coverage import CoverageHandlers
from prism_search.handlers.edit_context import EditContextHandler
from prism_search.handlers.existing import ExistingHandler
from prism_search.handlers.files import FileHandlers
from prism_search.handlers.grep import GrepHandler
from prism_search.handlers.lines import LinesHandler
from prism_search.handlers.name_lines import NameLinesHandler
from prism_search.handlers.references import ReferencesHandler
from prism_search.handlers.repo_context import RepoContextHandler
from prism_search.handlers.search import SearchHandler
from prism_search.handlers.symbols import SymbolHandlers
from prism_search.operations.edit_context import EditContextBuilder
from prism_search.operations.enclosing import EnclosingSymbols
from prism_search.operations.focus import FocusFinder
from prism_search.operations.read_ahead import ReadAhead
from prism_search.operations.references import ReferenceFinder
from prism_search.settings import SearchSettings
from prism_store.client import StoreClient
from prism_store.gate import check_store, connect
from prism_store.reader import Reader
from prism_store.settings import StoreSettings

SERVICE = "search"
# Ends before the default timeout of the gateway (PRISM_RPC_TIMEOUT_S): no work for a caller that gave up.
GREP_MARGIN_S = 2.0


@dataclass(frozen=True)
class SearchApp:
    """The parts of search that something outside calls: its handlers, and what they read from."""

    reader: Reader
    embedding: QueryEmbedding
    reranker: Reranker | None
    records: WatchedRecords[Repository]
    repositories: RepositoryCatalog
    scip_indexes: ScipIndexes
    search: SearchHandler
    grep: GrepHandler
    files: FileHandlers
    lines: LinesHandler
    name_lines: NameLinesHandler
    symbols: SymbolHandlers
    references: ReferencesHandler
    coverage: CoverageHandlers
    edit_context: EditContextHandler
    repo_context: RepoContextHandler
    existing: ExistingHandler
    conventions: ConventionsHandler
    read_ahead: ReadAhead


async def build(
    bus: Bus,
    settings: SearchSettings,
    store: StoreClient,
    model: QueryModel,
    metrics: CollectorRegistry = REGISTRY,
) -> SearchApp:
    """Assemble search on a connected bus. Nothing runs until `register` and `Bus.start`."""
    reader = Reader(store)
    records = await bus.follow(names.KV_REPOSITORIES, Repository)
    model_versions = await bus.follow(names.KV_MODEL_VERSIONS, ModelVersion)
    layers = Layers(
        await bus.follow(names.KV_LAYERS, Layer), await LayerFilesStore.open(bus.js, settings.nats_replicas)
    )
    scip_indexes = await ScipIndexes.open(bus)
    histories = Histories(await HistoryStore.open(bus.js, settings.nats_replicas))
    repositories = RepositoryCatalog(records, layers, reader)
    reranker = Reranker(settings, RerankerMetrics(metrics)) if settings.reranker_enabled else None
    answers = await _open_answers(
        bus, settings, repositories, model_versions, reranker=reranker, metrics=AnswerMetrics(metrics)
    )
    embedding = QueryEmbedding(
        model,
        bus,
        model_versions,
        settings.embed_timeout_s,
        deep=settings.deep_enabled,
        metrics=QueryEmbeddingMetrics(metrics),
    )
    listing, texts, facts = Listing(reader), Texts(reader, settings.texts_kept_bytes_max), Facts(reader)
    known_names = NameReader(reader)
    definitions, sources = Definitions(reader, known_names), Sources(reader, texts)
    documents = Documents(reader, texts, listing)
    occurrences, graph = OccurrenceReader(scip_indexes), GraphUses(bus)
    enclosing, manifests = EnclosingSymbols(facts, reader), Manifests(texts)
    references = ReferenceFinder(
        definitions,
        listing,
        texts=texts,
        sources=sources,
        occurrences=occurrences,
        manifests=manifests,
        graph=graph,
        enclosing=enclosing,
    )
    edit_context = EditContextBuilder(
        repositories,
        focus=FocusFinder(reader, repositories, definitions, sources),
        definitions=definitions,
        listing=listing,
        documents=documents,
        histories=histories,
        references=references,
        graph=graph,
    )
    return SearchApp(
        reader=reader,
        embedding=embedding,
        reranker=reranker,
        records=records,
        repositories=repositories,
        scip_indexes=scip_indexes,
        search=SearchHandler(
            reader,
            repositories,
            embedding,
            answers,
            facts=facts,
            names=known_names,
            metrics=SearchMetrics(metrics),
            reranker=reranker,
            texts=MemberTexts(reader, settings.member_texts_kept_bytes_max),
        ),
        grep=GrepHandler(
            reader,
            repositories,
            listing=listing,
            texts=texts,
            enclosing=enclosing,
            settings=settings,
        ),
        files=FileHandlers(reader, repositories, Commits(bus), enclosing, Descriptions(reader)),
        lines=LinesHandler(repositories, listing, texts),
        name_lines=NameLinesHandler(reader, repositories, listing, texts),
        symbols=SymbolHandlers(reader, repositories, definitions, graph),
        references=ReferencesHandler(repositories, references),
        coverage=CoverageHandlers(reader, repositories, occurrences, embedding.deep_model),
        edit_context=EditContextHandler(edit_context),
        repo_context=RepoContextHandler(repositories, listing, documents),
        existing=ExistingHandler(reader, repositories, embedding),
        conventions=ConventionsHandler(reader, repositories, listing, sources, documents),
        read_ahead=ReadAhead(repositories, facts, listing, manifests),
    )


async def _open_answers(
    bus: Bus,
    settings: SearchSettings,
    repositories: RepositoryCatalog,
    model_versions: WatchedRecords[ModelVersion],
    *,
    reranker: Reranker | None,
    metrics: AnswerMetrics,
) -> Answers | None:
    """Returns the cache of answers; None if it is turned off."""
    if not settings.answers_enabled:
        return None
    bucket = await open_answers(bus, settings)
    return Answers(
        repositories,
        model_versions,
        bucket,
        metrics,
        bytes_max=settings.answers_kept_bytes_max,
        reranker=reranker.name if reranker else "",
    )


def register(bus: Bus, app: SearchApp, settings: SearchSettings) -> None:
    """Subscribe the handlers, with the deadlines of the settings."""
    bus.serve(SEARCH, app.search.search, deadline_s=settings.search_deadline_s)
    bus.serve(GREP, app.grep.grep, deadline_s=settings.grep_deadline_s + GREP_MARGIN_S)
    bus.serve(READ_FILE, app.files.read_file)
    bus.serve(LINES, app.lines.lines)
    bus.serve(NAME_LINES, app.name_lines.name_lines)
    bus.serve(LIST_FILES, app.files.list_files)
    bus.serve(OUTLINE, app.files.outline)
    bus.serve(RECEIPT, app.files.receipt)
    bus.serve(DEFINITIONS, app.symbols.definitions)
    bus.serve(REFERENCES, app.references.references)
    bus.serve(EDIT_CONTEXT, app.edit_context.edit_context)
    bus.serve(EXISTING, app.existing.existing)
    bus.serve(CONVENTIONS, app.conventions.conventions)
    bus.serve(REPO_CONTEXT, app.repo_context.repo_context)
    bus.serve(COVERAGE, app.coverage.coverage)
    bus.serve(MANIFEST, app.coverage.manifest)
    bus.serve(POINT_COUNTS, app.coverage.point_counts)
    bus.serve(COUNT_CHUNKS, app.coverage.count_chunks)


async def serve() -> None:
    """Build everything, then run until a signal arrives."""
    settings = SearchSettings()
    store_settings = StoreSettings()
    service = Service(SERVICE, settings, secrets={"PRISM_QDRANT_API_KEY": store_settings.api_key})
    bus, store = service.bus, connect(store_settings, REGISTRY)
    model = StaticModel.load(settings.embedder_fast_folder, mapped=True)
    legs = LegChecks()
    open_until_stop = AsyncExitStack()
    open_until_stop.push_async_callback(store.close)

    async def start() -> None:
        await bus.connect()
        app = await build(bus, settings, store, model)
        legs.embedding = app.embedding
        if app.reranker:
            open_until_stop.push_async_callback(app.reranker.close)
        register(bus, app, settings)
        await bus.start()
        open_until_stop.push_async_callback(cancelled, asyncio.create_task(app.read_ahead.keep_reading()))

    await service.run(
        start,
        close=open_until_stop.aclose,
        checks={"qdrant": partial(check_store, store)},
        optional=legs.checks,
    )


if __name__ == "__main__":
    run(serve)
