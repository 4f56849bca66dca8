"""A scripted server, asked without pauses."""

import pytest
from cli_server import Server

from prism_cli import client


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    async def no_pause(_: float) -> None:
        return

    monkeypatch.setattr(client.asyncio, "sleep", no_pause)
    return Server()
