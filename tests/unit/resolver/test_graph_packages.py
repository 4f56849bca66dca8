"""Packages by the line that declares them, wherever their files are, and namespaces imported for a whole project."""

import pytest
from graph_files import edges_of, facts_of

DEPOT = "package town.shop\nclass Depot { fun weigh() {}\n  class Gate\n}\nfun unload() {}\n"


def uses(files: dict[str, str], path: str) -> set[str]:
    """Returns the edges of a file to symbols as `line name -> path:symbol`; candidates with `?`."""
    found = (one.split(" ") for one in edges_of(files) if one.startswith(f"{path}:") and ":*" not in one)
    return {
        f"{place.rpartition(':')[2]} {name} -> {target}{'?' if strategy.endswith('?') else ''}"
        for place, name, _, target, strategy in found
    }


@pytest.mark.parametrize(
    ("head", "body", "found"),
    [
        ("package town.shop", "Depot().weigh()", "3 weigh -> core/src/Depot.kt:Depot.weigh"),
        ("package town.shop", "unload()", "3 unload -> core/src/Depot.kt:unload"),
        (
            "package app\nimport town.shop.Depot",
            "Depot().weigh()",
            "4 weigh -> core/src/Depot.kt:Depot.weigh",
        ),
        ("package app\nimport town.shop.*", "Depot().weigh()", "4 weigh -> core/src/Depot.kt:Depot.weigh"),
        ("package app\nimport town.shop.unload", "unload()", "4 unload -> core/src/Depot.kt:unload"),
        ("package app\nimport town.shop.Depot.Gate", "Gate()", "4 Gate -> core/src/Depot.kt:Depot.Gate"),
        (
            "package app\nimport town.shop.Depot as D",
            "D().weigh()",
            "4 weigh -> core/src/Depot.kt:Depot.weigh",
        ),
    ],
)
def test_a_package_is_where_its_files_say(head: str, body: str, found: str) -> None:
    files = {"core/src/Depot.kt": DEPOT, "app/code/User.kt": f"{head}\n//\nfun f() {{ {body} }}\n"}
    assert found in uses(files, "app/code/User.kt")


def test_another_package_is_not_seen_by_its_folder() -> None:
    files = {"a/Depot.kt": DEPOT, "a/User.kt": "package other\nfun f() { unload() }\n"}
    assert uses(files, "a/User.kt") == {"2 unload -> a/Depot.kt:unload?"}


def test_a_package_of_java_is_that_of_kotlin() -> None:
    files = {
        "one/Depot.kt": DEPOT,
        "two/User.java": "package town.shop;\nclass User { void f(Depot d) { d.weigh(); } }\n",
    }
    assert "2 weigh -> one/Depot.kt:Depot.weigh" in uses(files, "two/User.java")


def test_the_nearest_source_root_has_the_class() -> None:
    java = "package town;\npublic class Depot { void weigh() {} }\n"
    files = {
        "one/src/town/Depot.java": java,
        "two/src/town/Depot.java": java,
        "two/test/town/DepotTest.java": "package town;\nclass DepotTest { void f(Depot d) { d.weigh(); } }\n",
        "two/app/app/User.java": "package app;\nimport town.Depot;\nclass User { void f(Depot d) { d.weigh(); } }\n",
        "three/src/town/Other.java": "package town;\nclass Other { void f(Depot d) {} }\n",
    }
    assert "2 weigh -> two/src/town/Depot.java:Depot.weigh" in uses(files, "two/test/town/DepotTest.java")
    assert "3 weigh -> two/src/town/Depot.java:Depot.weigh" in uses(files, "two/app/app/User.java")
    found = {one for one in uses(files, "three/src/town/Other.java") if " Depot " in one}
    assert found == {f"2 Depot -> {place}/src/town/Depot.java:Depot?" for place in ("one", "two")}


CSHARP = "namespace Town.Shop { public class Depot { public void Weigh() {} } public static class All { public static void Open() {} } }\n"
USER = "namespace App { class User { void F(Depot d) { d.Weigh(); Open(); } } }\n"


def test_a_global_using_applies_to_the_whole_project() -> None:
    files = {
        "shop/Shop.csproj": "",
        "shop/Depot.cs": CSHARP,
        "app/App.csproj": "",
        "app/Properties/Usings.cs": "global using Town.Shop;\nglobal using static Town.Shop.All;\n",
        "app/code/User.cs": USER,
        "other/Other.csproj": "",
        "other/User.cs": USER,
    }
    assert {
        "1 Depot -> shop/Depot.cs:Town.Shop.Depot",
        "1 Weigh -> shop/Depot.cs:Town.Shop.Depot.Weigh",
        "1 Open -> shop/Depot.cs:Town.Shop.All.Open",
    } <= uses(files, "app/code/User.cs")
    assert all(one.endswith("?") for one in uses(files, "other/User.cs"))


PROJECT = """<Project Sdk="Microsoft.NET.Sdk">
  <!-- <Using Include="Town.Closed" /> -->
  <ItemGroup>
    <Using Include="Town.Shop" />
    <Using Include="Town.Shop.All" Static="true" />
  </ItemGroup>
</Project>
"""


@pytest.mark.parametrize("project", ["app/App.csproj", "Directory.Build.props"])
def test_a_using_of_a_project_file_applies_to_the_whole_project(project: str) -> None:
    files = {"shop/Depot.cs": CSHARP, "app/code/User.cs": USER, project: PROJECT}
    assert {
        "1 Depot -> shop/Depot.cs:Town.Shop.Depot",
        "1 Weigh -> shop/Depot.cs:Town.Shop.Depot.Weigh",
        "1 Open -> shop/Depot.cs:Town.Shop.All.Open",
    } <= uses(files, "app/code/User.cs")


def test_a_using_of_a_project_file_applies_to_no_other_project() -> None:
    files = {
        "shop/Depot.cs": CSHARP,
        "app/App.csproj": PROJECT,
        "other/Other.csproj": "",
        "other/User.cs": USER,
    }
    assert all(one.endswith("?") for one in uses(files, "other/User.cs"))


def test_implicit_usings_see_the_namespaces_of_the_sdk() -> None:
    files = {
        "Polyfill.cs": "namespace System { public class Index { public void Open() {} } }\n",
        "User.cs": "namespace App { class User { void F(Index i) { i.Open(); } } }\n",
        "App.csproj": "<Project><PropertyGroup><ImplicitUsings>enable</ImplicitUsings></PropertyGroup></Project>\n",
    }
    assert "1 Open -> Polyfill.cs:System.Index.Open" in uses(files, "User.cs")


HOLDER = """package shop
class Depot(val onOpen: (Int) -> Unit, val size: Int) {
  lateinit var opened: () -> Unit
}
"""


def test_a_property_of_kotlin_that_holds_a_function_is_called_on_an_unknown_object() -> None:
    user = (
        "package app\nfun f() { made().onOpen(1) }\nfun g() { made().size() }\nfun h() { made().opened(1) }\n"
    )
    assert uses({"Depot.kt": HOLDER, "User.kt": user}, "User.kt") == {"2 onOpen -> Depot.kt:Depot.onOpen?"}


FAR = "package town.shop;\npublic class Depot { public static void open() {} public void weigh() {} }\n"
NEAR = """package town.app;
import town.shop.Depot;
import static town.shop.Depot.open;
class User { void f(Depot depot) { depot.weigh(); open(); } }
"""


def across(*repositories: tuple[str, str]) -> set[str]:
    """Returns the edges of NEAR to other repositories, each given by its name and the package of its Depot."""
    others = [facts_of("src/Depot.java", text, f"{scope}/base") for scope, text in repositories]
    found = edges_of([facts_of("app/User.java", NEAR), *others])
    return {one for one in found if one.startswith("app/User.java:4")}


def test_a_type_of_another_repository_is_found_by_its_package_line() -> None:
    assert across(("far", FAR)) == {
        "app/User.java:4 Depot -> src/Depot.java:Depot package",
        "app/User.java:4 weigh -> src/Depot.java:Depot.weigh package",
        "app/User.java:4 open -> src/Depot.java:Depot.open package",
    }


def test_a_type_that_two_other_repositories_declare_is_a_candidate() -> None:
    assert all(one.endswith("?") for one in across(("far", FAR), ("farther", FAR)))


def test_a_package_that_two_repositories_share_has_the_types_of_both() -> None:
    own = facts_of("shop/Gate.java", "package town.shop;\npublic class Gate {}\n")
    found = edges_of([own, facts_of("app/User.java", NEAR), facts_of("src/Depot.java", FAR, "far/base")])
    assert "app/User.java:4 weigh -> src/Depot.java:Depot.weigh package" in found
