"""What `make image-test` looks for in an image: run by its Python, on standard input, as the image's own user.

Prints a line per problem, and exits with 1 if there is one. Usage: `python -P - MARKER`, with a text that the
build had as a secret.
"""

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

USER = 10001
TOOLS = ("cc", "gcc", "g++", "clang", "ld", "as", "make", "pip", "pip3", "uv", "curl", "wget")
MODULES = ("pip", "setuptools", "ensurepip", "scipy")
WRITABLE = ("/tmp", "/var/tmp", "/var/cache/prism", "/var/lib/prism", "/run/lock")  # noqa: S108 - read, not written
VIRTUAL = ("/proc", "/sys", "/dev")
BILL = Path("/usr/share/prism/sbom.cdx.json")
LISTED = {"fastapi", "git", "prism-code-intelligence", "tree-sitter-language-pack"}


def problems(marker: bytes) -> Iterator[str]:
    """Returns what an image must not have, and what it lacks."""
    if os.getuid() != USER:
        yield f"it runs as user {os.getuid()}"
    yield from (f"{tool} is installed" for tool in TOOLS if shutil.which(tool))
    yield from (f"{name} can be imported" for name in MODULES if importlib.util.find_spec(name))
    names = {component["name"] for component in json.loads(BILL.read_text())["components"]}
    yield from (f"the bill of materials lacks {name}" for name in sorted(LISTED - names))
    yield from (f"the bill of materials lists {name}" for name in sorted({"pip", "scipy"} & names))
    for path in files():
        if os.access(path, os.W_OK, follow_symlinks=False) and not path.is_symlink():
            yield f"{path} can be changed"
        if path.is_file() and os.access(path, os.R_OK) and marker in path.read_bytes():
            yield f"{path} has a secret of the build"


def files() -> Iterator[Path]:
    """Returns the files and folders of the image, without those in which a service may write."""
    for folder, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if str(Path(folder, name)) not in (*VIRTUAL, *WRITABLE)]
        yield from (Path(folder, name) for name in [*folders, *names])


def main() -> None:
    """Print the problems of this image."""
    found = list(problems(sys.argv[1].encode()))
    sys.stdout.write("".join(f"{problem}\n" for problem in found))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
