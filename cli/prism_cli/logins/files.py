"""The files of `prism nats-logins`: what exists is kept, what depends on the release is written again."""

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path

import nkeys  # type: ignore[import-untyped]

from prism_cli.exits import CommandError
from prism_cli.logins import accounts
from prism_cli.logins.certificates import Authority, Pair
from prism_cli.stack.layout import MODE_FOLDER, write_private
from prism_contracts.access import SERVICES

ACCOUNTS_FILE, KUBERNETES_FILE = "accounts.conf", "kubernetes.yaml"
SECRET = "prism-nats"  # noqa: S105 - the name of a Kubernetes object
# Not in the cluster: who has these is above every service.
KEPT_OUT = frozenset({"ca.key", f"{accounts.OPERATOR}.nk", f"{accounts.SYSTEM}.nk"})


def write_logins(folder: Path, *, tls: bool, hosts: Sequence[str], namespace: str) -> list[str]:
    """Write all files. Returns the names of those that are new or changed. Raises CommandError."""
    try:
        folder.mkdir(mode=MODE_FOLDER, parents=True, exist_ok=True)
        seeds = {user: _seed(folder, user) for user in accounts.USERS}
        wanted = {f"{user}.nk": f"{seed}\n" for user, seed in seeds.items()}
        keys = {user: accounts.public_key(seed) for user, seed in seeds.items()}
        wanted[ACCOUNTS_FILE] = accounts.accounts(keys)
        if tls:
            wanted |= _certificates(folder, hosts)
        wanted[KUBERNETES_FILE] = "\n".join(_secret(namespace, wanted))
        return [name for name, text in wanted.items() if _write(folder / name, text)]
    except OSError as error:
        raise CommandError(
            f"{error.filename or folder} cannot be used: {error.strerror}.",
            "Name a folder that you may write to.",
            code="folder_unusable",
        ) from error


def _seed(folder: Path, user: str) -> str:
    path = folder / f"{user}.nk"
    if not path.exists():
        return accounts.new_seed()
    seed = path.read_text(encoding="utf-8").strip()
    try:
        accounts.public_key(seed)
    except (nkeys.NkeysError, ValueError) as error:
        raise CommandError(
            f"{path} is not the seed of an nkey.", "Delete it to get a new one.", code="nkey_invalid"
        ) from error
    return seed


def _certificates(folder: Path, hosts: Sequence[str]) -> dict[str, str]:
    """Returns the certificates and their keys by name of file."""
    authority = Authority(_pair(folder, "ca"))
    wanted = {"ca.crt": authority.pair.certificate_pem, "ca.key": authority.pair.key_pem}
    issued = {"server": tuple(hosts), **dict.fromkeys(SERVICES, ())}
    for name, of_hosts in issued.items():
        known = _pair(folder, name)
        if known is None or (of_hosts and known.hosts != set(of_hosts)):
            known = authority.issue(name, of_hosts)
        wanted |= {f"{name}.crt": known.certificate_pem, f"{name}.key": known.key_pem}
    return wanted


def _pair(folder: Path, name: str) -> Pair | None:
    """Returns a certificate and its key; None if they do not exist."""
    cert, key = folder / f"{name}.crt", folder / f"{name}.key"
    if not cert.exists() or not key.exists():
        return None
    try:
        return Pair.from_pem(cert.read_bytes(), key.read_bytes())
    except ValueError as error:
        raise CommandError(
            f"{cert} and {key} are not a certificate and its key.",
            "Delete them to get new ones. Without ca.crt and ca.key, delete all certificates.",
            code="certificate_invalid",
        ) from error


def _secret(namespace: str, files: dict[str, str]) -> Iterator[str]:
    """Yields the lines of the Secret of Kubernetes."""
    yield "# Written by `prism nats-logins`. Mount into each pod only what its service needs."
    yield "apiVersion: v1"
    yield "kind: Secret"
    yield "metadata:"
    yield f"  name: {SECRET}"
    yield f"  namespace: {namespace}"
    yield "type: Opaque"
    yield "data:"
    for name, text in sorted(files.items()):
        if name not in KEPT_OUT:
            yield f"  {name}: {base64.b64encode(text.encode()).decode()}"
    yield ""


def _write(path: Path, text: str) -> bool:
    """Write a file that only its owner can read, unless it has this text. Returns whether it was written."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    write_private(path, text)
    return True
