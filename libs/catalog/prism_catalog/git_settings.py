"""Settings of the services that contact git servers: ingest, which fetches code, and workspace."""

from pathlib import Path

from pydantic import Field

from prism_runtime.settings import PrismSettings
from prism_source.clone_url import CloneRules


class GitSettings(PrismSettings):
    """Which git servers are contacted, and what a git process may use."""

    clone_schemes: str = Field("https,ssh,git", description="Allowed schemes of clone URLs, comma-separated.")
    clone_allow_private: bool = Field(
        default=False,
        description="Allow clones from private and loopback addresses, and from file:// if listed.",
    )
    clone_bytes_max: int = Field(4 * 1024**3, ge=1, description="Largest clone, in bytes.")
    clone_seconds_max: int = Field(900, ge=1, description="Longest clone, in seconds.")
    clone_silence_s_max: int = Field(
        30, ge=1, description="Seconds without data after which a git server is abandoned."
    )
    git_memory_bytes_max: int = Field(
        1024**3,
        ge=64 * 1024**2,
        description="Memory of each git process that fetches, in bytes; listing branches gets at most half a "
        "GiB.",
    )

    def clone_rules(self, folder: Path, *, depth: int) -> CloneRules:
        """Returns the rules as prism_source has them. Host keys are kept in `folder`; `depth` is in commits."""
        return CloneRules(
            schemes=frozenset(self.clone_schemes.split(",")),
            allow_private=self.clone_allow_private,
            bytes_max=self.clone_bytes_max,
            seconds_max=self.clone_seconds_max,
            silence_s_max=self.clone_silence_s_max,
            memory_bytes_max=self.git_memory_bytes_max,
            depth=depth,
            known_hosts=str(folder.absolute() / "known_hosts"),
        )
