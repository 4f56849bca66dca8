"""Infers where source and tests are, which tools are configured, and which commands exist."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from prism_contracts.code import Flag, Symbol, SymbolKind
from prism_contracts.rpc.guidance import Convention, ConventionExample
from prism_search.core.conventions.tally import EXAMPLES_MAX, Tally
from prism_search.core.references.edges import SourceFile

TEST_FOLDERS = frozenset({"test", "tests", "spec", "specs", "__tests__", "testing", "t", "Tests", "Test"})
TEST_FILE = re.compile(
    r"(?P<before>(?:test_|Test)?)(?P<name>.*?)(?P<after>(?:[._-](?:tests?|spec))|(?:Tests?|Spec))?(?P<suffix>\.\w+)"
)
# Configuration of formatters, linters and type checkers, by the name of its file.
TOOLS = (
    ("ruff", r"\.?ruff\.toml"), ("flake8", r"\.flake8"), ("mypy", r"\.?mypy\.ini"), ("pyright", r"pyrightconfig\.json"),
    ("pylint", r"\.?pylintrc"), ("isort", r"\.isort\.cfg"), ("tox", r"tox\.ini"), ("nox", r"noxfile\.py"),
    ("pre-commit", r"\.pre-commit-config\.ya?ml"), ("editorconfig", r"\.editorconfig"), ("eslint", r"\.eslintrc(?:\.\w+)?|eslint\.config\.\w+"),
    ("prettier", r"\.prettierrc(?:\.\w+)?|prettier\.config\.\w+"), ("biome", r"biome\.jsonc?"), ("typescript", r"tsconfig\.json"),
    ("stylelint", r"\.stylelintrc(?:\.\w+)?"), ("golangci-lint", r"\.golangci\.(?:ya?ml|toml|json)"), ("rustfmt", r"\.?rustfmt\.toml"),
    ("clippy", r"\.?clippy\.toml"), ("clang-format", r"\.clang-format"), ("clang-tidy", r"\.clang-tidy"), ("checkstyle", r"checkstyle\.xml"),
    ("phpstan", r"phpstan\.neon(?:\.dist)?"), ("psalm", r"psalm\.xml(?:\.dist)?"), ("php-cs-fixer", r"\.php-cs-fixer(?:\.dist)?\.php"),
    ("phpcs", r"\.?phpcs\.xml(?:\.dist)?"), ("phpunit", r"phpunit\.xml(?:\.dist)?"), ("rubocop", r"\.rubocop\.yml"), ("rspec", r"\.rspec"),
    ("swiftlint", r"\.swiftlint\.yml"), ("scalafmt", r"\.scalafmt\.conf"), ("detekt", r"detekt\.ya?ml"), ("stylua", r"\.?stylua\.toml"),
    ("credo", r"\.credo\.exs"), ("hlint", r"\.hlint\.yaml"), ("commitlint", r"\.?commitlint(?:rc)?(?:\.config)?\.\w+"),
)  # fmt: skip
TOOL_FILES = [(tool, re.compile(pattern)) for tool, pattern in TOOLS]
# Tools configured in a file that several tools share.
TOOL_KEY = re.compile(
    r"tool\.(black|ruff|mypy|isort|pyright|pytest|coverage|pylint|towncrier|commitizen)(?:\.|$)"
)
RUNNERS = {
    "Makefile": "make",
    "makefile": "make",
    "GNUmakefile": "make",
    "package.json": "npm run",
    "composer.json": "composer",
}
CONFIGURED = frozenset({*RUNNERS, "pyproject.toml"})
SCRIPT = re.compile(r"scripts\.([\w:.-]+)$")
TARGET = re.compile(r"[A-Za-z][\w-]*")
COMMANDS_SHOWN_MAX = 30
DEPTH_MAX = 1


def is_configured(path: str) -> bool:
    """Whether a file configures tools or commands, which its symbols name."""
    return posixpath.basename(path) in CONFIGURED and path.count("/") <= DEPTH_MAX


def test_pattern(name: str) -> str:
    """Returns a pattern such as `test_*.py`, `*_test.go` or `*.spec.ts`; empty for any other name."""
    found = TEST_FILE.fullmatch(name)
    if not found or not (found["before"] or found["after"]):
        return ""
    return f"{found['before']}*{found['after'] or ''}{found['suffix']}"


def layout(files: Sequence[SourceFile]) -> Iterator[Convention]:
    """Yields where source and tests are, and how test files are named."""
    roots, folders, names = Tally(), Tally(), Tally()
    for file in files:
        parts = file.path.split("/")
        if Flag.TEST not in file.flags:
            roots.add(f"{parts[0]}/" if len(parts) > 1 else "the top folder", file.path, 1, file.path)
            continue
        at = next((at for at, part in enumerate(parts[:-1]) if part in TEST_FOLDERS), None)
        folders.add(
            "next to the code" if at is None else f"in {'/'.join(parts[: at + 1])}/", file.path, 1, file.path
        )
        pattern = test_pattern(parts[-1])
        if pattern:
            names.add(pattern, file.path, 1, parts[-1])
    found = [
        roots.most("layout", "", "source files are in {}"),
        folders.most("tests", "", "tests are {}", things_min=3),
        names.most("tests", "", "test files are named {}", things_min=3),
    ]
    yield from filter(None, found)


def tools(paths: Iterable[str], configured: Iterable[tuple[str, Sequence[Symbol]]]) -> Iterator[Convention]:
    """Yields the configured formatters, linters and checkers, with their files."""
    found: dict[str, ConventionExample] = {}
    for tool, example in (*_tool_files(paths), *_tool_keys(configured)):
        found.setdefault(tool, example)
    if found:
        yield Convention(
            topic="tools",
            statement=f"configured: {', '.join(sorted(found))}",
            count=len(found),
            total=len(found),
            examples=tuple(found.values()),
        )


def _tool_files(paths: Iterable[str]) -> Iterator[tuple[str, ConventionExample]]:
    """Yields tools with a configuration file of their own."""
    for path in paths:
        name = posixpath.basename(path) if path.count("/") <= DEPTH_MAX else ""
        for tool, pattern in TOOL_FILES:
            if pattern.fullmatch(name):
                yield tool, ConventionExample(file_path=path, line=1, text=tool)


def _tool_keys(
    configured: Iterable[tuple[str, Sequence[Symbol]]],
) -> Iterator[tuple[str, ConventionExample]]:
    """Yields tools that share a configuration file."""
    for path, symbols in configured:
        for symbol in symbols:
            if key := TOOL_KEY.match(symbol.qualified_name):
                yield (
                    key[1],
                    ConventionExample(file_path=path, line=symbol.name_line, text=symbol.qualified_name),
                )


def commands(configured: Iterable[tuple[str, Sequence[Symbol]]]) -> Iterator[Convention]:
    """Yields the names of commands: targets of Makefiles, scripts of packages."""
    for path, symbols in configured:
        runner = RUNNERS.get(posixpath.basename(path))
        known = [(name, symbol) for symbol in symbols if (name := _command(symbol))] if runner else []
        if known:
            names = list(dict.fromkeys(name for name, _ in known))
            shown = ", ".join(names[:COMMANDS_SHOWN_MAX])
            yield Convention(
                topic="commands",
                statement=f"{runner} ({path}): {shown}",
                count=len(names),
                total=len(names),
                examples=tuple(
                    ConventionExample(file_path=path, line=symbol.name_line, text=name)
                    for name, symbol in known[:EXAMPLES_MAX]
                ),
            )


def _command(symbol: Symbol) -> str:
    if symbol.kind is SymbolKind.RULE:
        return symbol.name if TARGET.fullmatch(symbol.name) else ""
    script = SCRIPT.match(symbol.qualified_name)
    return script[1] if script else ""
