"""Remove from the image what Prism never loads: scipy, and the grammars of languages that it does not parse.

Usage: `python prune.py TABLE`, with the virtual environment's Python, while it still has pip. TABLE is the
chunker's table of languages. The script reads nothing else, so the layer with dependencies changes only with
the requirements or the table.
"""

import runpy
import subprocess
import sys
from pathlib import Path

# graspologic-native needs nothing of scipy: it names it for callers that pass their graph as a scipy matrix,
# and Prism passes arrays.
PACKAGES = ("scipy",)


def grammars_read(table: Path) -> frozenset[str]:
    """Returns the grammars that the languages of the table are parsed with."""
    languages = runpy.run_path(str(table))["LANGUAGES"].values()
    return frozenset(language.grammar for language in languages if language.grammar)


def unused_grammars(bindings: Path, used: frozenset[str]) -> list[Path]:
    """Returns the libraries in a folder of grammars that no language uses: `verilog.abi3.so` is `verilog`."""
    return sorted(path for path in bindings.glob("*.so") if path.name.split(".")[0] not in used)


def main() -> None:
    """Remove the packages and the grammars, and print what was removed."""
    subprocess.run([sys.executable, "-m", "pip", "uninstall", "-q", "-y", *PACKAGES], check=True)
    import tree_sitter_language_pack

    bindings = Path(tree_sitter_language_pack.__file__).with_name("bindings")
    unused = unused_grammars(bindings, grammars_read(Path(sys.argv[1])))
    size = sum(path.stat().st_size for path in unused)
    for path in unused:
        path.unlink()
    sys.stdout.write(f"removed {', '.join(PACKAGES)}; {len(unused)} grammars, {size // 2**20} MiB\n")


if __name__ == "__main__":
    main()
