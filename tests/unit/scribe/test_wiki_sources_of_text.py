"""What a wiki reads in documents and manifests."""

import re

import pytest

from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.rpc.guidance import ContextSection
from prism_scribe.core.wiki import commands, prose
from prism_scribe.core.wiki.orientation import Prose


def document(text: str, *headings: tuple[str, int, int, int]) -> Prose:
    symbols = tuple(
        Symbol(
            name=name, qualified_name=name, kind=SymbolKind.SECTION, start_line=start, end_line=end, name_line=start,
            parent=parent,
        )
        for name, start, end, parent in headings
    )  # fmt: skip
    return Prose("README.md", ContextSection.README, tuple(text.split("\n")), symbols)


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\nThe words that introduce this project to people.\n",
        "Title\n=====\n\n.. image:: x.png\n\nThe words that introduce this project to people.\n",
        "[![b](u)](v)\n<p align=center>\n\nThe words that introduce this project to people.",
        "```\nThis is code with many words, and it is no paragraph.\n```\nThe words that introduce this project to people.",
        "- a list of points with more than forty characters\n\nThe words that introduce this project to people.",
        "- a list\n  that goes on with more than forty characters here\n\nThe words that introduce this project to people.",
        "[日本語](https://example.org/parcels/translations/ja.md)\n\nThe words that introduce this project to people.",
        ".. a comment\n   that goes on with more than forty characters\n\nThe words that introduce this project to people.",
    ],
)
def test_the_first_paragraph_is_prose(text):
    quote = prose.first_paragraph(document(text))

    assert quote is not None
    assert quote.text == "The words that introduce this project to people."
    assert text.split("\n")[quote.line - 1] == quote.text


def test_code_blocks_have_their_first_line():
    text = "# Run\n\n```sh\nmake up\n```\n\nLater::\n\n    make down\n\n.. code-block:: python\n\n    import depot\n"

    blocks = [*prose.code_blocks(document(text), 1, 14)]

    assert [(block.line, block.language, block.lines) for block in blocks] == [
        (4, "sh", ("make up",)),
        (9, "", ("make down",)),
        (13, "python", ("import depot",)),
    ]


def test_the_title_of_a_document_is_no_section():
    found = prose.sections(
        document("", ("Testing things", 1, 20, -1), ("Test", 3, 9, 0), ("More tests", 5, 6, 1)),
        re.compile("[Tt]est"),
    )

    assert [one.name for one in found] == ["Test"]


def test_mentions_name_the_path_whole():
    text = (
        "- `src/depot` plans the way of each parcel\n- `src/depots` is something else entirely, and longer\n"
    )

    assert [quote.line for quote in prose.mentions([document(text)], "src/depot", 5)] == [1]


def test_commands_of_manifests():
    makefile = [
        ".PHONY: all",
        "all: build",
        "test: build ## Run the tests",
        "X := 1",
        "lint:",
        "\t@echo linting",
        "\t@ruff check .",
    ]
    package = ["{", '  "scripts": {', '    "start": "node main.js"', "  }", "}"]
    project = ["[project]", 'name = "d"', "", "[project.scripts]", 'depot = "depot.main:run"']
    workflow = [
        "steps:",
        "  - run: make test",
        "  - run: |",
        "      make build \\",
        "        FAST=1",
        "  - run: echo x",
        "  - run: exit 0",
        "  - run: curl -F package=@x https://example.test",
        "  - run: publish --key ${{ secrets.KEY }}",
        "  - run: |",
        "      # The cache is old.",
        "      failed=0",
        "      make bench",
        '  - run: "make docs"',
        "  - run: |",
        "      for one in a b; do",
        "        lint $one",
        "      done",
        "  - name: 'run: make nothing'",
    ]
    composer = [
        "{",
        '  "scripts": {',
        '    "test": "phpunit",',
        '    "check": ["@lint", "@test"]',
        "  }",
        "}",
    ]

    nox = [
        "@nox.session(python=['3.13'])",
        "@nox.parametrize('x', [1])",
        "def unit_tests(session):",
        '    """Run them."""',
    ]
    tasks = ["@task", "def test(c):", "    c.run('pytest')", "", "def helper(c):"]
    rake = ["desc 'Run the tests'", "task :test do", "end", "task default: :test"]
    circle = [
        "jobs:",
        "  tests:",
        "    steps:",
        "      - checkout",
        "      - run:",
        "          command: inv test",
    ]
    gitlab = ["tests:", "  script:", "    - make test", "    - make lint"]

    assert commands.declared("noxfile.py", nox) == [("nox -s unit-tests", "Run them.", 3, True)]
    assert commands.declared("tasks.py", tasks) == [("invoke test", "", 2, True)]
    assert commands.declared("Rakefile", rake)[0] == ("rake test", "Run the tests", 2, True)
    assert commands.declared(".circleci/config.yml", circle) == [("inv test", "", 6, False)]
    assert [one.command for one in commands.declared(".gitlab-ci.yml", gitlab)] == ["make test", "make lint"]
    assert commands.declared("Makefile", makefile) == [
        ("make all", "", 2, False),
        ("make test", "Run the tests", 3, True),
        ("make lint", "ruff check .", 5, False),
    ]
    assert commands.declared("package.json", package) == [("npm run start", "node main.js", 3, False)]
    assert commands.declared("pyproject.toml", project) == [("depot", "depot.main:run", 5, False)]
    assert [one[:1] + one[2:3] for one in commands.declared(".github/workflows/ci.yml", workflow)] == [
        ("make test", 2),
        ("make build FAST=1", 3),
        ("make bench", 10),
        ("make docs", 14),
    ]
    assert commands.declared("composer.json", composer) == [
        ("composer test", "phpunit", 3, False),
        ("composer check", "@lint && @test", 4, False),
    ]
    assert [one.command for one in commands.declared("Depot.csproj", [])] == ["dotnet build", "dotnet test"]
    assert commands.declared(".github/workflows/ci.yml", ["a: [", "b: *x"]) == []


@pytest.mark.parametrize(
    ("command", "purpose"),
    [
        ("make build", "build"),
        ("npm run test", "test"),
        ("pnpm run dev", "run"),
        ("cargo test", "test"),
        ("go build ./...", "build"),
        ("tox -e style", "lint"),
        ("make", ""),
        ("depot", ""),
    ],
)
def test_a_command_is_for_what_its_name_says(command, purpose):
    assert commands.purpose(command) == purpose


@pytest.mark.parametrize(
    "said",
    ["json", "go:embed translations/*.json", "type Error = >::Combined;", "base type ////", "Specs: https://x.test/y",
     'import $ZodType from "./schemas.js";', ""],
)  # fmt: skip
def test_code_and_single_words_are_no_sentence(said):
    assert prose.sentence(said) == ""


@pytest.mark.parametrize("said", ["Composable request filters.", "See RFC 9110 (https://x.test) for headers"])
def test_what_people_write_is_a_sentence(said):
    assert prose.sentence(said) == said


@pytest.mark.parametrize(
    "path", ["README_KO.md", "docs/README.zh-CN.md", "readme-fr.rst", "docs/zh-CN/a.md", "docs/fr/a.md"]
)
def test_translations_are_known_by_their_names(path):
    assert prose.is_translation(path)


@pytest.mark.parametrize(
    "path", ["README.md", "docs/design.md", "how-to-run.md", "notes.de/a.md", "src/it/a.md"]
)
def test_other_documents_are_no_translations(path):
    assert not prose.is_translation(path)


def test_items_of_a_list_have_their_lines():
    found = prose.list_items(document("# A\n\n- one\n- two\n  more\n\n## B\n\n- three\n"), 1, 9, 5)

    assert [(item.line, item.text) for item in found] == [(3, "one"), (4, "two")]


@pytest.mark.parametrize(
    "path", ["package.json", "pyproject.toml", "Cargo.toml", "Makefile", "tox.ini", "justfile"]
)
@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"scripts": 7}', "[project]\nscripts = 3"])
def test_a_broken_manifest_declares_what_can_be_read(path, text):
    assert all(one.line >= 1 for one in commands.declared(path, text.split("\n")))


def test_only_manifests_of_the_root_and_workflows_count():
    assert commands.is_manifest("Makefile")
    assert commands.is_manifest(".github/workflows/ci.yaml")
    assert not commands.is_manifest("vendor/lib/Makefile")
