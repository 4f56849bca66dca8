"""Answers about symbols and files, over a real store and real records, from an index of a few files."""

import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
from indexed_texts import Index, file_point, open_index
from scip_files import columns_of, document
from scip_stack import keep_scip

from prism_contracts.base import repo_id
from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.files import CoverageReply, CoverageRequest, UnparsedFile
from prism_contracts.rpc.search import SearchRequest
from prism_contracts.rpc.symbols import DefinitionsRequest, SymbolAnswer
from prism_search.adapters.filters import no_file_passes, refuse_unknown_language
from prism_search.adapters.rarity import RarityCounter
from prism_search.core.query import parse_query
from prism_search.core.retrieval.rank import rarity_of

NAME = "acme/parcel-tracker"
REPO = repo_id(NAME)


def symbol(
    qualified_name: str, kind: SymbolKind, name: str = "", line: int = 1, *, bodiless: bool = False
) -> Symbol:
    return Symbol(
        name=name or qualified_name.rpartition(".")[2],
        qualified_name=qualified_name,
        kind=kind,
        start_line=line,
        end_line=line,
        name_line=line,
        bodiless=bodiless,
    )


FILES = {
    "go/depot.go": (symbol("Depot", SymbolKind.STRUCT), symbol("Depot.Route", SymbolKind.METHOD)),
    "go/harbour.go": (
        symbol("Harbour.Route", SymbolKind.METHOD),
        symbol("z", SymbolKind.VARIABLE),
        symbol("seal", SymbolKind.FUNCTION, line=1, bodiless=True),
        symbol("seal", SymbolKind.FUNCTION, line=2, bodiless=True),
        symbol("seal", SymbolKind.FUNCTION, line=3),
    ),
    "lib/labels.ex": (
        symbol("Parcels.Labels", SymbolKind.MODULE, "Parcels.Labels"),
        symbol("Parcels.Labels.print_all", SymbolKind.FUNCTION),
    ),
}
UNPARSED = {"src/tables.py": "def lookup_rate(zone): ...\n", "src/zones.py": "ZONES = ()\n"}


@pytest.fixture(scope="module")
def tenant() -> str:
    """One index for all tests, which only read, because a collection is slow to create."""
    return f"t{uuid.uuid4().hex}"


@pytest.fixture
async def index(nats_server, qdrant_url, tenant) -> AsyncIterator[Index]:
    points = [
        file_point(tenant, NAME, path, "pass\n", blob=path, parse="ok", symbols=symbols, references="")
        for path, symbols in FILES.items()
    ]
    points += [
        file_point(tenant, NAME, path, text, blob=path, parse="timeout", symbols=())
        for path, text in UNPARSED.items()
    ]
    async with open_index(nats_server.url, qdrant_url, tenant, [NAME], points) as index:
        yield index


@pytest.fixture
def coverage(index, tenant) -> Callable:
    async def ask() -> CoverageReply:
        await index.search.scip_indexes.catch_up()
        return await index.search.coverage.coverage(CoverageRequest(tenant=tenant, repo=NAME))

    return ask


@pytest.fixture
def define(index, tenant) -> Callable:
    async def ask(symbol: str, path: str = "") -> SymbolAnswer:
        request = DefinitionsRequest(tenant=tenant, symbols=(symbol,), path=path)
        return (await index.search.symbols.definitions(request)).answers[0]

    return ask


@pytest.mark.parametrize(
    ("spelled", "qualified_names"),
    [
        ("Depot", ["Depot"]),
        ("go.Depot", ["Depot"]),
        ("(*Depot).Route", ["Depot.Route"]),
        ("(*depot.Depot).Route()", ["Depot.Route"]),
        ("Route", ["Depot.Route", "Harbour.Route"]),
        ("Parcels.Labels.print_all/2", ["Parcels.Labels.print_all"]),
        ("Labels.print_all/2", ["Parcels.Labels.print_all"]),
        ("Parcels.Labels", ["Parcels.Labels"]),
        ("Labels", ["Parcels.Labels"]),
    ],
)
async def test_a_symbol_is_found_by_its_name_in_any_spelling(define, spelled, qualified_names):
    answer = await define(spelled)
    assert [found.symbol.qualified_name for found in answer.definitions] == qualified_names
    assert answer.matched == ""


async def test_all_overloads_are_listed_the_one_with_a_body_first(define):
    answer = await define("seal")
    assert [found.symbol.name_line for found in answer.definitions] == [3, 1, 2]


async def test_a_partly_known_name_reports_the_known_part(define):
    answer = await define("d.Route")
    assert (answer.total, answer.matched) == (2, "Route")


@pytest.mark.parametrize(
    ("spelled", "shown"),
    [("depot.route", "Depot.Route"), ("LABELS", "Labels"), ("Depot.Rote", "Depot.Route"), ("sael", "seal")],
)
async def test_the_nearest_name_answers_for_a_misspelt_one(define, spelled, shown):
    answer = await define(spelled)
    assert answer.symbol == shown
    assert {found.symbol.qualified_name.removeprefix("Parcels.") for found in answer.definitions} == {shown}


async def test_receipts_name_the_corrected_symbols(index, tenant):
    request = DefinitionsRequest(tenant=tenant, symbols=("Depot", "Depot.Rote"))
    reply = await index.search.symbols.definitions(request)
    assert reply.receipt.corrected == {"Depot.Rote": "Depot.Route"}


async def test_a_miss_suggests_similar_names_with_their_places(define):
    answer = await define("harbour_rout")
    assert answer.definitions == ()
    (suggested,) = [one for one in answer.suggestions if one.startswith("Harbour.Route ")]
    (found,) = (await define("Harbour.Route")).definitions
    lines = f"{found.symbol.start_line}-{found.symbol.end_line}"
    assert suggested == f"Harbour.Route {found.file_path}:{lines}"


async def test_a_name_of_another_file_is_returned_with_its_path(define):
    (found,) = (await define("Depot")).definitions
    answer = await define("Depot", "nowhere.go")
    assert answer.definitions == ()
    assert answer.suggestions == (f"{found.file_path}:{found.symbol.name_line}",)


async def test_a_unique_name_has_no_suggestions(define):
    assert (await define("zzqqxx")).suggestions == ()


async def test_a_miss_lists_unparsed_files_with_the_name(define):
    assert (await define("lookup_rate")).unparsed == ("src/tables.py",)
    assert (await define("nothing_of_the_kind")).unparsed == ()


async def test_coverage_lists_unparsed_files(coverage):
    reply = await coverage()
    assert reply.by_parse == {"ok": 3, "timeout": 2}
    assert reply.unparsed == tuple(
        UnparsedFile(file_path=path, language="python", parse="timeout") for path in sorted(UNPARSED)
    )


async def test_coverage_counts_unchanged_files_of_scip_indexes(index, coverage, tenant):
    paths = [*FILES]
    assert (await coverage()).scip == 0
    blobs = {paths[0]: paths[0], paths[1]: "as it was", "gone.py": "gone.py"}
    columns = columns_of([document(path, []) for path in blobs], blobs)
    await keep_scip(index.bus.js, tenant, REPO, "scip-other", columns)
    assert (await coverage()).scip == 1


@pytest.mark.parametrize(
    ("language", "near"), [("golang", "go"), ("py", "python"), ("kotln", "kotlin"), ("qqq", "")]
)
async def test_an_unknown_language_error_lists_the_known_ones(index, tenant, language, near):
    request = SearchRequest(tenant=tenant, query="x")
    target = await index.search.repositories.target(request)
    for accepted in ("Python", "Kotlin"):  # there is no file in Kotlin
        await refuse_unknown_language(index.search.reader, index.search.repositories, target, accepted)
    with pytest.raises(PrismError) as refused:
        await refuse_unknown_language(index.search.reader, index.search.repositories, target, language)
    body = refused.value.body
    assert body.code is ErrorCode.INVALID_ARGUMENT
    assert body.details["languages"] == ["go", "python", "elixir"]
    suggestion = f"Did you mean {near}? " if near else ""
    assert body.next_action == f"{suggestion}details.languages lists the languages of indexed files."


@pytest.mark.parametrize(
    ("path_filter", "language", "expected"),
    [
        ("", "", ""),
        ("go/**", "", ""),
        ("go/**", "go", ""),
        ("web/**", "", "no indexed file passes path_filter 'web/**'"),
        ("go/**", "python", "no indexed file passes path_filter 'go/**' and language 'python'"),
    ],
)
async def test_filters_that_match_no_file_are_named(index, tenant, path_filter, language, expected):
    scope = (await index.search.repositories.target(SearchRequest(tenant=tenant, query="x"))).scope
    assert await no_file_passes(index.search.reader, scope, path_filter, language) == expected


async def test_word_rarity_equals_a_count_of_files(index, tenant):
    target = await index.search.repositories.target(SearchRequest(tenant=tenant, query="pass"))
    counter = RarityCounter(index.search.reader, index.search.repositories)
    query = parse_query("lookup rates pass nowhere")
    counted = rarity_of(
        {"lookup": 1, "rate": 1, "pass": len(FILES), "nowher": 0}, documents=len(FILES) + len(UNPARSED)
    )
    for _ in range(2):
        rarity, overall = await counter.rarity(target, query)
        assert rarity == overall == pytest.approx(counted, abs=1e-3)


async def test_word_rarity_counts_selected_repositories_only(index, tenant):
    target = await index.search.repositories.target(SearchRequest(tenant=tenant, query="pass"))
    elsewhere = target._replace(scope=replace(target.scope, repos=(repo_id("acme/other"),)))
    rarity, overall = await RarityCounter(index.search.reader, index.search.repositories).rarity(
        elsewhere, parse_query("pass")
    )
    assert rarity == rarity_of({"pass": 0}, documents=0)
    assert overall["pass"] > 0


async def test_a_search_in_given_files_finds_these_alone(index, tenant):
    async def found(**asked: object) -> set[str]:
        request = SearchRequest(tenant=tenant, query="Depot", **asked)
        return {hit.file_path for hit in (await index.search.search.search(request)).results}

    everywhere = await found()
    wanted = min(everywhere)
    assert len(everywhere) > 1
    assert await found(paths=(wanted, "nowhere.md")) == {wanted}
    assert await found(paths=("nowhere.md",)) == set()
