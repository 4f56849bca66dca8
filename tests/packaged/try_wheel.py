"""`python -I try_wheel.py VERSION`: uses the installed Prism as a new user does. For `make dist-check`.

Runs in an environment that has the wheel and its dependencies only, in a temporary folder: shows the version,
starts a stack, indexes two files, searches, asks over stdio, and stops.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

PRISM = str(Path(sys.executable).with_name("prism"))
SECONDS_MAX = 180
FILES = {
    "depot.py": 'def weigh(parcel):\n    """The weight of a parcel, in grams."""\n    return sum(parcel.items)\n',
    "postage.go": "package postage\n\n// Price of a parcel.\nfunc Price(grams int) int { return 2 * grams }\n",
}


def main(version: str) -> None:
    """Raise if a step fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = _environment(folder / "data")
        _expect(_prism(environment, "--version").strip() == f"prism {version}", "the version")
        source = folder / "town"
        source.mkdir()
        for path, text in FILES.items():
            (source / path).write_text(text)
        _prism(environment, "up", "--detach", "--port", "0")
        try:
            _try_stack(environment, source)
        finally:
            _prism(environment, "down")
    print("the wheel works")


def _try_stack(environment: dict[str, str], source: Path) -> None:
    job = json.loads(_prism(environment, "index", str(source), "--wait", "--json"))["job"]
    _expect(job["counts"]["indexed"] == len(FILES), f"both files are indexed: {job}")
    found = json.loads(_prism(environment, "search", "weight of a parcel", "--json"))
    _expect(found["results"][0]["symbol"] == "weigh", f"search finds the function: {found}")
    outline = asyncio.run(_ask(environment, "get_file_outline", {"path": "postage.go"}))
    _expect("Price" in outline, f"the grammars and queries are in the wheel: {outline}")


async def _ask(environment: dict[str, str], tool: str, arguments: dict[str, Any]) -> str:
    command = StdioServerParameters(command=PRISM, args=["mcp"], env=environment)
    async with Client(command) as client:
        result = await client.call_tool(tool, arguments)
    return " ".join(getattr(block, "text", "") for block in result.content)


def _prism(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [PRISM, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=SECONDS_MAX,
        check=True,
    )
    return done.stdout


def _environment(data: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PRISM_", "PYTHON"))}
    return kept | {"PRISM_CONFIG": os.devnull, "PRISM_DATA_DIR": str(data)}


def _expect(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"failed: {what}")


if __name__ == "__main__":
    main(sys.argv[1])
