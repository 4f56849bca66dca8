"""What the build of the image leaves out, checks and lists."""

import re
from pathlib import Path

import pytest
import tree_sitter_language_pack
from tree_sitter_language_pack import get_language

from deploy.image.bill import debian_components, with_system
from deploy.image.check import commands, unread_languages
from deploy.image.prune import grammars_read, unused_grammars
from prism_chunker.core.languages.table import LANGUAGES

ROOT = Path(__file__).parents[3]
TABLE = ROOT / "services/chunker/prism_chunker/core/languages/table.py"
BINDINGS = Path(tree_sitter_language_pack.__file__).with_name("bindings")
# The only grammars that come from packages of their own.
SEPARATE = {"csharp", "yaml"}


def test_a_grammar_that_a_language_uses_stays_and_every_other_goes() -> None:
    installed = {path.name.split(".")[0] for path in BINDINGS.glob("*.so")}
    removed = {path.name.split(".")[0] for path in unused_grammars(BINDINGS, grammars_read(TABLE))}
    used = {language.grammar for language in LANGUAGES.values() if language.grammar}
    assert installed - removed == used - SEPARATE
    assert len(removed) > 100


def test_every_grammar_that_code_names_itself_stays() -> None:
    used = grammars_read(TABLE)
    named = {
        name
        for file in [*ROOT.glob("services/*/prism_*/**/*.py"), *ROOT.glob("cli/prism_cli/**/*.py")]
        for name in re.findall(r"get_(?:parser|language|binding)\(\"(\w+)\"", file.read_text())
    }
    assert "json" in named
    assert named <= used


def test_every_language_parses_with_all_grammars_installed() -> None:
    assert unread_languages() == []


def test_a_missing_grammar_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_nim(name: str) -> object:
        if name == "nim":
            raise LookupError(name)
        return get_language(name)

    monkeypatch.setattr("prism_chunker.core.parse._grammar", without_nim)
    assert unread_languages() == ["nim"]


def test_the_build_imports_the_command_of_every_service() -> None:
    services = {path.name for path in (ROOT / "services").iterdir() if path.is_dir()}
    assert set(commands(ROOT / "services")) == {f"prism_{name}.main" for name in services} | {
        "prism_cli.main"
    }


def test_nothing_that_is_installed_needs_scipy_at_run_time() -> None:
    imports = re.compile(r"^\s*(?:import|from) scipy\b", re.MULTILINE)
    sources = [*ROOT.glob("services/**/*.py"), *ROOT.glob("libs/**/*.py"), *ROOT.glob("cli/**/*.py")]
    assert [file for file in sources if imports.search(file.read_text())] == []


def test_the_bill_lists_debian_packages_by_their_package_url() -> None:
    listing = "git\t1:2.47.3-0+deb13u1\tamd64\nca-certificates\t20250419\tall\n"
    git, certificates = debian_components(listing, "debian-13")
    assert git["purl"] == "pkg:deb/debian/git@1%3A2.47.3-0%2Bdeb13u1?arch=amd64&distro=debian-13"
    assert certificates["version"] == "20250419"


def test_the_bill_keeps_the_python_packages_and_names_the_image() -> None:
    python = {"bomFormat": "CycloneDX", "metadata": {"tools": {}}, "components": [{"name": "httpx"}]}
    bill = with_system(python, [{"name": "git"}], "abc123")
    assert [component["name"] for component in bill["components"]] == ["httpx", "git"]
    assert bill["metadata"]["component"]["version"] == "abc123"
    assert bill["metadata"]["tools"] == {}
