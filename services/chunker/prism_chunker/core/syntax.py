"""The reader of every language with a grammar: parse, find symbols and references, find the cuts."""

from operator import attrgetter

from prism_chunker.core import docblocks
from prism_chunker.core.bindings import BindingReader, find_variables
from prism_chunker.core.comments import Leads
from prism_chunker.core.cuts import find_cuts
from prism_chunker.core.definitions import find_definitions
from prism_chunker.core.expansions import read_expansions
from prism_chunker.core.file_bindings import read_file_bindings
from prism_chunker.core.implicit import HAS_IMPLICIT_MEMBERS
from prism_chunker.core.languages.table import Language
from prism_chunker.core.lines import TextRows
from prism_chunker.core.macro_uses import read_macro_uses
from prism_chunker.core.model import Budget, ParsedFile
from prism_chunker.core.names import Names
from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import parse
from prism_chunker.core.references import find_places, read_references
from prism_chunker.core.shadows import Shadows
from prism_chunker.core.symbols import find_symbols
from prism_chunker.core.uses import Hidden, Scopes, read_objects, read_uses
from prism_chunker.core.visibility import Visibility


def read(language: Language, lines: TextRows, budget: Budget) -> ParsedFile:
    """Returns the outline of a source text. Raises TimeoutError past the budget."""
    syntax = parse(language, _source(lines.text), budget.parse_ms_max)
    leads = Leads(syntax, lines)
    nesting = Nesting(find_definitions(syntax, clauses=language.clauses), language, budget)
    places = find_places(syntax, nesting)
    variables = find_variables(language, syntax)
    visibility = Visibility(language, syntax.source, nesting, variables)
    reader = BindingReader(language, syntax, nesting, variables, visibility)
    overloads = reader if language.overloads else None
    references = read_references(places, syntax, nesting, budget.references_max, overloads)
    references += tuple(read_expansions(syntax, nesting, budget.references_max - len(references)))
    macros = read_macro_uses(syntax, nesting) if language.c_family else {}
    called = {start for start, _ in places}
    macro_uses = [one for start, one in macros.items() if start not in called]
    names = Names(language, nesting, references)
    if language.reads_members:
        has_implicit = language.id in HAS_IMPLICIT_MEMBERS
        names.objects |= read_objects(syntax, references, places, has_implicit=has_implicit)
    shadows = Shadows(language, syntax, nesting, names, variables)
    shown = shadows.without_hidden(places, syntax.source)
    if len(shown) < len(places):
        references = read_references(shown, syntax, nesting, budget.references_max, overloads)
    bindings = reader.read(names, budget.bindings_max)
    scopes = Scopes(language, nesting, names, bindings, Hidden(shadows, reader.hidden, visibility))
    uses = macro_uses[: budget.references_max - len(references)]
    uses_max = budget.references_max - len(references) - len(uses)
    uses += read_uses(syntax, places, scopes, uses_max, macros.keys())
    if language.id in docblocks.LANGUAGES:
        said = docblocks.read_docblocks(syntax, nesting, language.own_object)
        uses += said.references[: max(0, budget.references_max - len(references) - len(uses))]
        bindings = tuple(docblocks.with_declared(bindings, said.bindings)[: budget.bindings_max])
    return ParsedFile(
        parse="partial" if syntax.root.has_error else "ok",
        cuts=find_cuts(syntax, lines, leads, budget.nodes_max),
        symbols=find_symbols(language, syntax, nesting, leads),
        references=tuple(sorted([*references, *uses], key=attrgetter("line"))),
        bindings=tuple(sorted([*read_file_bindings(language, syntax), *bindings], key=attrgetter("line"))),
    )


def _source(text: str) -> bytes:
    """Returns the text as bytes that end with a line feed: without one, Perl's scanner may wait for it
    forever.
    """
    source = text.encode("utf-8", "replace")
    return source if source.endswith(b"\n") else source + b"\n"
