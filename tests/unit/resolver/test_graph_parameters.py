"""Parameters of overloads, and which of them arguments fit."""

import pytest

from prism_resolver.parameters import (
    ArgumentFit,
    best_fitting,
    count,
    fits,
    object_of,
    parameters_of,
    without_marks,
)


@pytest.mark.parametrize(
    ("language", "name", "signature", "parameters"),
    [
        ("java", "find", "public int find(final String name, Object... more)", "(String, Object...)"),
        ("java", "find", "<T> void find(List<Map<A, B>> x, int[] y, @Nullable String z)", "(List, int[], String)"),
        ("java", "Depot", "Depot()", "()"),
        ("csharp", "Find", "static int Find(this Depot d, ref int x, params string[] rest)", "(this: Depot, int, string[]...)"),
        ("csharp", "Find", "void Find<T>(Func<int, bool> f = null, Token token = default)", "(Func=, Token=)"),
        ("kotlin", "find", "fun find(name: String, deep: Boolean = false, vararg xs: Int)", "(String, Boolean=, Int...)"),
        ("kotlin", "Depot", "class Depot(val size: Int, private val gate: Gate = Gate())", "(Int, Gate=)"),
        ("kotlin", "Low", "class Low : Base(2)", ""),
        ("cpp", "weigh", "int weigh(const std::string& name, bool deep = false) const", "(string, bool=)"),
        ("cpp", "Depot", "Depot::Depot(const Depot&) : size_(size)", "(Depot)"),
        ("cpp", "open", "void open(void)", "()"),
        ("swift", "find", 'func find(_ x: Int, name y: String = "")', "(Int, name: String=)"),
        ("java", "find", "int find(String name,", ""),  # the signature was cut
    ],
)  # fmt: skip
def test_parameters_are_read_from_a_signature(
    language: str, name: str, signature: str, parameters: str
) -> None:
    assert parameters_of(language, name, signature) == parameters


@pytest.mark.parametrize(
    ("language", "parameters", "arguments", "fit"),
    [
        ("java", "(String, boolean)", "(String, boolean)", ArgumentFit.EXACT),
        ("java", "(String, boolean)", "(String)", ArgumentFit.NO),
        ("java", "(String, boolean)", "(String, ?)", ArgumentFit.MAYBE),
        ("java", "(int)", "(String)", ArgumentFit.NO),
        ("java", "(long)", "(int)", ArgumentFit.MAYBE),
        ("java", "(Object)", "(String)", ArgumentFit.MAYBE),
        ("java", "(T)", "(int)", ArgumentFit.MAYBE),
        ("java", "(Depot)", "(String)", ArgumentFit.NO),
        ("csharp", "(Depot)", "(String)", ArgumentFit.MAYBE),  # a conversion may exist
        ("java", "(int)", "(null)", ArgumentFit.NO),
        ("java", "(String, Object...)", "(String)", ArgumentFit.EXACT),
        ("java", "(Runnable)", "(=>)", ArgumentFit.MAYBE),
        ("java", "(String)", "(=>)", ArgumentFit.NO),
        ("kotlin", "(Int, Gate=)", "(size: int)", ArgumentFit.MAYBE),
        ("swift", "(name: String)", "(size: String)", ArgumentFit.NO),
        ("swift", "(name: String, deep: Bool=)", "(name: String)", ArgumentFit.EXACT),
        ("csharp", "(this: Depot, int)", "(int)", ArgumentFit.EXACT),
        ("csharp", "(this: Depot, int)", "(Depot, int)", ArgumentFit.EXACT),
        ("java", "", "(int)", ArgumentFit.MAYBE),
        ("java", "(int)", "", ArgumentFit.MAYBE),
    ],
)  # fmt: skip
def test_arguments_fit_by_count_and_by_types(
    language: str, parameters: str, arguments: str, fit: ArgumentFit
) -> None:
    assert fits(language, parameters, arguments) is fit


@pytest.mark.parametrize(
    ("overloads", "arguments", "chosen"),
    [
        (["(String)", "(String, boolean)", "(int)"], "(String)", [0]),
        (["(String)", "(String, boolean)", "(int)"], "(String, boolean)", [1]),
        (["(String)", "(int)"], "(?)", [0, 1]),
        (["(String)", "(String, Object...)"], "(?)", [0]),
        (["(Object)", "(String)"], "(String)", [1]),
        (["(String)", "(int)"], "(String, String)", []),
        (["(String)", "(int)"], "", [0, 1]),
    ],
)
def test_best_overload_is_chosen(overloads: list[str], arguments: str, chosen: list[int]) -> None:
    assert best_fitting("java", [[one] for one in overloads], arguments) == chosen


def test_declaration_with_a_default_describes_its_definition() -> None:
    assert best_fitting("cpp", [["(string, bool=)", "(string, bool)"], ["(Depot, int)"]], "(String)") == [0]
    assert without_marks("(string, bool=)") == "(string, bool)"


def test_parameters_are_counted() -> None:
    assert [count(one) for one in ("", "()", "(int)", "(int, String...)")] == [-1, 0, 1, 2]


def test_extended_type_is_that_of_the_object() -> None:
    assert [object_of(one) for one in ("(this: Depot, int)", "(Depot)", "()", "")] == ["Depot", "", "", ""]


def test_only_marks_of_defaults_are_removed() -> None:
    assert without_marks("(=>, int=, Object...)") == "(=>, int, Object...)"
