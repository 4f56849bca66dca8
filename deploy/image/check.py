"""Fail the build of an image that lacks a command or a grammar.

Usage: `python check.py SERVICES`, with the image's Python. SERVICES is the folder of the services' sources:
each of them must be importable as it is installed.
"""

import importlib
import sys
from pathlib import Path

from prism_chunker.core.file import chunk_file
from prism_chunker.core.languages.table import LANGUAGES


def commands(services: Path) -> list[str]:
    """Returns the modules that containers run, and the command line."""
    packages = sorted(path.parent.name for path in services.glob("*/prism_*/main.py"))
    return [f"{package}.main" for package in [*packages, "prism_cli"]]


def unread_languages() -> list[str]:
    """Returns the languages whose parser fails; a missing grammar is a failure like any other."""
    return [
        name
        for name, language in LANGUAGES.items()
        if language.grammar and chunk_file("", "x\n", name).parse not in {"ok", "partial"}
    ]


def main() -> None:
    """Import every command, and parse a line in every language."""
    found = commands(Path(sys.argv[1]))
    for command in found:
        importlib.import_module(command)
    if unread := unread_languages():
        sys.exit(f"no grammar for {', '.join(unread)}")
    read = sum(bool(language.grammar) for language in LANGUAGES.values())
    sys.stdout.write(f"{len(found)} commands, {read} languages\n")


if __name__ == "__main__":
    main()
