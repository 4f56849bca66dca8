"""A graph that is updated change by change equals a fresh graph, and few files are resolved again."""

import re
from collections.abc import Iterator, Mapping

import pytest
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
from prism_resolver.manifests import PackageProvider, Packages, read_manifest
from prism_resolver.occurrences import OccurrenceIndex, Occurrences

STATUSES = list(EdgeStatus)
DEPOT, BASE = "parcels/depot.py", "parcels/base.py"
# Versions of files that define, import, rename, inherit, alias, make and pass on each other's names.
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
        "from parcels import Store\n\nBarn = Store\n\ndef make() -> Barn:\n    return Store()\n",
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
# Versions without imports: files of a folder see each other, and members are defined in other files.
UNSPOKEN_VERSIONS = {
    "parcels/depot.go": [
        "package parcels\n\ntype Depot struct{ shelf Shelf }\n\nfunc Make() Depot { return Depot{} }\n",
        "package parcels\n\ntype Depot struct{ shelf Rack }\n\nfunc Make() Shelf { return Shelf{} }\n",
        "package parcels\n\nfunc (d Depot) Close() Rack { return Rack{} }\n\nvar main = Make()\n",
    ],
    "parcels/shelf.go": [
        "package parcels\n\ntype Shelf struct{}\n\nfunc (s Shelf) Close() {}\n\nfunc (r Rack) Close() {}\n",
        "package parcels\n\ntype Rack struct{}\n\nfunc (d Depot) Close() Shelf { return Shelf{} }\n",
        "package parcels\n\ntype Shelf struct{}\n\ntype Rack struct{}\n\nfunc (s Shelf) Open() Rack { return Rack{} }\n",
    ],
    "parcels/use.go": [
        "package parcels\n\nfunc Use() {\n\td := Make()\n\td.Close()\n\td.Close().Close()\n}\n",
        "package parcels\n\nfunc Use(d Depot) {\n\td.shelf.Close()\n\td.shelf.Open().Close()\n}\n",
        "package parcels\n\nfunc Use() {\n\tmain.Close()\n}\n",
    ],
    "letters/stamp.h": [
        "class Stamp {\n public:\n  Sheet cut();\n};\n",
        "class Stamp {\n public:\n  Stamp cut();\n  void stick();\n};\n",
        "Stamp make();\n",
    ],
    "letters/sheet.cc": [
        '#include "stamp.h"\n\nclass Sheet {\n public:\n  void stick() {}\n};\n',
        '#include "stamp.h"\n\nSheet Stamp::cut() { return Sheet(); }\nvoid Stamp::stick() {}\n',
        "Stamp make() { return Stamp(); }\n",
    ],
    "letters/use.cc": [
        '#include "stamp.h"\n\nvoid use() {\n  Stamp stamp;\n  stamp.cut().stick();\n  stamp.stick();\n}\n',
        '#include "stamp.h"\n\nvoid use() { make().stick(); }\n',
        '#include "sheet.cc"\n\nvoid use(Sheet sheet) { sheet.stick(); }\n',
    ],
    "rates/package.json": ['{"name": "@acme/rates"}', '{"name": "other"}', "{}"],
    "rates/src/index.ts": [
        "export function rate() { return 1; }\n",
        "export { rate as fee, rate } from './fee';\n",
        "export * from './fee';\n",
    ],
    "rates/src/fee.ts": [
        "export class Fee {\n  pay() {}\n}\nexport function rate(): Fee { return new Fee(); }\n",
        "export function fee() {}\n",
        "import { rate as fee } from './index';\nexport default fee;\n",
    ],
    "shop/till.ts": [
        "import { rate as price } from '@acme/rates';\nprice();\nprice().pay();\n",
        "import * as rates from '@acme/rates';\nrates.fee();\nrates.rate().pay();\n",
        "import fee from '../rates/src/fee';\nfee().pay();\n",
    ],
}  # fmt: skip


# Imported under names that no file has.
CONFIG = read_manifest(
    "tsconfig.json",
    '{"compilerOptions": {"paths": {"@fees": ["rates/table.ts"], "@/*": ["./*/main.ts"], "~*": ["rates/*"]}}}',
)
MAPPED = Packages([PackageProvider("r1/base", "depot", CONFIG)] if CONFIG else ())
MAPPED_VERSIONS = {
    "rates/table.ts": ["export default function fee() {}\n", "export { rate as fee } from '@/zones';\n", "export const fee = 1;\n"],
    "zones/main.ts": ["export function rate() {}\n", "export { fee as rate } from '@fees';\n", "export * from '~table';\n"],
    "zones/other.ts": ["export function rate() {}\n", "export * from '@fees';\n", "export function fee() {}\n"],
    "shop/till.ts": [
        "import price from '@fees';\nprice();\n",
        "import * as zones from '@/zones';\nzones.rate();\nzones.fee();\n",
        "import price from '~table';\nprice();\n",
    ],
}  # fmt: skip


def changes_of(versions):
    """Yields changes of files: to one of their versions, or deleted."""
    change = st.tuples(st.sampled_from(list(versions)), st.sampled_from([None, 0, 1, 2]))
    return st.lists(st.tuples(st.just(versions), change), min_size=2, max_size=12)


DEFINED = re.compile(r"\s*(?:class|def) (\w+)")


def read_index(version: int) -> OccurrenceIndex:
    """Returns an index of all files in one version.

    It resolves each name to its last definition, `Depot()` to the constructor, and a depot to a base.
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
    """Texts by path, and the assembly that is updated with them."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.assembly = Assembly()

    def use_indexes(self, *indexes: OccurrenceIndex) -> tuple[Graph, set[str]]:
        """Replaces the known indexes; returns as `change` does."""
        self.assembly.set_occurrences(Occurrences(indexes))
        return self.catch_up()

    def change(self, path: str, text: str | None) -> tuple[Graph, set[str]]:
        """Changes a file; returns the new graph and the paths that were resolved."""
        if text is None:
            self.texts.pop(path, None)
            self.assembly.remove(f"id of {path}")
        else:
            self.texts[path] = text
            self.assembly.add(source_file(path, text))
        return self.catch_up()

    def catch_up(self) -> tuple[Graph, set[str]]:
        stale = self.assembly.stale()
        resolved = {path for path in self.texts if f"id of {path}" in stale}
        for changed in resolved:
            self.assembly.connect(source_file(changed, self.texts[changed]).facts)
        return self.assembly.graph(), resolved


def filled() -> Repository:
    """Returns a repository with all files in their first version."""
    repository = Repository()
    for path, versions in VERSIONS.items():
        repository.change(path, versions[0])
    return repository


def edges(graph: Graph) -> set[tuple[str, str, str]]:
    """Returns edges as source, target and status."""
    found = zip(ends(graph), graph.edges.status, strict=True)
    return {(source, target, STATUSES[status].value) for (source, target), status in found}


def index_edges(graph: Graph) -> set[tuple[str, str, EdgeKind]]:
    """Returns the edges from indexes as source, target and kind."""
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
@given(changes_of(VERSIONS) | changes_of(UNSPOKEN_VERSIONS))
def test_incremental_graph_equals_a_fresh_graph(changes):
    repository = Repository()
    for versions, (path, version) in changes:
        graph, _ = repository.change(path, None if version is None else versions[path][version])
        assert_alike(graph, graph_of(repository.texts))


@settings(max_examples=200)
@given(changes_of(MAPPED_VERSIONS))
def test_incremental_graph_is_exact_with_path_mappings(changes):
    repository = Repository()
    repository.assembly.set_packages(MAPPED)
    for versions, (path, version) in changes:
        graph, _ = repository.change(path, None if version is None else versions[path][version])
        assert_alike(graph, graph_of(repository.texts, packages=MAPPED))


@settings(max_examples=300)
@given(st.lists(CHANGES | st.sets(st.sampled_from(INDEXES)), min_size=2, max_size=12))
def test_incremental_graph_is_exact_with_changing_indexes(changes):
    repository, known = Repository(), []
    for change in changes:
        if isinstance(change, set):
            known = sorted(change, key=INDEXES.index)
            graph, _ = repository.use_indexes(*known)
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
@given(
    st.lists(st.tuples(st.sampled_from(list(VERSIONS)), st.sampled_from([0, 1, 2])), min_size=4, max_size=12)
)
def test_reused_analysis_equals_a_fresh_analysis(changes):
    repository, analysis = Repository(), None
    for path, version in changes:
        graph, _ = repository.change(path, VERSIONS[path][version])
        analysis = Analysis.of(graph, analysis)
    afresh = columns_of(Analysis.of(graph))
    for name, column in columns_of(analysis).items():
        assert column.tolist() == afresh[name].tolist(), name


@pytest.mark.parametrize(
    ("path", "before", "after"), [("barn.py", "= Low", "= High"), ("low.py", "(Top)", "(Deep)")]
)
def test_changed_alias_resolves_its_users_again(path, before, after):
    texts = {
        "top.py": "class Top:\n    def close(self): ...\n\nclass Deep:\n    def close(self): ...\n",
        "low.py": "from top import Top, Deep\n\nclass Low(Top): ...\n\nclass High(Deep): ...\n",
        "barn.py": "from low import Low, High\n\nBarn = Low\n",
        "main.py": "from barn import Barn\n\nBarn().close()\n",
    }
    repository = Repository()
    for one, text in texts.items():
        graph, _ = repository.change(one, text)
    assert ("main.py", "top.py Top.close", "resolved") in edges(graph)
    graph, _ = repository.change(path, texts[path].replace(before, after))
    assert ("main.py", "top.py Deep.close", "resolved") in edges(graph)


def test_change_inside_a_function_resolves_only_its_file():
    repository = filled()
    text = VERSIONS["parcels/depot.py"][0].replace("...", "return 1")
    graph, resolved = repository.change("parcels/depot.py", "# Where parcels wait.\n" + text)
    assert resolved == {"parcels/depot.py"}
    assert ("main.py run", "parcels/depot.py Depot.close") in {found[:2] for found in edges(graph)}


def test_removed_name_resolves_its_users_again():
    repository = filled()
    graph, resolved = repository.change("parcels/depot.py", "class Depot:\n    def shut(self): ...\n")
    assert "main.py" in resolved
    assert not any(target == "parcels/depot.py Depot.close" for _, target, _ in edges(graph))


def test_changed_reexport_resolves_its_readers_again():
    repository = Repository()
    repository.change("shelf.py", "class Shelf:\n    def open(self): ...\n")
    opener = "from shelf import Shelf\n\nShelf().open()\n"
    repository.change("stranger.py", opener)
    repository.change("depot.py", "import shelf\n")
    repository.change("hub.py", "from depot import *\n")
    repository.change("reader.py", opener.replace("shelf", "hub"))
    _, resolved = repository.change("depot.py", opener)
    assert resolved == {"depot.py", "reader.py"}


SHELVES_GO = "package parcels\n\ntype Shelf struct{}\n\nfunc (s Shelf) Open() {}\n\ntype Rack struct{}\n\nfunc (r Rack) Open() {}\n"
SHELVES_CS = "class Shelf { public void Open() {} }\n\nclass Rack { public void Open() {} }\n"


@pytest.mark.parametrize(
    ("files", "member", "user", "target"),
    [
        (
            {
                "parcels/depot.go": "package parcels\n\ntype Depot struct{}\n",
                "parcels/shelves.go": SHELVES_GO,
                "parcels/use.go": "package parcels\n\nfunc Use(depot Depot) {\n\tdepot.Take().Open()\n}\n",
            },
            ("parcels/take.go", "package parcels\n\nfunc (d Depot) Take() Shelf { return d.any }\n"),
            "parcels/use.go Use",
            "parcels/shelves.go Rack.Open",
        ),
        (
            {"depot.cs": "partial class Depot {\n  void Use() { this.Take().Open(); }\n}\n"},
            ("take.cs", SHELVES_CS + "\npartial class Depot {\n  Shelf Take() { return any; }\n}\n"),
            "depot.cs Depot.Use",
            "take.cs Rack.Open",
        ),
    ],
    ids=["of the same folder", "of anywhere"],
)
def test_changed_member_resolves_users_of_its_class_again(files, member, user, target):
    repository = Repository()
    for path, text in [*files.items(), member]:
        repository.change(path, text)
    path, text = member
    graph, _ = repository.change(path, re.sub(r"(Take\(\)) Shelf|Shelf (Take\(\))", r"\1 Rack \2", text))
    assert (user, target, "resolved") in edges(graph)
    graph, _ = repository.change(path, None)
    assert (user, target, "resolved") not in edges(graph)


def test_renamed_package_resolves_its_importers_again():
    repository = Repository()
    repository.change("depot/package.json", '{"name": "other"}')
    repository.change("depot/src/index.ts", "export function rate() {}\n")
    repository.change("shop/user.ts", "import { rate } from '@acme/depot';\nrate();\n")
    graph, resolved = repository.change("depot/package.json", '{"name": "@acme/depot"}')
    assert "shop/user.ts" in resolved
    assert ("shop/user.ts", "depot/src/index.ts rate", "resolved") in edges(graph)


def test_new_mapped_file_resolves_its_importers_again():
    repository = Repository()
    repository.assembly.set_packages(MAPPED)
    repository.change("shop/till.ts", "import price from '@fees';\nprice();\n")
    graph, resolved = repository.change("rates/table.ts", "export default function fee() {}\n")
    assert "shop/till.ts" in resolved
    assert ("shop/till.ts", "rates/table.ts fee", "resolved") in edges(graph)


def test_name_with_a_suffix_sign_resolves_its_callers_again():
    repository = Repository()
    repository.change("tour.rb", "def go(store)\n  store.full?\nend\n")
    graph, resolved = repository.change("depot.rb", "class Depot\n  def full?\n    true\n  end\nend\n")
    assert "tour.rb" in resolved
    assert edges(graph) == edges(graph_of(repository.texts))


def test_index_edge_needs_both_files_unchanged():
    repository = filled()
    expected = ("main.py run", "parcels/base.py Base.close", EdgeKind.CALLS)
    graph, _ = repository.use_indexes(INDEXES[0])
    assert expected in index_edges(graph)
    graph, resolved = repository.change(BASE, "# Bases.\n" + VERSIONS[BASE][0])
    assert resolved < set(PATHS)
    assert expected not in index_edges(graph)
    graph, _ = repository.change(BASE, VERSIONS[BASE][0])
    assert expected in index_edges(graph)


def test_new_index_resolves_only_its_files_again():
    repository = filled()
    repository.change("letters.py", "from main import run\n\nrun()\n")
    assert repository.use_indexes(INDEXES[0])[1] == set(PATHS)
    assert repository.use_indexes(INDEXES[0])[1] == set()
    assert repository.use_indexes()[1] == set(PATHS)


def test_index_adds_implementing_types_and_members():
    repository = filled()
    graph, _ = repository.use_indexes(INDEXES[0])
    assert {edge for edge in index_edges(graph) if edge[0].startswith(DEPOT)} == {
        (f"{DEPOT} Depot", f"{BASE} Base", EdgeKind.IMPLEMENTS),
        (f"{DEPOT} Depot.close", f"{BASE} Base.close", EdgeKind.OVERRIDES),
    }
    # What follows from the types is not repeated.
    assert list(ends(graph)).count((f"{DEPOT} Depot.close", f"{BASE} Base.close")) == 1
