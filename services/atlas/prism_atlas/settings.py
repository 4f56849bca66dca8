"""Settings of atlas."""

from pydantic import Field

from prism_runtime.settings import ServiceSettings


class AtlasSettings(ServiceSettings):
    """Settings that are read from `PRISM_…` at start."""

    atlas_dir: str = Field("", description="Folder for graphs under construction; empty: a temporary one.")
    atlas_kept_bytes_max: int = Field(
        512 * 1024 * 1024, ge=0, description="Memory-mapped graphs per process, in bytes."
    )
    atlas_layers_bytes_max: int = Field(
        1024 * 1024 * 1024,
        ge=0,
        description="Graphs of branches, pull requests and overlays on disk per process, in bytes.",
    )
    atlas_layer_wait_s: float = Field(
        5.0, ge=0, description="Longest wait of a question for the graph of a layer, in seconds."
    )
    atlas_warm_s: float = Field(
        120.0,
        ge=0,
        description="How long the build process keeps its state for the next change, in seconds.",
    )
    atlas_build_s_max: float = Field(900.0, gt=0, description="Longest build of a graph, in seconds.")
    atlas_deadline_s: float = Field(8.0, gt=0, description="Longest time for one question, in seconds.")
