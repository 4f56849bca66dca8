"""The main functions of a component are shown by what they decide."""

from textwrap import dedent

from wiki_repository import RECEIPT, symbol

from prism_contracts.code import SymbolKind
from prism_contracts.rpc.files import OutlineReply
from prism_scribe.core.wiki.orientation import Evidence
from prism_scribe.core.wiki.walkthrough import (
    LINES_MAX,
    LINES_OF_SMALL_MAX,
    SHOWN_LINES_MAX,
    WHOLE_LINES_MAX,
    walkthrough,
)

SHORT = dedent('''
    def price(parcel, rate):
        """Returns the price."""
        if parcel.weight > 30:
            raise TooHeavy(parcel)
        for extra in parcel.extras:
            rate = rate * 1.2
        return rate
''').strip("\n")


def evidence(path: str, text: str, *functions: tuple[str, int, int], language: str = "python") -> Evidence:
    symbols = tuple(
        symbol(name, SymbolKind.FUNCTION, start).model_copy(update={"end_line": end})
        for name, start, end in functions
    )
    outline = OutlineReply(
        repo="acme/depot",
        file_path=path,
        language=language,
        line_count=len(text.split("\n")),
        symbols=symbols,
        parse="ok",
        receipt=RECEIPT,
    )
    return Evidence(outlines={path: outline}, texts={path: tuple(text.split("\n"))})


def test_a_short_function_is_shown_whole_with_its_place():
    shown = walkthrough(evidence("src/price.py", SHORT, ("price", 1, 7)), ["src/price.py"], 1.0)
    assert shown[:5] == ["### `src/price.py`", "", "`price`, `src/price.py:1-7`:", "", "```python"]
    assert shown[5] == "1  def price(parcel, rate):"
    assert shown[-3:] == ["7      return rate", "```", ""]


def test_a_long_function_shows_first_what_decides_and_fills_the_room():
    plain = [f"    parcel.stop = {number}" for number in range(10, 90)]
    text = "\n".join([
        "def send(parcel):",
        *plain,
        "    # The label is printed last.",
        "    parcel.print_label()",
        "    if parcel.is_lost:",
        "        return None",
        "    elif parcel.is_late:",
        "        raise Late(parcel)",
        *plain,
        "    fee = parcel.weight * rate",
        "    return fee",
    ])  # fmt: skip
    count = len(text.split("\n"))
    shown = walkthrough(evidence("src/send.py", text, ("send", 1, count)), ["src/send.py"], 1.0)
    code = [line.lstrip("0123456789 ") for line in shown[5:-2]]
    told = ["# The label is printed last.", "parcel.print_label()", "if parcel.is_lost:", "return None"]
    assert set(told) <= set(code)
    assert code[-1] == "return fee"
    assert "…" in code
    assert SHOWN_LINES_MAX <= len(code) <= SHOWN_LINES_MAX + 8


def test_a_function_without_decisions_is_shown_where_there_is_room():
    text = SHORT + "\ndef close(parcel):\n    parcel.seal()\n    return parcel"
    known = evidence("src/close.py", text, ("price", 1, 7), ("close", 8, 10))
    assert "`close`, `src/close.py:8-10`:" in walkthrough(known, ["src/close.py"], 1.0)


def test_functions_of_tests_inside_a_file_are_left_out():
    shown = walkthrough(evidence("src/price.py", SHORT, ("tests.price", 1, 7)), ["src/price.py"], 1.0)
    assert shown == []


def test_a_page_shows_no_more_lines_than_its_share():
    body = ["    if a:", "        return 1"] * (WHOLE_LINES_MAX // 3)
    text = "\n".join("\n".join([f"def f{number}(a):", f"    only_{number}", *body]) for number in range(40))
    length = len(body) + 2
    functions = [(f"f{number}", 1 + number * length, (number + 1) * length) for number in range(40)]
    for share, most in ((1.0, LINES_MAX), (0.01, LINES_OF_SMALL_MAX)):
        shown = walkthrough(evidence("src/f.py", text, *functions), ["src/f.py"], share)
        lines = sum(line.lstrip().partition(" ")[0].isdigit() for line in shown)
        assert most - length < lines <= most


def test_code_of_the_repository_cannot_end_the_block():
    text = SHORT.replace('"""Returns the price."""', '"```"')
    shown = walkthrough(evidence("src/price.py", text, ("price", 1, 7)), ["src/price.py"], 1.0)
    assert shown[4] == "````python"
    assert shown[-2] == "````"


def test_a_short_function_between_others_is_shown_and_one_that_only_shows_an_object_is_not():
    text = dedent("""
        def send(parcel):
            parcel = check(parcel)
            return deliver(parcel)
        def __repr__(self):
            if self.a and check(self):
                return "a"
            elif self.b:
                return deliver("b")
        def check(parcel):
            return parcel
        def deliver(parcel):
            return parcel
    """).strip("\n")
    functions = [("send", 1, 3), ("__repr__", 4, 8), ("check", 9, 10), ("deliver", 11, 12)]
    shown = walkthrough(evidence("src/send.py", text, *functions), ["src/send.py"], 1.0)
    assert [line for line in shown if line.startswith("`s")] == ["`send`, `src/send.py:1-3`:"]
    assert not any("__repr__" in line for line in shown)


def test_documentation_in_a_function_is_left_out():
    text = SHORT.replace('"""Returns the price."""', '"""Returns the price.\n\n    In full.\n    """')
    shown = walkthrough(evidence("src/price.py", text, ("price", 1, 10)), ["src/price.py"], 1.0)
    assert not any("In full" in line for line in shown)
    assert any("raise TooHeavy" in line for line in shown)


def test_of_functions_with_equal_shapes_one_is_shown():
    other = SHORT.replace("price(", "fee(")
    shown = walkthrough(
        evidence("src/price.py", f"{SHORT}\n{other}", ("price", 1, 7), ("fee", 8, 14)), ["src/price.py"], 1.0
    )
    assert len([line for line in shown if line.startswith("`") and ":" in line and "src" in line]) == 1


def test_a_short_method_that_the_language_calls_is_shown():
    text = "def __call__(self, parcel):\n    return self.depot.send(parcel)\ndef close(self):\n    return self.depot.shut()"
    shown = walkthrough(
        evidence("src/send.py", text, ("__call__", 1, 2), ("close", 3, 4)), ["src/send.py"], 1.0
    )
    assert [line for line in shown if line.startswith(("`_", "`c"))] == ["`__call__`, `src/send.py:1-2`:"]


def test_a_long_function_keeps_its_last_decisions():
    body = [
        f"    if parcel.{letter}{letter2}:\n        parcel.stop()"
        for letter in "abcdefgh"
        for letter2 in "abcdefgh"
    ]
    text = "\n".join(["def send(parcel):", *body, "    return last_word(parcel)"])
    count = len(text.split("\n"))
    shown = walkthrough(evidence("src/send.py", text, ("send", 1, count)), ["src/send.py"], 1.0)
    assert f"{count}      return last_word(parcel)" in shown
    assert any("parcel.aa" in line for line in shown)


def test_a_long_function_shows_the_calls_of_others():
    plain = [f"    parcel.stop = {number}" for number in range(10, 90)]
    text = "\n".join([
        "def send(parcel):", *plain, "    lift(parcel)", *plain, "def lift(parcel):", "    return parcel",
    ])  # fmt: skip
    count = len(text.split("\n"))
    functions = [("send", 1, count - 2), ("lift", count - 1, count)]
    shown = walkthrough(evidence("src/send.py", text, *functions), ["src/send.py"], 1.0)
    assert f" {len(plain) + 2}      lift(parcel)" in shown


def test_an_error_that_is_only_passed_on_is_left_out_first():
    passed = [
        line
        for number in range(60)
        for line in (f"\ta{number}, err := step{number}()", "\tif err != nil {", "\t\treturn err", "\t}")
    ]
    text = "\n".join(["func send() error {", *passed, "\tif late {", "\t\treturn ErrLate", "\t}", "}"])
    count = len(text.split("\n"))
    known = evidence("send.go", text, ("send", 1, count), language="go")
    code = [line.lstrip("0123456789 ") for line in walkthrough(known, ["send.go"], 1.0)]
    assert "return ErrLate" in code
    assert sum("step" in line for line in code) > sum(line == "return err" for line in code)
