"""The pages of a small repository, and of one that is hostile in every text."""

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from wiki_repository import file, repository, symbol

from prism_chunker.core import chunk_file
from prism_contracts.code import SymbolKind
from prism_contracts.records import WikiPageKind
from prism_contracts.rpc.graph import TreeBranch
from prism_contracts.rpc.guidance import ContextSection
from prism_contracts.rpc.wiki import WikiPageSummary
from prism_scribe.core.wiki import contents, helpers_of_tests, pages
from prism_scribe.core.wiki.header import with_header
from prism_scribe.core.wiki.orientation import Evidence, Orientation, Prose

HOSTILE = '# x [l](https://evil.test) <img src=x> `"| ![i](j)\n## y'
PARSER = MarkdownIt("gfm-like", {"html": True, "linkify": False})


def written(text: str = "") -> dict[str, str]:
    orientation, evidence = repository(text)
    toc = contents.plan(orientation)
    return {entry.key: pages.write(entry, orientation, evidence[entry.kind], toc) for entry in toc}


def test_the_pages_are_in_reading_order():
    orientation, _ = repository()

    assert [entry.key for entry in contents.plan(orientation)] == [
        "overview", "component-src-depot", "component-src-rates", "flows", "types", "settings", "errors", "extending",
        "run-and-test", "documents", "conventions", "glossary",
    ]  # fmt: skip


def test_the_overview_quotes_the_authors_with_the_place():
    assert (
        "> Depot plans how parcels travel between warehouses, and prices them.\n>\n> — `README.md:5`"
        in written()["overview"]
    )


def test_the_overview_shows_the_folders_and_one_command_for_each_purpose():
    page = written()["overview"]

    assert "| `src/depot/` | 2 | Python | Plans how parcels travel. (`src/depot/depot.py:1`) |" in page
    assert "| `tests/` | 1 | tests |" in page
    assert "| test | `make test` | `Makefile:1` |" in page


def test_the_overview_lists_the_features_of_an_introduction():
    orientation, evidence = repository()
    lines = (
        "# Depot",
        "",
        "Depot plans how parcels travel between warehouses.",
        "",
        "## Features",
        "",
        "- **Fast** plans",
    )
    headings = (
        symbol("Depot", SymbolKind.SECTION, 1).model_copy(update={"end_line": 7}),
        symbol("Features", SymbolKind.SECTION, 5, parent=0).model_copy(update={"end_line": 7}),
    )
    introduced = replace(orientation, documents=(Prose("README.md", ContextSection.README, lines, headings),))

    page = pages.write(contents.plan(introduced)[0], introduced, evidence["overview"], ())

    assert "Features, by `README.md:5`:\n\n- Fast plans\n" in page


def test_scripts_are_run_by_the_package_manager_of_the_lock_file():
    orientation, evidence = repository()
    managed = replace(
        orientation,
        manifests={"package.json": ('{"scripts": {', '"test": "vitest"', "}}")},
        files={**orientation.files, "pnpm-lock.yaml": file("pnpm-lock.yaml")},
    )
    guide = next(entry for entry in contents.plan(managed) if entry.key == "run-and-test")

    assert "`pnpm run test`" in pages.write(guide, managed, evidence["guide"], ())


def test_configuration_is_no_component():
    orientation, _ = repository()
    trivial = orientation.overview.components[1].model_copy(update={"rank": 0.0})
    components = (orientation.overview.components[0], trivial)
    overview = orientation.overview.model_copy(update={"components": components})

    keys = [
        entry.subject for entry in contents.plan(replace(orientation, overview=overview)) if entry.subject
    ]

    assert keys == ["src/depot"]


def test_the_overview_names_the_libraries_of_manifests():
    orientation, evidence = repository()
    built = replace(orientation, manifests={"go.mod": ("require github.com/lib/pq v1.12.3",)})

    page = pages.write(contents.plan(built)[0], built, evidence["overview"], ())

    assert "- `go.mod` declares `github.com/lib/pq` (`go.mod:1`)." in page


def test_a_component_lists_what_others_use_with_its_description():
    page = written()["component-src-depot"]

    assert "| `Depot` | `src/depot/depot.py:10` | A place for parcels. | 5 |" in page
    assert "`tests/test_depot.py:1`" in page


def test_a_flow_names_each_call_with_its_place():
    page = written()["flows"]

    assert "- `Depot.send`, `src/depot/depot.py:14`. Send a parcel." in page
    assert 'n0["plan"]' in page


def test_a_flow_shows_the_code_of_its_first_functions():
    orientation, evidence = repository()
    path = "src/depot/depot.py"
    text = [
        *[""] * 13,
        "    def send(self):",
        "        self.rate += 1",
        *[""] * 14,
        "def plan(depot):",
        "    depot.send()",
    ]
    entry = next(one for one in contents.plan(orientation) if one.key == "flows")

    page = pages.write(entry, orientation, replace(evidence["flows"], texts={path: tuple(text)}), ())

    assert "```python\n30  def plan(depot):\n31      depot.send()\n```" in page
    assert "```python\n14  def send(self):\n15      self.rate += 1\n```" in page
    assert page.index("def plan") < page.index("def send")


def test_a_flow_is_shown_once_if_two_entry_points_lead_to_it():
    orientation, evidence = repository()
    flows = evidence["flows"]
    twice = replace(flows, calls=(*flows.calls, *flows.calls))
    entry = next(one for one in contents.plan(orientation) if one.key == "flows")

    assert pages.write(entry, orientation, twice, ()) == pages.write(entry, orientation, flows, ())


def test_a_type_lists_its_members():
    page = written()["types"]

    assert "Made by the constructor in `src/depot/depot.py:24`." in page
    assert "```\ndef __init__(self, rate: int)\n```" in page
    assert "| field | line |\n| --- | --- |\n| `rate` | 12 |" in page
    assert "| `send` | Send a parcel. | 14 |" in page


def test_the_guide_has_the_commands_of_manifests_and_documents():
    page = written()["run-and-test"]

    assert "| `make test` | Run the tests | `Makefile:1` |" in page
    assert "```sh\npip install depot\n```" in page


def test_the_guide_lists_what_tests_use_and_a_short_test():
    orientation, evidence = repository()
    conftest = "def parcel(depot):\n    return 1\n\ndef unused():\n    return 2"
    tests = "\n".join(
        f"def test_{number}(parcel):\n    depot = opened()\n    depot.put(parcel)\n    assert depot\n"
        for number in range(4)
    )
    texts = {
        "tests/conftest.py": conftest,
        "tests/unit/test_depot.py": f"def opened():\n    return 1\n\n{tests}",
    }
    files = {path: file(path, test=True) for path in texts}
    shown = replace(orientation, files=files)
    outlines = {}
    for path, text in texts.items():
        symbols = tuple(chunk_file(path, text).symbols)
        outlines[path] = (
            evidence["types"].outlines["src/depot/depot.py"].model_copy(update={"symbols": symbols})
        )
    entry = next(one for one in contents.plan(shown) if one.key == "run-and-test")
    known = Evidence(outlines=outlines, texts={path: tuple(text.split("\n")) for path, text in texts.items()})

    page = pages.write(entry, shown, known, ())

    assert helpers_of_tests.helper_files(shown) == [*texts]
    assert "| `def parcel(depot)` |" in page
    assert "| `def unused()` |" in page
    assert "| `def opened()` |" in page
    assert "| `def test_0" not in page
    assert "A short test:\n\n`test_0`, `tests/unit/test_depot.py:4-7`:" in page


def test_tests_and_examples_are_no_components():
    orientation, _ = repository()
    files = {path: entry.model_copy(update={"flags": entry.flags.model_copy(update={"test": True})})
             for path, entry in orientation.files.items()}  # fmt: skip

    toc = contents.plan(Orientation(orientation.repo, orientation.overview, orientation.modules, files))

    assert WikiPageKind.COMPONENT not in {entry.kind for entry in toc}


@pytest.mark.parametrize("key", sorted(written(HOSTILE)))
def test_hostile_text_adds_no_heading_link_image_or_html(key):
    tokens = PARSER.parse(written(HOSTILE)[key])
    children = [child for token in tokens for child in token.children or ()]

    assert {child.type for child in children} & {"image", "html_inline"} == set()
    assert "html_block" not in {token.type for token in tokens}
    targets = {str(child.attrs["href"]) for child in children if child.type == "link_open"}
    assert all(re.fullmatch(r"[a-z0-9-]+", target) for target in targets)
    levels = [token.tag for token in tokens if token.type == "heading_open"]
    assert levels.count("h1") == 1


def test_equal_sources_give_an_equal_page_and_hash():
    assert [pages.source_hash(page) for page in written().values()] == [
        pages.source_hash(page) for page in written().values()
    ]


def test_another_text_gives_another_hash():
    assert pages.source_hash("# a\n") != pages.source_hash("# b\n")


def test_two_components_with_like_names_have_two_keys():
    orientation, _ = repository()
    first = orientation.overview.components[0]
    twin = first.model_copy(update={"name": "src/Depot"})
    overview = orientation.overview.model_copy(update={"components": (first, twin)})

    toc = contents.plan(Orientation(orientation.repo, overview, orientation.modules, orientation.files))

    assert [entry.key for entry in toc if entry.subject] == ["component-src-depot", "component-src-depot-2"]


def test_the_header_names_the_commit_and_says_that_the_page_is_generated():
    summary = WikiPageSummary(
        key="k", title="t", kind=WikiPageKind.OVERVIEW, commit="c0ffee12" * 5, is_stale=True
    )

    page = with_header("# t\n\ntext\n", "acme/depot", summary)

    assert page.startswith("# t\n\n*Generated by Prism from commit `c0ffee12c0ff` of acme/depot")
    assert "generate the wiki again" in page
    assert page.endswith("\n\ntext\n")


def flow_of(*branches: TreeBranch, total: int | None = None) -> str:
    """Returns the page of one flow, from a root with these calls."""
    orientation, evidence = repository()
    (calls,) = evidence["flows"].calls
    roots = sum(branch.parent == -1 for branch in branches)
    changed = calls.model_copy(update={"branches": branches, "total": roots if total is None else total})
    entry = next(one for one in contents.plan(orientation) if one.key == "flows")
    return pages.write(entry, orientation, replace(evidence["flows"], calls=(changed,)), ())


def branch(name: str, parent: int = -1, kind: SymbolKind = SymbolKind.FUNCTION) -> TreeBranch:
    (calls,) = repository()[1]["flows"].calls
    node = calls.branches[0].node.model_copy(update={"symbol": name, "kind": kind})
    return calls.branches[0].model_copy(update={"node": node, "parent": parent, "left_out": 0})


def test_a_flow_leaves_out_constants_and_variants():
    page = flow_of(branch("run"), branch("Error.Late", kind=SymbolKind.CONSTANT), branch("stop"))
    assert "`run`" in page
    assert "`stop`" in page
    assert "Error.Late" not in page


def test_a_flow_shows_the_calls_near_its_root_first():
    # The first call has many calls of its own, which would fill the page before the last one.
    crowd = [branch(f"inner_{number}", parent=0) for number in range(60)]
    deep = [branch(f"deep_{number}", parent=2 + number) for number in range(60)]
    page = flow_of(branch("first"), branch("last"), *crowd, *deep)
    assert "`last`" in page
    assert page.count("`inner_") == 12
    assert "  - and 48 more calls" in page


def test_a_flow_counts_the_calls_that_the_graph_left_out():
    assert "- and 5 more calls" in flow_of(branch("first"), total=6)
