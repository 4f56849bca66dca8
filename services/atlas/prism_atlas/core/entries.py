"""Entry points of a file, from names, decorators and paths."""

from collections.abc import Iterator, Mapping

from prism_atlas.core.builder import EntryRow
from prism_atlas.core.graph import NONE
from prism_contracts.code import CALLABLE_KINDS, Reference, ReferenceKind, Symbol, SymbolFact
from prism_contracts.rpc.maps import EntryKind
from prism_resolver.facts import FileFacts

# The function that a program starts with, by language.
MAIN_NAMES: Mapping[str, str] = dict.fromkeys(
    ("go", "rust", "c", "cpp", "java", "kotlin", "scala", "dart", "d", "zig", "swift", "nim"), "main"
) | {"csharp": "Main"}
MAIN_IN_CLASS = frozenset({"java", "kotlin", "scala", "csharp"})
# Files with these names, or in these folders, are run directly.
SCRIPT_NAMES = frozenset({"__main__.py", "manage.py"})
SCRIPT_FOLDERS = frozenset({"bin", "scripts"})
SCRIPT_LANGUAGES = frozenset(
    {"bash", "fish", "javascript", "perl", "powershell", "python", "ruby", "typescript"}
)
METHODS = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})
# Decorators or annotations of a function or a class that make it a route or a command.
ROUTE_DECORATORS = METHODS | frozenset(
    {"route", "api_route", "websocket", "getmapping", "postmapping", "putmapping", "patchmapping", "deletemapping"}
    | {"requestmapping"}
    | {f"http{method}" for method in METHODS}
)  # fmt: skip
# Languages whose attributes above a function say what it is, and register nothing.
UNDECORATED = frozenset({"elixir", "erlang"})
COMMAND_DECORATORS = frozenset({"command", "group", "subcommand"})
# Methods that register a route, and the objects they are called on.
REGISTRATIONS = METHODS | frozenset(
    {"handlefunc", "handle", "route", "add_url_rule", "add_route", "add_api_route", "resources", "any"}
)
OWN_OBJECT = frozenset({"self", "this"})
ROUTERS = frozenset({"app", "router", "routes", "mux", "blueprint", "bp"})
# Common router names in gin and echo; too short to mean anything in other languages.
SHORT_ROUTERS: Mapping[str, frozenset[str]] = {"go": frozenset({"r", "e"})}


def entries_of(facts: FileFacts) -> list[EntryRow]:
    """Returns the entry points of a file, each symbol once per kind. Flagged files (tests) have none."""
    if facts.flags:
        return []
    found: dict[tuple[int, EntryKind], EntryRow] = {}
    for entry in (*_scripts(facts), *_mains(facts), *_decorated(facts), *_registered(facts)):
        found.setdefault((entry.symbol, entry.kind), entry)
    return list(found.values())


def _scripts(facts: FileFacts) -> Iterator[EntryRow]:
    *folders, name = facts.path.split("/")
    is_in_place = bool(SCRIPT_FOLDERS & set(folders)) and facts.language in SCRIPT_LANGUAGES
    if name in SCRIPT_NAMES or is_in_place:
        yield EntryRow(NONE, EntryKind.SCRIPT, 1)


def _mains(facts: FileFacts) -> Iterator[EntryRow]:
    main = MAIN_NAMES.get(facts.language)
    for position, symbol in enumerate(facts.symbols):
        is_main = symbol.name == main and symbol.kind in CALLABLE_KINDS and not symbol.bodiless
        if is_main and (symbol.parent < 0 or facts.language in MAIN_IN_CLASS):
            yield EntryRow(position, EntryKind.MAIN, symbol.name_line)


def _decorated(facts: FileFacts) -> Iterator[EntryRow]:
    """Symbols whose decorator or annotation makes them an entry point."""
    if facts.language in UNDECORATED:
        return
    decorations: dict[int, list[Reference]] = {}
    for reference in facts.references:
        if reference.name.lower() in ROUTE_DECORATORS | COMMAND_DECORATORS:
            decorations.setdefault(reference.line, []).append(reference)
    if not decorations:
        return
    for position, symbol in enumerate(facts.symbols):
        for reference in _above(symbol, decorations):
            is_command = reference.name.lower() in COMMAND_DECORATORS
            # `@get` alone may be anything; `@app.get` and `@GetMapping` are routes.
            if (
                is_command
                or reference.qualifier
                or reference.name.lower() not in METHODS
                or reference.name[0].isupper()
            ):
                kind = EntryKind.COMMAND if is_command else EntryKind.ROUTE
                yield EntryRow(position, kind, symbol.name_line)


def _above(symbol: Symbol | SymbolFact, by_line: Mapping[int, list[Reference]]) -> Iterator[Reference]:
    """Yields the references in the lines of a symbol above its name."""
    for line in range(symbol.start_line, symbol.name_line):
        yield from by_line.get(line, ())


def _registered(facts: FileFacts) -> Iterator[EntryRow]:
    """Calls that register a route, except decorators."""
    for reference in facts.references:
        if (
            reference.kind is ReferenceKind.CALL
            and _is_registration(reference, facts.language)
            and not _is_decorator(reference, facts)
        ):
            yield EntryRow(reference.symbol, EntryKind.ROUTE, reference.line)


def _is_registration(reference: Reference, language: str) -> bool:
    if reference.name.lower() not in REGISTRATIONS:
        return False
    owner, _, router = reference.qualifier.lower().rpartition(".")
    # An object that registers on its own field is itself a router.
    is_router = router in ROUTERS | SHORT_ROUTERS.get(language, frozenset()) and owner not in OWN_OBJECT
    return is_router or (reference.name in {"HandleFunc", "Handle"} and router == "http")


def _is_decorator(reference: Reference, facts: FileFacts) -> bool:
    return any(symbol.start_line <= reference.line < symbol.name_line for symbol in facts.symbols)
