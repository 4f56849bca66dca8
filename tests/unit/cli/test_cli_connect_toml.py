import tomllib

import pytest

from prism_cli.connect.jsonc import UneditableError
from prism_cli.connect.toml import with_table

TABLE = {"url": "u", "http_headers": {"Authorization": "Bearer t"}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        'model = "x" # mine\n',
        '# c\n[mcp_servers.other]\nurl = "y" # k\n\n[profiles.a]\nb = 1\n',
        'mcp_servers = { o = { url = "x" } } # inline\n',
        '[mcp_servers.prism]\n# mine\nurl = "old"\nold = 1\n[mcp_servers.prism.http_headers]\nX = "1"\n[a]\nb = 1\n',
        'mcp_servers.prism.url = "a" # dotted\n[z]\nb = 1\n',
        'a = 1\n[mcp_servers.x]\nurl = "1"\n[z]\nq = 1\n[mcp_servers.y]\nurl = "2"\n',
    ],
)
def test_the_table_changes_and_the_rest_stays(text: str):
    wanted = tomllib.loads(text)
    wanted.setdefault("mcp_servers", {})["prism"] = TABLE
    edited = with_table(text, "mcp_servers", "prism", TABLE)
    assert tomllib.loads(edited) == wanted
    for line in text.splitlines():
        if "#" in line and "inline" not in line:
            assert line.partition("#")[2] in edited


@pytest.mark.parametrize("text", ["a = ", "mcp_servers = 3", "[[mcp_servers]]\na = 1"])
def test_other_texts_are_refused(text: str):
    with pytest.raises(UneditableError):
        with_table(text, "mcp_servers", "prism", TABLE)
