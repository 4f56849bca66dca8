"""The base image where no registry is reachable: Debian with its Python, by debootstrap."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from deploy.image.engine import Engine

RELEASE = "trixie"
MIRROR = "http://deb.debian.org/debian"
SOURCES = """\
deb {mirror} {release} main
deb {mirror} {release}-updates main
deb {mirror}-security {release}-security main
"""
# As in the base images of a registry: neither the base nor what apt adds to it has documentation.
DOCUMENTATION = ("doc", "locale", "man")
LEFT_OUT = (
    "./dev/*",
    "./proc/*",
    "./sys/*",
    *(f"./usr/share/{name}/*" for name in DOCUMENTATION),
    "./var/cache/apt/archives/*.deb",
    "./var/lib/apt/lists/*",
)


def have_base(engine: Engine, name: str) -> None:
    """Make sure that a base image is there: from the engine's storage, a registry, or debootstrap.

    Ends the process with a message where none of them works.
    """
    if engine.succeeds("image", "inspect", name) or engine.succeeds("pull", name):
        return
    if not shutil.which("debootstrap") or os.geteuid() != 0:
        sys.exit(
            f"{name} is not here and no registry gives it. Set BASE to an image of Python 3.11 or newer on "
            "Debian, or run as root where debootstrap is installed: then a base is made of Debian's packages."
        )
    sys.stderr.write(f"no registry gives {name}; making a base of Debian's packages instead\n")
    with tempfile.TemporaryDirectory(prefix="prism-base-") as folder:
        engine.call("import", str(_archive(Path(folder))), name)


def _archive(folder: Path) -> Path:
    root, archive = folder / "root", folder / "base.tar"
    packages = "--include=python3,python3-venv,ca-certificates"
    subprocess.run(
        ["debootstrap", "--variant=minbase", packages, RELEASE, str(root), MIRROR],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (root / "etc/apt/sources.list").write_text(SOURCES.format(mirror=MIRROR, release=RELEASE))
    excludes = "".join(f"path-exclude /usr/share/{name}/*\n" for name in DOCUMENTATION)
    (root / "etc/dpkg/dpkg.cfg.d/docker").write_text(excludes)
    excluded = [f"--exclude={path}" for path in LEFT_OUT]
    subprocess.run(["tar", "-C", str(root), *excluded, "-cf", str(archive), "."], check=True)
    return archive
