"""Protocols of Python: which classes satisfy one by their methods, and what follows for calls."""

from datetime import UTC, datetime

from atlas_files import graph_of

from prism_atlas.core.answering.type_hierarchy import type_hierarchy
from prism_atlas.core.answering.uses import uses
from prism_contracts.code import Strategy
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import TypeHierarchyReply, TypeHierarchyRequest
from prism_contracts.rpc.symbols import DefinitionPlace, UsesRequest

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RECEIPT = GraphReceipt(
    repo="acme/gates", indexed_commit="a" * 40, head_commit="a" * 40, lag_seconds=0, indexed_at=NOW, corpus_version=1,
    files_indexed=3, files_skipped=0, files_failed=0, graph_commit="a" * 40, graph_version=1, graph_built_at=NOW,
)  # fmt: skip
FILES = {
    "gates.py": """from typing import Protocol


class Gate(Protocol):
    width: int

    @property
    def height(self) -> int: ...

    def shut(self) -> None: ...

    def open(self) -> None: ...


class Drawbridge(Gate, Protocol):
    def lower(self) -> None: ...


class NamedGate(Gate):
    def shut(self): ...


def close(gate: Gate):
    gate.shut()
""",
    "iron.py": """class IronGate:
    def __init__(self):
        self.width = self.height = 1

    def shut(self): ...

    def open(self): ...


class Half:
    def shut(self): ...


class Whole(Half):
    def open(self): ...

    def lower(self): ...


class Proxy:
    def __getattr__(self, name): ...
""",
    "Gates.java": "class Hatch {\n  void shut() {}\n  void open() {}\n}\n",
    "echo.py": """import asyncio
from abc import abstractmethod
from typing import Protocol


class Echo(asyncio.Protocol):
    def data_received(self, data): ...


class Other:
    def data_received(self, data): ...


class Named(Protocol):
    name: str


class Winch(Protocol):
    @abstractmethod
    def wind(self): ...


class Motor:
    def wind(self): ...
""",
}


def hierarchy(symbol: str) -> TypeHierarchyReply:
    return type_hierarchy(graph_of(FILES), TypeHierarchyRequest(tenant="t", symbol=symbol), RECEIPT)


def test_a_class_with_all_methods_of_a_protocol_satisfies_it() -> None:
    reply = hierarchy("Gate")
    assert [one.symbol for one in reply.structural] == ["IronGate", "Whole"]
    assert "by name (?)" in reply.note
    assert {one.node.symbol for one in reply.subtypes} == {"Drawbridge", "NamedGate"}


def test_the_methods_of_a_protocol_are_those_of_its_bases_too() -> None:
    assert [one.symbol for one in hierarchy("Drawbridge").structural] == ["Whole"]


def test_a_class_names_the_protocols_that_it_satisfies() -> None:
    assert [one.symbol for one in hierarchy("Whole").structural] == ["Gate", "Drawbridge"]
    reply = hierarchy("Half")
    assert (reply.structural, reply.note) == ((), "")


def test_a_call_of_a_protocol_may_run_a_method_that_satisfies_it() -> None:
    graph = graph_of(FILES)
    for owner, line in (("IronGate", 5), ("Half", 11)):
        place = DefinitionPlace(file_path="iron.py", qualified_name=f"{owner}.shut", name_line=line)
        request = UsesRequest(tenant="t", name="shut", definitions=(place,), limit=500)
        assert [
            (one.file_path, one.line, one.strategy) for one in uses(graph, "acme/gates", request).entries
        ] == [("gates.py", 24, Strategy.OVERRIDDEN)]


def test_only_protocols_of_typing_count() -> None:
    reply = hierarchy("Echo")
    assert (reply.structural, reply.note) == ((), "")


def test_a_protocol_without_methods_says_that_its_classes_are_not_known() -> None:
    reply = hierarchy("Named")
    assert reply.structural == ()
    assert "attributes were not compared" in reply.note


def test_decorated_methods_are_compared_if_there_are_no_others() -> None:
    assert [one.symbol for one in hierarchy("Winch").structural] == ["Motor"]


def test_methods_of_other_languages_implement_no_protocol() -> None:
    graph = graph_of(FILES)
    place = DefinitionPlace(file_path="Gates.java", qualified_name="Hatch.shut", name_line=2)
    request = UsesRequest(tenant="t", name="shut", definitions=(place,), limit=500)
    assert Strategy.OVERRIDDEN not in {one.strategy for one in uses(graph, "acme/gates", request).entries}
