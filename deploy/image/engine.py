"""The container engine of this machine: Docker with a running daemon, or Podman."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

CONTAINERS_CONF = """\
[containers]
default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
{runtime}
[network]
network_config_dir = "{folder}/networks"
"""
STORAGE_CONF = """\
[storage]
driver = "overlay"
graphroot = "{folder}/graph"
runroot = "{folder}/run"
"""
# A user's own limits where there is none: what Podman asks for by default is refused without CAP_SYS_RESOURCE.
FILES_MAX = 20_000
PROCESSES_MAX = 16_384


@dataclass(frozen=True, slots=True)
class Engine:
    """A command line that understands `build`, `run` and the like, and the variables that it needs."""

    program: str
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_docker(self) -> bool:
        """Whether it is Docker, which builds with BuildKit and always as root."""
        return self.program == "docker"

    def call(self, *arguments: str) -> None:
        """Run a command whose output the user sees. Raises CalledProcessError."""
        subprocess.run([self.program, *arguments], env=self._environment(), check=True)

    def read(self, *arguments: str) -> str:
        """Returns what a command prints. Raises CalledProcessError."""
        return subprocess.run(
            [self.program, *arguments], env=self._environment(), check=True, capture_output=True, text=True
        ).stdout.strip()

    def succeeds(self, *arguments: str) -> bool:
        """Whether a command ends with exit code 0; its output is dropped."""
        return not subprocess.run(
            [self.program, *arguments], env=self._environment(), check=False, capture_output=True
        ).returncode

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **self.env}


def find_engine(storage: Path | None = None) -> Engine:
    """Returns the engine of this machine. With a storage folder it is Podman, which keeps all it has in there.

    Ends the process with a message where there is none.
    """
    if storage is None and shutil.which("docker") and Engine("docker").succeeds("info"):
        return Engine("docker")
    if not shutil.which("podman"):
        sys.exit(
            "Building the image needs Docker, or Podman with runc or crun. On Debian: "
            "apt-get install podman runc catatonit netavark aardvark-dns"
        )
    return Engine("podman", _own_storage(storage) if storage else {})


def _own_storage(folder: Path) -> dict[str, str]:
    folder = folder.resolve()
    (folder / "networks").mkdir(parents=True, exist_ok=True)
    # crun refuses hosts that mix both versions of cgroups; runc runs on all.
    runtime = 'runtime = "runc"' if shutil.which("runc") else ""
    settings = CONTAINERS_CONF.format(
        folder=folder,
        runtime=runtime,
        files=_hard_limit(resource.RLIMIT_NOFILE, FILES_MAX),
        processes=_hard_limit(resource.RLIMIT_NPROC, PROCESSES_MAX),
    )
    (folder / "containers.conf").write_text(settings)
    (folder / "storage.conf").write_text(STORAGE_CONF.format(folder=folder))
    variables = {
        "CONTAINERS_CONF": str(folder / "containers.conf"),
        "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
    }
    return variables | ({"BUILDAH_RUNTIME": "runc"} if runtime else {})


def _hard_limit(kind: int, most: int) -> int:
    _, hard = resource.getrlimit(kind)
    return most if hard == resource.RLIM_INFINITY else min(hard, most)
