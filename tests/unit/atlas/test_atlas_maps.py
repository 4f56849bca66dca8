"""Ranks, tiers, components and entry points of small sample repositories."""

import numpy as np
import pytest
from atlas_files import graph_of, source_file

from prism_atlas.core.analysis import Analysis
from prism_atlas.core.architecture import Architecture
from prism_atlas.core.columns import columns_of
from prism_atlas.core.component_descriptions import described
from prism_atlas.core.cycles import shortest_cycle
from prism_atlas.core.entries import entries_of
from prism_atlas.core.folder_parts import by_folder, folder_parts
from prism_atlas.core.folders import agreement
from prism_atlas.core.links import users_of
from prism_atlas.core.module_map import modules, symbol_label, top_symbols
from prism_atlas.core.partitions import partitions
from prism_atlas.core.ranking import DAMPING, TIERS, earned_ranks, tiers
from prism_atlas.core.relevance import words_of
from prism_atlas.core.report import ArchitectureReport
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.maps import ComponentDependency, ComponentSummary, EntryKind, Tier

CLOCK = "def now():\n    return _read()\n\ndef _read():\n    return 1\n"
# Two folders with uses inside each, a single use between them, and tests that use everything.
FILES = {
    "parcels/route.py": "from .stop import Stop\nfrom .clock import now\n\nclass Route:\n    def next(self) -> Stop:\n        now()\n        return Stop()\n",
    "parcels/stop.py": "from .clock import now\n\nclass Stop:\n    def wait(self):\n        return now()\n",
    "parcels/clock.py": CLOCK,
    "letters/sorter.py": "from .stamp import Stamp\nfrom .weight import grams\n\nclass Sorter:\n    def sort(self):\n        grams()\n        return Stamp()\n",
    "letters/stamp.py": "from .weight import grams\n\nclass Stamp:\n    def price(self):\n        return grams()\n",
    "letters/weight.py": "from parcels.clock import now\n\ndef grams():\n    return now()\n",
    "tests/test_all.py": "from letters.stamp import Stamp\nfrom letters.sorter import Sorter\nfrom parcels.route import Route\n\nStamp()\nSorter()\nRoute()\nStamp().price()\n",
    "pyproject.toml": "[project]\nname = 'post'\n",
    "README.md": "# Post\n",
}  # fmt: skip


def snapshot_of(files, flags=None):
    return Analysis.of(graph_of(files, flags))


@pytest.fixture(scope="module")
def post():
    return snapshot_of(FILES, {"tests/test_all.py": "t", "README.md": "d"})


def paths(snapshot, query="", path_filter=""):
    return [snapshot.graph.path(file) for file in modules(snapshot, query, path_filter).files]


def mapped(snapshot, path_filter=""):
    found = modules(snapshot, path_filter=path_filter)
    return found.page(0, len(found.files))


def test_most_used_files_come_first_and_tests_last(post):
    found = paths(post)
    assert found[0] == "parcels/clock.py"
    assert found[-1] == "tests/test_all.py"
    assert set(found) == {path for path in FILES if path.endswith(".py")}
    first, *_, last = mapped(post)
    assert (first.relative_score, first.tier) == (1.0, Tier.CORE)
    assert (last.relative_score, last.tier) == (0.0, Tier.PERIPHERAL)
    assert sum(modules(post).tiers().values()) == len(found)


def test_ranks_add_up_to_one_and_unused_files_have_none(post):
    assert post.ranks.file.sum() == pytest.approx(1)
    assert post.ranks.node.sum() == pytest.approx(1)
    assert post.ranks.file[post.graph.find_file("tests/test_all.py")] == 0


def test_files_that_use_a_file_are_counted(post):
    graph = post.graph
    clock = graph.find_file("parcels/clock.py")
    users = {graph.path(int(source)) for source in post.links.source[post.links.target == clock]}
    assert users_of(post.links, [clock]) == {clock: len(users)}
    assert len(users) > 1


def test_component_is_described_by_its_main_file_and_its_users():
    depot = ComponentSummary(
        id=0, name="depot", files=2, lines=9, rank=0.5, main_files=("d/a.py", "d/b.py"), main_symbols=()
    )
    uses = [
        ComponentDependency(
            source=f"van {number}", target="depot", references=1, candidates=0, example=("v", "d")
        )
        for number in range(5)
    ]
    described_by = described(depot, uses, {"d/a.py": "", "d/b.py": "Where parcels wait."})
    assert described_by.description == (
        "Around b.py: Where parcels wait; used by van 0, van 1, van 2 and 2 more."
    )
    assert described(depot, (), {}).description == "Around depot."
    assert len(described(depot, uses, {"d/a.py": "parcel " * 100}).description) <= 300


def test_uses_by_tests_hardly_count():
    files = {"a.py": "def a(): ...\n", "b.py": "def b(): ...\n", "use.py": "from a import a\n\na()\n"}
    files["other.py"] = "from b import b\n\nb()\n"
    loud = snapshot_of(files)
    assert loud.ranks.file[0] == pytest.approx(loud.ranks.file[1])
    quiet = snapshot_of(files, {"other.py": "t"})
    assert quiet.ranks.file[0] > 5 * quiet.ranks.file[1]


def test_query_ranks_named_files_and_their_dependencies(post):
    assert paths(post, "stamps of a letter")[0] == "letters/stamp.py"
    assert paths(post, "Stop")[0] == "parcels/stop.py"
    assert paths(post, "zebra") == []
    assert words_of("How does getHTTPRoute work?") == ["http", "route", "work"]


def test_a_path_filter_keeps_tiers_and_order(post):
    found = mapped(post, "letters/**")
    assert post.graph.path(found[0].file) == "letters/weight.py"
    whole = {module.file: module.tier for module in mapped(post)}
    assert all(whole[module.file] is module.tier for module in found)
    assert found[0].relative_score == 1.0


def test_symbol_used_only_in_its_file_is_not_on_top(post):
    top = top_symbols(post, [post.graph.find_file("parcels/clock.py")])
    assert [symbol_label(post.graph, symbol) for symbol in top] == ["function now", "function _read"]


def test_tiers_are_shares_of_all_rank():
    rank = np.array([0.5, 0.3, 0.15, 0.05, 0.0])
    named = [TIERS[code] for code in tiers(rank)]
    assert named == [Tier.CORE, Tier.SIGNIFICANT, Tier.SIGNIFICANT, Tier.PERIPHERAL, Tier.PERIPHERAL]
    assert [TIERS[code] for code in tiers(np.zeros(2))] == [Tier.PERIPHERAL] * 2
    assert not len(tiers(np.array([])))


def test_chain_passes_rank_on():
    # 0 -> 1 -> 2: the random walk ends at 2.
    earned = earned_ranks(np.array([0, 1]), np.array([1, 2]), np.ones(2), np.ones(3))
    assert earned[0] == pytest.approx(0, abs=1e-6)
    assert 0 < earned[1] < earned[2]


def test_ranks_solve_the_equation_of_page_rank():
    # 0 and 1 use each other, 2 uses all, twice in one case; 3 uses nothing: the random walk restarts there.
    source, target = np.array([0, 1, 2, 2, 2, 2, 1]), np.array([1, 0, 0, 1, 3, 3, 3])
    weight, starts = np.array([1.0, 2.0, 1.0, 1.0, 0.5, 0.5, 1.0]), np.array([1.0, 1.0, 2.0, 1.0])
    steps = np.zeros((4, 4))
    np.add.at(steps, (target, source), weight)
    own = starts / starts.sum()
    steps[:, :3] /= steps[:, :3].sum(axis=0)
    steps[:, 3] = own
    rank = np.linalg.solve(np.eye(4) - DAMPING * steps, (1 - DAMPING) * own)
    expected = rank - (rank / own).min() * own
    assert earned_ranks(source, target, weight, starts) == pytest.approx(expected / expected.sum(), abs=1e-6)


def test_components_are_named_after_fitting_folders(post):
    architecture = Architecture(post)
    assert sorted(architecture.names) == ["letters", "parcels"]
    overview = ArchitectureReport.of(post).overview(10)
    [thread] = [one for one in overview.dependencies if one.source == "letters"]
    assert (thread.target, thread.example) == ("parcels", ("letters/weight.py", "parcels/clock.py"))
    assert thread.references
    assert overview.totals["files_in_components"] == 6  # tests are in no component of sources
    assert [(part.folder, part.manifest) for part in overview.partitions] == [(".", "pyproject.toml")]
    [interface] = architecture.interface(architecture.find("parcels"))[:1]
    assert (interface.symbol, interface.file_path) == ("now", "parcels/clock.py")


def test_a_component_is_found_by_name_and_id_only(post):
    architecture = Architecture(post)
    assert architecture.names[architecture.find("letters")] == "letters"
    assert architecture.find("1") == architecture.find("#1") == 1
    for unknown in ("x", "2", "-1", "", "¹"):
        with pytest.raises(PrismError) as error:
            architecture.find(unknown)
        assert error.value.code is ErrorCode.COMPONENT_NOT_FOUND


def test_files_that_use_each_other_are_a_cycle():
    files = {
        "a.py": "from b import b\n\ndef a():\n    b()\n",
        "b.py": "from c import c\n\ndef b():\n    c()\n",
        "c.py": "from a import a\n\ndef c():\n    a()\n",
        "d.py": "from a import a\n\ndef d():\n    a()\n",
    }
    [cycle] = Architecture(snapshot_of(files)).file_cycles()
    assert cycle.members == 3
    assert cycle.path[0] == cycle.path[-1]
    assert sorted(cycle.path[:-1]) == ["a.py", "b.py", "c.py"]


def test_shortest_cycle_is_found():
    assert shortest_cycle(0, {0: [1, 2], 1: [3], 3: [0], 2: [0]}) == [0, 2, 0]
    assert shortest_cycle(0, {0: [0]}) == [0, 0]
    assert shortest_cycle(0, {0: [1]}) == []


def test_agreement_is_one_if_equal_and_near_zero_if_independent():
    assert agreement(["a", "a", "b"], ["x", "x", "y"]) == pytest.approx(1)
    assert agreement(["a", "a", "b", "b"], ["x", "y", "x", "y"]) == pytest.approx(0)
    assert agreement([], []) == agreement(["a"], ["x"]) == 1


def test_file_outside_the_component_of_its_folder_is_reported():
    parcels = {
        f"parcels/p{n}.py": f"from .p{(n + 1) % 4} import f{(n + 1) % 4}\n\ndef f{n}():\n    f{(n + 1) % 4}()\n"
        for n in range(4)
    }
    letters = {f"letters/l{n}.py": f"from .l{(n + 1) % 4} import g{(n + 1) % 4}\nfrom parcels.odd import odd\n\ndef g{n}():\n    g{(n + 1) % 4}()\n    odd()\n    odd()\n" for n in range(4)}  # fmt: skip
    overview = ArchitectureReport.of(
        snapshot_of({**parcels, **letters, "parcels/odd.py": "def odd(): ...\n"})
    ).overview(10)
    assert [(one.file_path, one.component, one.folder_component) for one in overview.divergence.outliers] == [
        ("parcels/odd.py", "letters", "parcels")
    ]
    assert 0 < overview.divergence.agreement < 1


def test_file_belongs_to_the_nearest_manifest():
    found = partitions(
        ["a.py", "web/package.json", "web/src/x.ts", "web/api/go.mod", "web/api/m.go", "web/setup.py"]
    )
    assert [(part.folder, part.manifest, part.files) for part in found] == [
        ("web", "web/setup.py", 3),
        ("web/api", "web/api/go.mod", 2),
    ]


@pytest.mark.parametrize(
    "manifest",
    [
        "deno.json", "deno.jsonc", "package.json", "Cargo.toml", "go.mod", "pyproject.toml", "build.gradle.kts", "pom.xml", "Rates.csproj",
    ],
)  # fmt: skip
def test_each_package_of_a_workspace_is_a_part(manifest):
    found = partitions([f"{folder}/{name}" for folder in ("app", "rates") for name in (manifest, "a.txt")])
    assert [(part.folder, part.files) for part in found] == [("app", 2), ("rates", 2)]


@pytest.mark.parametrize("test", ["gate/a_test.go", "gate/gate_test.go"])
def test_a_test_of_another_package_makes_no_cycle_of_go(test):
    """An import of the package leads to its first file, which may be the test."""
    files = {
        "gate/gate.go": "package gate\n\nfunc Open() {}\n",
        test: 'package gate_test\n\nimport "example.org/acme/depot/town"\n\nfunc TestOpen() { town.Build() }\n',
        "town/town.go": 'package town\n\nimport "example.org/acme/depot/gate"\n\nfunc Build() { gate.Open() }\n',
    }
    architecture = Architecture(snapshot_of(files, {test: "t"}))
    assert architecture.file_cycles() == []
    assert architecture.component_cycles() == []


@pytest.mark.parametrize(
    ("path", "text", "entries"),
    [
        ("cmd/post/main.go", "package main\n\nfunc main() {}\n", [(EntryKind.MAIN, "main")]),
        ("src/main.rs", "fn main() {}\n", [(EntryKind.MAIN, "main")]),
        ("App.java", "class App {\n  public static void main(String[] a) {}\n}\n", [(EntryKind.MAIN, "App.main")]),
        ("post/__main__.py", "print(1)\n", [(EntryKind.SCRIPT, "")]),
        ("bin/post", "#!/usr/bin/env python\nprint(1)\n", [(EntryKind.SCRIPT, "")]),
        ("scripts/post.sh", "echo\n", [(EntryKind.SCRIPT, "")]),
        ("api.py", '@app.get("/")\ndef index(): ...\n', [(EntryKind.ROUTE, "index")]),
        ("cli.py", "@click.command()\ndef send(): ...\n", [(EntryKind.COMMAND, "send")]),
        ("api.py", "def index():\n    return requests.get('/')\n", []),
        ("main.py", "def main(): ...\n", []),
        ("api.go", 'package api\n\nfunc Open() {\n\tr.GET("/", home)\n}\n', [(EntryKind.ROUTE, "Open")]),
        ("api.js", 'r.get("/", home)\n', []),
        ("api.js", 'app.get("/", home)\n', [(EntryKind.ROUTE, "")]),
        ("Api.java", 'class Api {\n  @GetMapping("/")\n  String home() { return ""; }\n}\n', [(EntryKind.ROUTE, "Api.home")]),
    ],
)  # fmt: skip
def test_entry_points(path, text, entries):
    facts = source_file(path, text).facts
    found = [
        (entry.kind, facts.symbols[entry.symbol].qualified_name if entry.symbol >= 0 else "")
        for entry in entries_of(facts)
    ]
    assert found == entries
    assert entries_of(source_file(path, text, flags="t").facts) == []


def test_unused_file_with_many_uses_is_an_entry_point():
    files = {f"m{n}.py": f"def f{n}(): ...\n" for n in range(5)}
    files["run.py"] = "".join(f"from m{n} import f{n}\n" for n in range(5))
    [root] = ArchitectureReport.of(snapshot_of(files)).overview(5).entry_points
    assert (root.kind, root.file_path) == (EntryKind.ROOT, "run.py")


def test_order_of_files_does_not_change_the_maps(post):
    turned = snapshot_of(dict(reversed(FILES.items())), {"tests/test_all.py": "t", "README.md": "d"})
    other = columns_of(turned)
    for name, column in columns_of(post).items():
        assert other[name].tolist() == column.tolist(), name


@pytest.mark.parametrize(
    "files", [{}, {"README.md": "# Post\n"}, {"a.py": ""}], ids=["none", "prose", "empty"]
)
def test_repository_without_code_has_an_empty_map(files):
    snapshot = snapshot_of(files)
    assert paths(snapshot) == paths(snapshot, "anything") == []
    overview = ArchitectureReport.of(snapshot).overview(5)
    assert not overview.components
    assert not overview.dependencies


def test_modules_of_one_name_are_distinct():
    files = {
        "a/util.py": "def f(): ...\n",
        "b/util.py": "def f(): ...\n",
        "a/use.py": "from .util import f\n\nf()\n",
        "b/use.py": "from b.util import f\n\nf()\nf()\n",
    }
    graph = graph_of(files)
    links = {
        (graph.path(graph.file_of(source)), graph.path(graph.file_of(target)))
        for source, target in zip(graph.edges.source, graph.edges.target, strict=True)
    }
    assert links == {("a/use.py", "a/util.py"), ("b/use.py", "b/util.py")}


def test_generated_file_with_many_symbols_counts_once():
    files = {
        "gen.py": "".join(f"X{n} = {n}\n" for n in range(20_000)),
        "use.py": "from gen import X7\n\nX7\n",
    }
    snapshot = snapshot_of(files, {"gen.py": "g"})
    assert paths(snapshot) == ["gen.py", "use.py"]
    assert len(top_symbols(snapshot, [0])) <= 5


def test_folders_are_components_without_tests(post):
    analysis, names = by_folder(post)
    overview = ArchitectureReport.of(analysis, names).overview(10)

    assert sorted(names) == ["letters", "parcels"]
    assert names[0] == "parcels"  # most of the rank
    assert [component.name for component in overview.components] == names
    assert [(one.source, one.target) for one in overview.dependencies] == [("letters", "parcels")]


def test_large_folders_are_split_and_a_file_belongs_to_the_folder_of_its_name():
    paths = ["mix.exs", "lib/depot.ex", *(f"lib/depot/part{n}.ex" for n in range(9)),
             *(f"lib/depot/shelf/s{n}.ex" for n in range(9))]  # fmt: skip
    parts = folder_parts(paths)

    assert {name: len(found) for name, found in parts.items()} == {
        ".": 1,
        "lib/depot": 10,
        "lib/depot/shelf": 9,
    }


def test_a_repository_of_many_folders_has_a_limited_number_of_parts():
    parts = folder_parts([f"src/f{n}/g{m}/a.py" for n in range(20) for m in range(20)])

    assert len(parts) == 20
    assert sum(map(len, parts.values())) == 400


def test_a_type_above_a_function_of_elixir_is_no_route():
    text = "defmodule Depot do\n  @spec open(Server.options()) :: :ok\n  def open(o), do: o\nend\n"

    assert entries_of(source_file("lib/depot.ex", text).facts) == []
