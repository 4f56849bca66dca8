"""Settings of the command line. Commands read them from the environment, into which `main` merges `prism.toml`.

This class lists them, for their documentation and validation.
"""

from pydantic import Field, SecretStr

from prism_runtime.settings import PrismSettings


class CommandSettings(PrismSettings):
    """Settings of the command line and of the supervisor of `prism up`."""

    url: str = Field("", description="URL of the Prism that commands connect to; empty: the local stack.")
    token: SecretStr = Field(SecretStr(""), description="Its token; empty: that of the local stack.")
    repo: str = Field("", description="owner/repo of commands that name none, and of `prism mcp`.")
    data_dir: str = Field("", description="Folder of the local stack; empty: the user's data folder.")
    probe_every_s: float = Field(
        5.0, gt=0, description="Interval between two liveness probes of `prism up`, in seconds."
    )
    silent_s_max: str = Field(
        "",
        description="`prism up` replaces a process that has not answered for this many seconds: `60` for all, "
        "`search=30,qdrant=300` for some. Empty: 25 to 120, by process.",
    )
    unready_s_max: str = Field(
        "",
        description="The same for a process that answers but is not ready although its dependencies are. Empty: 180, "
        "engines 900.",
    )
    healthy_after_s: float = Field(
        60.0,
        ge=0,
        description="A process that ran for this many seconds is restarted after the shortest pause.",
    )
