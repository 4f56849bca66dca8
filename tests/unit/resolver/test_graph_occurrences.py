"""Occurrences of a SCIP index override the rules while the files are unchanged."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from graph_files import facts_of
from scip_files import (
    FEE_RATE,
    FILES,
    STANDARD,
    ZONE,
    ZONE_RATE,
    At,
    columns_of,
    define,
    document,
    own,
    parcels,
)

from prism_resolver.facts import FileFacts
from prism_resolver.occurrences import Columns, OccurrenceIndex, Occurrences
from prism_resolver.program import Program
from prism_resolver.resolution import Resolver, edges
from prism_scip.scip_pb2 import Document

DEPOT = "parcels/depot.py"
GUESSED = {"name? parcels/rates.py Zone.rate", "name? parcels/fees.py Fee.rate"}


def facts(path: str, text: str, scope: str = "r/base") -> FileFacts:
    return replace(
        facts_of(path, text, scope), id=path if scope == "r/base" else f"{scope}:{path}", blob=text
    )


def occurrences(documents: Sequence[Document], files: dict[str, str]) -> Occurrences:
    columns = Columns.unpacked(columns_of(documents, files).packed())
    return Occurrences([OccurrenceIndex(columns, lambda path: path)])


def edges_in(
    documents: Sequence[Document], files: dict[str, str], changed: Sequence[FileFacts] = (), path: str = DEPOT
) -> set[str]:
    """Returns the edges of a file as `strategy path symbol`, candidates with a question mark."""
    program = Program(occurrences(documents, files))
    known = {name: facts(name, text) for name, text in files.items()} | {one.path: one for one in changed}
    for one in known.values():
        program.add(one)
    return {
        f"{edge.strategy}{'?' if edge.status == 'candidate' else ''} "
        f"{program.units[edge.target.file].file.path} {program.definition(edge.target).qualified_name}"
        for edge in edges(program, known[path])
        if edge.target.symbol >= 0
    }


def test_without_an_index_only_the_name_matches() -> None:
    assert edges_in([], FILES) == GUESSED


def test_an_occurrence_of_an_index_is_resolved() -> None:
    assert edges_in(parcels(), FILES) == {"scip parcels/rates.py Zone.rate"}


@pytest.mark.parametrize("path", ["parcels/depot.py", "parcels/rates.py"])
def test_a_changed_file_falls_back_to_the_rules(path) -> None:
    changed = facts(path, "\n" + FILES[path])
    assert edges_in(parcels(), FILES, [changed]) == GUESSED


def test_a_change_of_an_unrelated_file_has_no_effect() -> None:
    changed = facts("parcels/fees.py", "\n" + FILES["parcels/fees.py"])
    assert edges_in(parcels(), FILES, [changed]) == {"scip parcels/rates.py Zone.rate"}


def test_an_external_symbol_of_an_index_is_no_edge() -> None:
    outside = document(DEPOT, [At(STANDARD + "book/rate().", 1, 16, 20)])
    assert edges_in([*parcels()[:2], outside], FILES) == set()


def test_an_external_symbol_of_an_index_leaves_what_the_rules_resolve() -> None:
    files = FILES | {DEPOT: "from .fees import Fee\nFee().rate()\n"}
    installed = At("scip-python python parcels-installed 2.0 `parcels.fees`/Fee#rate().", 1, 6, 10)
    found = edges_in([*parcels()[:2], document(DEPOT, [installed])], files)
    assert "receiver_type parcels/fees.py Fee.rate" in found
    assert not any("Zone" in edge for edge in found)


def test_a_definition_without_a_symbol_is_no_edge() -> None:
    parameter = own("`parcels.depot`/price().(rate)")
    here = document(DEPOT, [define(parameter, 0, 10, 14), At(parameter, 1, 16, 20)])
    assert edges_in([*parcels()[:2], here], FILES) == set()


def test_an_occurrence_overrides_the_rules() -> None:
    files = FILES | {DEPOT: "from .fees import Fee\nFee().rate()\n"}
    assert "receiver_type parcels/fees.py Fee.rate" in edges_in([], files)
    found = edges_in([*parcels()[:2], document(DEPOT, [At(ZONE_RATE, 1, 6, 10)])], files)
    assert "scip parcels/rates.py Zone.rate" in found
    assert "receiver_type parcels/fees.py Fee.rate" not in found


def test_an_import_is_matched_by_its_local_name() -> None:
    files = FILES | {DEPOT: "from far import Zone as Area\nArea()\n"}
    here = document(DEPOT, [At(ZONE, 0, 16, 20), At(ZONE, 1, 0, 4)])
    assert edges_in([*parcels()[:2], here], files) == {"scip parcels/rates.py Zone"}


def test_a_constructor_call_by_class_name_means_the_class() -> None:
    java = "class Zone {\n  Zone(int n) {}\n}\n"
    files = {"Zone.java": java, "User.java": "class User {\n  Object f() { return new Zone(1); }\n}\n"}
    made = own("Zone#`<init>`().")
    index = [
        document("Zone.java", [define(own("Zone#"), 0, 6, 10), define(made, 1, 2, 6)]),
        document("User.java", [At(made, 1, 26, 30)]),
    ]
    assert edges_in(index, files, path="User.java") == {"scip Zone.java Zone"}


def test_a_deleted_target_falls_back_to_the_rules() -> None:
    program, user = Program(occurrences(parcels(), FILES)), facts(DEPOT, FILES[DEPOT])
    program.add(user)
    program.add(facts("parcels/fees.py", FILES["parcels/fees.py"]))
    assert [edge.strategy for edge in edges(program, user)] == ["only_definition"]


def test_implicit_implementations_are_returned() -> None:
    files = {
        "a.go": "package a\ntype Weigher interface {\n\tWeigh() int\n}\n",
        "b.go": "package a\ntype Depot struct{}\n\nfunc (d *Depot) Weigh() int { return 1 }\n",
    }
    weigher, depot = own("Weigher#"), own("Depot#")
    index = [
        document("a.go", [define(weigher, 1, 5, 12)]),
        document("b.go", [define(depot, 1, 5, 10)], [(depot, weigher)]),
    ]
    program = Program(occurrences(index, files))
    known = {path: facts(path, text) for path, text in files.items()}
    for one in known.values():
        program.add(one)
    ((reference, meaning),) = Resolver(program, known["b.go"]).implementations()
    assert (reference.name, reference.line, reference.kind) == ("", 2, "implements")
    assert [program.definition(place).name for place in meaning.targets] == ["Weigher"]
    assert known["b.go"].symbols[reference.symbol].name == "Depot"


def test_declared_inheritance_is_not_returned_twice() -> None:
    files = {"a.py": "class Base: ...\n", "b.py": "from a import Base\nclass Depot(\n    Base,\n): ...\n"}
    base, depot = own("`a`/Base#"), own("`b`/Depot#")
    index = [
        document("a.py", [define(base, 0, 6, 10)]),
        document("b.py", [define(depot, 1, 6, 11)], [(depot, base)]),
    ]
    program = Program(occurrences(index, files))
    known = {path: facts(path, text) for path, text in files.items()}
    for one in known.values():
        program.add(one)
    assert list(Resolver(program, known["b.py"]).implementations()) == []


def test_dependents_of_a_file_are_known() -> None:
    known = occurrences(
        [*parcels(), document("parcels/zones.py", [define(own("Far#"), 0, 0, 3)], [(own("Far#"), ZONE)])],
        FILES | {"parcels/zones.py": "Far"},
    )
    assert known.using(["parcels/rates.py", "parcels/depot.py"]) == {DEPOT}
    assert known.implementing(["parcels/rates.py"]) == {"parcels/zones.py"}
    assert known.using(["parcels/fees.py"]) == known.implementing(["no/file.py"]) == set()


def test_definitions_in_unread_files_are_elsewhere() -> None:
    program = Program(occurrences(parcels(), FILES), unloaded=FILES)
    user, fees = facts(DEPOT, FILES[DEPOT]), facts("parcels/fees.py", FILES["parcels/fees.py"])
    program.add(user)
    program.add(fees)
    assert list(edges(program, user)) == []


def test_two_indexes_of_a_file_are_combined() -> None:
    both = Occurrences(
        [*occurrences(parcels(), FILES).indexes, *occurrences([*parcels()[:2], document(DEPOT, [At(FEE_RATE, 1, 16, 20)])], FILES).indexes]
    )  # fmt: skip
    found = both.find(DEPOT, FILES[DEPOT], 2, "rate")
    assert found
    assert {spot.file for spot in found} == {"parcels/rates.py", "parcels/fees.py"}
    assert both.find(DEPOT, FILES[DEPOT], 1, "rate") is None


def test_an_index_of_commonjs_keeps_the_edges_that_it_lacks() -> None:
    """An indexer of TypeScript lists neither what `exports.f = …` defines nor the calls of it."""
    files = {
        "gate.js": "exports.swing = function () {};\nfunction weigh() {}\nexports.weigh = weigh;\n",
        "main.js": "const gate = require('./gate');\ngate.swing();\ngate.weigh();\n",
    }
    whole, weigh = (f"scip-typescript npm . . `gate.js`/{name}" for name in ("", "weigh()."))
    index = [
        document("gate.js", [define(whole, 0, 0, 0), define(weigh, 1, 9, 14)]),
        document("main.js", [At(whole, 0, 6, 10), At(weigh, 2, 5, 10)]),
    ]
    assert edges_in(index, files, path="main.js") == {
        "module gate.js exports.swing",
        "scip gate.js weigh",
    }
