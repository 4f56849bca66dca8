"""Settings of atlas."""

from pydantic import Field

from prism_runtime.settings import ServiceSettings


class AtlasSettings(ServiceSettings):
    """Read from `PRISM_…` at start."""

    atlas_dir: str = Field("", description="Folder for graphs that are being made; a temporary one if empty.")
    atlas_kept_bytes_max: int = Field(
        512 * 1024 * 1024, ge=0, description="Graphs that a process keeps mapped, in bytes."
    )
    atlas_warm_s: float = Field(
        120.0,
        ge=0,
        description="How long the process that builds graphs keeps what it knows for the next change, in seconds.",
    )
    atlas_build_s_max: float = Field(900.0, gt=0, description="Longest build of a graph, in seconds.")
    atlas_deadline_s: float = Field(8.0, gt=0, description="Longest time for one question, in seconds.")
