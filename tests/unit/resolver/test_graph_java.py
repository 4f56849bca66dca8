"""Names that Java reads through annotations, nested types and the object of an outer class."""

import pytest
from graph_files import edges_of

DEPOT = """package a;
import a.Depot.Gate;
import a.Depot.Gate.Bolt;
public class Depot {
  public @interface Rate { String name() default ""; int size() default 1; }
  public @interface Marked {}
  public static class Gate { public static class Bolt {} private String side; String side() { return side; } }
  Bolt bolt;
  String label() { return ""; }
  void open() {}
  class Crate {
    private final String label = label();
    void open() { Depot.this.open(); }
  }
}
"""


@pytest.mark.parametrize(
    "found",
    [
        "a/Depot.java:2 Gate -> a/Depot.java:Depot.Gate import",
        "a/Depot.java:3 Bolt -> a/Depot.java:Depot.Gate.Bolt import",
        "a/Depot.java:3 Depot -> a/Depot.java:Depot import",
        "a/Depot.java:8 Bolt -> a/Depot.java:Depot.Gate.Bolt import",
        "a/Depot.java:12 label -> a/Depot.java:Depot.label receiver",
        "a/Depot.java:13 open -> a/Depot.java:Depot.open receiver",
    ],
)
def test_a_class_of_java_uses_its_nested_types_and_the_object_around(found: str) -> None:
    assert found in edges_of({"a/Depot.java": DEPOT})


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('@Depot.Rate(name = "x", size = 2)', ["Depot.Rate", "Depot.Rate.name", "Depot.Rate.size"]),
        ("@Depot.Marked", ["Depot.Marked", "Depot"]),
        ("@Rate(size = 2)", ["Depot.Rate.size"]),
    ],
)
def test_an_annotation_of_java_uses_its_elements(code: str, found: list[str]) -> None:
    source = (
        f"package b;\nimport a.Depot;\nimport a.Depot.Rate;\nclass Shop {{\n  {code}\n  void f() {{}}\n}}\n"
    )
    edges = edges_of({"a/Depot.java": DEPOT, "b/Shop.java": source})
    for one in found:
        start = f"b/Shop.java:5 {one.rpartition('.')[2]} -> a/Depot.java:{one} "
        assert [edge for edge in edges if edge.startswith(start) and not edge.endswith("?")], edges


def test_an_annotation_that_is_read_has_its_type() -> None:
    source = """package b;
import a.Depot.Rate;
class Shop {
  String f(Method method) { return method.getAnnotation(Rate.class).name(); }
}
"""
    edges = edges_of({"a/Depot.java": DEPOT, "b/Shop.java": source})
    assert "b/Shop.java:4 name -> a/Depot.java:Depot.Rate.name receiver_type" in edges


def test_an_annotation_over_several_rows_is_used_in_its_first() -> None:
    source = 'package b;\nimport a.Depot.Rate;\n@Rate(\n  name = "x",\n  size = 2)\nclass Shop {}\n'
    edges = edges_of({"a/Depot.java": DEPOT, "b/Shop.java": source})
    assert "b/Shop.java:5 size -> a/Depot.java:Depot.Rate.size receiver_type" in edges
    assert {one.split(" ")[0] for one in edges if " Rate -> " in one} == {"b/Shop.java:2", "b/Shop.java:3"}
