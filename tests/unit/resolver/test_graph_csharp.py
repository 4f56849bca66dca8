"""What the graph resolves in C#: members of any expression, casts, imports of types, operators, `with`, `out`."""

import pytest
from graph_files import edges_of

DEPOT = """namespace Town;
public record struct Id(int Key, string Name) {
  public static implicit operator int(Id id) => id.Key;
  public static Id operator +(Id a, Id b) => new(1, b.Name);
}
public class Depot { public int Size; public Depot Next; public Depot[] All; public Depot Make() => this; }
public class Pool<T> { public const int Max = 3; }
public static class Limits { public const int High = 3; public enum Kind { Small } }
public class Args { public string OnlyHere; }
"""


def uses(body: str, head: str = "using Town;") -> set[str]:
    """Returns the edges of a method's body as `name -> symbol`, candidates with a question mark."""
    user = f"{head}\nnamespace App;\nclass User {{\n Depot[] some;\n int F(object o, Depot d, Id id) {{\n {body}\n }}\n}}\n"
    found = (one.split(" ") for one in edges_of({"a.cs": DEPOT, "b.cs": user}) if one.startswith("b.cs:"))
    return {
        f"{name} -> {target.rpartition(':')[2]}{'?' if strategy.endswith('?') else ''}"
        for _, name, _, target, strategy in found
    }


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("((Depot)o).Next.Zap();", "Next -> Town.Depot.Next"),
        ("go(((Depot)o).Size);", "Size -> Town.Depot.Size"),
        ("go((o as Depot).Size);", "Size -> Town.Depot.Size"),
        ("((Depot)o).Next.Make();", "Make -> Town.Depot.Make"),
        ("new Depot().Next.Zap();", "Next -> Town.Depot.Next"),
        ("d.Make().Next.Zap();", "Next -> Town.Depot.Next"),
        ("d.Make()\n .Next\n .Size.Zap();", "Next -> Town.Depot.Next"),
        ("some[0].Zap();", "some -> App.User.some"),
        ("go(some[0].Size);", "some -> App.User.some"),
        ("go(d.All[0].Size);", "All -> Town.Depot.All"),
        ("go(Pool<int>.Max);", "Max -> Town.Pool.Max"),
        ("go(Limits.High * Limits.High);", "High -> Town.Limits.High"),
        ("var x = d?.Size == d?.Next;", "Next -> Town.Depot.Next"),
        ("var x = id with { Key = 3 };", "Key -> Town.Id.Key"),
        ("Try(out Depot got); got.Make();", "Make -> Town.Depot.Make"),
        ("go(args => args.OnlyHere);", "OnlyHere -> Town.Args.OnlyHere?"),
        ("go(args => args.OnlyHere.Zap());", "OnlyHere -> Town.Args.OnlyHere?"),
        ("foreach (var one in made()) go(one.OnlyHere);", "OnlyHere -> Town.Args.OnlyHere?"),
    ],
)
def test_members_are_read_from_any_expression(body: str, found: str) -> None:
    assert found in uses(body)


def test_a_factor_after_a_member_is_no_variable() -> None:
    """The grammar takes `(Limits.High * size)` for a declaration of a pointer."""
    code = "class User { const int size = 3; int F() => go(Limits.High * size); }"
    found = edges_of({"a.cs": DEPOT, "b.cs": f"using Town;\n{code}\n"})
    assert "b.cs:2 size -> b.cs:User.size receiver" in found


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("using static Town.Limits;", "Limits -> Town.Limits"),
        ("using D = Town.Depot;", "Depot -> Town.Depot"),
        ("using K = Town.Limits.Kind;", "Kind -> Town.Limits.Kind"),
    ],
)
def test_imports_of_types_are_uses(head: str, found: str) -> None:
    assert found in uses("", head)


def test_an_operator_has_the_types_of_its_parameters() -> None:
    found = edges_of({"a.cs": DEPOT})
    assert "a.cs:3 Key -> a.cs:Town.Id.Key receiver_type" in found
    assert "a.cs:4 Name -> a.cs:Town.Id.Name receiver_type" in found


def test_a_type_of_the_inner_namespace_comes_first() -> None:
    files = {
        "a.cs": "namespace Town;\nclass Depot { public Depot(int n) {} }\n",
        "b.cs": "namespace Town.Shop;\nclass Depot { public Depot(int n, int m) {} }\nclass Gate {}\n",
        "c.cs": "namespace Town.Shop;\nclass User { Depot F() => null; object G() => new Gate(); }\n",
        "d.cs": "namespace Town.Shop;\nclass Outer { Hall F() => null; }\n",
        "e.cs": "namespace Town;\nclass Hall {}\n",
    }
    found = edges_of(files)
    assert "c.cs:2 Depot -> b.cs:Town.Shop.Depot same_package" in found
    assert not any(one.startswith("c.cs:2 Depot -> a.cs") for one in found)
    assert "d.cs:2 Hall -> e.cs:Town.Hall same_package" in found


def test_a_type_may_have_a_name_that_is_built_in_elsewhere() -> None:
    files = {
        "a.cs": "namespace A;\nstruct Unit {}\n",
        "b.cs": "using A;\nclass B { Task<Unit> F() => null; }\n",
    }
    assert "b.cs:2 Unit -> a.cs:A.Unit same_package" in edges_of(files)
