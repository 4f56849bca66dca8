"""Configurations that connect coding agents to this Prism."""

import json
from collections.abc import Callable
from typing import NamedTuple


class Client(NamedTuple):
    """A coding agent, and the place of its configuration."""

    title: str
    where: str
    snippet: Callable[[str, str], str]  # (MCP URL, token) -> text to paste


def _claude_code(url: str, token: str) -> str:
    return f'claude mcp add --transport http prism {url} --header "Authorization: Bearer {token}"'


def _cursor(url: str, token: str) -> str:
    return _json({"mcpServers": {"prism": {"url": url, "headers": _headers(token)}}})


def _vscode(url: str, token: str) -> str:
    return _json({"servers": {"prism": {"type": "http", "url": url, "headers": _headers(token)}}})


def _codex(url: str, token: str) -> str:
    return f'[mcp_servers.prism]\nurl = "{url}"\nhttp_headers = {{ Authorization = "Bearer {token}" }}'


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _json(value: object) -> str:
    return json.dumps(value, indent=2)


CLIENTS = {
    "claude": Client("Claude Code", "run this command", _claude_code),
    "cursor": Client("Cursor", ".cursor/mcp.json", _cursor),
    "vscode": Client("VS Code", ".vscode/mcp.json", _vscode),
    "codex": Client("Codex", "~/.codex/config.toml", _codex),
}


AGENTS_MD = """## Code search with Prism

Prism's MCP tools know all indexed code: meaning, exact text, and who uses what. Prefer them to reading files
one by one. Answers name path:lines, and say whether they are complete; do not check a complete one again.

| to | call |
|---|---|
| find code by what it does, or by name | `search_code` |
| find every line with a text or regex | `grep_code` |
| list callers and uses of a symbol | `find_references` |
| see what a change breaks, and which tests to run | `impact_of_change` |
| prepare an edit: source, callers, tests, rules | `prepare_to_edit` |
| check whether something exists before writing it | `check_exists` |
| read several places at once | `read_file` with `places` |

Ask one precise question instead of many. The index may lag behind edits of this session: read files that you
changed from disk.
"""
