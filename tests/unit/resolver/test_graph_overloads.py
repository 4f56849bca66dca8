"""Calls of overloads, constructors and members in languages with declared types."""

import pytest
from graph_files import facts_of

from prism_resolver.program import Program
from prism_resolver.resolution import Resolver, edges

JAVA = """\
package a;
public class Depot {
  public Depot(int size) { helper(); }
  public Depot() { this(3); }
  void helper() {}
  public int weigh(String name) { return weigh(name, false); }
  public int weigh(String name, boolean deep) { return 1; }
  public int weigh(int n) { return 2; }
  static Depot make() { return new Depot(); }
  static class Nested { void go() {} }
}
"""
CSHARP = """\
namespace A {
public class Depot : IDepot {
  public string Name { get; set; }
  public int Size => 1;
  public Depot(int size) { }
  public Depot() : this(3) { }
  public int Weigh(string name) { return Weigh(name, false); }
  public int Weigh(string name, bool deep) { return 1; }
  public void Open() {} public async Task<Depot> MakeAsync() => this;
}
public interface IDepot { void Open(); }
public static class Ext { public static int Twice(this IDepot d) => 2; }
public record Pair(int X, int Y);
}
"""
KOTLIN = """\
package a
class Depot(val size: Int) {
  constructor() : this(3)
  fun weigh(name: String): Int = weigh(name, false)
  fun weigh(name: String, deep: Boolean): Int = 1
  companion object {
    operator fun invoke(name: String): Depot = Depot(1)
  }
}
"""
HEADER = """\
namespace shop {
class Depot {
 public:
  explicit Depot(int size);
  Depot() : Depot(3) {}
  int weigh(const std::string& name, bool deep = false);
  int weigh(int n) { return 2; }
  Depot& with(int n) { return *this; }
  static Depot make();
};
template <typename T> class Bin { public: T get(); };
template <typename T> T Bin<T>::get() { return T(); }
void pack(Depot& depot);
void pack(int n);
}
"""
SOURCE = """\
#include "depot.h"
namespace shop {
Depot::Depot(int size) { weigh(size); }
int Depot::weigh(const std::string& name, bool deep) { return this->weigh(1); }
Depot Depot::make() { return Depot(2); }
void pack(Depot& depot) { depot.weigh(1); }
void pack(int n) { Depot depot; pack(depot); }
}
"""
SWIFT = """\
class Base { init(size: Int) {} }
class Depot: Base {
  init(name: String) { super.init(size: 1) }
  init(count: Int) { super.init(size: count) }
  func weigh(name: String) {}
  func weigh(count: Int) {}
}
"""


def lines_of(files: dict[str, str], path: str) -> set[str]:
    """Returns each edge from a file to a symbol as `line name -> line of the target`; candidates with `?`."""
    facts = [facts_of(*file) for file in files.items()]
    program = Program()
    for file in facts:
        program.add(file)
    by_id = {file.id: file for file in facts}
    user = next(file for file in facts if file.path == path)
    found = set()
    for edge in edges(program, user):
        reference, target = user.references[edge.reference], edge.target
        if target.symbol >= 0:
            line = by_id[target.file].symbols[target.symbol].name_line
            mark = "?" if edge.status == "candidate" else ""
            found.add(f"{reference.line} {reference.name} -> {line}{mark}")
    return found


def java(body: str, header: str = "package a;\n") -> set[str]:
    text = f"{header}class User extends Depot {{\n{body}\n}}\n"
    return lines_of({"a/Depot.java": JAVA, "a/User.java": text}, "a/User.java")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('void f(Depot d) { d.weigh("x"); }', "3 weigh -> 6"),
        ('void f(Depot d) { d.weigh("x", true); }', "3 weigh -> 7"),
        ("void f(Depot d) { d.weigh(3); }", "3 weigh -> 8"),
        ("void f(Depot d, String s) { d.weigh(s); }", "3 weigh -> 6"),
        ("void f(Depot d) { d.weigh(other()); }", "3 weigh -> 6?"),
        ("void f(Depot d) { d.weigh(other()); }", "3 weigh -> 8?"),
        ("void f() { new Depot(3); }", "3 Depot -> 3"),
        ("void f() { new Depot(); }", "3 Depot -> 4"),
        ("void f() { new Depot(other()); }", "3 Depot -> 3"),
        ("User() { super(4); }", "3 super -> 3"),
        ("User() { super(); }", "3 super -> 4"),
        ("void f() { new Depot.Nested().go(); }", "3 Nested -> 10"),
        ("void f() { new Depot.Nested().go(); }", "3 go -> 10"),
        ("<T extends Depot> void f(T t) { t.helper(); }", "3 helper -> 5"),
        ("int weigh(boolean b) { return weigh(3); }", "3 weigh -> 8"),  # calls the base class
    ],
)  # fmt: skip
def test_java_calls_reach_the_overload_that_fits(body: str, found: str) -> None:
    assert found in java(body)


def test_delegating_overload_does_not_call_itself() -> None:
    own = lines_of({"a/Depot.java": JAVA}, "a/Depot.java")
    assert "6 weigh -> 7" in own
    assert "4 this -> 3" in own
    assert not own & {"6 weigh -> 6", "6 weigh -> 8"}


def test_java_static_imports_are_followed() -> None:
    files = {
        "a/Depot.java": JAVA,
        "b/One.java": "package b;\nimport static a.Depot.make;\nclass One { void f() { make().helper(); } }\n",
        "b/All.java": "package b;\nimport static a.Depot.*;\nclass All { void f() { make(); } }\n",
        "b/Nest.java": "package b;\nimport a.Depot.Nested;\nclass Nest { void f(Nested n) { n.go(); } }\n",
    }
    assert {"3 make -> 9", "3 helper -> 5"} <= lines_of(files, "b/One.java")
    assert "3 make -> 9" in lines_of(files, "b/All.java")
    assert "3 go -> 10" in lines_of(files, "b/Nest.java")


def test_java_string_is_no_object_of_the_repository() -> None:
    assert not {one for one in java("void f(String s) { s.helper(); }") if " helper " in one}


def test_java_record_components_are_members() -> None:
    text = "record Point(int x, int y) { int sum() { return x() + y; } }\nclass User { int f(Point p) { return p.x(); } }\n"
    assert {"1 x -> 1", "1 y -> 1", "2 x -> 1"} <= lines_of({"Point.java": text}, "Point.java")


def test_java_use_of_a_type_is_in_the_line_that_names_it() -> None:
    found = java('void f() {\n  Depot.make()\n    .weigh("x")\n    ;\n}')
    assert {one for one in found if " Depot -> 2" in one and one.startswith(("4", "5"))} == {"4 Depot -> 2"}


def test_java_import_of_a_member_uses_its_type() -> None:
    imports = "package b;\nimport static a.Depot.make;\nimport a.Depot.Nested;\nimport static a.Depot.*;\n"
    found = lines_of({"a/Depot.java": JAVA, "b/User.java": imports}, "b/User.java")
    assert {"2 Depot -> 2", "3 Depot -> 2", "4 Depot -> 2"} <= found


def test_java_type_with_its_package_is_resolved() -> None:
    text = "package b;\nclass User { void f() { a.Depot.make(); a.Depot d = new a.Depot(3); } }\n"
    found = lines_of({"a/Depot.java": JAVA, "b/User.java": text}, "b/User.java")
    assert {"2 make -> 9", "2 Depot -> 2", "2 Depot -> 3"} <= found


def test_java_member_of_a_base_class_is_sure_despite_an_unknown_interface() -> None:
    files = {
        "a/Depot.java": "package a;\nclass Depot {\n void open() {}\n}\n",
        "a/Shed.java": "package a;\nclass Shed extends Depot implements Iterable<String> {}\n",
        "a/Barn.java": "package a;\nclass Barn extends Foreign {}\n",
        "a/User.java": "package a;\nclass User { void f(Shed s, Barn b) { s.open(); } void g(Barn b) { b.open(); } }\n",
    }
    found = [one for one in lines_of(files, "a/User.java") if " open " in one]
    assert sorted(found) == ["2 open -> 3", "2 open -> 3?"]


def test_java_call_means_the_overload_of_a_base_class_if_it_fits_no_other() -> None:
    text = "package a;\nclass Low extends Depot {\n  int weigh(boolean b) { return 1; }\n}\nclass User { void f(Low d) { d.weigh(3); } }\n"
    facts = [facts_of("a/Depot.java", JAVA), user := facts_of("a/Low.java", text)]
    program = Program()
    for file in facts:
        program.add(file)
    (call,) = [one for one in user.references if one.name == "weigh"]
    names = {program.definition(ref).qualified_name for ref in Resolver(program, user).meaning(call).targets}
    assert names == {"Depot.weigh"}


def test_java_constant_of_an_enum_has_its_methods() -> None:
    text = "package a;\nimport static a.Side.LEFT;\nenum Side {\n  LEFT, RIGHT;\n  int code() { return 1; }\n  int f() { return LEFT.code() + Side.RIGHT.code(); }\n}\n"
    assert "6 code -> 5" in lines_of({"a/Side.java": text}, "a/Side.java")


def test_java_field_hides_no_type_of_its_name() -> None:
    text = "package a;\nclass Gate {\n  static Depot Depot;\n  static Depot of() { return Depot; }\n  static class Depot { void open() {} }\n}\nclass User { void f() { Gate.of().open(); } }\n"
    assert "7 open -> 5" in lines_of({"a/Gate.java": text}, "a/Gate.java")


def test_java_anonymous_class_has_the_members_of_its_base() -> None:
    base = "package a;\nabstract class Base {\n  void bind(int n) {}\n  Link link() { return null; }\n}\nclass Link { void go() {} }\n"
    user = """package a;
class User {
  Base field = new Base() { void set() { bind(1); } };
  void f() {
    run(new Base() {
      void set() { link().go(); bind(2); own(); }
      void own() {}
    });
    run(new Other() { void set() { bind(3); } });
  }
  void own() {}
  void bind(String s) {}
}
class Other { void bind(int n) {} }
"""
    found = lines_of({"a/Base.java": base, "a/User.java": user}, "a/User.java")
    assert {"3 bind -> 3", "6 link -> 4", "6 go -> 6", "6 bind -> 3", "6 own -> 7", "9 bind -> 14"} <= found


def test_long_chain_of_calls_is_followed() -> None:
    chain = "Depot.make()" + ".with(1)" * 9
    text = JAVA.replace("void helper() {}", "void helper() {} Depot with(int n) { return this; }")
    user = f"package a;\nclass User {{ void f() {{ {chain}.helper(); }} }}\n"
    assert "2 helper -> 5" in lines_of({"a/Depot.java": text, "a/User.java": user}, "a/User.java")


def csharp(body: str) -> set[str]:
    text = f"using A;\nusing static A.Ext;\nnamespace B {{\n{body}\n}}\n"
    return lines_of({"a/Depot.cs": CSHARP, "b/User.cs": text}, "b/User.cs")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('class U { void F(Depot d) { d.Weigh("x"); } }', "4 Weigh -> 7"),
        ('class U { void F(Depot d) { d.Weigh("x", true); } }', "4 Weigh -> 8"),
        ("class U { void F() { new Depot(3); } }", "4 Depot -> 5"),
        ("class U { void F() { Depot d = new(3); } }", "4 Depot -> 5"),
        ('class U { void F() { var d = new Depot { Name = "x" }; } }', "4 Name -> 3"),
        ("class U : Depot { U() : base(4) { } }", "4 base -> 5"),
        ("class U(IDepot depot) { void F() { depot.Open(); } }", "4 Open -> 11"),
        ("class U { void F(Depot d) { if (d.Size > 3) {} } }", "4 Size -> 4"),
        ("class U { int F(Depot d) => d.Size; }", "4 Size -> 4"),
        ("class U { void F(Depot d) { while (!d.Size.Big) {} } }", "4 Size -> 4"),
        ("class U { bool F(Depot d) => d is { Size: 3 }; }", "4 Size -> 4"),
        ("class U { bool F(object d) => d is Depot { Size: 3 }; }", "4 Size -> 4"),
        ("class U { int? F(Depot d) => d?.Size; }", "4 Size -> 4"),
        ("class U { void F(Depot d) { d.Twice(); } }", "4 Twice -> 12"),
        ("class U { void F(Depot d) { Twice(d); } }", "4 Twice -> 12"),
        ("class U { int F(Pair p) => p.X; }", "4 X -> 13"),
        ("class U { Depot d; async Task F() { var e = await d.MakeAsync().ConfigureAwait(false); e.Open(); } }", "4 Open -> 9"),
        ("class U<T> where T : IDepot { void F(T t) { t.Open(); } }", "4 Open -> 11"),
        ("class U : Depot { void F() { this.Open(); } }", "4 Open -> 9"),
        ("class U : Depot { void F() { base.Open(); } }", "4 Open -> 9"),
        ('class U : Depot { void F() { this.Name = "x"; } }', "4 Name -> 3"),
        ('class U { object F() => new Depot { Name = "x" }; }', "4 Depot -> 6"),
        ("class U { void F(Depot d) { lock (d.Name) {} } }", "4 Name -> 3"),
        ("class U { object F(Depot d) => new { d.Name }; }", "4 Name -> 3"),
        ("class U { object F(Depot d) => (object)d.Name; }", "4 Name -> 3"),
        ("class U { int[] F(Depot d) => [d.Size, .. d.More]; }", "4 Size -> 4"),
        ("class U { object F(Depot d, P[] all) => from p in all orderby d.Size select p; }", "4 Size -> 4"),
    ],
)  # fmt: skip
def test_csharp_uses_are_resolved(body: str, found: str) -> None:
    assert found in csharp(body)


def test_csharp_mark_of_no_null_is_no_assignment() -> None:
    text = "class U { string name; void F() { G(name!); name++; } }\n"
    kinds = [(one.name, one.kind.value) for one in facts_of("U.cs", text).references if one.name == "name"]
    assert kinds == [("name", "value"), ("name", "assign")]


def test_csharp_partial_class_has_the_bases_of_all_its_parts() -> None:
    files = {
        "A.cs": "namespace A { public partial class P { void F() { Run(); } } }\n",
        "B.cs": "namespace A { public partial class P : Base { } }\n",
        "C.cs": "namespace A { public class Base { protected void Run() {} } }\n",
    }
    assert "1 Run -> 1" in lines_of(files, "A.cs")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('fun f(d: Depot) { d.weigh("x") }', "3 weigh -> 4"),
        ('fun f(d: Depot) { d.weigh("x", true) }', "3 weigh -> 5"),
        ("fun f() { Depot() }", "3 Depot -> 3"),
        ("fun f() { Depot(3) }", "3 Depot -> 2"),
        ("fun f() { Depot(size = 3) }", "3 Depot -> 2"),
        ('fun f() { Depot("x") }', "3 Depot -> 7"),
        ("fun f(d: Depot) { if (d.size > 3) {} }", "3 size -> 2"),
        ("fun f(d: Depot) = d.size", "3 size -> 2"),
        ("fun <T : Depot> f(t: T) { t.weigh() }", "3 weigh -> 4?"),
    ],
)
def test_kotlin_calls_reach_the_overload_that_fits(body: str, found: str) -> None:
    user = f"package b\nimport a.Depot\n{body}\n"
    assert found in lines_of({"a/Depot.kt": KOTLIN, "b/User.kt": user}, "b/User.kt")


def test_kotlin_constructors_call_each_other() -> None:
    text = "open class Base(n: Int) {\n  constructor() : this(1)\n}\nclass Low : Base {\n  constructor() : super()\n}\nclass Mid : Base(2)\n"
    found = lines_of({"Base.kt": text}, "Base.kt")
    assert {"2 this -> 1", "5 super -> 2", "7 Base -> 1"} <= found


def test_cpp_template_of_a_namespace_is_not_the_class_of_its_name_here() -> None:
    files = {
        "bin.h": "namespace shop { template <typename T> class Bin { }; }\n",
        "use.cpp": '#include "bin.h"\nclass Bin : public shop::Bin<int> { };\nvoid f() { new shop::Bin<int>(); }\n',
    }
    assert {one for one in lines_of(files, "use.cpp") if one.startswith("3 ")} == {"3 Bin -> 1"}


def cpp(body: str, using: str = "using namespace shop;") -> set[str]:
    files = {
        "src/depot.h": HEADER,
        "src/depot.cpp": SOURCE,
        "app/user.cpp": f'#include "depot.h"\n{using}\n{body}\n',
    }
    return lines_of(files, "app/user.cpp")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('void f(Depot* d) { d->weigh("x"); }', "3 weigh -> 4"),
        ("void f(const Depot& d) { d.weigh(1); }", "3 weigh -> 7"),
        ("void f() { Depot d(3); }", "3 Depot -> 3"),
        ("void f() { Depot d{3}; }", "3 Depot -> 3"),
        ("void f() { auto d = new Depot(1); d->with(1).with(2).weigh(3); }", "3 with -> 8"),
        ("void f() { auto d = std::make_unique<Depot>(3); d->weigh(1); }", "3 Depot -> 3"),
        ("void f() { auto d = std::make_unique<Depot>(3); d->weigh(1); }", "3 weigh -> 7"),
        ("void f() { Depot::make().weigh(1); }", "3 make -> 5"),
        ("class U : public Depot { U() : Depot(4) {} };", "3 Depot -> 3"),
        ("void f(Depot& d) { pack(d); }", "3 pack -> 6"),
        ("void f() { pack(3); }", "3 pack -> 7"),
        ("void f(Bin<int>& b) { b.get(); }", "3 get -> 12"),
    ],
)  # fmt: skip
def test_cpp_names_are_found_in_namespaces(body: str, found: str) -> None:
    assert found in cpp(body)


def test_cpp_using_of_one_name_makes_it_visible() -> None:
    assert "3 weigh -> 7" in cpp("void f(Depot& d) { d.weigh(1); }", "using shop::Depot;")
    assert not {one for one in cpp("void f(Depot& d) { d.weigh(1); }", "") if not one.endswith("?")}


def test_cpp_standard_containers_are_no_objects_of_the_repository() -> None:
    assert not cpp("void f(std::string& s) { s.weigh(1); }")


def test_cpp_members_defined_outside_of_a_class_see_its_members() -> None:
    found = lines_of({"src/depot.h": HEADER, "src/depot.cpp": SOURCE}, "src/depot.cpp")
    assert {"3 weigh -> 7", "4 weigh -> 7", "5 Depot -> 3", "6 weigh -> 7", "7 pack -> 6"} <= found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('func f(d: Depot) { d.weigh(name: "x") }', "1 weigh -> 5"),
        ("func f(d: Depot) { d.weigh(count: 1) }", "1 weigh -> 6"),
        ('func f() { Depot(name: "x") }', "1 Depot -> 3"),
        ("func f() { Depot(count: 1) }", "1 Depot -> 4"),
    ],
)
def test_swift_labels_choose_the_overload(body: str, found: str) -> None:
    assert found in lines_of({"Depot.swift": SWIFT, "User.swift": f"{body}\n"}, "User.swift")


def test_super_of_a_class_elsewhere_means_no_member_here() -> None:
    files = {
        "a/Gate.java": "package a;\nimport x.Base;\nclass Gate extends Base { void reset() { super.reset(); } }\n",
        "a/Depot.java": "package a;\nclass Depot { void reset() {} }\n",
    }
    assert not {one for one in lines_of(files, "a/Gate.java") if " reset " in one}


def test_call_on_an_unknown_object_may_mean_only_what_fits() -> None:
    found = java('void f() { other().weigh(1, 2, 3); other().weigh("x", true); }')
    assert {one for one in found if " weigh " in one} == {"3 weigh -> 7?"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Gate.java", "class Gate {\n boolean open; int size;\n void f(int p) {\n{} } }\n"),
        ("Gate.cs", "class Gate {\n bool open; int size;\n void F(int p) {\n{} } }\n"),
    ],
)
@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("if (open) { size = 3; }", {"4 open -> 2", "4 size -> 2"}),
        ("while (!open) size++;", {"4 open -> 2", "4 size -> 2"}),
        ("switch (size) { case 1: break; }", {"4 size -> 2"}),
        ("size += p;", {"4 size -> 2"}),
        ("p = 3; int size = 4; size = 5;", set()),
    ],
)
def test_fields_are_read_and_written_without_an_object(
    path: str, text: str, body: str, found: set[str]
) -> None:
    assert lines_of({path: text.replace("{}", body)}, path) == found


def test_kotlin_properties_are_read_and_written_without_an_object() -> None:
    text = 'class Gate {\n var open = false; var size = 1\n fun f() {\n if (open || size > 2) { size = 3 }\n return "$size" } }\n'
    assert lines_of({"Gate.kt": text}, "Gate.kt") == {"4 open -> 2", "4 size -> 2", "5 size -> 2"}


def test_kotlin_import_of_an_extension_means_the_extension() -> None:
    files = {
        "src/main/kotlin/a/First.kt": "package a\nfun first() {}\n",
        "src/main/kotlin/a/Path.kt": "package a\nclass Path\nfun Path.parts(): Int = 1\n",
        "src/main/kotlin/b/User.kt": "package b\nimport a.Path\nimport a.parts\nfun f(p: Path) = p.parts()\n",
    }
    assert {"3 parts -> 3", "4 parts -> 3"} <= lines_of(files, "src/main/kotlin/b/User.kt")


def test_csharp_namespace_of_a_file_has_what_follows() -> None:
    files = {
        "A/Tools.cs": "namespace P;\nstatic class Tools {\n  public static void Other() {}\n}\n",
        "B/Tools.cs": "namespace P;\nstatic class Tools {\n  public static bool Flip(this bool b) => b;\n}\n",
        "T/User.cs": "using P;\nnamespace T;\nclass User { bool F() => Tools.Flip(true); }\n",
    }
    assert "3 Flip -> 3" in lines_of(files, "T/User.cs")


def test_csharp_class_may_extend_its_namesake_with_type_parameters() -> None:
    files = {
        "P/Options.cs": "namespace P;\nclass Options : Options<int> { }\n",
        "P/Options.T.cs": "namespace P;\nclass Options<T> {\n  public int Limit { get; set; }\n}\n",
        "P/User.cs": "namespace P;\nclass User { int F(Options o) => o.Limit; }\n",
    }
    assert "2 Limit -> 3" in lines_of(files, "P/User.cs")


def test_property_of_an_unknown_object_is_a_guess_only_if_few_have_the_name() -> None:
    user = "class User { int F(Unknown o) => o.Limit; }\n"
    files = {f"{name}.cs": f"class {name} {{ public int Limit {{ get; }} }}\n" for name in "ABC"}
    files |= {"User.cs": user, "Limit.cs": "class Limit { }\n"}
    assert "1 Limit -> 1?" in lines_of(files, "User.cs")
    files["D.cs"] = "class D { public int Limit { get; } }\n"
    assert not {one for one in lines_of(files, "User.cs") if " Limit " in one}


DEEP = """\
namespace town { namespace shop { namespace deep {
struct Depot { explicit Depot(int size); int size; };
int weigh(int n);
} } }
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("void f() { town::shop::deep::weigh(1); }", "2 weigh -> 3"),
        ("void f() { ::town::shop::deep::weigh(1); }", "2 weigh -> 3"),
        ("namespace town { void f() { shop::deep::weigh(1); } }", "2 weigh -> 3"),
        ("void f(town::shop::deep::Depot& d) {}", "2 Depot -> 2"),
        ("auto* d = new town::shop::deep::Depot(1);", "2 Depot -> 2"),
        ("using town::shop::deep::Depot; void f(Depot& d) {}", "2 Depot -> 2"),
        ("town::shop::deep::Depot::Depot(int size) : size(size) {}", "2 size -> 2"),
    ],
)
def test_cpp_names_of_nested_namespaces(body: str, found: str) -> None:
    assert found in lines_of({"deep.h": DEEP, "use.cpp": f'#include "deep.h"\n{body}\n'}, "use.cpp")


def test_cpp_a_using_declaration_is_a_use() -> None:
    files = {"deep.h": DEEP, "use.cpp": '#include "deep.h"\nusing town::shop::deep::Depot;\n'}
    assert "2 Depot -> 2" in lines_of(files, "use.cpp")


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("weigh(name = other())", "6 weigh -> 2"),
        ("weigh(size = other())", "6 weigh -> 3"),
        ("weigh(deep = true, name = other())", "6 weigh -> 4"),
        ("weigh(size = other()) { }", "6 weigh -> 5"),
    ],
)
def test_kotlin_names_of_arguments_choose_an_overload(call: str, found: str) -> None:
    text = (
        "class Depot {\n  fun weigh(name: String) {}\n  fun weigh(size: Int) {}\n"
        "  fun weigh(name: String, deep: Boolean) {}\n  fun weigh(size: Long, step: Int = 1, then: () -> Unit) {}\n"
        f"  fun f() {{ {call} }}\n}}\n"
    )
    assert {one for one in lines_of({"a.kt": text}, "a.kt") if " weigh " in one} == {found}


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("Weigh(name: Other())", "5 Weigh -> 2"),
        ("Weigh(size: Other())", "5 Weigh -> 3"),
        ("Weigh(deep: true, name: Other())", "5 Weigh -> 4"),
    ],
)
def test_csharp_names_of_arguments_choose_an_overload(call: str, found: str) -> None:
    text = (
        "class Depot {\n  void Weigh(string name) {}\n  void Weigh(int size) {}\n"
        f"  void Weigh(string name, bool deep) {{}}\n  void F() {{ {call}; }}\n}}\n"
    )
    assert {one for one in lines_of({"a.cs": text}, "a.cs") if " Weigh " in one} == {found}


def test_swift_labels_of_unknown_arguments_choose_an_overload() -> None:
    text = "class Depot {\n  func weigh(name: String) {}\n  func weigh(size: Int) {}\n  func f() { weigh(size: other()) }\n}\n"
    assert {one for one in lines_of({"a.swift": text}, "a.swift") if " weigh " in one} == {"4 weigh -> 3"}


def test_cpp_a_field_of_a_header_is_used_where_its_member_is_called() -> None:
    files = {
        "shop.hpp": "struct Gate { void open(); };\nstruct Shop {\n  Gate gate_;\n  void run();\n};\n",
        "shop.cpp": '#include "shop.hpp"\nvoid Shop::run() { gate_.open(); }\n',
    }
    assert {"2 gate_ -> 3", "2 open -> 1"} <= lines_of(files, "shop.cpp")


CSHARP_EXTENSION = """\
namespace A {
public interface IDepot<T> { int Weigh(T one); int Weigh(Load load); }
public class Depot : IDepot<int> { public int Weigh(int one) { return 1; } public int Weigh(Load load) { return 2; } }
public class Load { }
public static class Ext {
  public static int Weigh<T>(this IDepot<T> depot, T one, Action<T> then) { return 3; }
  public static int Weigh<T>(this IDepot<T> depot, T one, Load load) { return 4; }
}
}
"""


@pytest.mark.parametrize(
    ("call", "line", "is_sure"),
    [
        ("depot.Weigh(new Other(), then => {\n then.Go();\n });", 6, True),
        ("any.Weigh(1, then => {\n then.Go();\n });", 6, True),
        ("depot.Weigh(new Load());", 3, True),
        ("unknown.Weigh(1, then => {\n then.Go();\n });", 6, False),
    ],
)
def test_csharp_arguments_that_fit_no_member_choose_an_extension(call: str, line: int, is_sure: bool) -> None:
    user = f"using A;\nclass User {{ void Go(Depot depot, IDepot<int> any) {{\n {call}\n}} }}\n"
    files = {"a.cs": CSHARP_EXTENSION, "user.cs": user}
    facts = [facts_of(*file) for file in files.items()]
    program = Program()
    for file in facts:
        program.add(file)
    found = {
        (facts[0].symbols[edge.target.symbol].name_line, edge.status == "resolved")
        for edge in edges(program, facts[1])
        if facts[1].references[edge.reference].name == "Weigh"
    }
    assert found == {(line, is_sure)}


JAVA_FUNCTIONS = """\
package a;
interface Then { void go(); }
class Load { }
class Depot {
  int weigh(String name, Load load) { return 1; }
  int weigh(String name, Then then) { return 2; }
}
"""


def test_java_function_is_no_object_of_a_class() -> None:
    user = 'package a;\nclass User { int f(Depot d) {\n return d.weigh("x", () -> {\n  go();\n });\n} }\n'
    facts = [facts_of("a/Depot.java", JAVA_FUNCTIONS), facts_of("a/User.java", user)]
    program = Program()
    for file in facts:
        program.add(file)
    found = [
        (facts[0].symbols[edge.target.symbol].name_line, edge.status)
        for edge in edges(program, facts[1])
        if facts[1].references[edge.reference].name == "weigh"
    ]
    assert found == [(6, "resolved")]
