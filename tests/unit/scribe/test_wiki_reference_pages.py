"""The pages about types, settings, errors and interfaces, from code in several languages as the chunker reads it."""

from dataclasses import replace

import pytest
from wiki_repository import RECEIPT, file, repository

from prism_chunker.core import chunk_file
from prism_contracts.code import SymbolKind
from prism_contracts.rpc.files import OutlineReply
from prism_contracts.rpc.guidance import ContextSection
from prism_scribe.core.wiki import contents, declarations, module_docs, pages, prose
from prism_scribe.core.wiki.orientation import Evidence, Orientation, Prose
from prism_scribe.core.wiki.pages import documents

ELIXIR = '''defmodule Depot.Parcel do
  @moduledoc ~S"""
  A parcel on its way between the depots of a country.

  ## Weights

  Weights are in grams, and never less than one of them.

      raise ArgumentError, "only an example"

  ## Zones

  A zone has a price.
  """

  defstruct weight: 0,
            zone: :near

  @typedoc "A parcel."
  @type t :: %__MODULE__{
          weight: integer,
          zone: atom
        }

  @doc "Returns the price of a parcel."
  @callback price(parcel :: t) :: integer

  @queue_size 100

  schema = [
    batch_size: [
      type: :pos_integer,
      default: 50,
      doc: """
      How many parcels travel together.
      """
    ],
    keys: [
      *: [
        type: :any
      ]
    ]
  ]

  defmacro __using__(_), do: quote(do: @behaviour(Depot.Parcel))
  @behaviour Depot.Parcel

  def load(weight) do
    url = System.get_env("DEPOT_URL", "localhost")
    raise ArgumentError, "no weight at #{url}"
  end
end

defmodule Depot.Plain do
  @behaviour Depot.Parcel
end
'''
GO = """// Package depot keeps parcels.
package depot

import "errors"

const (
	MaxParcels = 40 // parcels of one depot
)

// ErrFull is returned when no parcel fits.
var ErrFull = errors.New("full")

// Config sets up a depot.
type Config struct {
	// Where parcels wait.
	Path string `yaml:"path"`
	size int    // in parcels
}

// Shelf holds parcels.
type Shelf interface {
	// Put stores a parcel.
	Put(id int) error
}

func put(n int) error {
	if errors.Is(nil, ErrFull) {
		return nil
	}
	return ErrFull
}
"""
PYTHON = '''"""Where parcels wait."""
import os

RETRIES_MAX = 3  # attempts of one parcel
URL = os.environ.get("DEPOT_URL", "http://localhost")


class DepotError(Exception):
    """A parcel cannot be stored."""


class Store:
    """Keeps parcels."""

    def put(self, parcel):
        """Store a parcel.

        >>> raise DepotError("never")
        """
        raise NotImplementedError

    def drop(self, parcel):
        if not parcel:
            raise NotImplementedError
        return parcel


def load(parser):
    """Read `os.environ["NOT_READ"]`."""
    parser.add_argument("--depot", default="main", help="which depot")
    raise DepotError("no depot")
'''
RUST = """/// What can go wrong.
#[derive(Error, Debug)]
pub enum DepotError {
    /// No parcel fits.
    #[error("the depot is full")]
    Full,
    #[error("no parcel {0}")]
    Missing(u32),
}

impl Depot {
    pub fn put(&self, id: u32) -> Result<u32, anyhow::Error> {
        if self.is_full() {
            return Err(DepotError::Full);
        }
        let found = match self.find(id) {
            Err(DepotError::Missing(_)) => 0,
            one => one.ok_or(DepotError::Missing(id))?,
        };
        if matches!(found, DepotError::Full) {
            bail!("an odd parcel {}", id);
        }
        Ok(found)
    }
}
"""
JAVASCRIPT = """class Depot {
  put(id) {
    if (!id) throw new Error('a parcel needs an id');
    try { this.find(id) } catch (error) { throw error }
  }
}
"""
PHP = """<?php
class DepotException extends RuntimeException
{
    protected $code = 404;
}

class Depot
{
    public const FULL = 2;

    public function open()
    {
        $problem = new DepotException($this);
        throw $problem;
    }
}
"""


def seen(path: str, text: str, documents: tuple[Prose, ...] = ()) -> tuple[Orientation, Evidence]:
    parsed = chunk_file(path, text)
    outline = OutlineReply(
        repo="acme/depot", file_path=path, language=parsed.language, line_count=1, parse="ok", receipt=RECEIPT,
        symbols=tuple(parsed.symbols),
    )  # fmt: skip
    known = file(path).model_copy(update={"language": parsed.language})
    orientation, _ = repository()
    shown = replace(orientation, files={path: known}, modules=(), documents=documents)
    return shown, Evidence(outlines={path: outline}, texts={path: tuple(text.split("\n"))})


def page(key: str, path: str, text: str, documents: tuple[Prose, ...] = ()) -> str:
    orientation, evidence = seen(path, text, documents)
    toc = contents.plan(orientation)
    return pages.write(next(entry for entry in toc if entry.key == key), orientation, evidence, toc)


def test_a_struct_of_elixir_is_quoted_with_its_defaults_and_its_type_whole():
    shown = page("types", "lib/parcel.ex", ELIXIR)

    assert "```elixir\ndefstruct weight: 0,\n          zone: :near\n```" in shown
    assert "@type t :: %__MODULE__{\n        weight: integer,\n        zone: atom\n      }" in shown


def test_fields_have_their_declaration_and_what_they_say():
    shown = page("types", "depot.go", GO)

    assert '| `` Path string `yaml:"path"` `` | Where parcels wait. | 16 |' in shown
    assert "| `size int` | in parcels | 17 |" in shown


def test_callbacks_are_what_a_behaviour_asks_for():
    shown = page("extending", "lib/parcel.ex", ELIXIR)

    assert "A behaviour in `lib/parcel.ex" in shown
    assert "| `@callback price(parcel :: t) :: integer` | Returns the price of a parcel. |" in shown
    assert "Implemented by `lib/parcel.ex:55`." in shown


def test_a_method_that_only_raises_is_to_be_written_by_a_subclass():
    shown = page("extending", "store.py", PYTHON)

    assert "| `def put(self, parcel)` | Store a parcel. |" in shown
    assert "drop" not in shown


def test_an_interface_is_listed_with_its_methods():
    assert "| `Put(id int) error` | Put stores a parcel. | 23 |" in page("extending", "depot.go", GO)


@pytest.mark.parametrize(
    ("path", "text", "row"),
    [
        ("depot.py", PYTHON, "| `class DepotError(Exception):` | A parcel cannot be stored. | `depot.py:8` | `load` (`depot.py:31`) |"),
        ("depot.go", GO, '| `var ErrFull = errors.New("full")` | ErrFull is returned when no parcel fits. | `depot.go:11` | `put` (`depot.go:30`) |'),
        ("Depot.php", PHP, "| `class DepotException extends RuntimeException` | `protected $code = 404` | `Depot.php:2` | `Depot.open` (`Depot.php:13`) |"),
        ("depot.js", JAVASCRIPT, "| `if (!id) throw new Error('a parcel needs an id');` |  | `Depot.put` | `depot.js:3` |"),
        ("depot.rs", RUST, "| `DepotError::Full` | No parcel fits. | `depot.rs:6` | `Depot.put` (`depot.rs:14`) under `if self.is_full()` |"),
        ("depot.rs", RUST, "| `DepotError::Missing` | no parcel {0} | `depot.rs:8` | `Depot.put` (`depot.rs:18`) |"),
        ("lib/parcel.ex", ELIXIR, '| `raise ArgumentError, "no weight at #{url}"` |  | `Depot.Parcel.load` | `lib/parcel.ex:50` |'),
    ],
)  # fmt: skip
def test_errors_have_the_places_that_raise_them(path, text, row):
    shown = page("errors", path, text)

    assert row in shown
    assert "never" not in shown
    assert "only an example" not in shown


@pytest.mark.parametrize(
    ("path", "text", "row"),
    [
        (
            "src/run.rs",
            'fn run(command: &mut Command) {\n    command.env(\n        "DEPOT_WEIGHT",\n        "3",\n    );\n}\n',
            "| `DEPOT_WEIGHT` |",
        ),
        ("depot.py", PYTHON, '| `DEPOT_URL` | `URL = os.environ.get("DEPOT_URL", "http://localhost")` | `depot.py:5` |'),
        ("lib/parcel.ex", ELIXIR, '| `DEPOT_URL` | `url = System.get_env("DEPOT_URL", "localhost")` | `lib/parcel.ex:49` |'),
        ("depot.py", PYTHON, '| `--depot` | `parser.add_argument("--depot", default="main", help="which depot")` |'),
        ("lib/parcel.ex", ELIXIR, "| `batch_size` | `type: :pos_integer, default: 50` | How many parcels travel together. |"),
        ("depot.py", PYTHON, "| `RETRIES_MAX = 3` | attempts of one parcel | `depot.py:4` |"),
        ("depot.go", GO, "| `MaxParcels = 40` | parcels of one depot | `depot.go:7` |"),
        ("depot.go", GO, '| `` Path string `yaml:"path"` `` | Where parcels wait. | 16 |'),
        ("Depot.php", PHP, "| `public const FULL = 2` |  | `Depot.php:9` |"),
        ("lib/parcel.ex", ELIXIR, "| `@queue_size 100` |"),
    ],
)  # fmt: skip
def test_settings_and_limits_have_their_values(path, text, row):
    shown = page("settings", path, text)

    assert row in shown
    assert "NOT_READ" not in shown


def test_documentation_of_a_module_is_quoted_by_section_with_its_lines():
    shown = page(
        "documents", "lib/parcel.ex", ELIXIR, (Prose("README.md", ContextSection.README, ("# Depot",)),)
    )

    assert "  - A parcel on its way between the depots of a country.\n" in shown
    weights = (
        "- **Weights** (`lib/parcel.ex:5-10`):\n  - Weights are in grams, and never less than one of them.\n"
    )
    assert weights in shown


def test_a_section_shows_the_list_that_it_announces():
    text = (
        "# Depot",
        "",
        "## Events",
        "",
        "These events are sent to all who ask for them:",
        "",
        "* opened",
        "* closed",
    )
    parsed = chunk_file("README.md", "\n".join(text))
    document = Prose("README.md", ContextSection.README, text, tuple(parsed.symbols))
    shown = page("documents", "depot.go", GO, (document,))

    said = "  - These events are sent to all who ask for them:\n  - opened\n  - closed\n"
    assert f"- **Events** (`README.md:3-8`):\n{said}" in shown


@pytest.mark.parametrize(
    ("path", "text", "first"),
    [
        ("a.rs", "//! Keeps parcels.\n//!\n//! # Shelves\n//!\n//! They are made of wood.\n//! And of steel.\nfn a() {}\n", 1),
        ("a.go", "// Copyright\n\n// Package a keeps parcels.\n//\n// # Shelves\n//\n// They are of wood.\n// And of steel.\npackage a\n", 3),
        ("a.py", '"""Keeps parcels.\n\nShelves\n-------\n\nThey are of wood.\nAnd of steel.\n"""\n', 1),
    ],
)  # fmt: skip
def test_documentation_of_a_file_keeps_its_lines(path, text, first):
    _, evidence = seen(path, text)
    document = module_docs.document(path, evidence)

    assert document is not None
    assert "eeps parcels." in document.lines[first - 1]
    assert [heading.name for heading in document.headings] == ["Shelves"]


def test_a_long_document_is_quoted_to_its_end_without_its_deepest_sections():
    text = ["# Depot"]
    for chapter in range(30):
        text += [
            "",
            f"## Chapter {chapter}",
            "",
            f"Words that say what chapter {chapter} is about.",
            "",
            "### Deeper",
        ]
    headings = chunk_file("README.md", "\n".join(text)).symbols
    readme = Prose("README.md", ContextSection.README, tuple(text), tuple(headings))
    orientation, evidence = seen("depot.py", PYTHON, (readme,))
    page = "\n".join(documents.lines(orientation, evidence, ()))

    assert "- **Chapter 29** (`README.md:177-181`):\n  - Words that say what chapter 29 is about." in page
    assert "Deeper" not in page
    assert "- and 30 more sections (`README.md:1`)" in page


def test_flows_begin_at_what_examples_call():
    text = ("# Depot", "", "```go", "store := depot.Open()", "put(1)", "```")
    code = "package depot\n\nfunc Helper() {}\n\nfunc Open() {}\n\nfunc put() {}\n"
    orientation, evidence = seen("depot.go", code, (Prose("README.md", ContextSection.README, text),))
    library = replace(orientation, overview=orientation.overview.model_copy(update={"entry_points": ()}))

    assert contents.flow_starts(library, evidence.outlines) == [("depot.go", 5)]


def test_a_qualified_call_counts_although_the_example_defines_that_name():
    example = ["def start_link(opts), do: Depot.start_link(opts)", "def send(parcel), do: send(parcel)"]
    document = Prose("README.md", ContextSection.README, ("# Depot", "", "```elixir", *example, "```"))

    assert set(prose.calls_in_code([document])) == {"start_link"}


def test_a_method_of_an_unnamed_type_is_no_start_if_another_type_has_it():
    text = ("# Depot", "", "```python", "store = Store()", "store.put(1)", "```")
    code = (
        "class Store:\n    def put(self):\n        pass\n\nclass Other:\n    def put(self):\n        pass\n"
    )
    orientation, evidence = seen("depot.py", code, (Prose("README.md", ContextSection.README, text),))
    library = replace(orientation, overview=orientation.overview.model_copy(update={"entry_points": ()}))

    assert contents.flow_starts(library, evidence.outlines) == [("depot.py", 2)]


def test_text_of_several_lines_and_comments_are_no_code():
    text = ["a = 1", '"""', "b", '"""', "# c", "/* d", "e */", "f = 2 # g"]

    assert [number for number, _ in declarations.code_lines(text)] == [1, 8]


@pytest.mark.parametrize(
    ("line", "language", "expected"),
    [
        ("size int // in parcels", "go", ("size int", "in parcels")),
        ('url = "http://depot"', "go", ('url = "http://depot"', "")),
        ("size = 1  # in parcels", "python", ("size = 1", "in parcels")),
        ("size = 1  # noqa: X1", "python", ("size = 1  # noqa: X1", "")),
        ('name = "a # b"', "python", ('name = "a # b"', "")),
    ],
)
def test_the_comment_at_the_end_of_a_line_is_apart(line, language, expected):
    assert declarations.split_comment(line, language) == expected


def test_a_large_repository_has_pages_of_limited_size():
    text = "\n".join(
        f"class Depot{n}Options:\n    limit_{n} = {n}\n\n    def open_{n}(self, parcel): ...\n"
        for n in range(800)
    )
    orientation, evidence = seen("depot.py", text)
    toc = contents.plan(orientation)

    sizes = {entry.key: len(pages.write(entry, orientation, evidence, toc)) for entry in toc
             if entry.key in {"types", "settings", "errors", "extending", "documents"}}  # fmt: skip

    assert all(size < pages.CHARS_MAX for size in sizes.values()), sizes


def test_symbols_of_other_kinds_are_no_types():
    orientation, evidence = seen("README.py", "X = 1\n")

    assert SymbolKind.VARIABLE not in {
        one.symbol.kind for one in pages.types.main_types(orientation, evidence)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def put(a):\n    if a:\n        x = 1\n        raise Full(a)", "if a"),
        ("def put(a):\n    if a:\n        return 1\n    else:\n        raise Full(a)", "else of if a"),
        (
            "def put(a):\n    try:\n        a.b\n    except Odd as e:\n        raise Full(a)",
            "except Odd as e",
        ),
        (
            "def put(a):\n    try:\n        a.b\n    except Odd:\n        pass\n    else:\n        raise Full(a)",
            "",
        ),
        ("def put(a):\n    if a:\n        a.b\n    raise Full(a)", ""),
        (
            "func put(a int) error {\n\tfor _, b := range a {\n\t\tif b > 2 {\n\t\t\treturn ErrFull",
            "if b > 2",
        ),
        ("void put() {\n  while (a) {\n    a.b(\n      c);\n    throw new Full();", "while (a)"),
        ("if a:\n    b = 1\ndef put(a):\n    raise Full(a)", ""),
    ],
)
def test_the_condition_of_a_line_is_the_nearest_around_it(text, expected):
    lines = text.split("\n")
    first = next(number for number, line in enumerate(lines, 1) if "put" in line)
    assert declarations.condition(lines, len(lines), first) == expected


def test_settings_show_the_code_that_sets_defaults():
    text = """def depot_defaults():
    \"\"\"Return the defaults of a depot.\"\"\"
    return {
        "rate": 3,
        "zones": ["near"],
    }


def default_zone():
    return "near"
"""
    shown = page("settings", "depot.py", text)

    assert "`depot_defaults`, `depot.py:1-6`. Return the defaults of a depot." in shown
    assert '4          "rate": 3,' in shown
    assert "default_zone" not in shown


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("depot.py", 'class Depot:\n    """Where parcels wait.\n\n    A depot is closed at night.\n\n    :param rate: none\n    """\n    rate = 1\n'),
        ("depot.go", "package depot\n\n// Where parcels wait.\n//\n// A depot is closed at night.\ntype Depot struct {\n\tRate int\n}\n"),
        ("Depot.java", "/**\n * Where parcels wait.\n *\n * A depot is closed at night.\n * @since 3\n */\npublic class Depot {\n  public int rate;\n}\n"),
    ],
)  # fmt: skip
def test_the_documentation_of_a_type_is_quoted_up_to_its_tags(path, text):
    shown = page("types", path, text)

    assert ". Where parcels wait.\n\nA depot is closed at night.\n" in shown
    assert "since" not in shown
    assert "param" not in shown


def test_passages_of_a_document_are_paragraphs_items_and_code():
    text = (
        "# Depot", "", "[![b](https://ci.test/b.svg)](https://ci.test)", "", "Depots keep", "parcels:", "",
        "- small ones,", "  up to 2 kg", "- large ones", "", "```sh", "depot open", "```", "", "Closed", "------", "", "At night.",
    )  # fmt: skip
    document = Prose("README.md", ContextSection.README, text)

    found = [*prose.passages(document, 1, len(text))]

    texts = [(one.line, one.text, one.is_item) for one in found if one.block is None]
    assert texts == [
        (5, "Depots keep parcels:", False), (8, "small ones, up to 2 kg", True), (10, "large ones", True),
        (19, "At night.", False),
    ]  # fmt: skip
    assert [one.block.lines for one in found if one.block] == [("depot open",)]


def test_a_document_that_fits_is_quoted_whole_and_a_long_one_is_shortened():
    sentence = "Depots keep parcels until somebody asks for them, and no longer than a month."
    for count, is_whole in ((5, True), (400, False)):
        text = [
            "# Depot",
            "",
            "## Parcels",
            "",
            *[line for _ in range(count) for line in (sentence, "")],
            "At the end.",
        ]
        headings = chunk_file("README.md", "\n".join(text)).symbols
        readme = Prose("README.md", ContextSection.README, tuple(text), tuple(headings))
        orientation, evidence = seen("depot.py", PYTHON, (readme,))
        shown = "\n".join(documents.lines(orientation, evidence, ()))
        assert ("At the end." in shown) is is_whole
        assert ("  - …" in shown) is not is_whole


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("depot.py", 'class Depot:\n    """Keeps parcels.\n\n    :param int rate: of one\n        parcel\n    :param zone: near\n    :returns: none\n    """\n    rate = 1\n'),
        ("depot.py", 'class Depot:\n    """Keeps parcels.\n\n    Args:\n        rate (int): of one\n            parcel\n        zone: near\n\n    Raises: Full\n    """\n    rate = 1\n'),
        ("depot.js", "/**\n * Keeps parcels.\n * @param {number} rate - of one\n *   parcel\n * @param zone near\n * @return none\n */\nexport class Depot {\n  open() {}\n}\n"),
    ],
)  # fmt: skip
def test_described_parameters_are_listed(path, text):
    shown = page("types", path, text)

    assert "- `rate`: of one parcel\n- `zone`: near\n" in shown
    assert "none" not in shown


def test_a_short_method_shows_its_code():
    text = "class Depot:\n    rate = 1\n\n    def __bool__(self):\n        return self.rate > 0\n\n    def _own(self):\n        return 1\n"
    shown = page("types", "depot.py", text)

    assert "| `def __bool__(self)` | `return self.rate > 0` | 4 |" in shown
    assert "_own" not in shown


def test_a_type_that_extends_an_error_is_one_whatever_its_name_is():
    text = "class Failure(Exception):\n    pass\n\n\nclass TimedOut(Failure):\n    pass\n\n\nclass TooLate(TimedOut):\n    pass\n\n\nclass Depot(Store):\n    pass\n"
    shown = page("errors", "depot.py", text)

    assert "`class TimedOut(Failure):`" in shown
    assert "`class TooLate(TimedOut):`" in shown
    assert "Depot(" not in shown


def test_errors_that_are_made_where_they_are_returned_are_listed():
    text = 'package depot\n\nfunc open() error {\n\tif closed {\n\t\treturn errors.New("the depot is closed")\n\t}\n\treturn nil\n}\n'
    row = '| `return errors.New("the depot is closed")` | `if closed` | `open` | `depot.go:5` |'
    assert row in page("errors", "depot.go", text)


def test_attributes_that_a_constructor_sets_are_listed():
    text = "class Depot:\n    def __init__(self, rate):\n        self.rate: int = rate  # per parcel\n        self._own = 1\n        self.full == 2\n\n    def open(self):\n        self.late = 1\n"
    shown = page("types", "depot.py", text)

    assert "| `self.rate: int = rate` | per parcel | 3 |" in shown
    assert "_own" not in shown
    assert "self.full" not in shown
    assert "| `self.late = 1` | 8 |" not in shown


def test_documents_that_name_more_of_the_code_come_first():
    about = Prose(
        "docs/b.md", None, ("# B", "", "`Depot` and `load` are all that you need to know about this.")
    )
    aside = Prose("docs/a.md", None, ("# A", "", "A place where people who use this can talk to each other."))
    orientation, evidence = seen("depot.py", "class Depot: ...\ndef load(): ...\n", (aside, about))
    shown = "\n".join(documents.lines(orientation, evidence, ()))

    assert shown.index("docs/b.md") < shown.index("docs/a.md")


def test_flows_also_begin_at_what_calls_most_and_is_in_no_flow():
    calls = "\n".join(f"    step_{letter}()" for letter in "abcd")
    text = "\n".join(
        [
            *(f"def step_{letter}(): ..." for letter in "abcd"),
            "def work():",
            calls,
            "def rest():",
            "    step_a()",
        ]
    )
    _, evidence = seen("depot.py", text)

    assert contents.further_starts(evidence.outlines, evidence.texts, ()) == [("depot.py", 5)]
    assert contents.further_starts(evidence.outlines, evidence.texts, {("depot.py", 5)}) == []


def test_an_error_that_another_one_wraps_is_made_there():
    text = 'package depot\n\nvar ErrFull = errors.New("full")\n\nfunc put() error {\n\terr := fmt.Errorf("%w: no parcel", ErrFull)\n\treturn err\n}\n'
    assert "| `put` (`depot.go:6`) |" in page("errors", "depot.go", text)


def test_settings_show_tables_and_flags():
    text = 'package depot\n\nvar zones = []string{\n\t"near",\n\t"far",\n}\n\nfunc flags() []cli.Flag {\n\treturn []cli.Flag{&cli.StringFlag{Name: "depot", Value: "main", Usage: "which one"}}\n}\n'
    shown = page("settings", "depot.go", text)

    assert "`zones`, `depot.go:3-6`:" in shown
    assert '4      "near",' in shown
    assert "| `depot` |" in shown


def test_rows_of_a_table_are_passages():
    text = (
        "Where it is:",
        "",
        "| system | folder |",
        "| --- | --- |",
        "| Linux | `~/.depot` |",
        "",
        "At the end.",
    )
    found = [*prose.passages(Prose("README.md", ContextSection.README, text), 1, len(text))]
    assert [one.text for one in found] == [
        "Where it is:",
        "system — folder",
        "Linux — `~/.depot`",
        "At the end.",
    ]


def test_types_with_a_method_that_runs_are_commands():
    text = "\n".join(
        f"class {name}:\n    def run(self):\n        return 1" for name in ("Put", "Get", "Drop")
    )
    _, evidence = seen("depot.py", text)
    orientation, _ = seen("depot.py", text)
    assert contents.flow_starts(orientation, evidence.outlines)[:3] == [
        ("depot.py", 2),
        ("depot.py", 5),
        ("depot.py", 8),
    ]


def test_errors_of_anyhow_are_listed_by_their_arms():
    text = 'fn put(id: u32) -> Result<()> {\n    let one = find(id).context("no parcel")?;\n    match one {\n        1 => bail!("full"),\n        _ => Ok(()),\n    }\n}\n'
    shown = page("errors", "depot.rs", text)
    assert '| `let one = find(id).context("no parcel")?;` |  | `put` | `depot.rs:2` |' in shown
    assert '| `1 => bail!("full"),` |' in shown
