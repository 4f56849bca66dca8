"""Contents of manifests, and their effect on imports between packages and repositories."""

import json

import pytest
from graph_files import edges_between_files, facts_of

from prism_resolver import manifests
from prism_resolver.manifests import PackageProvider, Packages, is_manifest, read_manifest
from prism_resolver.modules import Certainty, File, imports
from prism_resolver.program import Program
from prism_resolver.resolution import edges

PYPROJECT = """
[project]
name = "Acme.Parcels"
dependencies = ["acme_rates[fast]>=1; python_version > '3'", "httpx"]
optional-dependencies.web = ["flask"]
[dependency-groups]
dev = ["pytest>=9", {include-group = "web"}]
"""
POETRY = '[tool.poetry]\nname = "parcels"\n[tool.poetry.dependencies]\npython = "^3.11"\nrates = "1"\n[tool.poetry.group.dev.dependencies]\npytest = "9"\n'
SETUP = "[metadata]\nname = parcels\n[options]\ninstall_requires =\n    rates>=1\n    httpx\n[options.extras_require]\nweb = flask\n"
GO_MOD = "module example.org/acme/parcels\n\ngo 1.22\n\nrequire example.org/acme/rates v1.2.0\n\nrequire (\n\texample.org/acme/units/v2 v2.0.0 // indirect\n)\n"
CARGO = '[package]\nname = "acme-parcels"\n[dependencies]\nacme-rates = { path = "../rates" }\n[target."cfg(unix)".dependencies]\nlibc = "1"\n[dev-dependencies]\nproptest = "1"\n'
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><parent><groupId>acme</groupId></parent>
<artifactId>parcels</artifactId><dependencies><dependency><groupId>${project.groupId}</groupId>
<artifactId>rates</artifactId></dependency></dependencies></project>"""
PACKAGE = {
    "name": "@acme/parcels",
    "main": "./dist/index.js",
    "dependencies": {"@acme/rates": "workspace:*"},
    "devDependencies": {"vitest": "1"},
    "exports": {".": {"import": "./dist/index.mjs"}, "./depot": "./dist/depot.js"},
}
COMPOSER = {
    "name": "acme/parcels",
    "require": {"acme/rates": "^1"},
    "autoload": {"psr-4": {"Acme\\Parcels\\": "src/"}},
}


@pytest.mark.parametrize(
    ("path", "text", "name", "depends"),
    [
        ("pyproject.toml", PYPROJECT, "acme-parcels", {"acme-rates", "httpx", "flask", "pytest"}),
        ("pyproject.toml", POETRY, "parcels", {"python", "rates", "pytest"}),
        ("setup.cfg", SETUP, "parcels", {"rates", "httpx", "flask"}),
        ("requirements.txt", "# ours\nacme_rates==1\n-r more.txt\n", "", {"acme-rates"}),
        ("go.mod", GO_MOD, "example.org/acme/parcels", {"example.org/acme/rates", "example.org/acme/units/v2"}),
        ("Cargo.toml", CARGO, "acme_parcels", {"acme_rates", "libc", "proptest"}),
        ("pom.xml", POM, "acme:parcels", {"acme:rates"}),
        ("package.json", json.dumps(PACKAGE), "@acme/parcels", {"@acme/rates", "vitest"}),
        ("composer.json", json.dumps(COMPOSER), "acme/parcels", {"acme/rates"}),
    ],
)  # fmt: skip
def test_a_manifest_declares_its_package_and_dependencies(path, text, name, depends) -> None:
    found = read_manifest(f"packages/parcels/{path}", text)
    assert found
    assert (found.folder, found.name, found.dependencies) == ("packages/parcels", name, depends)


# In requirements.txt any line may be the name of a package.
@pytest.mark.parametrize("path", [*sorted(manifests._READERS.keys() - {"requirements.txt"}), "tsconfig.json"])
@pytest.mark.parametrize(
    "text",
    ["[", "{", "[]", "null", "<a", '{"name": 3, "dependencies": 4, "require": 5, "exports": 6}', "[project]\ndependencies = 3\n", "[" * 100_000, '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "\0"],
)  # fmt: skip
def test_an_invalid_manifest_is_ignored(path, text) -> None:
    found = read_manifest(path, text)
    assert found is None or not found.dependencies


def test_a_manifest_past_the_limit_is_not_read(monkeypatch) -> None:
    monkeypatch.setattr(manifests, "TEXT_CHARS_MAX", len(CARGO))
    assert read_manifest("Cargo.toml", CARGO)
    assert read_manifest("Cargo.toml", CARGO + " ") is None
    monkeypatch.setattr(manifests, "NAMES_MAX", 3)
    assert read_manifest("Cargo.toml", CARGO)
    monkeypatch.setattr(manifests, "NAMES_MAX", 2)
    assert read_manifest("Cargo.toml", CARGO) is None


def test_manifests_are_recognized_by_name() -> None:
    assert is_manifest("a/package.json")
    assert is_manifest("a/tsconfig.base.json")
    assert not is_manifest("a/package-lock.json")
    assert read_manifest("README.md", "") is None


def project(name: str, *depends: str) -> str:
    return f'[project]\nname = "{name}"\ndependencies = {json.dumps(depends)}\n'


def package(name: str, **more: object) -> str:
    return json.dumps({"name": name} | more)


RATES_PY = {"pyproject.toml": project("acme-rates"), "src/acme_rates/zones.py": "def rate(): ...\n"}
USER_PY = {"app/user.py": "from acme_rates.zones import rate\nrate()\n"}


def test_a_dependency_is_resolved_in_its_provider() -> None:
    found = edges_between_files(RATES_PY, USER_PY | {"pyproject.toml": project("app", "acme-rates>=1")})
    assert found == {"1:app/user.py -> 0:src/acme_rates/zones.py package"}


@pytest.mark.parametrize("manifest", [{}, {"pyproject.toml": project("app", "other")}])
def test_without_a_dependency_the_provider_is_a_candidate(manifest) -> None:
    found = edges_between_files(RATES_PY, USER_PY | manifest)
    assert found
    assert all(edge.endswith("?") for edge in found)


def test_a_name_alone_makes_no_dependency() -> None:
    provider = {"package.json": package("rates"), "src/index.ts": "export function rate() {}\n"}
    user = {"package.json": package("app"), "user.ts": "import { rate } from 'rates';\nrate();\n"}
    assert edges_between_files(provider, user) == {"1:user.ts -> 0:src/index.ts only_definition?"}


def test_without_a_provider_the_repository_is_a_candidate() -> None:
    unnamed = {path: text for path, text in RATES_PY.items() if path.endswith(".py")}
    found = edges_between_files(unnamed, USER_PY | {"pyproject.toml": project("app", "acme-rates")})
    assert found
    assert all(edge.endswith("?") for edge in found)


def test_two_providers_of_a_package_are_candidates() -> None:
    found = edges_between_files(
        RATES_PY, USER_PY | {"pyproject.toml": project("app", "acme-rates")}, RATES_PY
    )
    assert found
    assert all(edge.endswith("?") for edge in found)


def test_own_modules_override_dependencies() -> None:
    own = {"src/acme_rates/zones.py": "def rate(): ...\n", "pyproject.toml": project("app", "acme-rates")}
    assert edges_between_files(RATES_PY, USER_PY | own) == {
        "1:app/user.py -> 1:src/acme_rates/zones.py import"
    }


def test_a_file_outside_the_package_folder_is_not_part_of_it() -> None:
    provider = {
        "rates/pyproject.toml": project("acme-rates"),
        "other/acme_rates/zones.py": "def rate(): ...\n",
    }
    found = edges_between_files(provider, USER_PY | {"pyproject.toml": project("app", "acme-rates")})
    assert found
    assert all(edge.endswith("?") for edge in found)


@pytest.mark.parametrize(
    ("provider", "user", "home"),
    [
        pytest.param(
            {"package.json": package("@acme/rates"), "src/index.ts": "export function rate() {}\n"},
            {"package.json": package("app", dependencies={"@acme/rates": "1"}), "user.ts": "import { rate } from '@acme/rates';\nrate();\n"},
            "src/index.ts",
            id="npm",
        ),
        pytest.param(
            {"package.json": package("rates", exports={"./zones": "./dist/deep/zones.mjs"}), "src/deep/zones.ts": "export function rate() {}\n"},
            {"package.json": package("app", dependencies={"rates": "1"}), "user.ts": "import { rate } from 'rates/zones';\nrate();\n"},
            "src/deep/zones.ts",
            id="npm: a path that is exported",
        ),
        pytest.param(
            {"go.mod": "module go.acme.example/rates\n", "zones/zones.go": "package zones\nfunc Rate() {}\n"},
            {"go.mod": "module go.acme.example/app\nrequire go.acme.example/rates v1.0.0\n", "user.go": 'package app\nimport "go.acme.example/rates/zones"\nfunc f() { zones.Rate() }\n'},
            "zones/zones.go",
            id="go",
        ),
        pytest.param(
            {"go.mod": "module go.acme.example/rates\n", "rate.go": "package rates\nfunc Rate() {}\n"},
            {"go.mod": "module go.acme.example/app\nrequire go.acme.example/rates v1.0.0\n", "user.go": 'package app\nimport "go.acme.example/rates"\nfunc f() { rates.Rate() }\n'},
            "rate.go",
            id="go: the package of the root",
        ),
        pytest.param(
            {"Cargo.toml": '[package]\nname = "acme-rates"\n', "src/zones.rs": "pub fn rate() {}\n"},
            {"Cargo.toml": '[package]\nname = "app"\n[dependencies]\nacme-rates = "1"\n', "src/user.rs": "use acme_rates::zones::rate;\nfn f() { rate(); }\n"},
            "src/zones.rs",
            id="rust",
        ),
        pytest.param(
            {"Cargo.toml": '[package]\nname = "acme-rates"\n', "src/lib.rs": "pub fn rate() {}\n"},
            {"Cargo.toml": '[package]\nname = "app"\n[dependencies]\nacme-rates = "1"\n', "src/user.rs": "use acme_rates::rate;\nfn f() { rate(); }\n"},
            "src/lib.rs",
            id="rust: the root of a crate",
        ),
        pytest.param(
            {"pom.xml": POM.replace(">rates<", ">units<").replace(">parcels<", ">rates<"), "src/main/java/acme/rates/Zone.java": "package acme.rates;\npublic class Zone { public static int rate() { return 1; } }\n"},
            {"pom.xml": POM, "src/main/java/acme/app/User.java": "package acme.app;\nimport acme.rates.Zone;\nclass User { int f() { return Zone.rate(); } }\n"},
            "src/main/java/acme/rates/Zone.java",
            id="java",
        ),
        pytest.param(
            {"composer.json": json.dumps(COMPOSER), "src/Zones/Zone.php": "<?php\nnamespace Acme\\Parcels\\Zones;\nclass Zone { public static function rate() {} }\n"},
            {"composer.json": json.dumps({"name": "acme/app", "require": {"acme/parcels": "1"}}), "app/User.php": "<?php\nuse Acme\\Parcels\\Zones\\Zone;\nfunction f() { return Zone::rate(); }\n"},
            "src/Zones/Zone.php",
            id="php",
        ),
    ],
)  # fmt: skip
def test_packages_of_other_ecosystems_are_resolved(provider, user, home) -> None:
    path = next(path for path in user if path.rpartition("/")[2].lower().startswith("user"))
    assert f"1:{path} -> 0:{home} package" in edges_between_files(provider, user)


def test_a_namespace_of_php_is_found_in_the_package_of_the_file() -> None:
    mapped = {
        "autoload": {"psr-4": {"Acme\\Parcels\\": "src/"}},
        "autoload-dev": {"psr-4": {"Acme\\Parcels\\Tests\\": "tests/"}},
    }
    files = {
        "composer.json": json.dumps({"name": "acme/parcels"} | mapped),
        "src/Scale.php": "<?php\nnamespace Acme\\Parcels;\nclass Scale { public static function weigh() {} }\n",
        "src/Zones/Zone.php": "<?php\nnamespace Acme\\Parcels\\Zones;\nuse Acme\\Parcels\\Scale;\nfunction f() { return Scale::weigh(); }\n",
        "tests/Case.php": "<?php\nnamespace Acme\\Parcels\\Tests;\nclass BaseCase { public static function make() {} }\n",
        "lib/other.php": "<?php\nclass Scale { public static function weigh() {} }\n",
    }  # fmt: skip
    found = edges_between_files(files)
    assert "0:src/Zones/Zone.php -> 0:src/Scale.php import" in found
    assert not any("lib/other.php" in edge for edge in found)


def test_packages_of_one_repository_resolve_by_name() -> None:
    files = {
        "packages/rates/package.json": package("@acme/rates", main="dist/main.js"),
        "packages/rates/src/main.ts": "export { rate } from './zones';\n",
        "packages/rates/src/zones.ts": "export function rate() {}\n",
        "packages/app/user.ts": "import { rate } from '@acme/rates';\nrate();\n",
    }
    assert {
        "0:packages/app/user.ts -> 0:packages/rates/src/zones.ts import",
        "0:packages/app/user.ts -> 0:packages/rates/src/main.ts import",
    } <= edges_between_files(files)


def test_an_exports_pattern_resolves_to_its_files() -> None:
    files = {
        "packages/rates/package.json": package("@acme/rates", exports={"./*": "./dist/deep/*.js", "./z/*": "./far/*.ts"}),
        "packages/rates/src/deep/zones.ts": "export function rate() {}\n",
        "packages/rates/far/fees.ts": "export function fee() {}\n",
        "packages/app/user.ts": "import { rate } from '@acme/rates/zones';\nimport { fee } from '@acme/rates/z/fees';\nrate(fee());\n",
    }  # fmt: skip
    assert edges_between_files(files) == {
        "0:packages/app/user.ts -> 0:packages/rates/src/deep/zones.ts import",
        "0:packages/app/user.ts -> 0:packages/rates/far/fees.ts import",
    }


def test_an_index_file_is_found_without_a_manifest_entry() -> None:
    files = {
        "packages/rates/package.json": package("@acme/rates"),
        "packages/rates/src/main.ts": "export function rate() {}\n",
        "packages/app/user.ts": "import { rate } from '@acme/rates';\nrate();\n",
    }
    assert "0:packages/app/user.ts -> 0:packages/rates/src/main.ts import" in edges_between_files(files)


def test_a_lookup_in_a_package_names_the_modules_own_path() -> None:
    manifest = read_manifest("packages/rates/package.json", package("@acme/rates"))
    assert manifest
    program = Program(packages=Packages([PackageProvider("r/base", "parcels", manifest)]))
    user = facts_of("packages/app/user.ts", "import { rate } from '@acme/rates/zones';\nrate();\n")
    program.add(user)
    list(edges(program, user))
    target = File("packages/rates/src/zones.ts", "typescript")
    assert any(imports(importer, module, target) is Certainty.YES for importer, module in program.missing)


def test_symbols_of_a_package_json_give_the_package_name() -> None:
    facts = facts_of("packages/rates/package.json", '{\n  "name": "@acme/rates",\n  "version": "1"\n}\n')
    found = manifests.named_manifest(facts.path, facts.symbols)
    assert found
    assert (found.folder, found.name) == ("packages/rates", "@acme/rates")
    assert manifests.named_manifest("packages/rates/other.json", facts.symbols) is None
