"""The page and the list of differences of a comparison."""

from bench.graph.compare import Comparison, Edge, Judged, Sought, Symbol, Verdict
from bench.graph.page import Measured, differences, page
from bench.graph.truth import Meaning, Truth, Use
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy

RATE = Symbol("fares.py", "rate")
MEANT = Meaning("fares.py", 1, "rate", "function")
USE = Use("main.py", 5, "rate", "calls", (MEANT,), outside=False)
LINES = ["", "", "", "", "total = rate(1)", "", "book.rate(2)"]
ELSEWHERE = USE._replace(line=7, means=(), outside=True)


def judged(verdict: Verdict, status: EdgeStatus = EdgeStatus.RESOLVED, *uses: Use) -> Judged:
    edge = Edge("main.py", 7, EdgeKind.CALLS, status, Strategy.IMPORT)
    return Judged(RATE, edge, verdict, uses)


def sought(status: EdgeStatus | None) -> Sought:
    return Sought(RATE, USE, MEANT, status)


def measured(name: str = "ferry") -> Measured:
    comparison = Comparison(
        judged=(
            *[judged(Verdict.RIGHT)] * 3,
            judged(Verdict.WRONG, EdgeStatus.RESOLVED, ELSEWHERE),
            judged(Verdict.UNJUDGED),
            judged(Verdict.WRONG, EdgeStatus.CANDIDATE, ELSEWHERE),
        ),
        sought=(sought(EdgeStatus.RESOLVED), sought(EdgeStatus.CANDIDATE), *[sought(None)] * 2),
        false_zeros=(RATE,),
    )
    truth = Truth(resolver="by hand", files=frozenset({"main.py"}), uses=())
    return Measured("Python", name, "abc", 2, 10, truth, comparison, {"main.py": LINES})


def test_a_repository_has_its_precision_and_its_recall() -> None:
    text = page([measured()], 6_000, 1)
    assert "**10 symbols, 1 false zeros.**" in text
    assert "| Python | ferry | `abc` | 1 / 2 | 10 | 5 | 1 | 1 | 0.750 | 4 | 0.250 | 0.500 | 1 |" in text


def test_repositories_of_a_language_are_summed_up() -> None:
    text = page([measured("ferry"), measured("depot")], 6_000, 1)
    assert "| Python | *all* |  | 2 / 4 | 20 | 10 | 2 | 2 | 0.750 | 8 | 0.250 | 0.500 | 2 |" in text


def test_strategies_count_candidates_and_kinds_do_not() -> None:
    text = page([measured()], 6_000, 1)
    assert "| Python | `import` | 6 | 3 | 2 | 1 | 0.600 |" in text
    assert "| Python | calls | 5 | 1 | 1 | 0.750 | 4 | 0.250 | 0.500 |" in text


def test_habits_count_true_edges_and_wrong_ones() -> None:
    text = page([measured()], 6_000, 1)
    assert "| call by the bare name | Python | 1 | 1 | 2 | 0 | 0.250 |" in text
    assert "| call on a variable or field | Python | 0 | 0 | 0 | 1 |  |" in text


def test_differences_are_listed_with_their_places() -> None:
    assert list(differences(measured())) == [
        "ferry\twrong resolved\tcalls import\tfares.py rate\tmain.py:7\toutside",
        "ferry\twrong candidate\tcalls import\tfares.py rate\tmain.py:7\toutside",
        "ferry\tonly candidate\tcalls \tfares.py:1 rate\tmain.py:5\trate",
        *["ferry\tmissing\tcalls \tfares.py:1 rate\tmain.py:5\trate"] * 2,
        "ferry\tfalse zero\t\tfares.py rate\t\t",
    ]
