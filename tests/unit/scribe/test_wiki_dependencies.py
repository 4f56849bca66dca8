"""The dependencies that manifests declare."""

import pytest

from prism_scribe.core.wiki.dependencies import depended_on

GO = """module depot.test/app

go 1.26

require github.com/lib/pq v1.12.3
require (
\tgolang.org/x/net v0.57.0
\tgithub.com/google/uuid v1.6.0 // indirect
)
"""
CARGO = """[package]
name = "depot"

[dependencies]
serde = "1"
serde_json = { version = "1" }

[dev-dependencies]
insta = "1"
"""
NPM = """{
  "name": "depot",
  "dependencies": {
    "ms": "2.1.3",
    "@depot/rates": "workspace:*"
  },
  "devDependencies": {"vitest": "4"}
}
"""
PYTHON = """[project]
name = "depot"
dependencies = [
  "httpx>=0.28",
  "pydantic[email]",
]
"""


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("go.mod", GO, [("github.com/lib/pq", 5), ("golang.org/x/net", 7)]),
        ("Cargo.toml", CARGO, [("serde", 5), ("serde_json", 6)]),
        ("package.json", NPM, [("ms", 4), ("@depot/rates", 5)]),
        ("pyproject.toml", PYTHON, [("httpx", 4), ("pydantic", 5)]),
        ("Makefile", "all:", []),
        ("sub/go.mod", GO, []),
    ],
)
def test_direct_dependencies_have_their_lines(path, text, found):
    assert depended_on(path, text.split("\n")) == found


@pytest.mark.parametrize("path", ["go.mod", "Cargo.toml", "package.json", "pyproject.toml"])
@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, '{"dependencies": 7}', "[project]\ndependencies = 3", "dependencies = 3"]
)
def test_a_broken_manifest_has_none(path, text):
    assert depended_on(path, text.split("\n")) == []
