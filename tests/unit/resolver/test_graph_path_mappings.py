"""Path mappings of configuration files, and their effect on imports that are neither relative nor packages."""

import json

import pytest
from graph_files import edges_between_files, facts_of

from prism_resolver import path_mappings
from prism_resolver.manifests import PackageProvider, Packages, read_manifest
from prism_resolver.path_mappings import PathMapping, PathMappings, read_config
from prism_resolver.program import Program
from prism_resolver.resolution import edges

RATE = "export function rate() {}\n"


def config(paths: dict[str, list[str]] | None = None, base: str | None = None, **more: object) -> str:
    options = {"paths": paths, "baseUrl": base}
    return json.dumps(
        {"compilerOptions": {name: told for name, told in options.items() if told is not None}} | more
    )


def importing(module: str) -> str:
    return f"import {{ rate }} from '{module}';\nrate();\n"


@pytest.mark.parametrize(
    ("configs", "module", "home"),
    [
        pytest.param({"tsconfig.json": config({"@/*": ["./code/*"]})}, "@/zones/rates", "code/zones/rates.ts", id="a pattern"),
        pytest.param({"jsconfig.json": config({"@/*": ["./code/*"]})}, "@/zones/rates", "code/zones/rates.ts", id="of JavaScript"),
        pytest.param({"tsconfig.json": config({"rates": ["code/zones/rates.ts"]})}, "rates", "code/zones/rates.ts", id="a name"),
        pytest.param({"tsconfig.json": config({"@/*": ["gone/*", "code/*"]})}, "@/zones/rates", "code/zones/rates.ts", id="the first that there is"),
        pytest.param({"tsconfig.json": config({"*": ["far/*"], "@z/*": ["code/zones/*"]})}, "@z/rates", "code/zones/rates.ts", id="the longest beginning"),
        pytest.param({"tsconfig.json": config({"@/*": ["*"]}, "code")}, "@/zones/rates", "code/zones/rates.ts", id="from the base"),
        pytest.param({"tsconfig.json": config(base="code")}, "zones/rates", "code/zones/rates.ts", id="the base alone"),
        pytest.param({"tsconfig.json": config({"@/*": ["./code/*"]})}, "@/zones/rates.js", "code/zones/rates.ts", id="as it is built"),
        pytest.param({"tsconfig.json": config({"@/*": ["./code/*"]})}, "@/depot", "code/depot/index.ts", id="a folder"),
        pytest.param({"tsconfig.json": config({"@depot": ["./code/depot"]})}, "@depot", "code/depot/index.ts", id="a folder by a name"),
        pytest.param({"tsconfig.json": config({"@all": ["."]})}, "@all", "index.ts", id="the root"),
        pytest.param({"tsconfig.json": config({"@/*": ["./far/*"]}), "app/tsconfig.json": config({"@/*": ["../code/*"]})}, "@/zones/rates", "code/zones/rates.ts", id="the nearest"),
        pytest.param({"tsconfig.json": config({"@/*": ["./code/*"]}), "app/tsconfig.json": config()}, "@/zones/rates", "code/zones/rates.ts", id="the nearest that says anything"),
        pytest.param({"ts/tsconfig.base.json": config({"@/*": ["../code/*"]}), "app/tsconfig.json": config(extends="../ts/tsconfig.base")}, "@/zones/rates", "code/zones/rates.ts", id="extended"),
        pytest.param({"tsconfig.a.json": config({"@/*": ["./far/*"]}), "tsconfig.b.json": config({"@/*": ["./code/*"]}), "tsconfig.json": config(extends=["./tsconfig.a.json", "./tsconfig.b.json"])}, "@/zones/rates", "code/zones/rates.ts", id="the last extended"),
        pytest.param({"tsconfig.base.json": config({"@/*": ["./zones/*"]}), "app/tsconfig.json": config(base="../code", extends="../tsconfig.base.json")}, "@/rates", "code/zones/rates.ts", id="extended, from the base"),
        pytest.param({"tsconfig.app.json": config({"@/*": ["./code/*"]}), "tsconfig.json": json.dumps({"files": [], "references": [{"path": "./tsconfig.app.json"}]})}, "@/zones/rates", "code/zones/rates.ts", id="of a part of the project"),
        pytest.param({"package.json": json.dumps({"imports": {"#z/*": {"import": "./dist/zones/*.js"}}})}, "#z/fees", "src/zones/fees.ts", id="of a package.json"),
        pytest.param({"package.json": json.dumps({"imports": {"#z/*": "./far/*"}}), "tsconfig.json": config({"#z/*": ["./code/zones/*"]})}, "#z/rates", "code/zones/rates.ts", id="before a package.json"),
        pytest.param({"tsconfig.json": '\ufeff{ // a // "b"\n /* "*/ "compilerOptions": {"paths": {"@/*": ["./code/*",], /* c */ }, }, }'}, "@/zones/rates", "code/zones/rates.ts", id="with comments"),
    ],
)  # fmt: skip
def test_an_import_is_resolved_by_a_path_mapping(configs, module, home) -> None:
    files = {
        "code/zones/rates.ts": RATE,
        "code/depot/index.ts": RATE,
        "src/zones/fees.ts": RATE,
        "far/zones/rates.ts": RATE,
        "index.ts": RATE,
    }
    found = edges_between_files(files | configs | {"app/deep/user.ts": importing(module)})
    assert found == {f"0:app/deep/user.ts -> 0:{home} import"}


@pytest.mark.parametrize(
    "configs",
    [
        pytest.param({}, id="none"),
        pytest.param({"tsconfig.json": "{"}, id="broken"),
        pytest.param({"tsconfig.json": '{"compilerOptions": {"paths": ["code"]}}'}, id="of another form"),
        pytest.param({"far/tsconfig.json": config({"@w/*": ["../code/*"]})}, id="elsewhere"),
        pytest.param({"tsconfig.json": config({"@w/*": ["../../code/*"]})}, id="out of the repository"),
        pytest.param({"tsconfig.json": config(extends="@acme/tsconfig")}, id="of a package"),
        pytest.param({"tsconfig.json": config(extends="./tsconfig.json")}, id="a circle"),
        pytest.param({"package.json": json.dumps({"imports": {"@w/*": "./code/*"}})}, id="no sign of Node"),
    ],
)
def test_configurations_without_a_mapping_have_no_effect(configs) -> None:
    files = {"code/rates.ts": RATE, "app/user.ts": importing("@w/rates")}
    assert all(edge.endswith("?") for edge in edges_between_files(files | configs))


def test_a_mapping_without_a_file_falls_back_to_other_rules() -> None:
    files = {
        "tsconfig.json": config({"@acme/*": ["./types/*"]}),
        "packages/rates/package.json": '{"name": "@acme/rates"}',
        "packages/rates/src/index.ts": RATE,
        "app/user.ts": importing("@acme/rates"),
    }
    assert edges_between_files(files) == {"0:app/user.ts -> 0:packages/rates/src/index.ts import"}


def test_a_mapping_does_not_apply_in_another_repository() -> None:
    mapped = {"tsconfig.json": config({"@w/*": ["./code/*"]}), "code/rates.ts": RATE}
    user = {"code/rates.ts": RATE, "app/user.ts": importing("@w/rates")}
    assert all(edge.endswith("?") for edge in edges_between_files(mapped, user))


def test_an_unread_file_is_requested_by_its_mapped_path() -> None:
    manifest = read_manifest("tsconfig.json", config({"@depot": ["./code/rates.ts"]}))
    assert manifest
    program = Program(packages=Packages([PackageProvider("r/base", "parcels", manifest)]))
    user = facts_of("app/user.ts", importing("@depot"))
    program.add(user)
    list(edges(program, user))
    assert "./code/rates" in {module for _, module in program.missing}


def test_a_configuration_past_the_limit_is_not_read(monkeypatch) -> None:
    text = config({"a": ["b"], "c": ["d"]})
    monkeypatch.setattr(path_mappings, "PATTERNS_MAX", 2)
    assert read_manifest("tsconfig.json", text)
    monkeypatch.setattr(path_mappings, "PATTERNS_MAX", 1)
    assert read_manifest("tsconfig.json", text) is None
    monkeypatch.setattr(path_mappings, "PATTERNS_MAX", 2)
    monkeypatch.setattr(path_mappings, "TARGETS_MAX", 1)
    assert read_config(config({"a": ["b", "c"]})).paths == {"a": ("./b",)}


def test_the_chain_of_extended_configurations_is_limited(monkeypatch) -> None:
    known = [
        ("r", "tsconfig.json", PathMapping(extends=("./tsconfig.1.json",))),
        ("r", "tsconfig.1.json", PathMapping(extends=("./tsconfig.2.json",))),
        ("r", "tsconfig.2.json", PathMapping(base_url="code")),
    ]
    monkeypatch.setattr(path_mappings, "CONFIGS_MAX", 3)
    assert [*PathMappings(known).candidate_paths("r", "user.ts", "rates")] == ["code/rates"]
    monkeypatch.setattr(path_mappings, "CONFIGS_MAX", 2)
    assert [*PathMappings(known).candidate_paths("r", "user.ts", "rates")] == []
    monkeypatch.setattr(path_mappings, "CONFIGS_MAX", 1)
    assert read_config(config(extends=["./a", "./b"])).extends == ("./a",)


def test_projects_share_an_extended_configuration() -> None:
    base = ("r", "base.json", read_config(config({"@depot": ["./src/depot.ts"]})))
    projects = [
        ("r", f"p{number}/tsconfig.json", read_config('{"extends": "../base.json"}')) for number in range(5)
    ]
    mappings = PathMappings([base, *projects])
    assert [*mappings.candidate_paths("r", "p3/user.ts", "@depot")] == ["src/depot"]
    assert [*mappings.module_names("r", ["src/depot"])] == ["@depot"]


@pytest.mark.parametrize(
    ("paths", "name", "modules"),
    [
        ({"@/*": ["./code/*"]}, "code/rates", []),
        ({"@depot": ["./code/rates.ts"]}, "code/rates", ["@depot"]),
        ({"@all": ["."]}, ".", ["@all"]),
        ({"@/*": ["./code/*/rates.ts"]}, "code/zones/rates", ["@/zones"]),
        ({"@/*-rates": ["./code/*"]}, "code/zones", ["@/zones-rates"]),
    ],
)
def test_a_mapped_file_may_have_another_name(paths, name, modules) -> None:
    mapping = read_config(config(paths))
    assert [*PathMappings([("r", "tsconfig.json", mapping)]).module_names("r", [name])] == modules


@pytest.mark.parametrize("text", ['{"a": "' + '\\"' * 50_000, "/*" * 50_000, "," * 100_000, '"' * 100_001])
def test_a_long_text_takes_linear_time(text) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_config(text)
