"""Chooses the domain of a file by its path.

docs/guides/contexts.md describes the domains. Questions are sorted by them when they are asked: no index depends on them.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from prism_contracts.rpc.context import Domain

_PROSE = r"\.(?:md|mdx|mdc|markdown|rst|adoc|asciidoc|org|txt|text)"
_FLAGS = re.IGNORECASE
IS_PROSE = re.compile(rf".*{_PROSE}", _FLAGS)
# A name that is prose with and without an ending: README, README.md, README.zh.rst.
_ENDING = rf"(?:[._-][^/]*)?(?:{_PROSE})?"
_ASIDE = re.compile(
    r"(?:.*/)?(?:node_modules|vendor|third[-_]?party|testdata|fixtures?|__snapshots__)/.*", _FLAGS
)
_PATTERNS: Mapping[Domain, re.Pattern[str]] = {
    Domain.WORKSPACE: re.compile(
        r"(?:.*/)?(?:AGENTS|CLAUDE|GEMINI|CONVENTIONS|CODING[-_]STYLE|STYLE[-_]?GUIDE|STYLE)(?:\.md|\.mdc|\.rst|\.txt)?"
        r"|(?:.*/)?\.(?:cursor|claude|windsurf|continue|aider|vscode|devcontainer)/.*"
        r"|(?:.*/)?\.(?:cursorrules|windsurfrules|editorconfig|gitattributes|tool-versions)"
        r"|(?:.*/)?\.github/(?:copilot-instructions\.md|instructions/.*|prompts/.*|CODEOWNERS|PULL_REQUEST_TEMPLATE.*|ISSUE_TEMPLATE.*)"
        r"|(?:.*/)?(?:CODEOWNERS|mise\.toml|\.mise\.toml)",
        _FLAGS,
    ),
    Domain.PROCESS: re.compile(
        r"(?:.*/)?\.(?:github/(?:workflows|actions)|circleci|buildkite|woodpecker|gitlab)/.*"
        r"|(?:.*/)?(?:\.gitlab-ci|\.travis|appveyor|\.appveyor|azure-pipelines|\.drone|cloudbuild|bitbucket-pipelines|\.readthedocs|\.pre-commit-config|codecov|\.codecov|dependabot|renovate)\.(?:ya?ml|json)"
        r"|(?:.*/)?(?:GNU)?makefile|(?:.*/)?[^/]+\.mk|(?:.*/)?(?:justfile|Taskfile\.ya?ml|Jenkinsfile[^/]*|Procfile|Vagrantfile|Rakefile|noxfile\.py|tox\.ini|fabfile\.py|tasks\.py|build\.gradle(?:\.kts)?|CMakeLists\.txt|\.goreleaser\.ya?ml)"
        r"|(?:.*/)?(?:Dockerfile|Containerfile)[^/]*|(?:.*/)?[^/]+\.dockerfile|(?:.*/)?(?:docker-)?compose[^/]*\.ya?ml"
        r"|(?:ci|\.ci|scripts|script|tools/ci|deploy|deployment|deployments|k8s|kubernetes|helm|charts|terraform|ansible)/.*"
        rf"|(?:.*/)?(?:CONTRIBUTING|RELEASING|RELEASE|DEVELOPING|DEVELOPMENT|HACKING|BUILDING|BUILD|INSTALL|MAINTAINING|MAINTAINERS|SECURITY|RUNBOOK){_ENDING}"
        rf"|(?:.*/)?(?:runbooks?|operations|deploy(?:ment)?|releasing|contributing|ci)/[^/]*{_PROSE}",
        _FLAGS,
    ),
    Domain.RESEARCH: re.compile(
        rf"(?:.*/)?(?:research|explorations?|experiments?|investigations?|spikes?|studies|analys[ei]s|post-?mortems?|retrospectives?|notes|journal|proposals?|drafts?|generated)/.*{_PROSE}"
        rf"|(?:.*/)?(?:research|investigation|findings|analysis|experiment|spike|post-?mortem|benchmarks?)[-_.\w]*{_PROSE}"
        r"|.*\.ipynb",
        _FLAGS,
    ),
    Domain.INTENT: re.compile(
        rf"(?:.*/)?(?:README|VISION|MISSION|GOALS|ROADMAP|PHILOSOPHY|MANIFESTO|PRINCIPLES|SPEC|SPECIFICATION|REQUIREMENTS|PRD|ARCHITECTURE|DESIGN|OVERVIEW|INTERNALS){_ENDING}"
        rf"|(?:.*/)?(?:adrs?|decisions?|decision[-_]records?|rfcs?|specs?|specifications?|requirements|product|vision|design|architecture|internals)/.*{_PROSE}"
        rf"|(?:.*/)?adr[-_]?\d+[^/]*{_PROSE}",
        _FLAGS,
    ),
    Domain.REFS: re.compile(
        rf".*{_PROSE}"
        r"|(?:.*/)?(?:openapi|swagger|asyncapi)[^/]*\.(?:ya?ml|json)|.*\.(?:proto|graphqls?|thrift|avsc|wsdl|[1-9])",
        _FLAGS,
    ),
}
# What a build reads is no prose, whatever its name.
_BUILD_TEXT = re.compile(
    r"(?:.*/)?(?:requirements[^/]*|constraints[^/]*|robots|humans|LICENSE[^/]*)\.txt", _FLAGS
)


def domain_of(path: str) -> Domain:
    """Returns the domain of a file of a repository, given its path from the root."""
    if _BUILD_TEXT.fullmatch(path):
        return Domain.PROCESS if "license" not in path.lower() else Domain.REFS
    if _ASIDE.fullmatch(path):
        return Domain.REFS if IS_PROSE.fullmatch(path) else Domain.CODE
    return next((domain for domain, pattern in _PATTERNS.items() if pattern.fullmatch(path)), Domain.CODE)


# The names that narrow the search of a domain, in any folder; `domain_of` decides. A glob matches case exactly, so the
# usual spellings are listed.
NAMES: Mapping[Domain, Sequence[str]] = {
    Domain.INTENT: (
        "README*", "readme*", "VISION*", "vision*", "ROADMAP*", "roadmap*", "SPEC*", "spec*.md", "ARCHITECTURE*",
        "architecture*", "DESIGN*", "design*", "overview*", "OVERVIEW*", "principles*", "adr*/**", "decision*/**",
        "rfc*/**", "spec*/**", "requirements/**", "product/**", "design/**", "architecture/**", "internals/**",
        "MISSION*", "GOALS*", "goals*", "philosophy*", "internals*", "PRD*", "adr-*", "adr_*",
    ),
    Domain.RESEARCH: (
        "research/**", "exploration*/**", "experiment*/**", "investigation*/**", "spike*/**", "studies/**",
        "analys*/**", "post*mortem*/**", "notes/**", "proposal*/**", "draft*/**", "generated/**", "journal/**",
        "research*", "investigation*", "findings*", "analysis*", "experiment*", "benchmark*.md", "*.ipynb",
        "retrospective*/**", "spike*", "post*mortem*", "RESEARCH*", "BENCHMARK*",
    ),
    Domain.REFS: (),
    Domain.PROCESS: (
        ".github/workflows/**", ".github/actions/**", ".circleci/**", ".buildkite/**", ".gitlab*", ".gitlab/**",
        ".travis*", "*appveyor*", "azure-pipelines*", ".pre-commit*", ".readthedocs*", "*akefile*", "*.mk", "justfile",
        "Taskfile*", "Jenkinsfile*", "noxfile.py", "tox.ini", "tasks.py", "build.gradle*", "CMakeLists.txt",
        "Dockerfile*", "*compose*.y*ml", "ci/**", ".ci/**", "script/**", "scripts/**", "deploy*/**", "k8s/**",
        "helm/**", "charts/**", "terraform/**", "CONTRIBUTING*", "contributing*", "RELEAS*", "DEVELOP*", "HACKING*",
        "BUILD*", "INSTALL*", "SECURITY*", "runbook*/**", "operations/**", "requirements*.txt", ".goreleaser*",
    ),
    Domain.WORKSPACE: (
        "AGENTS*", "CLAUDE*", "GEMINI*", "CONVENTIONS*", "CODING*", "STYLE*", "style*.md", ".cursor/**", ".claude/**",
        ".windsurf/**", ".vscode/**", ".devcontainer/**", ".cursorrules", ".windsurfrules", ".editorconfig",
        ".github/copilot-instructions.md", ".github/instructions/**", ".github/prompts/**", "CODEOWNERS", "mise.toml",
        ".github/PULL_REQUEST_TEMPLATE*", ".github/ISSUE_TEMPLATE/**",
    ),
    Domain.CODE: (),
}  # fmt: skip


def glob_of(domains: Collection[Domain]) -> str:
    """Returns the glob of the files of any of the domains; empty if one of them is not narrowed."""
    names = [NAMES[domain] for domain in domains]
    return "**/{" + ",".join(chain.from_iterable(names)) + "}" if all(names) else ""
