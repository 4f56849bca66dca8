"""Edges of small programs in Python."""

from dataclasses import replace

import pytest
from graph_files import edges_of, facts_of

BOX = """\
class Box:
    def __call__(self, item): ...
    def pack(self): ...
    @property
    def size(self): return 1
"""
CRATE = "class Crate:\n    def add(self): ...\n    def close(self): ...\n"


@pytest.mark.parametrize(
    "user",
    [
        "def f(b: Box):\n    return b.size\n",
        "def f():\n    b = Box(); print(b.size)\n",
        "def f(b: Box):\n    if b.size: ...\n",
        "def f(b: Box):\n    return f'{b.size}'\n",
        "def f(b: Box):\n    return [0 for _ in b.size]\n",
        "class Low(Box):\n    def f(self): return super().size\n",
    ],
)
def test_a_property_that_is_read_is_used(user: str) -> None:
    found = edges_of({"box.py": BOX, "user.py": f"from box import Box\n{user}"})
    assert [
        edge for edge in found if edge.startswith("user.py:3 size -> box.py:Box.size ") and "?" not in edge
    ]


@pytest.mark.parametrize(
    "user",
    [
        "def f():\n    b = Box(); b(1)\n",
        "def f(b: Box):\n    b(1)\n",
        "b = Box()\nb(1)\n",
    ],
)
def test_an_object_is_called_through_its_class(user: str) -> None:
    found = edges_of({"box.py": BOX, "user.py": f"from box import Box\n{user}"})
    assert "user.py:3 b -> box.py:Box.__call__ receiver_type" in found


def test_getattr_with_a_literal_reads_a_member() -> None:
    user = "import box\ndef f(b: box.Box):\n    getattr(b, 'pack')()\n    getattr(box, 'Box')()\n"
    found = edges_of({"box.py": BOX, "user.py": user})
    assert {
        "user.py:3 pack -> box.py:Box.pack receiver_type",
        "user.py:4 Box -> box.py:Box module",
    } <= found


@pytest.mark.parametrize(
    "user",
    [
        "TABLE = {'a': work}\nTABLE['a']()\n",
        "TABLE = [work]\nTABLE[0]()\n",
        "TABLE = partial(work, 1)\nTABLE()\n",
    ],
)
def test_a_call_through_a_variable_may_run_what_it_holds(user: str) -> None:
    found = edges_of({"user.py": f"def work(): ...\n{user}"})
    assert {"user.py:3 TABLE -> user.py:TABLE same_file", "user.py:3 TABLE -> user.py:work stored?"} <= found


@pytest.mark.parametrize(
    "user",
    [
        "def f():\n    s = set(); s.add(1)\n",
        "def f():\n    s = {}; s.add(1)\n",
        "def f(p):\n    with open(p) as s: s.close()\n",
        "from threading import Lock\ns = Lock(); s.close()\n",
        "def f(x):\n    s = str(x); s.close()\n",
    ],
)
def test_a_receiver_of_the_language_rules_candidates_out(user: str) -> None:
    found = edges_of({"crate.py": CRATE, "user.py": user})
    assert not [edge for edge in found if "crate.py" in edge]


def test_a_receiver_of_several_kinds_keeps_its_candidates() -> None:
    user = "from crate import Crate\nclass A:\n    def __init__(self):\n        self.s = {}\n        self.s = Crate()\n"
    user += "    def f(self):\n        self.s.add(1)\n"
    assert "user.py:7 add -> crate.py:Crate.add only_definition?" in edges_of(
        {"crate.py": CRATE, "user.py": user}
    )


@pytest.mark.parametrize("returned", ["Iterator[Box]", "typing.Iterator[Box]", "Generator[Box, None, None]"])
def test_a_context_manager_gives_what_it_yields(returned: str) -> None:
    user = f"import typing\nfrom contextlib import contextmanager\nfrom typing import Generator, Iterator\nfrom box import Box\n@contextmanager\ndef opened() -> {returned}: ...\n"
    user += "def f():\n    with opened() as b: b.pack()\n"
    found = edges_of({"box.py": BOX, "user.py": user})
    assert "user.py:8 pack -> box.py:Box.pack receiver_type" in found


@pytest.mark.parametrize("returned", ["Iterator[Box]", "Generator[Box, None, None]", "AsyncIterator[Box]"])
@pytest.mark.parametrize("decorator", ["", "@cached\n"])
def test_an_iterator_is_none_of_its_elements(returned: str, decorator: str) -> None:
    user = f"from typing import AsyncIterator, Generator, Iterator\nfrom box import Box\n{decorator}def rows() -> {returned}: ...\n"
    found = edges_of({"box.py": BOX, "user.py": f"{user}rows().pack()\nfor row in rows(): row.pack()\n"})
    line = user.count("\n") + 1
    assert not [edge for edge in found if edge.startswith(f"user.py:{line} pack")]
    assert f"user.py:{line + 1} pack -> box.py:Box.pack receiver_type" in found


@pytest.mark.parametrize(
    ("decorator", "returned"),
    [
        ("contextlib.contextmanager", "Iterator[Box]"),
        ("asynccontextmanager", "AsyncIterator[Box]"),
        ("pytest.fixture", "Iterator[Box]"),
        ("fixture(scope='module')", "typing.Generator[Box, None, None]"),
        ("pytest_asyncio.fixture()  # slow", "AsyncGenerator[Box, None]"),
    ],
)
def test_context_managers_and_fixtures_hand_out_what_they_yield(decorator: str, returned: str) -> None:
    user = f"from typing import *\nfrom box import Box\n@{decorator}\n@other\ndef rows() -> {returned}: ...\n"
    found = edges_of({"box.py": BOX, "user.py": f"{user}rows().pack()\n"})
    assert "user.py:6 pack -> box.py:Box.pack receiver_type" in found


def test_elements_of_what_an_own_method_returns_have_its_type() -> None:
    user = "from box import Box\nclass Town:\n    def rows(self) -> list[Box]: ...\n    def other(self) -> list[Town]: ...\n"
    user += "    def run(self):\n        for row in self.rows(): row.pack()\n        for one in rows(): one.pack()\n"
    found = edges_of({"box.py": BOX, "user.py": user})
    assert "user.py:6 pack -> box.py:Box.pack receiver_type" in found
    assert "user.py:7 pack -> box.py:Box.pack receiver_type" not in found


CLIENT = """\
class Client:
    def get(self): ...
    def session(self): ...
    def __call__(self): ...

def make() -> Client: ...
"""
FIXTURE = "import pytest\nfrom client import Client, make\n\n@pytest.fixture{mark}\ndef client():\n{body}\n"
ASKING = "def test_it(client):\n    client.get()\n"
GOT = "{path}:2 get -> client.py:Client.get receiver_type"


def fixture_edges(files: dict[str, str]) -> set[str]:
    texts = {"client.py": CLIENT, **files}
    facts = [facts_of(*file) for file in texts.items()]
    return edges_of([replace(one, flags="t" if one.path.startswith("tests/") else "") for one in facts])


@pytest.mark.parametrize(
    ("mark", "body"),
    [
        ("", "    return Client()"),
        ("", "    yield Client()"),
        ("(scope='module')", "    made = Client()\n    yield made\n    made.get()"),
        ("()", "    with make() as made:\n        yield made"),
        ("", "    try:\n        yield make()\n    finally:\n        print()"),
        ("", "    if a:\n        return Client()\n    return Client()"),
    ],
)
@pytest.mark.parametrize("home", ["tests/unit/conftest.py", "tests/conftest.py"])
def test_parameter_of_a_test_is_what_its_fixture_hands_out(mark: str, body: str, home: str) -> None:
    files = {home: FIXTURE.format(mark=mark, body=body), "tests/unit/test_it.py": ASKING}
    assert GOT.format(path="tests/unit/test_it.py") in fixture_edges(files)


@pytest.mark.parametrize(
    "fixture",
    [
        "def client() -> Iterator[Client]:\n    yield unknown()",
        "def client() -> Generator[Client, None, None]:\n    yield unknown()",
        "def client() -> Client:\n    return unknown()",
    ],
)
def test_declared_type_of_a_fixture_counts(fixture: str) -> None:
    text = f"import pytest\nfrom client import Client\n@pytest.fixture\n{fixture}\n\n{ASKING}"
    found = fixture_edges({"tests/test_it.py": text})
    assert any(" get -> client.py:Client.get receiver_type" in edge for edge in found)


def test_nearest_fixture_counts_and_asks_for_the_one_above() -> None:
    near = "import pytest\n\n@pytest.fixture\ndef client(client):\n    client.get()\n    return other()\n"
    files = {
        "tests/conftest.py": FIXTURE.format(mark="", body="    return Client()"),
        "tests/unit/conftest.py": near,
        "tests/unit/test_it.py": ASKING,
        "tests/test_it.py": ASKING,
    }
    found = {edge for edge in fixture_edges(files) if " get -> client.py:Client.get receiver_type" in edge}
    assert {edge.partition(" ")[0] for edge in found} == {"tests/unit/conftest.py:5", "tests/test_it.py:2"}


@pytest.mark.parametrize(
    "text",
    [
        "def helper(client):\n    client.get()\n",  # asks for no fixture
        "def test_it(client=None):\n    client.get()\n",
        "def test_it(client):\n    client = other(); client.get()\n",
        "def test_it(other):\n    other.get()\n",
    ],
)
def test_other_names_are_no_fixtures(text: str) -> None:
    files = {
        "tests/conftest.py": FIXTURE.format(mark="", body="    return Client()"),
        "tests/test_it.py": text,
    }
    assert GOT.format(path="tests/test_it.py") not in fixture_edges(files)


def test_fixture_that_returns_several_types_is_unknown() -> None:
    body = "    if a:\n        return Client()\n    return other()"
    files = {"tests/conftest.py": FIXTURE.format(mark="", body=body), "tests/test_it.py": ASKING}
    assert GOT.format(path="tests/test_it.py") not in fixture_edges(files)


def test_fixture_that_is_called_runs_its_object() -> None:
    files = {
        "tests/conftest.py": FIXTURE.format(mark="", body="    return Client()"),
        "tests/test_it.py": "def test_it(client):\n    client()\n",
    }
    assert "tests/test_it.py:2 client -> client.py:Client.__call__ receiver_type" in fixture_edges(files)


OBJECTS = """from contextlib import contextmanager
from typing import Iterator, overload
class Gate:
    def swing(self): ...
class Depot:
    gate: Gate
    def __enter__(self) -> Gate: ...
    def __and__(self, other) -> "Depot": ...
    def open(self): ...
    @property
    def side(self) -> Gate: ...
class Shed:
    def __enter__(self): return self
    def swing(self): ...
@contextmanager
def entered() -> Iterator[Gate]:
    yield Gate()
@overload
def made(n: int) -> Shed: ...
def made(n) -> Gate: ...
"""


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("with Depot() as one:\n        one.swing()", "Gate.swing"),
        ("with Shed() as one:\n        one.swing()", "Shed.swing"),
        ("with entered() as one:\n        one.swing()", "Gate.swing"),
        ("both = depot & other\n    both.open()", "Depot.open"),
        ("one = depot.side\n    one.swing()", "Gate.swing"),
        ("one = depot.gate\n    one.swing()", "Gate.swing"),
        ("if depot:\n        depot.side.swing()", "Gate.swing"),
        ("one = made(1)\n    one.swing()", "Gate.swing"),
        ("match depot:\n        case Gate():\n            pass", "Gate"),
        ("match depot:\n        case Gate.swing:\n            pass", "Gate.swing"),
    ],
)
def test_an_object_of_python_is_followed_through_what_gives_it(code: str, found: str) -> None:
    source = f"from objects import *\ndef f(depot: Depot, other):\n    {code}\n"
    edges = edges_of({"objects.py": OBJECTS, "a.py": source})
    sure = {one.rpartition(" ")[0] for one in edges if not one.endswith("?")}
    line = 2 + len(code.split("\n")) - ("pass" in code)
    assert f"a.py:{line} {found.rpartition('.')[2]} -> objects.py:{found}" in sure


def test_a_name_that_is_imported_or_defined_instead_is_both() -> None:
    package = """try:
    from .gates import Gate
except ImportError:
    class Gate:
        def swing(self): ...
"""
    files = {
        "town/__init__.py": package,
        "town/gates.py": "class Gate:\n    def swing(self): ...\n    def shut(self): ...\n",
        "a.py": "from town import Gate\nGate().shut()\n",
    }
    edges = edges_of(files)
    assert "a.py:2 shut -> town/gates.py:Gate.shut receiver_type" in edges
    assert {
        "a.py:2 Gate -> town/gates.py:Gate import",
        "a.py:2 Gate -> town/__init__.py:Gate import",
    } <= edges


def test_a_property_is_read_from_what_a_local_object_gives() -> None:
    code = "from objects import Depot\ndef f():\n    depot = Depot()\n    gate = depot.make()\n    return gate.width\n"
    source = "class Gate:\n    @property\n    def width(self): ...\nclass Depot:\n    def make(self) -> Gate: ...\n"
    edges = edges_of({"objects.py": source, "a.py": code})
    assert "a.py:5 width -> objects.py:Gate.width receiver_type" in edges


def test_the_container_of_an_item_is_used() -> None:
    code = "from objects import Depot\ndef f(depot: Depot):\n    depot.gates[0].open()\n"
    source = "class Depot:\n    @property\n    def gates(self): ...\n"
    edges = edges_of({"objects.py": source, "a.py": code})
    assert "a.py:3 gates -> objects.py:Depot.gates receiver_type" in edges


def test_class_that_extends_its_import_is_what_its_name_means_below() -> None:
    own = """from town import Depot
Depot.close
class Depot(
    Depot,
):
    def shut(self): ...
def run():
    Depot().shut()
    Depot().close()
"""
    town = "class Depot:\n    def close(self): ...\n    def shut(self): ...\n"
    found = edges_of({"town.py": town, "own.py": own, "a.py": "from own import Depot\nDepot().shut()\n"})
    # An edge to an own class has its file as the target.
    depots = {edge for edge in found if " Depot -> " in edge and not edge.startswith("a.py:1")}
    assert depots == {
        "own.py:1 Depot -> town.py:Depot import",
        "own.py:1 Depot -> town.py:* import",
        "own.py:4 Depot -> town.py:Depot import",
        "own.py:2 Depot -> town.py:Depot import",
        "own.py:8 Depot -> own.py:Depot same_file",
        "own.py:9 Depot -> own.py:Depot same_file",
        "a.py:2 Depot -> own.py:Depot import",
    }
    assert "own.py:8 shut -> own.py:Depot.shut receiver_type" in found
    assert "own.py:9 close -> town.py:Depot.close receiver_type" in found
