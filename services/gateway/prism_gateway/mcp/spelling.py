"""Reads the arguments of a call as the caller meant them.

In: what the client sent. Out: arguments of the tool's model, and notes on what was changed beyond spelling. Agents
guess names and values from the tools they know, and a refused call costs them a turn. Never guesses between two
meanings: what stays unknown is refused by the model.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, cast, get_origin

from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

Json = dict[str, Any]

# Other names of an argument. A name is used if the tool has no argument of that name itself.
NAMES: Mapping[str, tuple[str, ...]] = {
    "symbol": ("name", "symbol_name", "function", "function_name", "method", "class_name", "symbols"),
    "symbols": ("symbol", "names", "name", "symbol_name", "functions", "function_name", "class_name"),
    "file_path": ("path", "file", "filename", "filepath", "definition_path"),
    "path": ("file_path", "file", "folder", "directory", "package"),
    "path_filter": ("glob", "path", "include", "file_path", "file", "directory", "paths", "file_pattern"),
    "glob": ("pattern", "path_filter", "include", "path", "directory", "file_pattern"),
    "exclude": ("exclude_glob", "exclude_path", "ignore"),
    "pattern": ("query", "regexp", "search", "text", "needle", "string"),
    "query": ("question", "q", "text", "search", "pattern", "search_query"),
    "intent": ("query", "description", "question", "q", "text"),
    "source": ("from", "from_symbol", "start", "source_symbol"),
    "target": ("to", "to_symbol", "end", "target_symbol"),
    "source_path": ("from_path", "source_file"),
    "target_path": ("to_path", "target_file"),
    "places": ("symbols", "symbol", "files", "paths", "locations", "ranges"),
    "start_line": ("start", "line", "from_line", "line_start"),
    "end_line": ("end", "to_line", "line_end"),
    "limit": ("max_results", "head_limit", "max_count", "count", "top_k", "num_results", "n"),
    "depth": ("max_depth", "levels", "max_hops"),
    "cursor": ("next_cursor", "page_token"),
    "max_tokens": ("token_budget", "budget"),
    "context_lines": ("context", "-C", "-A", "-B"),
    "matching": ("pattern", "regex", "grep", "filter"),
    "only": ("in", "within", "where"),
    "output_mode": ("mode", "output"),
    "word": ("whole_word", "word_regexp", "-w"),
    "case_sensitive": ("match_case",),
    "regex": ("is_regex", "regexp", "use_regex"),
    "language": ("lang", "file_language", "file_type"),
    "reference_type": ("edge", "edge_kind", "kind"),
    "source_only": ("exclude_tests", "skip_tests", "no_tests"),
    "include_body": ("include_bodies", "body", "include_code"),
    "include_bodies": ("include_body", "bodies", "include_code"),
    "include_candidates": ("candidates",),
    "include_members": ("members",),
    "repo": ("repository", "repo_name", "repository_name"),
    "force": ("force_reindex",),
    "ref": ("branch", "revision"),
}
# Names whose value means the opposite.
OPPOSITES: Mapping[str, tuple[str, ...]] = {
    "case_sensitive": ("-i", "ignore_case", "case_insensitive", "insensitive"),
    "source_only": ("include_tests",),
}
# Options of other tools that change nothing here.
IGNORED = frozenset({"-n", "line_numbers", "show_line_numbers", "multiline", "explanation", "reasoning"})

# Other spellings of values, by argument.
VALUES: Mapping[str, Mapping[str, str]] = {
    "language": {
        "py": "python", "python3": "python", "js": "javascript", "jsx": "javascript", "node": "javascript",
        "ts": "typescript", "golang": "go", "rs": "rust", "rb": "ruby", "c++": "cpp", "cxx": "cpp", "cc": "cpp",
        "c#": "csharp", "cs": "csharp", "kt": "kotlin", "sh": "bash", "shell": "bash", "md": "markdown",
        "yml": "yaml", "objective-c": "objc", "ex": "elixir", "hs": "haskell", "pl": "perl",
    },
    "kind": {
        "func": "function", "fn": "function", "def": "function", "functions": "function", "classes": "class",
        "methods": "method", "ctor": "constructor", "const": "constant", "var": "variable", "enumeration": "enum",
        "protocol": "interface", "type_alias": "type", "attribute": "field",
    },
    "only": {
        "comment": "comments", "string": "strings", "test": "tests", "source": "sources", "src": "sources",
        "all": "", "any": "",
    },
    "output_mode": {
        "files": "files_with_matches", "files_only": "files_with_matches", "file": "files_with_matches",
        "counts": "count", "lines": "content", "matches": "content",
    },
    "direction": {
        "incoming": "callers", "caller": "callers", "outgoing": "callees", "callee": "callees",
        "dependencies": "out", "dependents": "in",
    },
    "reference_type": {
        "call": "calls", "caller": "calls", "callers": "calls", "import": "imports", "type": "references",
        "types": "references", "reference": "references", "implementation": "implements", "subtypes": "extends",
    },
}  # fmt: skip


class Spelled(NamedTuple):
    """Arguments with the names and types of the model, and notes for the caller."""

    arguments: Json
    notes: tuple[str, ...]


def read_arguments(model: type[BaseModel], given: Mapping[str, Any]) -> Spelled:
    """Returns the arguments as the model names them. An omitted argument may be sent as null."""
    notes: list[str] = []
    known = {name: value for name, value in given.items() if value is not None}
    named = _renamed(model, known, notes)
    fields = model.model_fields
    return Spelled(
        {
            name: _value(name, fields[name], value, notes) if name in fields else value
            for name, value in named.items()
        },
        tuple(notes),
    )


def _renamed(model: type[BaseModel], given: Json, notes: list[str]) -> Json:
    fields = model.model_fields
    result = {name: value for name, value in given.items() if name in fields}
    for name, value in given.items():
        if name in fields:
            continue
        free = [field for field in fields if field not in result]
        meant = next((field for field in free if name in NAMES.get(field, ())), "")
        opposite = next((field for field in free if name in OPPOSITES.get(field, ())), "")
        if meant:
            result[meant] = value
        elif opposite and isinstance(value, bool):
            result[opposite] = not value
        elif name in IGNORED:
            notes.append(f"{name} was ignored.")
        else:
            result[name] = value
    if isinstance(result.get("symbol"), list) and "symbols" in fields and "symbols" not in result:
        result["symbols"] = result.pop("symbol")
    return result


def _value(name: str, field: FieldInfo, value: Any, notes: list[str]) -> Any:
    kind = get_origin(field.annotation) or field.annotation
    if kind is list:
        return _list(value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if kind is int:
        return _bounded(name, field, _number(value), notes)
    if kind is bool and isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower(), value)
    if isinstance(value, str) and name in VALUES:
        lower = value.strip().lower()
        if name == "language":  # an extension is as good as a language's name
            lower = lower.removeprefix(".")
        return VALUES[name].get(lower, lower)
    return value


def _list(value: Any) -> Any:
    """Returns a list for a single item, and for a list that a client sent as JSON in a string."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            return [value]
    return [value] if value else []


def _number(value: Any) -> Any:
    if isinstance(value, str) and value.strip().lstrip("-").isdecimal():
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _bounded(name: str, field: FieldInfo, value: Any, notes: list[str]) -> Any:
    """Returns the nearest number in the range of the field."""
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    lowest = next((cast("int", one.ge) for one in field.metadata if isinstance(one, Ge)), value)
    highest = next((cast("int", one.le) for one in field.metadata if isinstance(one, Le)), value)
    nearest = max(lowest, min(value, highest))
    if nearest != value:
        notes.append(f"{name} is between {lowest} and {highest}; {nearest} was used.")
    return nearest
