"""The configurations of NATS are what its server accepts, with the accounts and certificates that it gets."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.checks.manifests import KUSTOMIZE
from prism_cli.logins.files import write_logins

SERVER = Path(sys.executable).with_name("nats-server")
CONFIGS = [KUSTOMIZE / "base" / "nats.conf", KUSTOMIZE / "components" / "nats-cluster" / "nats.conf"]
ids = pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.parent.name)


def checked(config: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The server's opinion of a configuration, with the folders of the pod below another one."""
    etc = folder / "etc" / "nats"
    for name in ("config", "accounts", "tls"):
        (etc / name).mkdir(parents=True)
    write_logins(folder / "logins", tls=True, hosts=("nats",), namespace="prism")
    shutil.copy(folder / "logins" / "accounts.conf", etc / "accounts")
    for source, target in (("server.crt", "tls.crt"), ("server.key", "tls.key"), ("ca.crt", "ca.crt")):
        shutil.copy(folder / "logins" / source, etc / "tls" / target)
    path = etc / "config" / "nats.conf"
    path.write_text(config.replace("/etc/nats", str(etc)))
    return subprocess.run(
        [SERVER, "-t", "-c", path],
        check=False,
        capture_output=True,
        encoding="utf-8",
        env={"POD_NAME": "nats-0"},
    )


@ids
def test_the_server_accepts_the_configuration(config: Path, tmp_path: Path) -> None:
    done = checked(config.read_text(), tmp_path)
    assert done.returncode == 0, done.stderr


@ids
def test_an_unknown_field_is_refused(config: Path, tmp_path: Path) -> None:
    assert checked(config.read_text().replace("max_file_store", "max_files_stored"), tmp_path).returncode
