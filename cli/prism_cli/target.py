"""The Prism that a command talks to: that of `PRISM_URL`, else the local stack."""

import os
from dataclasses import dataclass

from prism_cli import environment
from prism_cli.exits import CommandError, Exit
from prism_cli.stack.layout import DataDir, data_dir, read_json
from prism_cli.stack.lock import holder

# The code of the error when no local stack runs, or not yet.
NOT_RUNNING = "not_running"


@dataclass(frozen=True, slots=True)
class ServerTarget:
    """An address and its token. `local` is the data folder if the stack runs on this machine."""

    url: str
    token: str
    local: DataDir | None = None

    @property
    def mcp_url(self) -> str:
        return f"{self.url}/mcp"


def find_target() -> ServerTarget:
    """Read `PRISM_URL` and `PRISM_TOKEN`, or the file that `PRISM_TOKEN_FILE` names; missing values come from the local stack's up.json."""
    data = data_dir()
    url, token = os.environ.get("PRISM_URL", "").rstrip("/"), environment.secret("PRISM_TOKEN")
    up = read_json(data.up_file) or {}
    if url and url != up.get("url"):
        return ServerTarget(url, token)
    if not up:
        raise not_running(data)
    return ServerTarget(str(up["url"]), token or str(up["token"]), data)


def not_running(data: DataDir) -> CommandError:
    """Returns the error of a command that needs a running Prism."""
    if holder(data.lock_file) is not None:
        message, next_action = "Prism is still starting.", "Wait until `prism up` prints that it is ready."
    else:
        message = f"Prism is not running on {data.root}."
        next_action = "Start it with `prism up --detach`, or set PRISM_URL and PRISM_TOKEN."
    return CommandError(message, next_action, code=NOT_RUNNING, exit_code=Exit.NOT_RUNNING)
