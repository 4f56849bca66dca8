"""A graph that grew change by change is the graph of what is there, and few files are looked at again."""

import re
from collections.abc import Iterator, Mapping

from atlas_files import blob_of, graph_of, source_file
from hypothesis import given, settings
from hypothesis import strategies as st
from scip_files import At, define, document, own
from scip_files import columns_of as scip_columns_of

from prism_atlas.core.analysis import Analysis
from prism_atlas.core.assembly import Assembly
from prism_atlas.core.columns import columns_of
from prism_atlas.core.graph import EDGE_KINDS, STRATEGIES, Graph
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy
from prism_graph.occurrences import OccurrenceIndex, Occurrences

STATUSES = list(EdgeStatus)
DEPOT, BASE = "parcels/depot.py", "parcels/base.py"
# Versions of files that define, import, rename, inherit, make and pass on each other's names.
VERSIONS = {
    "parcels/depot.py": [
        "class Depot:\n    def close(self): ...\n",
        "from .base import Base\n\nclass Depot(Base):\n    pass\n",
        "def first(): ...\n\nclass Depot:\n    def __init__(self): ...\n    def open(self): ...\n    def close(self): ...\n",
    ],
    "parcels/base.py": [
        "class Base:\n    def close(self): ...\n",
        "class Base:\n    def shut(self): ...\n",
        "from .depot import first as close\n\nBase = 1\n",
    ],
    "parcels/__init__.py": [
        "from .depot import Depot as Store\n",
        "from .depot import *\n",
        "from .base import Base as Store\n",
    ],
    "parcels/make.py": [
        "from parcels import Store\n\ndef make() -> Store:\n    return Store()\n",
        "from .depot import Depot\n\ndef make() -> Depot:\n    return Depot()\n",
        "def make():\n    return 1\n",
    ],
    "main.py": [
        "from parcels.make import make\n\ndef run():\n    depot = make()\n    depot.close()\n",
        "from parcels import Store, Depot\n\nstore = Store()\nstore.close()\nDepot().close()\nclose()\n",
        "import parcels.depot\n\nparcels.depot.first()\nparcels.depot.Depot().open()\n",
    ],
}  # fmt: skip
PATHS = list(VERSIONS)


DEFINED = re.compile(r"\s*(?:class|def) (\w+)")


def read_index(version: int) -> OccurrenceIndex:
    """What an index says of all files in a version that takes a name for its last definition, `Depot()` for what makes it, and a
    depot for a base.
    """
    texts = {path: versions[version] for path, versions in VERSIONS.items()}
    lines = [(path, line) for path, text in texts.items() for line in text.split("\n")]
    known = {found[1]: symbol(path, found[1]) for path, line in lines if (found := DEFINED.match(line))}
    implements = [
        (symbol(DEPOT, "Depot"), symbol(BASE, "Base")),
        (symbol(DEPOT, "close"), symbol(BASE, "close")),
    ]
    documents = [
        document(path, places(path, text, known), implements if path == DEPOT else ())
        for path, text in texts.items()
    ]
    columns = scip_columns_of(documents, {path: blob_of(text) for path, text in texts.items()})
    return OccurrenceIndex(columns, lambda path: f"id of {path}")


def symbol(path: str, name: str) -> str:
    return own(f"`{path}`/Depot#{name}()." if name == "__init__" else f"`{path}`/{name}#")


def places(path: str, text: str, known: Mapping[str, str]) -> Iterator[At]:
    for number, line in enumerate(text.split("\n")):
        defined = DEFINED.match(line)
        for word in re.finditer(r"\w+", line):
            name, place = word[0], (number, *word.span())
            if defined and word.span() == defined.span(1):
                yield define(symbol(path, name), *place)
            elif name == "Depot" and line[word.end() :].startswith("("):
                yield At(known.get("__init__", known["Depot"]), *place)
            elif name in known:
                yield At(known[name], *place)


class Repository:
    """Texts by path, and the assembly that follows them."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.assembly = Assembly()

    def learn(self, *indexes: OccurrenceIndex) -> tuple[Graph, set[str]]:
        """The same once these indexes are known and no others."""
        self.assembly.learn(Occurrences(indexes))
        return self.catch_up()

    def change(self, path: str, text: str | None) -> tuple[Graph, set[str]]:
        """The graph afterwards, and the paths that were looked at."""
        if text is None:
            self.texts.pop(path, None)
            self.assembly.remove(f"id of {path}")
        else:
            self.texts[path] = text
            self.assembly.add(source_file(path, text))
        return self.catch_up()

    def catch_up(self) -> tuple[Graph, set[str]]:
        stale = self.assembly.stale()
        looked_at = {path for path in self.texts if f"id of {path}" in stale}
        for changed in looked_at:
            self.assembly.connect(source_file(changed, self.texts[changed]).facts)
        return self.assembly.graph(), looked_at


def filled() -> Repository:
    """All files, each in its first version."""
    repository = Repository()
    for path, versions in VERSIONS.items():
        repository.change(path, versions[0])
    return repository


def edges(graph: Graph) -> set[tuple[str, str, str]]:
    """Edges by what they connect, and how sure they are."""
    found = zip(ends(graph), graph.edges.status, strict=True)
    return {(source, target, STATUSES[status].value) for (source, target), status in found}


def told_by_index(graph: Graph) -> set[tuple[str, str, EdgeKind]]:
    """Edges that an index told of, by what they connect."""
    found = zip(ends(graph), graph.edges.kind, graph.edges.strategy, strict=True)
    return {(*between, EDGE_KINDS[kind]) for between, kind, how in found if STRATEGIES[how] is Strategy.SCIP}


def ends(graph: Graph) -> Iterator[tuple[str, str]]:
    def name(node: int) -> str:
        place = graph.path(graph.file_of(node))
        return (
            place if graph.is_file(node) else f"{place} {graph.strings[graph.symbols.qualified_name[node]]}"
        )

    return (
        (name(source), name(target))
        for source, target in zip(graph.edges.source, graph.edges.target, strict=True)
    )


INDEXES = [read_index(version) for version in range(3)]
CHANGES = st.tuples(st.sampled_from(PATHS), st.sampled_from([None, 0, 1, 2]))


@settings(max_examples=300)
@given(st.lists(CHANGES, min_size=2, max_size=12))
def test_any_changes_end_in_the_graph_of_what_is_there(changes):
    repository = Repository()
    for path, version in changes:
        graph, _ = repository.change(path, None if version is None else VERSIONS[path][version])
        assert_alike(graph, graph_of(repository.texts))


@settings(max_examples=300)
@given(st.lists(CHANGES | st.sets(st.sampled_from(INDEXES)), min_size=2, max_size=12))
def test_the_same_holds_whatever_indexes_come_and_go(changes):
    repository, known = Repository(), []
    for change in changes:
        if isinstance(change, set):
            known = sorted(change, key=INDEXES.index)
            graph, _ = repository.learn(*known)
        else:
            path, version = change
            graph, _ = repository.change(path, None if version is None else VERSIONS[path][version])
        assert_alike(graph, graph_of(repository.texts, occurrences=Occurrences(known)))


def assert_alike(graph: Graph, whole: Graph) -> None:
    assert edges(graph) == edges(whole)
    grown = columns_of(graph)
    for name, column in columns_of(whole).items():
        assert grown[name].tolist() == column.tolist(), name


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from([0, 1, 2])), min_size=4, max_size=12))
def test_what_is_taken_from_the_graph_before_is_what_would_be_found_out(changes):
    repository, analysis = Repository(), None
    for path, version in changes:
        graph, _ = repository.change(path, VERSIONS[path][version])
        analysis = Analysis.of(graph, analysis)
    afresh = columns_of(Analysis.of(graph))
    for name, column in columns_of(analysis).items():
        assert column.tolist() == afresh[name].tolist(), name


def test_a_change_inside_a_function_looks_at_no_other_file():
    repository = filled()
    text = VERSIONS["parcels/depot.py"][0].replace("...", "return 1")
    graph, looked_at = repository.change("parcels/depot.py", "# Where parcels wait.\n" + text)
    assert looked_at == {"parcels/depot.py"}
    assert ("main.py run", "parcels/depot.py Depot.close") in {found[:2] for found in edges(graph)}


def test_a_name_that_is_gone_is_looked_for_where_it_was_used():
    repository = filled()
    graph, looked_at = repository.change("parcels/depot.py", "class Depot:\n    def shut(self): ...\n")
    assert "main.py" in looked_at
    assert not any(target == "parcels/depot.py Depot.close" for _, target, _ in edges(graph))


def test_a_package_that_takes_a_name_is_looked_for_where_it_was_imported():
    repository = Repository()
    repository.change("depot/package.json", '{"name": "other"}')
    repository.change("depot/src/index.ts", "export function rate() {}\n")
    repository.change("shop/user.ts", "import { rate } from '@acme/depot';\nrate();\n")
    graph, looked_at = repository.change("depot/package.json", '{"name": "@acme/depot"}')
    assert "shop/user.ts" in looked_at
    assert ("shop/user.ts", "depot/src/index.ts rate", "resolved") in edges(graph)


def test_a_name_with_a_sign_at_its_end_is_looked_for_where_it_is_called():
    repository = Repository()
    repository.change("tour.rb", "def go(store)\n  store.full?\nend\n")
    graph, looked_at = repository.change("depot.rb", "class Depot\n  def full?\n    true\n  end\nend\n")
    assert "tour.rb" in looked_at
    assert edges(graph) == edges(graph_of(repository.texts))


def test_what_an_index_tells_holds_while_both_files_are_those_that_it_read():
    repository = filled()
    told = ("main.py run", "parcels/base.py Base.close", EdgeKind.CALLS)
    graph, _ = repository.learn(INDEXES[0])
    assert told in told_by_index(graph)
    graph, looked_at = repository.change(BASE, "# Bases.\n" + VERSIONS[BASE][0])
    assert looked_at < set(PATHS)
    assert told not in told_by_index(graph)
    graph, _ = repository.change(BASE, VERSIONS[BASE][0])
    assert told in told_by_index(graph)


def test_only_the_files_of_a_new_index_are_looked_at():
    repository = filled()
    repository.change("letters.py", "from main import run\n\nrun()\n")
    assert repository.learn(INDEXES[0])[1] == set(PATHS)
    assert repository.learn(INDEXES[0])[1] == set()
    assert repository.learn()[1] == set(PATHS)


def test_what_implements_by_an_index_alone_is_told_of_types_and_their_members():
    repository = filled()
    graph, _ = repository.learn(INDEXES[0])
    assert {edge for edge in told_by_index(graph) if edge[0].startswith(DEPOT)} == {
        (f"{DEPOT} Depot", f"{BASE} Base", EdgeKind.IMPLEMENTS),
        (f"{DEPOT} Depot.close", f"{BASE} Base.close", EdgeKind.OVERRIDES),
    }
    # What follows from the types is not told again.
    assert list(ends(graph)).count((f"{DEPOT} Depot.close", f"{BASE} Base.close")) == 1
