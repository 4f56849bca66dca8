"""Classifies files as generated, vendored, minified, documentation or test. Pure.

The rules (which folders, names and first lines mean what) come from github-linguist: vendor.yml,
documentation.yml and generated.rb of https://github.com/github-linguist/linguist, rewritten as tables of
folder names and patterns of file names. Some are omitted because people search these folders as code:
`examples/`, `samples/` and `demos/` (documentation in linguist), `cache/` and `.github/` (vendored in
linguist). The rules for tests are our own.
"""

import re
from functools import lru_cache

import re2  # type: ignore[import-untyped]

from prism_contracts.code import FileFlags

GENERATED = "generated"
VENDORED = "vendored"
MINIFIED = "minified"
DOCUMENTATION = "documentation"
TEST = "test"

# Raised when paths get other flags than before: the next import compares all files with the index.
RULES_VERSION = "2"
# Folders, in lower case, at any depth.
_FOLDERS = {
    GENERATED: {"__generated__", "__snapshots__", ".idea", "htmlcov"},
    VENDORED: {
        *("vendor", "vendors", "vvendor", "node_modules", "bower_components", "jspm_packages", "dist"),
        *("third_party", "third-party", "thirdparty", "3rd_party", "3rd-party", "3rdparty"),
        *("extern", "external", "externals", "pods", "carthage", "godeps", "site-packages"),
        *(".venv", ".vscode", ".gradle", ".mvn", "fontawesome", "font-awesome"),
    },
    DOCUMENTATION: {"documentation", "javadoc", "javadocs", "groovydoc", "apidoc", "apidocs"},
    TEST: {
        *(
            "test",
            "tests",
            "__tests__",
            "testing",
            "testdata",
            "test_data",
            "test-data",
            "testutil",
            "testutils",
        ),
        *("spec", "specs", "e2e", "fixture", "fixtures", "__fixtures__", "mock", "mocks", "__mocks__"),
        *("testsuite", "test_suite", "test-suite", "bench", "benches", "benchmark", "benchmarks"),
    },
}
# Folders of tests with a name of several words, in lower case: `test-shrinker`, `runtime-tests`, `parcels.tests`.
# Not `spec` and `testing`: an `openapi-spec` and `ab-testing` are products.
_TEST_FOLDER = re.compile(r"(?:tests?|e2e)[-_.].+|.+[-_.](?:tests?|e2e|bench(?:mark)?s?)")
# Cargo, and Python with a `src` folder, keep benchmarks beside `src`: `src/benchmark` is a part of the product.
_BENCHMARKS_BESIDE_SRC = (".rs", ".py", ".pyi")
_IN_SRC = re.compile(r"(?:^|(?<=/))src/.+")
_BENCHMARKS = re.compile(r"(?:.+[-_])?bench(?:es|marks?)?", re.IGNORECASE)
# `app/src/main/java/town/ParcelSpec.java`
_MAIN_SOURCES = re.compile(r"(?P<module>(?:[^/]+/)*?)src/main/(?:java|kotlin|scala|groovy|resources)/")
# `lib/town/adapter/test.rb`: gems keep their tests beside `lib`, and name a class of theirs so.
_RUBY_LIBRARY = re.compile(r"(?:.+/)?lib/(?:.+/)?test\.rb")
# The same with the original case: `ParcelTests`.
_CAMEL_TEST_FOLDER = re.compile(r".*[a-z0-9]Tests?")
# Folders, in lower case, only at the root.
_ROOT_FOLDERS = {
    VENDORED: {"deps", "dependencies", "debian"},
    DOCUMENTATION: {"doc", "docs", "man"},
}
# Sequences of folders.
_FOLDER_RUNS = {
    VENDORED: re.compile(r"(?:^|/)\.yarn/(?:releases|plugins|sdks|versions|unplugged)/"),
    DOCUMENTATION: re.compile(r"(?:^|/)inst/doc/"),
}

# File names. Most are matched in lower case; words inside CamelCase need the original case.
_NAMES = {
    GENERATED: re.compile(
        r"""
        (?: package-lock\.json | npm-shrinkwrap\.json | yarn\.lock | pnpm-lock\.yaml | bun\.lockb? | deno\.lock
          | composer\.lock | gemfile\.lock | cargo\.lock | cargo\.toml\.orig | poetry\.lock | pdm\.lock | uv\.lock
          | pipfile\.lock | pixi\.lock | flake\.lock | go\.sum | go\.work\.sum | gopkg\.lock | glide\.lock
          | mix\.lock | pubspec\.lock | podfile\.lock | package\.resolved | module\.bazel\.lock
          | \.terraform\.lock\.hcl | packages\.lock\.json | bindata\.go | wire_gen\.go | zz_generated\..*\.go
          | .*\.pb\.(?:go|cc|c|h|hh|swift|dart|gw\.go) | .*_pb2(?:_grpc)?\.pyi? | .*\.pbobjc\.[hm] | .*_pb\.(?:js|d\.ts|ts|rb)
          | .*\.(?:g|freezed|gr|mocks)\.dart | .*\.designer\.(?:cs|vb) | .*\.g(?:\.i)?\.cs | .*\.feature\.cs
          | .*[._-]generated\.[a-z0-9]+ | .*\.(?:js|css|mjs|cjs)\.map | .*\.(?:nib|xcworkspacedata|xcuserstate|snap)
        )
        """,
        re.VERBOSE,
    ),
    VENDORED: re.compile(
        r"""
        (?: .*[.-]min\.(?:js|css) | jquery(?:[.-].*)?\.js | bootstrap(?:[.-].*)?\.(?:js|css|less|scss|styl)
          | normalize\.(?:css|less|scss|styl) | modernizr(?:[.-].*)?\.js | d3(?:[.-]v?\d.*)?\.js | prototype\.js
          | configure | config\.(?:guess|sub) | aclocal\.m4 | libtool\.m4 | lt(?:options|sugar|version|~obsolete)\.m4
          | install-sh | ltmain\.sh | depcomp | cpplint\.py | waf | gradlew(?:\.bat)? | mvnw(?:\.cmd)? | erlang\.mk
        )
        """,
        re.VERBOSE,
    ),
    MINIFIED: re.compile(r".*[.-]min\.(?:js|css|mjs|cjs)"),
    DOCUMENTATION: re.compile(
        r"""
        (?: (?:readme|changes|changelog|contributing|copying|install|licen[cs]e|citations?|authors|notice)(?:[.-].*)?
          | .*\.(?:md|markdown|mdown|mdx|rst|adoc|asciidoc|asc|rdoc|pod|textile|mediawiki|org)
        )
        """,
        re.VERBOSE,
    ),
    TEST: re.compile(
        r"(?:test_.*|test|conftest|.*[._-](?:tests?|specs?|unittest|bench|benchmark|mock))\.[a-z0-9]+"
    ),
}
_CAMEL_TEST = re.compile(r".*[a-z0-9](?:Tests?|TestCase|Spec|Suite|Mock|Benchmark)\.[A-Za-z0-9]+")

# A marker counts only in a comment or docstring at the top, not inside a template that a generator prints.
_MARKER_LINES = 40
_MARKER_CHARS = 4_000
_MARKERS = (
    r"@generated(?:\s*$|[^\w\s=]|\s+[^\s=])",
    r"code generated .*do not edit",
    r"<auto-?generated",
    r"do not edit this file",
    r"generated by .*do not edit",
    r"generated by the .*protocol buffer .*compiler",
    r"generated from .*\.g4? by antlr",
    r"\bgenerated by (?:cython|thrift|swig|peg\.js|haxe|flex|bison|jison|ragel|openapi|swagger|grpc|coffeescript)",
    r"autogenerated by thrift",
    r"made by gnu bison",
    r"(?:file|code|class|module|header) (?:is|was|has been) (?:auto(?:matically)?[ -]?)generated",
    r"auto(?:matically)?[ -]?generated (?:by|from|using|file|code|with)",
)
_COMMENT = r"""(?m)^[ \t]*(?://|#|/?\*+|--|;|<!--|%|'|"|\(\*|\{-|!).*"""

_MINIFIABLE = (".js", ".mjs", ".cjs", ".css")
# Average line length above which linguist calls a file minified.
_MINIFIED_LINE_CHARS = 110
# Our own: a shorter file is one long statement, not a bundle.
_MINIFIED_CHARS_MIN = 1_000


def classify_path(path: str) -> FileFlags:
    """Returns the flags that follow from the path alone. Cheap enough for every file of a manifest."""
    folder, _, name = path.rpartition("/")
    if name.endswith(_BENCHMARKS_BESIDE_SRC):
        folder = _IN_SRC.sub(_without_benchmarks, folder, count=1)
    found = _folder_flags(folder) | _name_flags(name)
    if TEST in found and (main := _MAIN_SOURCES.match(f"{folder}/")):
        # Maven, Gradle and sbt keep products apart from tests, whatever a file or package is named.
        found -= {TEST} - _folder_flags(main["module"])
    if _RUBY_LIBRARY.fullmatch(path):
        found -= {TEST} - _folder_flags(folder)
    return _flags(found)


def classify_text(path: str, text: str, flags: FileFlags) -> FileFlags:
    """Adds the flags generated and minified, which need the text (or its first HEAD_BYTES)."""
    generated = not flags.generated and is_generated(text)
    minified = not flags.minified and is_minified(path, text)
    if not (generated or minified):
        return flags
    return flags.model_copy(
        update={GENERATED: flags.generated or generated, MINIFIED: flags.minified or minified}
    )


def is_generated(text: str) -> bool:
    """Returns whether the first lines mark the file as written by a program."""
    lowered = text[:_MARKER_CHARS].lower()
    # Every marker contains one of these, and `in` is faster than the pattern.
    if "generated" not in lowered and "do not edit" not in lowered and "gnu bison" not in lowered:
        return False
    return _marker().search("\n".join(lowered.splitlines()[:_MARKER_LINES])) is not None


def is_minified(path: str, text: str) -> bool:
    """Returns whether a script or style sheet has longer lines, on average, than people write."""
    if len(text) < _MINIFIED_CHARS_MIN or not path.lower().endswith(_MINIFIABLE):
        return False
    return len(text) > _MINIFIED_LINE_CHARS * (text.count("\n") + 1)


@lru_cache(maxsize=1)
def _marker() -> re.Pattern[str]:
    # RE2 runs in linear time, so a hostile file cannot slow this down.
    return re2.compile(f"{_COMMENT}(?:{'|'.join(_MARKERS)})")  # type: ignore[no-any-return]


# A repository has far fewer folders than files.
@lru_cache(maxsize=16_384)
def _folder_flags(folder: str) -> frozenset[str]:
    if not folder:
        return frozenset()
    lowered = folder.lower()
    segments = lowered.split("/")
    return frozenset(
        [flag for flag, names in _FOLDERS.items() if not names.isdisjoint(segments)]
        + [flag for flag, names in _ROOT_FOLDERS.items() if segments[0] in names]
        + [flag for flag, run in _FOLDER_RUNS.items() if run.search(lowered + "/")]
        + ([TEST] if any(map(_is_test_folder, folder.split("/"))) else [])
    )


def _without_benchmarks(below_src: re.Match[str]) -> str:
    return "/".join(part for part in below_src[0].split("/") if not _BENCHMARKS.fullmatch(part))


def _is_test_folder(name: str) -> bool:
    return bool(_TEST_FOLDER.fullmatch(name.lower()) or _CAMEL_TEST_FOLDER.fullmatch(name))


def _name_flags(name: str) -> frozenset[str]:
    lowered = name.lower()
    found = {flag for flag, pattern in _NAMES.items() if pattern.fullmatch(lowered)}
    if TEST not in found and _CAMEL_TEST.fullmatch(name):
        found.add(TEST)
    return frozenset(found)


@lru_cache(maxsize=64)
def _flags(names: frozenset[str]) -> FileFlags:
    return FileFlags(**dict.fromkeys(names, True))
