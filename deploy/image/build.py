"""Build the image: `python -m deploy.image.build` in the root folder of a checkout, or `make image`."""

import argparse
import os
import subprocess
import tomllib
from pathlib import Path

from deploy.image.base import have_base
from deploy.image.engine import Engine, find_engine

DOCKERFILE = "deploy/Dockerfile"
BASE = "docker.io/library/python:3.13-slim-trixie"
IMAGE = "localhost/prism:dev"
TARGETS = ("runtime", "deep", "torch")


def build(engine: Engine, image: str, *, base: str, target: str, torch_index: str | None = None) -> None:
    """Build a target under the name of an image. Raises CalledProcessError."""
    have_base(engine, base)
    arguments = {"BASE": base, "REVISION": _revision(), "VERSION": _version()}
    if torch_index is not None:
        arguments["TORCH_INDEX"] = torch_index
    options = [f"--build-arg={name}={value}" for name, value in arguments.items()]
    engine.call(
        "build", "--target", target, "-f", DOCKERFILE, "-t", image, *options, *_secrets(), *_ways(engine), "."
    )


def _ways(engine: Engine) -> list[str]:
    """Returns options of Podman: the format that knows health checks, and the network of this machine."""
    return [] if engine.is_docker else ["--format=docker", "--network=host", "--pull=never"]


def _secrets() -> list[str]:
    """Returns a build secret for each file that is set: the CA bundle and the configuration of pip."""
    files = {"ca": os.environ.get("PIP_CERT", ""), "pip": os.environ.get("PIP_CONFIG_FILE", "")}
    return [f"--secret=id={name},src={file}" for name, file in files.items() if file]


def _revision() -> str:
    """Returns the commit, with `-dirty` behind it if files differ from it."""
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=40", "--match="],
        check=False,
        capture_output=True,
        text=True,
    )
    return found.stdout.strip() or "unknown"


def _version() -> str:
    return str(tomllib.loads(Path("pyproject.toml").read_text())["project"]["version"])


def main() -> None:
    """Build the image that the arguments describe."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", default=IMAGE)
    parser.add_argument("--target", choices=TARGETS, default=TARGETS[0])
    parser.add_argument("--base", default=BASE)
    parser.add_argument("--torch-index", help="index of torch's builds; empty: the ordinary one")
    parser.add_argument("--storage", type=Path, help="folder in which Podman keeps images and containers")
    given = parser.parse_args()
    engine = find_engine(given.storage)
    build(engine, given.image, base=given.base, target=given.target, torch_index=given.torch_index)
    megabytes = int(engine.read("image", "inspect", given.image, "--format", "{{.Size}}")) // 10**6
    print(f"{given.image}: {megabytes} MB")


if __name__ == "__main__":
    main()
