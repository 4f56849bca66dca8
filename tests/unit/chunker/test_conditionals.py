"""Conditionals of C that cut through its syntax: one branch keeps its offset, and no definition of the others
is lost.
"""

import pytest
from cpu_time import within_cpu_s

from prism_chunker.core import chunk_file
from prism_chunker.core.conditionals import CONDITIONALS_DEPTH_MAX, resolve_conditionals

from .test_partition import assert_partitions

SECONDS_MAX = 4.0
REST = "\nint total(int a) {\n  return a;\n}\n"


def resolved(text: str) -> str:
    """Returns the remaining rows of a text, stripped."""
    source = resolve_conditionals(text.encode()).source
    assert len(source) == len(text.encode())
    assert source.count(b"\n") == text.count("\n")
    return " ".join(source.decode().split())


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("#ifdef A\nif (a) {\n#else\nif (b) {\n#endif\n}\n", "if (a) { }"),
        ("f();\n#ifdef A\n} else if (a) {\n#endif\n", "f(); } else if (a) {"),
        ("}\n#ifdef A\nelse if (a) {\n}\n#endif\n", "} else if (a) { }"),
        ("if (a\n#ifdef A\n && b\n#endif\n) {\n}\n", "if (a && b ) { }"),
        ("return a\n#if A\n + b;\n#elif B\n + c;\n#else\n;\n#endif\n", "return a + b;"),
        ("#ifdef A\nstatic\n#endif\nint a;\n", "static int a;"),
        ("#ifdef A\nint f(int a)\n#else\nint f(void)\n#endif\n{\n}\n", "int f(int a) { }"),
        ("if (a)\n#ifdef A\n f();\n#else\n g();\n#endif\n", "if (a) f();"),
        ("#ifdef A\nf();\nlast:\n#endif\n", "f(); last:"),
        ("#if 0\nif (a) {\n#else\nif (b) {\n#endif\n", "if (b) {"),
        ('#ifdef __cplusplus\nextern "C" {\n#endif\nint a;\n', "int a;"),
        ('# if defined(__cplusplus) // C\nextern "C" {\n#endif\nint a;\n', "int a;"),
        ("int a[] = {\n 1,\n#ifdef A\n 2,\n#else\n 3,\n#endif\n};\n", "int a[] = { 1, 2, 3, };"),
        ("#ifdef A\n#ifdef B\nif (a) {\n#else\nif (b) {\n#endif\n}\n#endif\n", "#ifdef A if (a) { } #endif"),
        ("#ifdef A\r\nif (a) {\r\n#else\r\nif (b) {\r\n#endif\r\n}\r\n", "if (a) { }"),
        ("#if A && \\\n  B\nif (a) {\n#endif /* A\n and B */\n}\n", "if (a) { }"),
    ],
)
def test_a_conditional_within_a_statement_is_resolved(text: str, stays: str) -> None:
    assert resolved(text) == stays


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef A\nint f(void) { return 1; }\n#else\nint f(void) { return 2; }\n#endif\n",
        "int f(void) {\n#ifdef A\n  g();\n#endif\n}\n",
        "switch (a) {\ncase 1:\n#ifdef A\n  g();\n#else\n  h();\n#endif\n}\n",
        "#ifdef A\n#define OPEN {\n#else\n#define OPEN (\n#endif\nint a;\n",
        '#ifdef A\nchar a = \'{\'; // {\nchar *b = "}\\"("; /* ( */\n#endif\n',
        "/*\n#ifdef A\nif (a) {\n#endif\n*/\nint a;\n",
        "#ifdef A\nif (a) {\n",
        "}\n#else\n{\n#endif\n#elif\n",
        "#error don't\n#ifdef A\nint a;\n#endif\n",
    ],
)
def test_parsable_source_is_unchanged(text: str) -> None:
    assert resolve_conditionals(text.encode()).source.decode() == text


def test_later_definitions_are_not_nested() -> None:
    text = (
        "int poll(int a) {\n#ifdef A\n  if (a) {\n#else\n  if (b(a)) {\n#endif\n    run(a);\n  }\n}\n" + REST
    )
    parsed = chunk_file("a.c", text)
    assert [(one.name, one.start_line, one.end_line, one.parent) for one in parsed.symbols] == [
        ("poll", 1, 9, -1),
        ("total", 11, 13, -1),
    ]
    assert parsed.parse == "ok"
    assert_partitions(parsed, text)


def test_removed_branches_are_parsed_separately() -> None:
    head = "#ifdef A\nint f(int a) {\n#else\nint helper(void) {\n  return deep();\n}\n"
    text = head + "int f(void) {\n  shallow();\n#endif\n  run();\n}\n" + REST
    parsed = chunk_file("a.c", text)
    assert [one.name for one in parsed.symbols] == ["f", "helper", "total"]
    assert {one.name for one in parsed.references} == {"A", "deep", "shallow", "run"}


def test_a_separately_parsed_branch_defines_symbols_too() -> None:
    text = "SHOP_ITEM(a)\n#ifdef A\nint one(void) { return 1; }\n#else\nint two(void) { return go(); }\n#endif\n{\n"
    parsed = chunk_file("a.c", text)
    assert {one.name for one in parsed.symbols} == {"one", "two"}
    assert [(one.name, one.line) for one in parsed.references if one.name == "go"] == [("go", 5)]


def test_branches_in_a_removed_branch_are_removed_with_it() -> None:
    text = "#ifdef A\nif (a) {\n#else\n#ifdef B\nif (b) {\n#else\nif (c) {\n#endif\n#endif\n}\n"
    found = resolve_conditionals(text.encode())
    assert [text[start:end] for start, end in found.gone] == ["#ifdef B\nif (b) {\n#else\nif (c) {\n#endif\n"]
    assert found.branches[slice(*found.gone[0])].split() == b"if (b) {".split()


def nested_conditionals(depth: int) -> str:
    return "#ifdef A\n" * depth + "if (a) {\n" + "#endif\n" * depth


def test_conditionals_in_conditionals_are_resolved_to_a_depth() -> None:
    assert resolved(nested_conditionals(CONDITIONALS_DEPTH_MAX)) == "if (a) {"
    assert "#ifdef" in resolved(nested_conditionals(CONDITIONALS_DEPTH_MAX + 1))


@pytest.mark.parametrize(
    "text",
    [
        "#if A\n" * 100_000,
        "#if A\n{\n#else\n" * 100_000,
        "#if A\n{\n#else\n{\n#endif\n" * 50_000,
        "#if A\n" + "#if B\n{\n#else\n{\n#endif\n#elif C\n{\n" * 30_000 + "#endif\n",
        "#if A\n" + "/*" * 300_000,
        "#if A\n" + "/*/" * 200_000,
        "#if A\n" + '"\\' * 200_000,
        "#if A\n" + "'\\\n" * 200_000,
        "#if A \\\n" * 100_000,
        "#" * 300_000,
        "# " * 200_000,
    ],
)
def test_long_texts_take_linear_time(text: str) -> None:
    within_cpu_s(SECONDS_MAX, resolve_conditionals, text.encode())


def test_many_branches_take_linear_time() -> None:
    text = "#if A\nint a\n#else\nint b\n#endif\n;\n" * 10_000
    parsed = within_cpu_s(SECONDS_MAX, chunk_file, "a.c", text)
    assert_partitions(parsed, text)


CSHARP = """\
class Depot {
#if FAST
  void Open(int a)
#else
  void Open(long a)
#endif
  {
#if DEBUG
    if (IsReady(1)) {
#else
    if (IsReady(2)) {
#endif
      Run();
    }
  }
  void Close() { Stop(); }
}
"""


def test_a_conditional_of_csharp_does_not_hide_its_class() -> None:
    parsed = chunk_file("Depot.cs", CSHARP)
    found = [one.qualified_name for one in parsed.symbols]
    assert found == ["Depot", "Depot.Open", "Depot.Close"]
    assert [(one.name, one.line) for one in parsed.references] == [
        ("IsReady", 9),
        ("IsReady", 11),
        ("Run", 13),
        ("Stop", 16),
    ]


SWIFT = """\
class Depot {
#if os(Linux)
  func open() { run(1) }
#else
  func close() { run(2) }
#endif
  func all() {
    first()
#if DEBUG
      .second()
#endif
      .third()
  }
}
"""


def test_a_conditional_of_swift_does_not_end_its_class() -> None:
    parsed = chunk_file("Depot.swift", SWIFT)
    found = [one.qualified_name for one in parsed.symbols]
    assert found == ["Depot", "Depot.open", "Depot.close", "Depot.all"]
    assert [(one.qualifier, one.name) for one in parsed.references] == [
        ("", "run"),
        ("", "run"),
        ("", "first"),
        ("first()", "second"),
        ("first() .second()", "third"),
    ]
    assert parsed.parse == "ok"
    assert_partitions(parsed, SWIFT)
