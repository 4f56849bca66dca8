import json
import tomllib

import pytest

from prism_cli import up
from prism_cli.connect import CLIENTS
from prism_cli.exits import CommandError

URL, TOKEN = "http://127.0.0.1:8780/mcp", "prism_t"


@pytest.mark.parametrize("client", CLIENTS)
def test_every_snippet_has_url_and_token(client: str):
    snippet = CLIENTS[client].snippet(URL, TOKEN)
    assert URL in snippet
    assert f"Bearer {TOKEN}" in snippet


def test_snippets_are_valid_in_their_language():
    assert json.loads(CLIENTS["cursor"].snippet(URL, TOKEN))["mcpServers"]["prism"]["url"] == URL
    assert json.loads(CLIENTS["vscode"].snippet(URL, TOKEN))["servers"]["prism"]["type"] == "http"
    codex = tomllib.loads(CLIENTS["codex"].snippet(URL, TOKEN))
    assert codex["mcp_servers"]["prism"]["http_headers"]["Authorization"] == f"Bearer {TOKEN}"


def test_unknown_client_error_lists_the_clients():
    with pytest.raises(CommandError) as caught:
        up.connect(URL, TOKEN, "emacs")
    assert "claude" in caught.value.next_action


def test_output_explains_how_to_search_uncommitted_changes(capsys: pytest.CaptureFixture[str]):
    up.connect(URL, TOKEN, "claude")
    shown = capsys.readouterr().out
    assert "`ref`" in shown
    assert "prism watch" in shown
