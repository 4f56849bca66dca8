"""Write the secrets of deploy/compose.yaml: `make compose-secrets`.

A secret that is there stays as it is, so a second run only adds what is missing. To replace one, delete its files
and run it again. The permissions of NATS belong to a release: run it again after an upgrade.
"""

import argparse
import hashlib
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

from prism_cli.logins.files import write_logins
from prism_contracts.access import SERVICES

FOLDER = Path("deploy/compose/secrets")
KEY_BYTES = 32
# Only the owner of the folder reaches its files. Each container gets single files of it, as another user, who
# must be able to read them.
FOLDER_MODE = 0o700
FILE_MODE = 0o444
NATS = "nats"  # the folder of `prism nats-logins`, and the host name of the server
# The other files of that folder stay with people, and readable by the owner only.
MOUNTED = ("accounts.conf", "ca.crt", "server.crt", "server.key", *(f"{service}.nk" for service in SERVICES))


def contents(known: Mapping[str, str]) -> dict[str, str]:
    """Returns the text of every file by its name; what is known stays, and what it decides follows it."""

    def secret(name: str, prefix: str = "") -> str:
        return known.get(name) or prefix + secrets.token_urlsafe(KEY_BYTES)

    token = secret("bootstrap-token", prefix="prism_")
    store = secret("qdrant-api-key")
    keycloak = secret("keycloak-password")
    return {
        "bootstrap-token": token,
        "gateway.env": f"PRISM_BOOTSTRAP_TOKEN_SHA256={hashlib.sha256(token.encode()).hexdigest()}\n",
        "qdrant-api-key": store,
        "qdrant.yaml": f"telemetry_disabled: true\nservice:\n  api_key: {store}\n",
        "secrets-key": secret("secrets-key"),
        "webhook-secret": secret("webhook-secret"),
        "grafana-password": secret("grafana-password"),
        "keycloak-password": keycloak,
        "keycloak.env": f"KC_BOOTSTRAP_ADMIN_PASSWORD={keycloak}\n",
    }


def write(folder: Path) -> list[str]:
    """Write the files that are missing, and return their names. Raises CommandError."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    folder.chmod(FOLDER_MODE)
    known = {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}
    missing = {name: text for name, text in contents(known).items() if name not in known}
    for name, text in missing.items():
        path = folder / name
        path.write_text(text)
        path.chmod(FILE_MODE)
    return sorted([*missing, *_write_logins(folder / NATS)])


def _write_logins(folder: Path) -> list[str]:
    written = write_logins(folder, tls=True, hosts=[NATS], namespace="prism")
    for name in MOUNTED:
        (folder / name).chmod(FILE_MODE)
    return [f"{folder.name}/{name}" for name in written]


def main() -> None:
    """Write the secrets, and say where the token of clients is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    folder = parser.parse_args().folder
    written = write(folder)
    sys.stderr.write(
        f"{folder}: wrote {', '.join(written)}\n" if written else f"{folder}: nothing is missing\n"
    )
    sys.stderr.write(f"The token of the tenant `default`, for clients, is in {folder}/bootstrap-token.\n")


if __name__ == "__main__":
    main()
