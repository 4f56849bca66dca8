"""Settings of ingest."""

from functools import cached_property
from typing import Self

from pydantic import Field, model_validator

from prism_runtime.settings import ServiceSettings
from prism_source.limits import FILES_MAX, Limits
from prism_source.secret_policy import SecretPolicy, read_policy


class IngestSettings(ServiceSettings):
    """Read from `PRISM_…` at start."""

    clone_schemes: str = Field("https,ssh,git", description="Schemes that a clone URL may have, with commas.")
    clone_allow_private: bool = Field(
        default=False, description="Clone from private and loopback addresses, and from file:// if listed."
    )
    clone_bytes_max: int = Field(4 * 1024**3, ge=1, description="Largest clone, in bytes.")
    clone_seconds_max: int = Field(900, ge=1, description="Longest clone, in seconds.")
    clone_silence_s_max: int = Field(
        30, ge=1, description="A git server that sends nothing for so long is given up, in seconds."
    )
    git_memory_bytes_max: int = Field(
        1024**3,
        ge=64 * 1024**2,
        description="Memory of each git process that fetches, in bytes; listing the branches of a server has half a GiB at most.",
    )
    clone_depth: int = Field(
        50, ge=1, description="Commits of each branch that are fetched, for what changed lately."
    )
    cache_dir: str = Field(
        "",
        description="Folder that keeps fetched repositories from one push to the next. Each copy of ingest needs one of its "
        "own; a temporary one if empty.",
    )
    cache_bytes_max: int = Field(
        8 * 1024**3, ge=0, description="What it may hold, in bytes; the least recently used go first."
    )
    poll_interval_s: int = Field(
        300, ge=0, description="Between two looks at a repository's git server, in seconds; 0: never."
    )
    layers_by_push: bool = Field(
        default=True, description="A push to a branch, or a pull request, that has no layer yet makes one."
    )
    layer_days: int = Field(
        30,
        ge=1,
        description="A layer goes after so many days without a push, an upload of it or create_branch_index.",
    )
    layers_max: int = Field(
        5_000, ge=1, description="Layers of branches and pull requests that a repository may have."
    )
    overlays_max: int = Field(500, ge=1, description="Overlays that a tenant may have open at once.")
    overlay_bytes_max: int = Field(
        16 * 1024**2, ge=1, description="Largest overlay: contents of its files together, in bytes."
    )
    sweep_interval_s: int = Field(
        600,
        ge=0,
        description="Between two looks for expired layers and for content that no layer has any more, in seconds; 0: never.",
    )
    sweep_pause_s: int = Field(
        300,
        ge=0,
        description="For how long no layer must have had a content before it is dropped, in seconds: a branch that is deleted and "
        "pushed again finds it there.",
    )
    import_files_max: int = Field(
        FILES_MAX, ge=1, le=FILES_MAX, description="Files that one import may have."
    )
    import_bytes_max: int = Field(
        2 * 1024**3,
        ge=1,
        description="Text that one import may have, in bytes: the sizes of all files that are indexed, also of those that are alike.",
    )
    file_bytes_max: int = Field(1024**2, ge=1, description="Larger files are skipped, in bytes.")
    secret_patterns: str = Field(
        "",
        description="Secrets of your own that are redacted, one `name=pattern` a line, in RE2 syntax. A group is the secret, or "
        "the whole match. After a change the next import reads every file again.",
    )
    secret_files_withheld: bool = Field(
        default=True,
        description="Skip files that hold secrets by their nature: private keys, key stores, `.netrc`, `*.tfstate`, "
        "credentials. `.env` files are indexed without their values.",
    )
    secret_file_patterns: str = Field(
        "", description="More files to skip so: patterns of their paths, one a line, in RE2 syntax."
    )
    scip_unpacked_bytes_max: int = Field(
        2 * 1024**3, ge=1, description="Largest SCIP index when unpacked, in bytes."
    )
    scip_dir: str = Field(
        "", description="Folder for SCIP indexes while they are read; a temporary one if empty."
    )
    ingest_workers: int = Field(4, ge=1, le=64, description="Packs of one lane that are worked on at once.")
    job_idle_s: int = Field(
        300, ge=1, description="A job without progress for so long gives way to the next, in seconds."
    )

    @model_validator(mode="after")
    def _check_patterns(self) -> Self:
        _ = self.secrets
        return self

    @cached_property
    def secrets(self) -> SecretPolicy:
        """What is redacted and withheld. Raises PrismError if a pattern is not valid."""
        return read_policy(self.secret_patterns, self.secret_files_withheld, self.secret_file_patterns)

    @property
    def limits(self) -> Limits:
        """The limits on what a source may hold."""
        return Limits(file_bytes_max=self.file_bytes_max, secrets=self.secrets)
