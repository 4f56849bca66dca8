"""A small repository as search and atlas describe it, for the tests of the wiki."""

from datetime import UTC, datetime

from prism_contracts.code import EdgeKind, EdgeStatus, FileFlags, Strategy, Symbol, SymbolKind
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.files import FileEntry, OutlineReply
from prism_contracts.rpc.graph import CallDirection, CallHierarchyReply, GraphEdge, GraphNode, TreeBranch
from prism_contracts.rpc.guidance import ContextSection, Convention, ConventionExample
from prism_contracts.rpc.maps import (
    ComponentDependency,
    ComponentDetail,
    ComponentSummary,
    Divergence,
    EntryKind,
    EntryPoint,
    Interface,
    ModuleEntry,
    Overview,
    Tier,
)
from prism_scribe.core.wiki.orientation import Evidence, Orientation, Prose

RECEIPT = GraphReceipt(
    repo="acme/depot", indexed_commit="c0ffee", head_commit="c0ffee", lag_seconds=0.0, indexed_at=None,
    corpus_version=3, files_indexed=4, files_skipped=0, files_failed=0, graph_commit="c0ffee", graph_version=3,
    graph_built_at=datetime(2026, 11, 25, tzinfo=UTC),
)  # fmt: skip
README = (
    "# Depot",
    "",
    "[![build](https://ci.test/badge.svg)](https://ci.test)",
    "",
    "Depot plans how parcels travel",
    "between warehouses, and prices them.",
    "",
    "## Install",
    "",
    "Install it from the registry, then start it:",
    "",
    "```sh",
    "pip install depot",
    "```",
)


def symbol(name: str, kind: SymbolKind, line: int, **fields: object) -> Symbol:
    return Symbol(
        name=name.rpartition(".")[2], qualified_name=name, kind=kind, start_line=line, end_line=line + 9,
        name_line=line, **fields,
    )  # fmt: skip


def module(path: str, summary: str, *symbols: str) -> ModuleEntry:
    return ModuleEntry(
        file_path=path, language="python", lines=80, tier=Tier.CORE, relative_score=1.0, summary=summary,
        top_symbols=symbols,
    )  # fmt: skip


def file(path: str, **flags: bool) -> FileEntry:
    return FileEntry(file_path=path, language="python", lines=80, flags=FileFlags(**flags))


def repository(text: str = "") -> tuple[Orientation, dict[str, Evidence]]:
    """Returns an orientation and the evidence of each page; with `text`, everything that the repository may write
    is that text.
    """

    def said(usual: str) -> str:
        return text or usual

    depot, rates = "src/depot/depot.py", "src/depot/rates.py"
    paths = {depot: said(depot), rates: said(rates)}
    component = ComponentSummary(
        id=0, name=said("src/depot"), files=3, lines=240, rank=0.75, main_files=(paths[depot],),
        main_symbols=(said("class Depot"),),
    )  # fmt: skip
    other = component.model_copy(update={"id": 1, "name": said("src/rates"), "main_files": (paths[rates],)})
    uses = ComponentDependency(
        source=component.name,
        target=other.name,
        references=5,
        candidates=1,
        example=(paths[depot], paths[rates]),
    )
    entry = EntryPoint(kind=EntryKind.COMMAND, file_path=paths[depot], line=30, symbol=said("plan"))
    overview = Overview(
        entry_points=(entry,),
        components=(component, other),
        dependencies=(uses,),
        file_cycles=(),
        component_cycles=(),
        divergence=Divergence(agreement=1.0, folders=(), components=(), outliers=()),
        partitions=(),
        totals={"components": 2, "files_in_components": 3, "entry_points": 1, "partitions": 0},
    )
    modules = (
        module(paths[depot], said("Plans how parcels travel."), said("class Depot")),
        module(paths[rates], said("Prices of parcels."), said("function price")),
    )
    readme = (
        README if not text else (text, "", text + " and more words than a title has", "", "## " + text, text)
    )
    headings = (
        symbol(said("Depot"), SymbolKind.SECTION, 1).model_copy(update={"end_line": 14}),
        symbol(said("Install"), SymbolKind.SECTION, 8, parent=0).model_copy(update={"end_line": 14}),
    )
    orientation = Orientation(
        repo="acme/depot",
        overview=overview,
        modules=modules,
        files={
            **{path: file(path) for path in paths.values()},
            "tests/test_depot.py": file("tests/test_depot.py", test=True),
        },
        documents=(Prose(said("README.md"), ContextSection.README, readme, headings),),
        manifests={"Makefile": (f"test: ## {said('Run the tests')}",)},
        conventions=(
            Convention(
                topic="naming", language=said("python"), statement=said("functions are snake_case"), count=9,
                total=10, examples=(ConventionExample(file_path=paths[depot], line=30, text=said("def plan()")),),
            ),
        ),
    )  # fmt: skip
    outline = OutlineReply(
        repo="acme/depot", file_path=paths[depot], language="python", line_count=80, parse="ok", receipt=RECEIPT,
        symbols=(
            symbol(said("Depot"), SymbolKind.CLASS, 10, docstring=said("A place for parcels."), signature=said("class Depot")),
            symbol(said("Depot.rate"), SymbolKind.FIELD, 12, parent=0),
            symbol(said("Depot.send"), SymbolKind.METHOD, 14, parent=0, docstring=said("Send a parcel.")),
            symbol(said("Depot.__init__"), SymbolKind.CONSTRUCTOR, 24, parent=0, signature=said("def __init__(self, rate: int)")),
            symbol(said("plan"), SymbolKind.FUNCTION, 30, docstring=said("Plan the way of a parcel.")),
        ),
    )  # fmt: skip
    outlines = {paths[depot]: outline}
    detail = ComponentDetail(
        summary=component,
        files=(*modules, module("tests/test_depot.py", "")),
        interface=(Interface(file_path=paths[depot], line=10, symbol=said("Depot"), references=5),),
        uses=(uses,),
        used_by=(),
        external_modules={said("attrs"): 2},
        entry_points=(entry,),
        cycles=(),
        totals={"files": 3, "external_modules": 1},
    )
    root = GraphNode(file_path=paths[depot], line=30, start_line=28, end_line=39, symbol=said("plan"))
    send = GraphNode(file_path=paths[depot], line=14, symbol=said("Depot.send"))
    edge = GraphEdge(
        edge=EdgeKind.CALLS, status=EdgeStatus.RESOLVED, strategy=Strategy.SAME_FILE, lines=(31,)
    )
    calls = CallHierarchyReply(
        roots=(root,), direction=CallDirection.CALLEES, branches=(TreeBranch(node=send, via=edge, depth=1),),
        total=1, receipt=RECEIPT,
    )  # fmt: skip
    return orientation, {
        "overview": Evidence(),
        "component": Evidence(component=detail, outlines=outlines),
        "flows": Evidence(calls=(calls,), outlines=outlines),
        "types": Evidence(outlines=outlines),
        "settings": Evidence(outlines=outlines),
        "errors": Evidence(outlines=outlines),
        "extending": Evidence(outlines=outlines),
        "guide": Evidence(),
        "documents": Evidence(outlines=outlines),
        "conventions": Evidence(),
        "glossary": Evidence(outlines=outlines),
    }
