"""The ways in which edges may differ from the truth, on constructed edges."""

from bench.graph.compare import Answer, Defined, Edge, Symbol, Verdict, compare
from bench.graph.truth import Meaning, Truth, Use
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy, SymbolKind

RATE = Symbol("fares.py", "rate")
BOAT = Symbol("boats.py", "Boat")
MADE = Symbol("boats.py", "Boat.__init__")
CLOSE = Symbol("boats.py", "Boat.close")
SHIP = Symbol("Ship.java", "Ship")
OTHER_CLOSE = Symbol("fares.py", "Register.close")
DEFINED = [
    Defined(RATE, SymbolKind.FUNCTION, 1, 4),
    Defined(OTHER_CLOSE, SymbolKind.METHOD, 8, 9),
    Defined(BOAT, SymbolKind.CLASS, 1, 20),
    Defined(MADE, SymbolKind.CONSTRUCTOR, 2, 4),
    Defined(CLOSE, SymbolKind.METHOD, 6, 7),
    Defined(CLOSE, SymbolKind.METHOD, 9, 10),  # the setter of a property
    Defined(SHIP, SymbolKind.CLASS, 1, 9),
    Defined(Symbol("Ship.java", "Ship.Ship"), SymbolKind.CONSTRUCTOR, 2, 3),
]
MEANT = {
    RATE: Meaning("fares.py", 1, "rate", "function"),
    OTHER_CLOSE: Meaning("fares.py", 8, "close", "function"),
    BOAT: Meaning("boats.py", 1, "Boat", "class"),
    SHIP: Meaning("Ship.java", 1, "Ship", "class"),
    CLOSE: Meaning("boats.py", 10, "close", "function"),
}


def use(name: str, *means: Symbol, line: int = 5, outside: bool = False) -> Use:
    return Use("main.py", line, name, "calls", tuple(MEANT[one] for one in means), outside)


def edge(line: int = 5, status: EdgeStatus = EdgeStatus.RESOLVED, path: str = "main.py") -> Edge:
    return Edge(path, line, EdgeKind.CALLS, status, Strategy.IMPORT)


def answer(asked: Symbol, *edges: Edge, unexplained: int = 0) -> Answer:
    return Answer(asked, edges, unexplained)


def compared(uses: list[Use], *answers: Answer):
    truth = Truth(resolver="by hand", files=frozenset({"main.py"}), uses=tuple(uses))
    return compare(truth, DEFINED, answers)


def verdict(uses: list[Use], asked: Symbol) -> Verdict:
    (judged,) = compared(uses, answer(asked, edge())).judged
    return judged.verdict


def test_an_edge_that_the_truth_has_is_right() -> None:
    assert verdict([use("rate", RATE)], RATE) is Verdict.RIGHT


def test_an_edge_to_another_definition_of_the_name_is_wrong() -> None:
    assert verdict([use("close", OTHER_CLOSE)], CLOSE) is Verdict.WRONG


def test_edge_to_an_outside_definition_is_wrong() -> None:
    assert verdict([use("close", outside=True)], CLOSE) is Verdict.WRONG


def test_an_edge_that_the_truth_does_not_know_is_unjudged() -> None:
    assert verdict([use("close")], CLOSE) is Verdict.UNJUDGED
    assert verdict([], CLOSE) is Verdict.UNJUDGED


def test_what_a_called_field_may_hold_is_unjudged() -> None:
    held = edge(status=EdgeStatus.CANDIDATE)._replace(strategy=Strategy.STORED)
    (judged,) = compared([use("open", outside=True)], answer(RATE, held)).judged
    assert judged.verdict is Verdict.UNJUDGED


def test_other_names_decide_only_on_lines_without_the_symbol() -> None:
    assert verdict([use("close"), use("rate", RATE)], CLOSE) is Verdict.UNJUDGED
    assert verdict([use("price", RATE)], CLOSE) is Verdict.WRONG  # mistaken for an alias


def test_an_edge_under_an_alias_is_right() -> None:
    assert verdict([use("price", RATE)], RATE) is Verdict.RIGHT


def test_calling_a_class_calls_its_constructor() -> None:
    assert verdict([use("Boat", BOAT)], MADE) is Verdict.RIGHT
    assert verdict([use("Boat", BOAT)], CLOSE) is Verdict.WRONG


def test_constructor_may_have_the_name_of_its_class() -> None:
    assert verdict([use("Ship", SHIP)], Symbol("Ship.java", "Ship.Ship")) is Verdict.RIGHT


def test_bare_name_covers_all_symbols_of_that_name_in_the_file() -> None:
    asked = Symbol("boats.py", "close")
    assert verdict([use("close", CLOSE)], asked) is Verdict.RIGHT
    assert verdict([use("close", OTHER_CLOSE)], asked) is Verdict.WRONG


def test_variable_inside_a_function_of_its_name_is_distinct() -> None:
    local = Use("main.py", 5, "rate", "calls", (Meaning("fares.py", 2, "rate", "value"),), outside=False)
    assert verdict([local], RATE) is Verdict.WRONG
    assert not compared([local]).sought


def test_edges_in_files_without_truth_are_left_out() -> None:
    assert not compared([], answer(RATE, edge(path="other.py"))).judged


def test_definitions_outside_the_build_are_not_judged() -> None:
    truth = Truth(
        resolver="by hand", files={"main.py"}, unbuilt={"fares.py"}, uses=(use("rate", outside=True),)
    )
    assert not compare(truth, DEFINED, [answer(RATE, edge())]).judged


def test_an_edge_takes_the_most_certain_answer_of_its_line() -> None:
    candidate = edge(status=EdgeStatus.CANDIDATE)
    (sought,) = compared([use("rate", RATE)], answer(RATE, candidate)).sought
    assert sought.status is EdgeStatus.CANDIDATE
    (sought,) = compared([use("rate", RATE)], answer(RATE, candidate, edge())).sought
    assert sought.status is EdgeStatus.RESOLVED


def test_unanswered_edge_is_missing() -> None:
    (sought,) = compared([use("rate", RATE)], answer(RATE, edge(line=6))).sought
    assert sought.status is None


def test_uses_of_a_line_count_once_and_overloads_are_one_symbol() -> None:
    setter = use("close", CLOSE)._replace(means=(MEANT[CLOSE], MEANT[CLOSE]._replace(line=6)))
    assert len(compared([setter, setter], answer(CLOSE)).sought) == 1


def test_edge_to_a_definition_without_a_symbol_is_missing() -> None:
    unknown = Use(
        "main.py", 5, "fold", "calls", (Meaning("fares.py", 30, "fold", "function"),), outside=False
    )
    (sought,) = compared([unknown], answer(RATE)).sought
    assert (sought.asked, sought.status) == (None, None)


def test_used_symbol_without_edges_or_lines_is_a_false_zero() -> None:
    uses = [use("rate", RATE)]
    assert compared(uses, answer(RATE)).false_zeros == (RATE,)
    assert not compared(uses, answer(RATE, unexplained=1)).false_zeros
    assert not compared(uses, answer(RATE, edge(line=9))).false_zeros
    assert not compared(uses, answer(CLOSE)).false_zeros


def test_a_member_of_cpp_is_one_symbol_in_header_and_source() -> None:
    header, source = Symbol("depot.h", "Depot.open"), Symbol("depot.cpp", "Depot.open")
    defined = [Defined(one, SymbolKind.METHOD, 1, 3) for one in (header, source)]
    means = (Meaning("depot.h", 1, "open", "function"),)
    uses = (Use("main.cpp", 5, "open", "calls", means, outside=False),)
    truth = Truth(resolver="by hand", files=frozenset({"main.cpp"}), uses=uses)
    (judged,) = compare(truth, defined, [answer(source, edge(path="main.cpp"))]).judged
    assert judged.verdict is Verdict.RIGHT
