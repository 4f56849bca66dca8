"""Search as a process."""

from functools import partial
from typing import NamedTuple

from prometheus_client import REGISTRY

from prism_contracts import names
from prism_contracts.records import Component, Repository
from prism_contracts.rpc import (
    CoverageRequest,
    DefinitionsRequest,
    GrepRequest,
    ListFilesRequest,
    ManifestRequest,
    OutlineRequest,
    PointCountsRequest,
    ReadFileRequest,
    ReferencesRequest,
    SearchRequest,
)
from prism_model.static_model import StaticModel
from prism_runtime import rpc
from prism_runtime.bus import Bus
from prism_runtime.process import run
from prism_runtime.records import WatchedRecords
from prism_runtime.service import Service
from prism_search.adapters.answers import AnswerMetrics, Answers
from prism_search.adapters.definitions import Definitions
from prism_search.adapters.embedding import QueryEmbedding
from prism_search.adapters.listing import Listing
from prism_search.adapters.sources import Sources
from prism_search.adapters.texts import Texts
from prism_search.handlers.coverage import CoverageHandlers
from prism_search.handlers.files import FileHandlers
from prism_search.handlers.grep import GrepHandler
from prism_search.handlers.references import ReferencesHandler
from prism_search.handlers.search import SearchHandler
from prism_search.handlers.symbols import SymbolHandlers
from prism_search.settings import SearchSettings
from prism_store.gate import check_store, connect
from prism_store.reader import Reader
from prism_store.repositories import Repositories
from prism_store.settings import StoreSettings

SERVICE = "search"
READ_DEADLINE_S = 20.0
GREP_MARGIN_S = 2.0


class Handlers(NamedTuple):
    """One a kind of question."""

    search: SearchHandler
    grep: GrepHandler
    files: FileHandlers
    symbols: SymbolHandlers
    references: ReferencesHandler
    coverage: CoverageHandlers


def make_handlers(
    reader: Reader,
    repositories: Repositories,
    embedding: QueryEmbedding,
    answers: Answers | None,
    settings: SearchSettings,
) -> Handlers:
    """All that answers, over one reader."""
    listing, texts = Listing(reader), Texts(reader, settings.texts_kept_bytes_max)
    definitions = Definitions(reader)
    return Handlers(
        SearchHandler(reader, repositories, embedding, answers),
        GrepHandler(reader, repositories, listing, texts, settings),
        FileHandlers(reader, repositories),
        SymbolHandlers(reader, repositories, definitions),
        ReferencesHandler(repositories, definitions, listing, Sources(reader, texts)),
        CoverageHandlers(reader, repositories, embedding.deep_model),
    )


def register(bus: Bus, handlers: Handlers, settings: SearchSettings) -> None:
    """Subscribe."""
    search, grep, files, symbols, references, coverage = handlers
    grep_deadline_s = settings.grep_deadline_s + GREP_MARGIN_S
    rpc.serve(bus, names.RPC_SEARCH, SearchRequest, search.search, deadline_s=settings.search_deadline_s)
    rpc.serve(bus, names.RPC_GREP, GrepRequest, grep.grep, deadline_s=grep_deadline_s)
    rpc.serve(bus, names.RPC_READ_FILE, ReadFileRequest, files.read_file, deadline_s=READ_DEADLINE_S)
    rpc.serve(bus, names.RPC_LIST_FILES, ListFilesRequest, files.list_files, deadline_s=READ_DEADLINE_S)
    rpc.serve(bus, names.RPC_OUTLINE, OutlineRequest, files.outline, deadline_s=READ_DEADLINE_S)
    rpc.serve(bus, names.RPC_DEFINITIONS, DefinitionsRequest, symbols.definitions, deadline_s=READ_DEADLINE_S)
    rpc.serve(bus, names.RPC_REFERENCES, ReferencesRequest, references.references, deadline_s=READ_DEADLINE_S)
    rpc.serve(bus, names.RPC_COVERAGE, CoverageRequest, coverage.coverage, deadline_s=READ_DEADLINE_S)
    rpc.serve(bus, names.RPC_MANIFEST, ManifestRequest, coverage.manifest, deadline_s=READ_DEADLINE_S)
    rpc.serve(
        bus, names.RPC_POINT_COUNTS, PointCountsRequest, coverage.point_counts, deadline_s=READ_DEADLINE_S
    )


async def open_answers(
    bus: Bus, repositories: Repositories, components: WatchedRecords[Component], settings: SearchSettings
) -> Answers | None:
    """The answers that are kept; None if none are to be."""
    if not settings.answers_enabled:
        return None
    bucket = await bus.cache(
        names.KV_ANSWERS, ttl_s=settings.answers_ttl_s, bytes_max=settings.answers_shared_bytes_max
    )
    return Answers(
        repositories,
        components,
        bucket,
        AnswerMetrics(REGISTRY),
        bytes_max=settings.answers_kept_bytes_max,
    )


async def serve() -> None:
    """Build everything, then run until told to stop."""
    settings = SearchSettings()
    service = Service(SERVICE, settings)
    bus = service.bus
    model = StaticModel.load(settings.embedder_fast_folder, mapped=True)
    qdrant = connect(StoreSettings())
    reader = Reader(qdrant)

    async def start() -> None:
        await bus.connect()
        records = await bus.follow(names.KV_REPOSITORIES, Repository)
        components = await bus.follow(names.KV_COMPONENTS, Component)
        embedding = QueryEmbedding(
            model, bus, components, settings.embed_timeout_s, deep=settings.deep_enabled
        )
        repositories = Repositories(records, reader)
        answers = await open_answers(bus, repositories, components, settings)
        register(bus, make_handlers(reader, repositories, embedding, answers, settings), settings)
        await bus.start()

    await service.run(start, close=qdrant.close, checks={"qdrant": partial(check_store, qdrant)})


if __name__ == "__main__":
    run(serve)
