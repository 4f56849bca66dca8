from pathlib import Path

import pytest

from prism_cli.connect.clients import (
    CLIENTS,
    CommandServer,
    HttpServer,
    described,
    entry,
    folders,
    merged,
)

HTTP = HttpServer("http://127.0.0.1:8780/mcp", "prism_t")
STDIO = CommandServer(("/bin/prism", "mcp"), {"PRISM_URL": "https://p"})
BEARER = {"Authorization": "Bearer prism_t"}


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_every_client_has_a_file_in_the_home_folder(platform: str):
    home = Path("/home/ada")
    places = {key: str(client.place(folders({}, home, platform))) for key, client in CLIENTS.items()}
    assert all(place.startswith("/home/ada/") for place in places.values())
    assert len(set(places.values())) == len(places)
    support = "Library/Application Support" if platform == "darwin" else ".config"
    assert places["claude-desktop"] == f"/home/ada/{support}/Claude/claude_desktop_config.json"
    assert places["vscode"] == f"/home/ada/{support}/Code/User/mcp.json"
    assert places["zed"] == "/home/ada/.config/zed/settings.json"


def test_variables_move_the_files():
    variables = {"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/k"}
    at = folders(variables, Path("/home/ada"), "linux")
    assert str(CLIENTS["zed"].place(at)) == "/x/zed/settings.json"
    assert str(CLIENTS["codex"].place(at)) == "/c/config.toml"
    assert str(CLIENTS["claude"].place(at)) == "/k/.claude.json"


def test_each_client_gets_its_own_form():
    assert {key: entry(client, HTTP) for key, client in CLIENTS.items() if client.url_key} == {
        "claude": {"type": "http", "url": HTTP.url, "headers": BEARER},
        "cursor": {"url": HTTP.url, "headers": BEARER},
        "vscode": {"type": "http", "url": HTTP.url, "headers": BEARER},
        "codex": {"url": HTTP.url, "http_headers": BEARER},
        "windsurf": {"serverUrl": HTTP.url, "headers": BEARER},
        "gemini": {"httpUrl": HTTP.url, "headers": BEARER},
        "zed": {"url": HTTP.url, "headers": BEARER},
    }
    assert entry(CLIENTS["cursor"], HttpServer("u", "")) == {"url": "u"}
    command = {"command": "/bin/prism", "args": ["mcp"], "env": {"PRISM_URL": "https://p"}}
    assert entry(CLIENTS["claude-desktop"], STDIO) == command
    assert entry(CLIENTS["vscode"], STDIO) == {"type": "stdio"} | command


def test_a_merge_keeps_what_the_user_added():
    wanted = entry(CLIENTS["cursor"], HTTP)
    existing = {
        "url": "http://old/mcp",
        "headers": {"authorization": "Bearer old", "X-Prism-Toolsets": "all"},
        "disabled": True,
    }
    assert merged(existing, wanted) == {
        "url": HTTP.url,
        "headers": {"X-Prism-Toolsets": "all"} | BEARER,
        "disabled": True,
    }
    assert merged(merged(existing, wanted), wanted) == merged(existing, wanted)


def test_a_change_of_the_transport_leaves_nothing_of_the_old_one():
    http, stdio = entry(CLIENTS["cursor"], HTTP), entry(CLIENTS["cursor"], STDIO)
    assert merged(http | {"timeout": 5}, stdio) == stdio | {"timeout": 5}
    assert merged(stdio | {"env": {"A": "1"}}, http) == http


def test_a_merge_drops_a_token_that_is_no_longer_wanted():
    existing = {"command": "prism", "args": ["mcp"], "env": {"PRISM_TOKEN": "old", "PRISM_REPO": "a/b"}}
    assert merged(existing, {"command": "/bin/prism", "args": ["mcp"]}) == {
        "command": "/bin/prism",
        "args": ["mcp"],
        "env": {"PRISM_REPO": "a/b"},
    }


@pytest.mark.parametrize("odd", [None, 3, [], "prism"])
def test_an_entry_of_another_kind_is_replaced(odd: object):
    assert merged(odd, {"url": "u"}) == {"url": "u"}


def test_entries_are_described_by_address_or_command():
    assert described(entry(CLIENTS["gemini"], HTTP)) == HTTP.url
    assert described(entry(CLIENTS["zed"], STDIO)) == "/bin/prism mcp"
    assert described({"command": "x", "args": 3}) == "x"
    assert described([]) == described({}) == ""
