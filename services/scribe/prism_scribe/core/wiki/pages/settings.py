"""What can be set: environment variables, options of commands, settings, and the limits and defaults of the code."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from prism_contracts.code import CALLABLE_KINDS, Symbol, SymbolKind
from prism_contracts.records import WikiTocEntry
from prism_scribe.core.wiki import clap_options, declarations, excerpts, markdown
from prism_scribe.core.wiki.contents import surveyed
from prism_scribe.core.wiki.orientation import Evidence, Orientation, TypeInFile, types_of

VARIABLES_MAX = 60
OPTIONS_MAX = 90
HELP_CHARS_MAX = 300
CONSTANTS_MAX = 80
VALUE_CHARS_MAX = 120
TYPES_MAX = 14
FIELDS_MAX = 60
DEFAULTS_MAX = 80
SCHEMA_LINES_MAX = 40
# Definitions that set defaults, and the lines of each.
DEFAULT_BLOCKS_MAX = 8
DEFAULT_LINES_MAX = 110
DEFAULT_VALUES_MIN = 2
# Constants with a value of several lines.
TABLES_MAX = 16
TABLE_LINES_MIN, TABLE_LINES_MAX = 3, 30

# A variable of the environment as each language reads it.
_VARIABLE = re.compile(
    r"(?:os\.environ(?:\.get|\.setdefault|\.pop)?|os\.getenv|getenv|os\.Getenv|os\.LookupEnv|env::var(?:_os)?|"
    r"\.env|System\.getenv|System\.(?:get_env|fetch_env!?)|Environment\.GetEnvironmentVariable|ENV(?:\.fetch)?|"
    r"\$_(?:ENV|SERVER)|Sys\.getenv|Deno\.env\.get|option_env!|env!)\s*[\[(]\s*(?P<quote>[\"'])(?P<name>[A-Za-z_]\w+)(?P=quote)"
    r"|\b(?:process|import\.meta)\.env\.(?P<js>[A-Z]\w+)"
)
# An option of a command line, as the usual libraries declare it.
_OPTION = re.compile(
    r"(?:add_argument|add_option|add_parser|\.?option|addOption|addArgument|\.Flags?\(\)\.\w+|"
    r"(?:fs|flag|flags|flagSet|f|cmd)\.(?:String|Int|Int64|Uint|Bool|Duration|Float64|Var|StringVar|IntVar|BoolVar|"
    r"DurationVar|Int64Var|UintVar|Float64Var)|Option\.Make|new Option(?:<[^>]*>)?|\bcli\.\w*Flag)\s*[({]\s*"
    r"(?:Name:)?[&\w.*]*,?\s*\(?\s*"
    r"(?P<quote>[\"'])(?P<name>-{0,2}[A-Za-z][\w-]*)"
)
_APP_SETTING = re.compile(
    r"Application\.(?:get_env|fetch_env!?|compile_env!?)\(\s*(?::\w+|@\w+|\w+)\s*,\s*(?P<elixir>:\w+)"
    r"|getattr\(\s*(?:\w+\.)?settings\s*,\s*[\"'](?P<django>\w+)[\"']|\bsettings\.(?P<read>[A-Z][A-Z_]+)\b"
    r"|ini_get\(\s*[\"'](?P<php>[\w.]+)[\"']"
)
# An option of a schema of options in Elixir, and in lists of pairs in Python.
_SCHEMA_KEY = re.compile(r"^(?P<name>[a-z]\w*\??): \[$")
_SCHEMA_PART = re.compile(r"^(?P<key>type|required|default|doc|hidden|deprecated): ?(?P<value>.*?),?$")
_PAIR = re.compile(
    r"^\(\s*(?P<quote>['\"])(?P<name>[a-z]\w+)(?P=quote)\s*,\s*(?P<value>[^()]+?)\s*\),?\s*(?:#\s*(?P<said>.*))?$"
)
PAIRS_MIN = 3
# What sets defaults is named for them: `global_defaults`, `DefaultOptions`, `defaultConfig`.
_NAMED_FOR_DEFAULTS = re.compile(
    r"(?:^|_)(?:defaults?|DEFAULTS?)(?:_|$)|^[dD]efaults?(?=[A-Z])|[a-z]Defaults?$", re.ASCII
)
# A key with its value: `"shell": "bash",`, `Timeout: 30 * time.Second,`, `config.retries = 3`.
_KEY_VALUE = re.compile(r"^\s*[\w\"'.@$\[\]-]+\s*(?::=|=>|[:=])\s*[^=\s]")
_OPENS_TABLE = re.compile(r"(?:=|:=|=>)[^=]*[\[{(]\s*$")
_DEFAULTS = re.compile(r"default|option|config|setting", re.IGNORECASE)
_NESTING = frozenset({"keys", "options", "schema"})

_SETTINGS_TYPE = re.compile(r"(?:Config(?:uration)?|Conf|Options?|Opts|Settings?|Preferences)$")
_VALUE = re.compile(r"(?:(?<![=!<>])=(?!=)|^@\w+\s|^#define\s+\w+\s)\s*(?P<value>\S.*)$")
_LITERAL = re.compile(
    r"^(?:[-+]?\d[\w.]*|[-+(\d][\d\w\s.*/+<>()-]*|[\"'].*[\"']|[\w.]*\b(?:time|timedelta|Duration|TimeSpan)\b.*|true|false|True|False|:\w+)[;,]?$"
)
_LIMIT = re.compile(
    r"default|max|min|limit|time.?out|interval|size|ttl|retr|version|delay|port|path|period|threshold|capacity|length|count",
    re.IGNORECASE,
)
_ATTRIBUTES = frozenset(
    {
        "moduledoc",
        "doc",
        "typedoc",
        "behaviour",
        "impl",
        "enforce_keys",
        "optional_callbacks",
        "derive",
        "spec",
    }
)
_CONSTANTS = frozenset({SymbolKind.CONSTANT, SymbolKind.VARIABLE, SymbolKind.FIELD, SymbolKind.PROPERTY})


class _Option(NamedTuple):
    name: str
    declared: str
    said: str
    path: str
    line: int


def lines(orientation: Orientation, evidence: Evidence, _: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    found = [
        *markdown.section("Environment variables", _variables(orientation, evidence)),
        *markdown.section("Options of commands", _options(orientation, evidence)),
        *markdown.section("Options and their defaults", _schemas(orientation, evidence)),
        *markdown.section("Settings of the application", _settings(orientation, evidence)),
        *markdown.section("Where defaults are set", _default_blocks(orientation, evidence)),
        *markdown.section("Tables and lists of the code", _tables(orientation, evidence)),
        *_types(orientation, evidence),
        *markdown.section("Limits, defaults and other constants", _constants(orientation, evidence)),
    ]
    lead = (
        "What the main source files read from outside or pass on to other programs, and the values that they begin "
        "with. Each row quotes its line."
    )
    if not found:
        return ["# Settings and limits", "", "The main files read no setting that Prism can list."]
    return ["# Settings and limits", "", lead, "", *found]


def _matches(orientation: Orientation, evidence: Evidence, pattern: re.Pattern[str]) -> Iterator[_Option]:
    """Yields the places of a pattern with a name, each name once in a file."""
    seen: set[tuple[str, str]] = set()
    for path in surveyed(orientation):
        for number, line in declarations.code_lines(evidence.texts.get(path, ())):
            for match in pattern.finditer(_with_next(evidence.texts[path], number, line)):
                name = next(value for key, value in match.groupdict().items() if value and key != "quote")
                if (path, name) not in seen:
                    seen.add((path, name))
                    declared = declarations.statement(evidence.texts[path], number)
                    yield _Option(name, declared, "", path, number)


def _with_next(text: Sequence[str], number: int, line: str) -> str:
    """Returns a line, with the next one if a call has its arguments there."""
    opens = line.rstrip().endswith("(") and number < len(text)
    return line.rstrip() + text[number].strip() if opens else line


def _variables(orientation: Orientation, evidence: Evidence) -> list[str]:
    found: dict[str, _Option] = {}
    more: dict[str, int] = {}
    for one in _matches(orientation, evidence, _VARIABLE):
        more[one.name] = more.get(one.name, 0) + (one.name in found)
        found.setdefault(one.name, one)
    rows = [
        (
            markdown.code(one.name),
            markdown.code(one.declared),
            markdown.place(one.path, one.line)
            + (f" and {markdown.counted(more[one.name], 'more file')}" if more[one.name] else ""),
        )
        for one in sorted(found.values(), key=lambda one: one.name)[:VARIABLES_MAX]
    ]
    return markdown.table(("variable", "how it is used", "place"), rows)


def _options(orientation: Orientation, evidence: Evidence) -> list[str]:
    found = list(_matches(orientation, evidence, _OPTION))
    rows = [
        (markdown.code(one.name), markdown.code(one.declared, 240), markdown.place(one.path, one.line))
        for one in found[:OPTIONS_MAX]
    ]
    table = markdown.table(("option", "declared as", "place"), rows)
    if len(found) > OPTIONS_MAX:
        table.append(f"{markdown.counted(len(found) - OPTIONS_MAX, 'more option')} are declared.")
    return table + _clap_options(orientation, evidence)


def _clap_options(orientation: Orientation, evidence: Evidence) -> list[str]:
    rows = [
        (markdown.code(one.typed), markdown.text(one.said, HELP_CHARS_MAX), markdown.place(path, one.line))
        for path in surveyed(orientation)
        if path.endswith(".rs")
        for one in clap_options.options(evidence.texts.get(path, ()))
    ]
    return markdown.table(("option", "its help", "place"), rows[:OPTIONS_MAX])


def _settings(orientation: Orientation, evidence: Evidence) -> list[str]:
    rows = [
        (markdown.code(one.name), markdown.code(one.declared), markdown.place(one.path, one.line))
        for one in _matches(orientation, evidence, _APP_SETTING)
    ]
    return markdown.table(("setting", "how it is read", "place"), rows[:VARIABLES_MAX])


def _schemas(orientation: Orientation, evidence: Evidence) -> list[str]:
    """Returns options with their types and defaults, from schemas in Elixir and lists of pairs in Python."""
    rows = []
    for path in surveyed(orientation):
        outline = evidence.outlines.get(path)
        text = evidence.texts.get(path, ())
        found = _schema(path, text) if outline and outline.language == "elixir" else _pairs(path, text)
        rows += [
            (
                markdown.code(one.name),
                markdown.code(one.declared),
                markdown.text(one.said),
                markdown.place(path, one.line),
            )
            for one in found
        ]
    return markdown.table(("option", "declared as", "what it says of itself", "place"), rows[:DEFAULTS_MAX])


def _schema(path: str, text: Sequence[str]) -> Iterator[_Option]:
    """Yields the options of a schema. Those that only hold others have nothing of their own to say."""
    for number, line in declarations.code_lines(text):
        key = _SCHEMA_KEY.match(line.strip())
        if key and key["name"] not in _NESTING:
            parts, said = _schema_parts(text, number, len(line) - len(line.lstrip()))
            if parts:
                yield _Option(key["name"], ", ".join(parts), " ".join(said), path, number)


def _schema_parts(text: Sequence[str], number: int, margin: int) -> tuple[list[str], list[str]]:
    parts: list[str] = []
    said: list[str] = []
    inner, in_text = 0, False
    for row in text[number : number + SCHEMA_LINES_MAX]:
        indent = len(row) - len(row.lstrip())
        if row.strip() and indent <= margin and not in_text:
            break
        inner = inner or indent
        if in_text:
            in_text = '"""' not in row
            said += [row.strip()] if in_text and row.strip() else []
        elif indent == inner and (part := _SCHEMA_PART.match(row.strip())):
            if part["key"] == "doc":
                in_text = part["value"].startswith('"""')
                said += [] if in_text else [part["value"].strip('"')]
            elif not part["value"].endswith(("[", "{", "(")):
                parts.append(f"{part['key']}: {part['value']}")
    return parts, said


def _pairs(path: str, text: Sequence[str]) -> Iterator[_Option]:
    """Yields the pairs of a name and a value that stand below each other in something that is named for defaults."""
    run: list[_Option] = []
    lead = ""
    for number, line in enumerate([*text, ""], start=1):
        if pair := _PAIR.match(line.strip()):
            run.append(_Option(pair["name"], pair["value"], pair["said"] or "", path, number))
            continue
        if len(run) >= PAIRS_MIN and _DEFAULTS.search(lead):
            yield from run
        run, lead = [], line


def _default_blocks(orientation: Orientation, evidence: Evidence) -> list[str]:
    """Returns the code of functions and values that are named for defaults and set several."""

    def sets_defaults(symbol: Symbol, code: excerpts.QuotedCode) -> bool:
        if symbol.kind not in CALLABLE_KINDS | _CONSTANTS or not _NAMED_FOR_DEFAULTS.search(symbol.name):
            return False
        values = sum(_KEY_VALUE.match(code.text[number - 1]) is not None for number in code.lines[1:])
        return values >= DEFAULT_VALUES_MIN

    found = itertools.islice(_quoted(orientation, evidence, sets_defaults), DEFAULT_BLOCKS_MAX)
    return [line for code in found for line in excerpts.excerpt(code, code.lines[:DEFAULT_LINES_MAX])]


def _tables(orientation: Orientation, evidence: Evidence) -> list[str]:
    """Returns the code of constants whose value is a table or list of several lines."""

    def is_table(symbol: Symbol, code: excerpts.QuotedCode) -> bool:
        return (
            symbol.kind in _CONSTANTS
            and TABLE_LINES_MIN <= len(code.lines) <= TABLE_LINES_MAX
            and _OPENS_TABLE.search(code.text[code.lines[0] - 1]) is not None
            and not _NAMED_FOR_DEFAULTS.search(symbol.name)
        )

    found = itertools.islice(_quoted(orientation, evidence, is_table), TABLES_MAX)
    return [line for code in found for line in excerpts.excerpt(code)]


def _quoted(
    orientation: Orientation, evidence: Evidence, is_wanted: Callable[[Symbol, excerpts.QuotedCode], bool]
) -> Iterator[excerpts.QuotedCode]:
    for path in surveyed(orientation):
        outline = evidence.outlines.get(path)
        for symbol in outline.symbols if outline else ():
            code = excerpts.quoted(evidence, path, symbol)
            if is_wanted(symbol, code):
                yield code


def _types(orientation: Orientation, evidence: Evidence) -> Iterator[str]:
    """Yields the types that hold settings, with their fields."""
    found: list[TypeInFile] = []
    for path in surveyed(orientation):
        outline = evidence.outlines.get(path)
        types = types_of(path, outline.symbols) if outline else []
        found += [one for one in types if one.fields and _SETTINGS_TYPE.search(one.symbol.name)]
    for one in found[:TYPES_MAX]:
        place = markdown.place(one.path, one.symbol.start_line, one.symbol.end_line)
        said = markdown.text(declarations.said_of(one.symbol))
        rows = []
        for member in one.fields[:FIELDS_MAX]:
            declared = declarations.declaration(evidence, one.path, member)
            about = declarations.said_of(member, declared.said)
            rows.append((markdown.code(declared.code), markdown.text(about), f"{member.name_line}"))
        table = markdown.table(("field", "what it says of itself", "line"), rows)
        yield from markdown.section(
            f"Fields of {markdown.code(one.symbol.qualified_name)}",
            [f"In {place}. {said}".rstrip(), "", *table],
        )


def _constants(orientation: Orientation, evidence: Evidence) -> list[str]:
    found: list[tuple[Symbol, str, declarations.Declared]] = []
    for path in surveyed(orientation):
        outline = evidence.outlines.get(path)
        for symbol in outline.symbols if outline else ():
            if symbol.kind in _CONSTANTS and _is_constant(symbol, outline.symbols if outline else ()):
                declared = declarations.declaration(evidence, path, symbol)
                if _has_value(declared.code):
                    found.append((symbol, path, declared))
    # What sounds like a limit or a default comes first, each in the order of the files.
    found.sort(key=lambda one: _LIMIT.search(one[0].name) is None)
    rows = [
        (
            markdown.code(declared.code),
            markdown.text(declarations.said_of(symbol, declared.said)),
            markdown.place(path, symbol.name_line),
        )
        for symbol, path, declared in found[:CONSTANTS_MAX]
    ]
    table = markdown.table(("constant", "what it says of itself", "place"), rows)
    if len(found) > CONSTANTS_MAX:
        table.append(f"{markdown.counted(len(found) - CONSTANTS_MAX, 'more constant')} are not listed.")
    return table


def _is_constant(symbol: Symbol, symbols: Sequence[Symbol]) -> bool:
    if symbol.name in _ATTRIBUTES:
        return False
    if symbol.kind is SymbolKind.CONSTANT:
        return True
    is_inside = symbol.parent >= 0 and symbols[symbol.parent].kind not in {
        SymbolKind.CLASS,
        SymbolKind.MODULE,
    }
    return not is_inside and symbol.name.upper() == symbol.name and len(symbol.name) > 2  # noqa: PLR2004


def _has_value(code: str) -> bool:
    value = _VALUE.search(code)
    return (
        value is not None
        and len(value["value"]) <= VALUE_CHARS_MAX
        and _LITERAL.match(value["value"]) is not None
    )
