"""The coding agents: where each keeps its MCP servers, and in which form.

The sources are the clients' own documentation, as of November 2026:
https://code.claude.com/docs/en/mcp (Claude Code), https://modelcontextprotocol.io/docs/develop/connect-local-servers
(Claude Desktop), https://cursor.com/docs/mcp, https://code.visualstudio.com/docs/copilot/reference/mcp-configuration,
https://developers.openai.com/codex/mcp, https://docs.windsurf.com/windsurf/cascade/mcp,
https://geminicli.com/docs/tools/mcp-server, https://zed.dev/docs/ai/mcp. Claude Code 2.1.328, Codex 0.169.0 and
Gemini CLI 0.61.0 accepted what this makes, over HTTP and stdio.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

SERVER = "prism"

Entry = dict[str, Any]


class Folders(NamedTuple):
    """Where the user's programs keep their files."""

    home: Path
    config: Path
    applications: Path
    environment: Mapping[str, str]


class AgentClient(NamedTuple):
    """A coding agent. Its file has an object `servers`, which has an entry per MCP server.

    Without `url_key` it starts its servers as commands only.
    """

    title: str
    place: Callable[[Folders], Path]
    servers: str = "mcpServers"
    url_key: str = "url"
    headers_key: str = "headers"
    is_typed: bool = False
    is_toml: bool = False
    afterwards: str = "Restart it."


class HttpServer(NamedTuple):
    """Prism behind an address."""

    url: str
    token: str


class CommandServer(NamedTuple):
    """Prism behind a command."""

    argv: tuple[str, ...]
    environment: dict[str, str]


Server = HttpServer | CommandServer

CLIENTS = {
    "claude": AgentClient(
        "Claude Code",
        lambda at: Path(at.environment.get("CLAUDE_CONFIG_DIR") or at.home) / ".claude.json",
        is_typed=True,
        afterwards="New sessions use it; `/mcp` shows it.",
    ),
    "claude-desktop": AgentClient(
        "Claude Desktop", lambda at: at.applications / "Claude/claude_desktop_config.json", url_key=""
    ),
    "cursor": AgentClient("Cursor", lambda at: at.home / ".cursor/mcp.json"),
    "vscode": AgentClient(
        "VS Code",
        lambda at: at.applications / "Code/User/mcp.json",
        servers="servers",
        is_typed=True,
        afterwards="Start it with the command `MCP: List Servers`.",
    ),
    "codex": AgentClient(
        "Codex",
        lambda at: Path(at.environment.get("CODEX_HOME") or at.home / ".codex") / "config.toml",
        servers="mcp_servers",
        headers_key="http_headers",
        is_toml=True,
        afterwards="New sessions use it; `/mcp` shows it.",
    ),
    "windsurf": AgentClient(
        "Windsurf", lambda at: at.home / ".codeium/windsurf/mcp_config.json", url_key="serverUrl"
    ),
    "gemini": AgentClient("Gemini CLI", lambda at: at.home / ".gemini/settings.json", url_key="httpUrl"),
    "zed": AgentClient(
        "Zed",
        lambda at: at.config / "zed/settings.json",
        servers="context_servers",
        afterwards="It connects at once.",
    ),
}

# Keys that choose between address and command, in any client. The others of an entry are the user's.
_TRANSPORT = {"type", "url", "serverUrl", "httpUrl", "command", "args", "source", "bearer_token_env_var"}
_MAPS = ("headers", "http_headers", "env")
_OWN_NAMES = {
    "authorization",
    "prism_url",
    "prism_token",
    "prism_token_file",
    "prism_data_dir",
    "prism_config",
}


def folders(environment: Mapping[str, str], home: Path, platform: str = sys.platform) -> Folders:
    """Returns the folders of this user."""
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    if platform == "darwin":
        return Folders(home, home / ".config", home / "Library/Application Support", environment)
    return Folders(home, config, config, environment)


def entry(client: AgentClient, server: Server) -> Entry:
    """Returns the entry of Prism in the client's form."""
    if isinstance(server, HttpServer):
        assert client.url_key
        made: Entry = {"type": "http"} if client.is_typed else {}
        made[client.url_key] = server.url
        if server.token:
            made[client.headers_key] = {"Authorization": f"Bearer {server.token}"}
        return made
    made = {"type": "stdio"} if client.is_typed else {}
    made |= {"command": server.argv[0], "args": list(server.argv[1:])}
    if server.environment:
        made["env"] = dict(server.environment)
    return made


def merged(existing: object, wanted: Entry) -> Entry:
    """Returns an entry with the wanted address or command, and the user's other keys, headers and variables."""
    if not isinstance(existing, dict):
        return wanted
    result = dict(wanted)
    for key in _MAPS:
        theirs = existing.get(key)
        if isinstance(theirs, dict) and _is_same_transport(existing, wanted):
            kept = {name: value for name, value in theirs.items() if name.lower() not in _OWN_NAMES}
            if both := kept | wanted.get(key, {}):
                result[key] = both
    kept_keys = existing.keys() - _TRANSPORT - set(_MAPS)
    return result | {key: value for key, value in existing.items() if key in kept_keys}


def described(found: object) -> str:
    """Returns the address or the command of an entry; empty if it has neither."""
    if not isinstance(found, dict):
        return ""
    for key in ("url", "serverUrl", "httpUrl"):
        if found.get(key):
            return str(found[key])
    arguments = found.get("args")
    words = [found.get("command", ""), *(arguments if isinstance(arguments, list) else ())]
    return " ".join(map(str, words)).strip()


def _is_same_transport(existing: Entry, wanted: Entry) -> bool:
    return ("command" in existing) == ("command" in wanted)
