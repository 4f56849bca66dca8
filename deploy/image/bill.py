"""Add the packages of Debian to the bill of materials of the Python packages (CycloneDX 1.6, JSON).

Usage: `python bill.py PYTHON_BILL REVISION TARGET`, where cyclonedx-bom is installed. The bill is validated
against the schema of CycloneDX before it is written.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

FIELDS = "${Package}\t${Version}\t${Architecture}\n"


def debian_components(listing: str, release: str) -> list[dict[str, Any]]:
    """Returns a component per line of `dpkg-query`, with its package URL, for a release such as `debian-13`."""
    components = []
    for line in listing.splitlines():
        name, version, architecture = line.split("\t")
        url = f"pkg:deb/debian/{name}@{quote(version, safe='')}?arch={architecture}&distro={release}"
        components.append({"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url})
    return components


def with_system(bill: dict[str, Any], system: list[dict[str, Any]], revision: str) -> dict[str, Any]:
    """Returns the bill with the components of the system, for the image of a revision."""
    image = {"type": "container", "bom-ref": "prism", "name": "prism", "version": revision}
    return {
        **bill,
        "metadata": {**bill.get("metadata", {}), "component": image},
        "components": [*bill["components"], *system],
    }


def _release() -> str:
    pairs = dict(
        line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line
    )
    return f"{pairs['ID']}-{pairs['VERSION_ID']}".replace('"', "")


def main() -> None:
    """Write the bill of the image."""
    # Only the build of the image has it.
    from cyclonedx.schema import SchemaVersion  # type: ignore[import-not-found]
    from cyclonedx.validation.json import JsonStrictValidator  # type: ignore[import-not-found]

    source, revision, target = sys.argv[1:]
    listing = subprocess.run(
        ["dpkg-query", "--show", "--showformat", FIELDS], check=True, capture_output=True, text=True
    ).stdout
    bill = with_system(json.loads(Path(source).read_text()), debian_components(listing, _release()), revision)
    text = json.dumps(bill, indent=1)
    if problem := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit(f"the bill of materials is not valid: {problem}")
    Path(target).write_text(text)
    sys.stdout.write(f"{len(bill['components'])} components\n")


if __name__ == "__main__":
    main()
