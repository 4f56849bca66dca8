"""Assembles the search service and runs it."""

import asyncio
from functools import partial
from typing import NamedTuple

from prometheus_client import REGISTRY

from prism_catalog.histories import Histories, HistoryStore
from prism_catalog.layer_files import LayerFilesStore
from prism_catalog.layers import Layers
from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.scip_indexes import ScipIndexes
from prism_contracts import names
from prism_contracts.records import Layer, ModelVersion, Repository
from prism_contracts.rpc.common import RECEIPT
from prism_contracts.rpc.files import (
    COVERAGE,
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
from prism_search.adapters.embedding import QueryEmbedding
from prism_search.adapters.facts import Facts
from prism_search.adapters.listing import Listing
from prism_search.adapters.manifests import Manifests
from prism_search.adapters.occurrences import OccurrenceReader
from prism_search.adapters.sources import Sources
from prism_search.adapters.texts import Texts
from prism_search.adapters.uses import GraphUses
from prism_search.handlers.conventions import ConventionsHandler
from prism_search.handlers.coverage import CoverageHandlers
from prism_search.handlers.edit_context import EditContextHandler
from prism_search.handlers.existing import ExistingHandler
from prism_search.handlers.files import FileHandlers
from prism_search.handlers.grep import GrepHandler
from prism_search.handlers.references import ReferencesHandler
from prism_search.handlers.repo_context import RepoContextHandler
from prism_search.handlers.search import SearchHandler
from prism_search.handlers.symbols import SymbolHandlers
from prism_search.operations.edit_context import EditContextBuilder
from prism_search.operations.enclosing import EnclosingSymbols
from prism_search.operations.focus import FocusFinder
from prism_search.operations.references import ReferenceFinder
from prism_search.settings import SearchSettings
from prism_store.gate import check_store, connect
from prism_store.reader import Reader
from prism_store.settings import StoreSettings

SERVICE = "search"
# Ends before the default timeout of the gateway (PRISM_RPC_TIMEOUT_S): no work for a caller that gave up.
GREP_MARGIN_S = 2.0


class Handlers(NamedTuple):
    """One handler per kind of question."""

    search: SearchHandler
    grep: GrepHandler
    files: FileHandlers
    symbols: SymbolHandlers
    references: ReferencesHandler
    coverage: CoverageHandlers
    edit_context: EditContextHandler
    repo_context: RepoContextHandler
    existing: ExistingHandler
    conventions: ConventionsHandler


def make_handlers(
    reader: Reader,
    repositories: RepositoryCatalog,
    embedding: QueryEmbedding,
    occurrences: OccurrenceReader,
    *,
    graph: GraphUses,
    commits: Commits,
    answers: Answers | None,
    histories: HistoryStore,
    settings: SearchSettings,
) -> Handlers:
    """Builds all handlers over one reader."""
    listing, texts = Listing(reader), Texts(reader, settings.texts_kept_bytes_max)
    facts = Facts(reader)
    enclosing = EnclosingSymbols(facts)
    definitions, sources = Definitions(reader), Sources(reader, texts)
    documents = Documents(reader, texts, listing)
    references = ReferenceFinder(
        definitions,
        listing,
        texts=texts,
        sources=sources,
        occurrences=occurrences,
        manifests=Manifests(texts),
        graph=graph,
        enclosing=enclosing,
    )
    return Handlers(
        SearchHandler(reader, repositories, embedding, answers, facts),
        GrepHandler(
            reader, repositories, listing=listing, texts=texts, enclosing=enclosing, settings=settings
        ),
        FileHandlers(reader, repositories, commits),
        SymbolHandlers(reader, repositories, definitions),
        ReferencesHandler(repositories, references),
        CoverageHandlers(reader, repositories, occurrences, embedding.deep_model),
        EditContextHandler(
            EditContextBuilder(
                repositories,
                focus=FocusFinder(reader, repositories, definitions, sources),
                definitions=definitions,
                listing=listing,
                documents=documents,
                histories=Histories(histories),
                references=references,
                graph=graph,
            )
        ),
        RepoContextHandler(repositories, listing, documents),
        ExistingHandler(reader, repositories, embedding),
        ConventionsHandler(reader, repositories, listing, sources, documents),
    )


def register(bus: Bus, handlers: Handlers, settings: SearchSettings) -> None:
    """Serves every request with its handler."""
    search, grep, files, coverage = handlers.search, handlers.grep, handlers.files, handlers.coverage
    grep_deadline_s = settings.grep_deadline_s + GREP_MARGIN_S
    bus.serve(SEARCH, search.search, deadline_s=settings.search_deadline_s)
    bus.serve(GREP, grep.grep, deadline_s=grep_deadline_s)
    bus.serve(READ_FILE, files.read_file)
    bus.serve(LIST_FILES, files.list_files)
    bus.serve(OUTLINE, files.outline)
    bus.serve(DEFINITIONS, handlers.symbols.definitions)
    bus.serve(REFERENCES, handlers.references.references)
    bus.serve(EDIT_CONTEXT, handlers.edit_context.edit_context)
    bus.serve(EXISTING, handlers.existing.existing)
    bus.serve(CONVENTIONS, handlers.conventions.conventions)
    bus.serve(REPO_CONTEXT, handlers.repo_context.repo_context)
    bus.serve(COVERAGE, coverage.coverage)
    bus.serve(RECEIPT, files.receipt)
    bus.serve(MANIFEST, coverage.manifest)
    bus.serve(POINT_COUNTS, coverage.point_counts)


async def open_answers(
    bus: Bus,
    repositories: RepositoryCatalog,
    model_versions: WatchedRecords[ModelVersion],
    settings: SearchSettings,
) -> Answers | None:
    """Opens the cache of answers; None if the settings disable it."""
    if not settings.answers_enabled:
        return None
    bucket = await bus.cache(
        names.KV_ANSWERS, ttl_s=settings.answers_ttl_s, bytes_max=settings.answers_shared_bytes_max
    )
    return Answers(
        repositories,
        model_versions,
        bucket,
        AnswerMetrics(REGISTRY),
        bytes_max=settings.answers_kept_bytes_max,
    )


async def serve() -> None:
    """Builds everything, then runs until it is stopped."""
    settings = SearchSettings()
    service = Service(SERVICE, settings)
    bus = service.bus
    model = StaticModel.load(settings.embedder_fast_folder, mapped=True)
    qdrant = connect(StoreSettings())
    reader = Reader(qdrant)
    reading: list[asyncio.Task[None]] = []

    async def start() -> None:
        await bus.connect()
        records = await bus.follow(names.KV_REPOSITORIES, Repository)
        model_versions = await bus.follow(names.KV_MODEL_VERSIONS, ModelVersion)
        embedding = QueryEmbedding(
            model, bus, model_versions, settings.embed_timeout_s, deep=settings.deep_enabled
        )
        layers = Layers(
            await bus.follow(names.KV_LAYERS, Layer),
            await LayerFilesStore.open(bus.js, settings.nats_replicas),
        )
        repositories = RepositoryCatalog(records, layers, reader)
        answers = await open_answers(bus, repositories, model_versions, settings)
        occurrences = OccurrenceReader(await ScipIndexes.open(bus))
        histories = await HistoryStore.open(bus.js, settings.nats_replicas)
        handlers = make_handlers(
            reader,
            repositories,
            embedding,
            occurrences,
            graph=GraphUses(bus),
            commits=Commits(bus),
            answers=answers,
            histories=histories,
            settings=settings,
        )
        register(bus, handlers, settings)
        await bus.start()
        reading.append(asyncio.create_task(handlers.search.read_ahead()))

    async def close() -> None:
        await cancelled(*reading)
        await qdrant.close()

    await service.run(start, close=close, checks={"qdrant": partial(check_store, qdrant)})


if __name__ == "__main__":
    run(serve)
