"""Domains of files, on paths of real repositories."""

import pytest

from prism_contracts.rpc.context import Domain
from prism_scribe.core.domains import domain_of, glob_of
from prism_store.globs import compile_glob

# pydantic, httpx, tokio, gin, kubernetes, vite, rails, home-assistant, prism
REAL_PATHS = {
    Domain.INTENT: (
        "README.md",
        "tokio-util/README.md",
        "docs/adr/0007-use-postgres.md",
        "docs/decisions/0012-layers.md",
        "ARCHITECTURE.md",
        "rfcs/2024-01-cancellation.md",
        "docs/specs/search.md",
        "ROADMAP.rst",
    ),
    Domain.RESEARCH: (
        "docs/research/embedding-models.md",
        "notes/2025-03-crash.md",
        "docs/postmortems/2024-12-outage.md",
        "experiments/ranking/README.md",
        "generated/2025/11/2025-11-24-cache.md",
        "notebooks/latency.ipynb",
    ),
    Domain.REFS: (
        "docs/api/models.md",
        "docs/usage/serialization.md",
        "api/openapi-spec/swagger.json",
        "proto/raft.proto",
        "CHANGELOG.md",
        "docs/quickstart.rst",
        "vendor/github.com/pkg/errors/README.md",
        "LICENSE.txt",
    ),
    Domain.PROCESS: (
        ".github/workflows/ci.yml",
        "Makefile",
        "Dockerfile.dev",
        "docker-compose.override.yml",
        "scripts/release.sh",
        "tox.ini",
        "CONTRIBUTING.md",
        "deploy/k8s/base/gateway.yaml",
        "requirements-docs.txt",
        ".pre-commit-config.yaml",
        "docs/runbooks/disk-full.md",
    ),
    Domain.WORKSPACE: (
        "AGENTS.md",
        "packages/core/CLAUDE.md",
        ".cursor/rules/style.mdc",
        ".github/copilot-instructions.md",
        ".editorconfig",
        ".github/CODEOWNERS",
    ),
    Domain.CODE: (
        "pydantic/main.py",
        "tokio/src/runtime/scheduler/mod.rs",
        "binding/json.go",
        "src/components/Makefile.vue",
        "tests/test_readme.py",
        "pkg/build/scripts.go",
        "homeassistant/components/notes/__init__.py",
        "testdata/Dockerfile",
        "app/design/tokens.ts",
    ),
}
CASES = [(path, domain) for domain, paths in REAL_PATHS.items() for path in paths]


@pytest.mark.parametrize(("path", "domain"), CASES, ids=[path for path, _ in CASES])
def test_the_path_tells_the_domain(path: str, domain: Domain) -> None:
    assert domain_of(path) is domain


@pytest.mark.parametrize(("path", "domain"), CASES, ids=[path for path, _ in CASES])
def test_the_search_of_a_domain_covers_its_files(path: str, domain: Domain) -> None:
    assert compile_glob(glob_of((domain,))).fullmatch(path)


def test_domains_that_share_a_search_have_the_files_of_each():
    shared = compile_glob(glob_of((Domain.PROCESS, Domain.WORKSPACE)))
    assert shared.fullmatch(".github/workflows/ci.yml")
    assert shared.fullmatch("AGENTS.md")
    assert not shared.fullmatch("src/app.py")


def test_a_search_that_a_domain_without_globs_shares_is_not_narrowed():
    assert glob_of((Domain.INTENT, Domain.REFS)) == ""
