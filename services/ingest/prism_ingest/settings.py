"""Settings of ingest."""

from functools import cached_property
from typing import Self

from pydantic import Field, model_validator

from prism_catalog.git_settings import GitSettings
from prism_catalog.shared_buckets import AnswersSettings
from prism_runtime.settings import ServiceSettings
from prism_source.limits import FILES_MAX, SourceLimits
from prism_source.secret_policy import SecretPolicy, read_policy


class IngestSettings(AnswersSettings, GitSettings, ServiceSettings):
    """Read from `PRISM_…` at start."""

    clone_depth: int = Field(50, ge=1, description="Commits to fetch per branch, for recent changes.")
    cache_dir: str = Field(
        "",
        description="Folder for mirrors of fetched repositories. Each copy of ingest needs its own; empty: a "
        "temporary one.",
    )
    cache_bytes_max: int = Field(
        8 * 1024**3,
        ge=0,
        description="Size of the mirror folder, in bytes; the least recently used mirrors are deleted first.",
    )
    poll_interval_s: int = Field(
        300, ge=0, description="Interval between polls of a repository's git server, in seconds; 0: never."
    )
    layers_by_push: bool = Field(
        default=True, description="Create a layer on a push to a branch or pull request that has none."
    )
    layer_days: int = Field(
        30,
        ge=1,
        description="Days without a push, upload or create_branch_index after which a layer is deleted.",
    )
    layers_max: int = Field(5_000, ge=1, description="Layers of branches and pull requests per repository.")
    overlays_max: int = Field(500, ge=1, description="Open overlays per tenant.")
    overlay_bytes_max: int = Field(
        16 * 1024**2, ge=1, description="Largest overlay: total size of its files, in bytes."
    )
    sweep_interval_s: int = Field(
        600,
        ge=0,
        description="Interval between sweeps for expired layers and unused content, in seconds; 0: never.",
    )
    sweep_pause_s: int = Field(
        300,
        ge=0,
        description="How long content must be unused before it is deleted, in seconds: a branch that is "
        "deleted and pushed again finds it in the index.",
    )
    import_files_max: int = Field(FILES_MAX, ge=1, le=FILES_MAX, description="Most files of one import.")
    import_bytes_max: int = Field(
        2 * 1024**3,
        ge=1,
        description="Most text of one import, in bytes: the sizes of all indexed files, including equal "
        "ones.",
    )
    file_bytes_max: int = Field(1024**2, ge=1, description="Larger files are skipped, in bytes.")
    secret_patterns: str = Field(
        "",
        description="Additional secrets to redact, one `name=pattern` per line, in RE2 syntax. The secret is "
        "the first group, or the whole match. After a change, the next import reads every file again.",
    )
    secret_files_withheld: bool = Field(
        default=True,
        description="Skip files that typically contain secrets: private keys, key stores, `.netrc`, "
        "`*.tfstate`, credentials. `.env` files are indexed without their values.",
    )
    secret_file_patterns: str = Field(
        "", description="Additional files to skip: patterns of their paths, one per line, in RE2 syntax."
    )
    scip_unpacked_bytes_max: int = Field(
        2 * 1024**3, ge=1, description="Largest decompressed SCIP index, in bytes."
    )
    scip_dir: str = Field(
        "", description="Folder for SCIP indexes while they are read; empty: a temporary one."
    )
    ingest_workers: int = Field(
        4, ge=1, le=64, description="Packs of one tenant in progress at once, per lane."
    )
    job_idle_s: int = Field(
        300, ge=1, description="Seconds without progress after which a job gives way to the next."
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
    def limits(self) -> SourceLimits:
        """The limits on what a source may hold."""
        return SourceLimits(file_bytes_max=self.file_bytes_max, secrets=self.secrets)
