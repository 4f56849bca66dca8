"""References over a real store and real records: small files, read by the real chunker."""

import uuid
from collections.abc import AsyncIterator, Callable

import pytest
from indexed_texts import Index, file_point, open_index
from scip_files import At, columns_of, define, document, own
from scip_stack import keep_scip

from prism_contracts.base import repo_id
from prism_contracts.code import EdgeKind
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import ScipIndex
from prism_contracts.rpc.symbols import (
    USES,
    DefinitionsRequest,
    ReferenceGroup,
    ReferencesRequest,
    SymbolReferences,
    UseCounts,
    UsesReply,
    UsesRequest,
)
from prism_runtime.bus import Bus
from prism_runtime.packing import pack_lines
from prism_runtime.settings import ServiceSettings

NAME = "acme/parcel-tracker"
REPO = repo_id(NAME)
FILES = {
    "parcels/rates.py": "def rate(zone):\n    return zone\n",
    "parcels/depot.py": "from .rates import rate\n\n# rate is asked here\nrate(1)\nrate(2)\n",
    "parcels/far.py": "def f(book):\n    book.rate(3)\n",
    "parcels/barn.py": "class Barn: ...\n\nStore = Barn\nbarn = Barn()\n",
    "parcels/other.py": "def rating(): ...\n",
    "scales.py": "class Depot:\n    def weigh(self): ...\nclass Scale:\n    def weigh(self):\n"
    + 5 * "        self.weigh()\n",
    "old scales/Weigh.py": "def tare():\n    return 0\n",
    "loads.py": "for tare in ():\n    pass\n" + "".join(f"x{n} = f'{{tare}} {n}'\n" for n in range(5)),
    "package.json": '{"name": "acme", "private": true}\n',
    "depots/package.json": '{"name": "@acme/depots"}\n',
    "depots/src/index.ts": "export function stow() {}\n",
    "shop.ts": "import { stow } from '@acme/depots';\nstow();\n",
    "web/tsconfig.json": '{\n  // Ours.\n  "compilerOptions": {"paths": {"@tills": ["./src/till.ts"]}},\n}\n',
    "web/src/till.ts": "export function ring() {}\n",
    "web/src/desk.ts": "import { ring } from '@tills';\nring();\n",
    "town/gates/Gate.java": "package town.gates;\npublic interface Gate { Gate swing(); }\n",
    "town/gates/Gates.java": "package town.gates;\npublic class Gates { public static Gate of() { return null; } }\n",
    "town/Fair.java": "package town;\nimport town.gates.Gates;\nclass Fair { void f() { Gates.of().swing(); } }\n",
}


@pytest.fixture
def tenant() -> str:
    return f"t{uuid.uuid4().hex}"


@pytest.fixture
def corpus() -> dict[str, dict[str, str]]:
    """Files by repository."""
    return {NAME: FILES}


@pytest.fixture
async def index(nats_server, qdrant_url, tenant, corpus) -> AsyncIterator[Index]:
    points = [
        file_point(tenant, name, path, text, blob=path)
        for name, files in corpus.items()
        for path, text in files.items()
    ]
    async with open_index(nats_server.url, qdrant_url, tenant, corpus, points) as index:
        yield index


@pytest.fixture
def ask(index, tenant) -> Callable:
    async def ask(*symbols: str, **fields: object) -> tuple[SymbolReferences, ...]:
        request = ReferencesRequest(tenant=tenant, symbols=symbols, **fields)
        return (await index.search.references.references(request)).answers

    return ask


def places(answer: SymbolReferences) -> list[str]:
    return [f"{entry.file_path}:{entry.line} {entry.status}" for entry in answer.entries]


async def test_edges_have_a_strategy_and_other_lines_are_listed(ask) -> None:
    (answer,) = await ask("rate")
    assert places(answer) == [
        "parcels/depot.py:4 resolved",
        "parcels/depot.py:5 resolved",
        "parcels/depot.py:1 resolved",
        "parcels/far.py:2 candidate",
    ]
    counts = answer.reconciliation
    assert (counts.resolved, counts.candidates, counts.text_lines, counts.mentions) == (3, 1, 6, 1)
    assert [line.text for line in counts.mention_lines] == ["# rate is asked here"]
    assert (counts.files, counts.prose_files) == (3, 0)


async def test_a_package_is_resolved_by_its_manifest(ask) -> None:
    (answer,) = await ask("stow")
    assert [(entry.line, entry.status) for entry in answer.entries] == [(2, "resolved"), (1, "resolved")]


async def test_a_configured_path_mapping_resolves_to_a_file(ask) -> None:
    (answer,) = await ask("ring")
    assert places(answer) == ["web/src/desk.ts:2 resolved", "web/src/desk.ts:1 resolved"]


async def test_files_that_only_declare_what_a_call_returns_are_read(ask) -> None:
    (answer,) = await ask("Gate.swing")
    assert places(answer) == ["town/Fair.java:3 resolved"]


async def test_an_undefined_name_is_still_searched_in_the_text(ask) -> None:
    (answer,) = await ask("asked")
    assert not answer.definitions
    assert not answer.entries
    assert [line.line for line in answer.reconciliation.mention_lines] == [3]


async def test_pages_continue_after_the_last_entry(ask) -> None:
    seen, cursor = [], ""
    for _ in range(4):
        (answer,) = await ask("rate", limit=1, cursor=cursor)
        seen += places(answer)
        cursor = answer.next_cursor
    assert not cursor
    (whole,) = await ask("rate")
    assert seen == places(whole)


async def test_lines_of_another_symbol_have_pages(ask) -> None:
    (main,) = await ask("Depot.weigh")
    assert main.reconciliation.other_lines == 6
    assert [line.line for line in main.reconciliation.other] == [4, 5, 6, 7, 8, 9]
    seen, cursor = [], ""
    for _ in range(3):
        (answer,) = await ask("Depot.weigh", page="other", limit=2, cursor=cursor)
        assert not answer.entries
        seen += [line.line for line in answer.reconciliation.other]
        cursor = answer.next_cursor
    assert not cursor
    assert seen == [4, 5, 6, 7, 8, 9]


async def test_unresolved_lines_have_pages(ask) -> None:
    (main,) = await ask("tare")
    every = [line.line for line in main.reconciliation.unexplained_lines]
    assert main.reconciliation.unexplained == len(every) > 2
    seen, cursor = [], ""
    for _ in range(len(every)):
        (answer,) = await ask("tare", page="unresolved", limit=2, cursor=cursor)
        assert not answer.entries
        assert not answer.reconciliation.other
        seen += [line.line for line in answer.reconciliation.unexplained_lines]
        cursor = answer.next_cursor
        if not cursor:
            break
    assert seen == every


async def test_candidates_are_left_out_on_request(ask) -> None:
    (sure,) = await ask("rate", include_candidates=False)
    assert places(sure) == [
        "parcels/depot.py:4 resolved",
        "parcels/depot.py:5 resolved",
        "parcels/depot.py:1 resolved",
    ]
    assert sum(sure.counts.values()) == 3
    assert sure.reconciliation.candidate_lines == 1


async def test_unresolved_lines_are_on_the_first_page_only(ask) -> None:
    (first,) = await ask("rate", limit=1)
    (second,) = await ask("rate", limit=1, cursor=first.next_cursor)
    assert first.reconciliation.mention_lines
    assert not second.reconciliation.mention_lines
    assert second.reconciliation.mentions == first.reconciliation.mentions


async def test_filters_of_places_select_lines_and_filters_of_uses_do_not(ask) -> None:
    (every,) = await ask("rate")
    (imports,) = await ask("rate", reference_type=EdgeKind.IMPORTS)
    assert places(imports) == ["parcels/depot.py:1 resolved"]
    assert imports.reconciliation == every.reconciliation
    (far,) = await ask("rate", path_filter="**/far.py")
    assert places(far) == ["parcels/far.py:2 candidate"]
    lines = far.reconciliation
    assert (lines.files, lines.lines_by_group) == (1, {})
    assert lines.text_lines + lines.outside_lines == every.reconciliation.text_lines
    assert {line.file_path for line in lines.other + lines.unexplained_lines} <= {"parcels/far.py"}


async def test_aliases_are_listed_with_the_assignments(ask) -> None:
    (every,) = await ask("Barn")
    (aliases,) = await ask("Barn", reference_type=EdgeKind.ALIAS)
    assert every.counts == {ReferenceGroup.CALLERS: 1, ReferenceGroup.ASSIGNMENTS: 1}
    assert [(entry.line, entry.symbol, entry.edge) for entry in aliases.entries] == [
        (3, "Store", EdgeKind.ALIAS)
    ]


async def test_a_cursor_of_another_question_is_refused(ask) -> None:
    (answer,) = await ask("rate", limit=1)
    with pytest.raises(PrismError) as error:
        await ask("rating", cursor=answer.next_cursor)
    assert error.value.code is ErrorCode.INVALID_CURSOR
    with pytest.raises(PrismError) as error:
        await ask("rate", "rating", cursor=answer.next_cursor)
    assert error.value.code is ErrorCode.INVALID_ARGUMENT


@pytest.fixture
async def indexed(index, tenant) -> ScipIndex:
    """A SCIP index that knows the type of `book`, resolves the first of two calls elsewhere, and covers an
    older rates.py.
    """
    rate = own("`parcels.rates`/rate().")
    far = [At(rate, 1, 9, 13)]
    depot = [At(own("far/rate()."), 3, 0, 4), define(own("far/rate()."), 2, 0, 4)]
    documents = [
        document("parcels/rates.py", [define(rate, 0, 4, 8)]),
        document("parcels/far.py", far),
        document("parcels/depot.py", depot),
    ]
    columns = columns_of(documents, {path: path for path in FILES})
    stored = await keep_scip(index.bus.js, tenant, REPO, "scip-python", columns)
    await index.search.scip_indexes.catch_up()
    return stored


async def test_a_scip_index_overrides_the_rules(indexed, ask) -> None:
    (answer,) = await ask("rate")
    assert {
        f"{place} {entry.strategy}" for place, entry in zip(places(answer), answer.entries, strict=True)
    } == {
        "parcels/depot.py:1 resolved import",
        "parcels/depot.py:5 resolved import",
        "parcels/far.py:2 resolved scip",
    }
    assert (answer.reconciliation.resolved, answer.reconciliation.candidates) == (3, 0)


@pytest.fixture
async def graph(nats_server) -> AsyncIterator[set[str]]:
    """A graph without any uses, built with these SCIP indexes."""
    built_with: set[str] = set()

    async def uses(_: UsesRequest) -> UsesReply:
        return UsesReply(
            graph_version=1,
            graph_indexes=tuple(built_with),
            counts={ReferenceGroup.CALLERS: 3},
            resolved=0,
            candidates=1,
            elsewhere=0,
            explained=pack_lines({}),
        )

    bus = Bus("atlas", ServiceSettings(nats_url=nats_server.url))
    bus.serve(USES, uses)
    await bus.start()
    yield built_with
    await bus.stop()


async def test_a_graph_is_used_only_with_the_current_scip_indexes(graph, indexed, ask) -> None:
    (answer,) = await ask("rate")
    assert "scip" in {entry.strategy for entry in answer.entries}
    graph.add(indexed.object)
    (answer,) = await ask("rate")
    assert answer.entries == ()


async def test_definitions_count_their_uses_on_request(graph, index, tenant) -> None:
    request = DefinitionsRequest(tenant=tenant, symbols=("rate", "nothing_of_that_name"))
    handler = index.search.symbols
    assert {answer.uses for answer in (await handler.definitions(request)).answers} == {None}
    counted = await handler.definitions(request.model_copy(update={"count_uses": True}))
    uses = UseCounts(groups={ReferenceGroup.CALLERS: 3}, by_name=1)
    assert [answer.uses for answer in counted.answers] == [uses, None]


async def test_without_a_graph_uses_are_not_counted(index, tenant) -> None:
    request = DefinitionsRequest(tenant=tenant, symbols=("rate",), count_uses=True)
    (answer,) = (await index.search.symbols.definitions(request)).answers
    assert (answer.total > 0, answer.uses) == (True, None)


async def test_a_place_means_the_definition_there(ask) -> None:
    (by_name,) = await ask("Scale.weigh")
    (at_line,) = await ask("scales.py:6")
    assert [one.line for one in at_line.entries] == [one.line for one in by_name.entries]
    assert [one.symbol.qualified_name for one in at_line.definitions] == ["Scale.weigh"]
    (spaced,) = await ask("old scales/Weigh.py:2")
    assert [one.symbol.qualified_name for one in spaced.definitions] == ["tare"]
    (nowhere,) = await ask("scales.py:99")
    assert not nowhere.definitions


RATES = {
    "pyproject.toml": '[project]\nname = "acme-rates"\n',
    "src/acme_rates/zones.py": "def rate(zone):\n    return zone\n",
}
USER = "from acme_rates.zones import rate\n\nrate(1)\n"
WANTS = '[project]\nname = "app"\ndependencies = ["acme_rates>=1"]\n'


@pytest.mark.parametrize("corpus", [{"acme/rates": RATES, "acme/app": {"pyproject.toml": WANTS, "app.py": USER}, "acme/other": {"app.py": USER}}])  # fmt: skip
async def test_callers_in_dependent_repositories_are_resolved(ask) -> None:
    (answer,) = await ask("rate")
    assert {(one.repo, one.line, one.status, one.strategy) for one in answer.entries} == {
        ("acme/app", 1, "resolved", "package"),
        ("acme/app", 3, "resolved", "package"),
        ("acme/other", 1, "candidate", "only_definition"),
        ("acme/other", 3, "candidate", "only_definition"),
    }
    (alone,) = await ask("rate", repo="acme/rates")
    assert alone.entries == ()
    assert alone.other_repositories == {"acme/app": 2, "acme/other": 2}
    (filtered,) = await ask("rate", repo="acme/rates", path_filter="src/**")
    assert filtered.other_repositories == {}
    (imported,) = await ask("rate", repo="acme/app")
    assert [(one.module, one.files) for one in imported.imported_from] == [("acme_rates.zones", 1)]
    assert [(one.repo, one.file_path) for one in imported.defined_elsewhere] == [
        ("acme/rates", "src/acme_rates/zones.py")
    ]


@pytest.mark.parametrize("corpus", [{"acme/rates": RATES, "acme/app": {"app.py": USER}}])
async def test_overriding_members_need_one_repository_and_its_graph(ask) -> None:
    with pytest.raises(PrismError) as several:
        await ask("rate", reference_type=EdgeKind.OVERRIDES)
    assert (several.value.code, several.value.body.next_action.partition(".")[0]) == (
        ErrorCode.INVALID_ARGUMENT,
        "Give repo",
    )
    with pytest.raises(PrismError) as alone:
        await ask("rate", repo="acme/rates", reference_type=EdgeKind.OVERRIDES)
    assert alone.value.code is ErrorCode.GRAPH_NOT_BUILT
    assert alone.value.body.next_action.startswith("Retry in a few seconds.")


SHIPS = {
    "van.py": "class Van:\n    def load(self): ...\n",
    "ship.py": "class Ship:\n    def load(self): ...\ndef f(ship: Ship):\n" + 15 * "    ship.load()\n",
}
GUESS = {"guess.py": "def guess(one):\n    one.load()\n"}


@pytest.mark.parametrize(("corpus", "shown"), [({NAME: SHIPS}, 0), ({NAME: SHIPS | GUESS}, 16)])
async def test_lines_of_another_symbol_are_listed_beside_doubts(ask, shown) -> None:
    (answer,) = await ask("Van.load")
    assert answer.reconciliation.other_lines == 16
    assert len(answer.reconciliation.other) == shown


OUTSIDE = {
    "one.py": "from functools import lru_cache\n\n\n@lru_cache\ndef f(): ...\n",
    "two.py": "import functools\n\n\n@functools.lru_cache\ndef g(): ...\n",
    "three.py": "def h(cache):\n    cache.lru_cache()\n",
}


@pytest.mark.parametrize("corpus", [{"acme/app": OUTSIDE}])
async def test_a_name_from_outside_has_its_module(ask) -> None:
    (answer,) = await ask("lru_cache")
    assert [(one.module, one.files) for one in answer.imported_from] == [("functools", 2)]
    assert answer.reconciliation.text_lines == 4


AGAIN = {
    "town/__init__.py": "from gates import swing\n",
    "town/depot.py": "from town import swing\n\n\nswing()\n",
    "user.py": "import town\n\n\ntown.swing()\n",
}


@pytest.mark.parametrize("corpus", [{"acme/app": AGAIN}])
async def test_a_name_from_outside_that_is_exported_again_has_its_modules(ask) -> None:
    (answer,) = await ask("swing")
    assert {(one.module, one.files) for one in answer.imported_from} == {("gates", 1), ("town", 2)}
    shown = {f"{one.file_path}:{one.line}" for one in answer.reconciliation.unexplained_lines}
    shown |= {f"{one.file_path}:{one.line}" for one in answer.reconciliation.other}
    assert shown == {"town/__init__.py:1", "town/depot.py:1", "town/depot.py:4", "user.py:4"}
