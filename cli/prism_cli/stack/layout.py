"""The data folder of a local stack: its layout, and the secrets that it generates once.

<data>/nats/        JetStream store, nats.conf          <data>/token      bearer token of the gateway
<data>/qdrant/      collections                         <data>/up.json    address of the running stack
<data>/atlas/       graphs during a build              <data>/up.lock    held while a supervisor runs
<data>/cache/       fetched repositories: deletable     <data>/secrets/   keys between the services
<data>/run/         <service>.json, supervisor.json     <data>/logs/      <service>.log
<data>/overlays/    the overlay of each work tree, also on a remote Prism
"""

import json
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prism_cli.exits import CommandError, Exit

KEY_BYTES = 32
MODE_FOLDER = 0o700
MODE_FILE = 0o600


@dataclass(frozen=True, slots=True)
class DataDir:
    """Paths in one data folder."""

    root: Path

    @property
    def nats(self) -> Path:
        return self.root / "nats"

    @property
    def qdrant(self) -> Path:
        return self.root / "qdrant"

    @property
    def atlas(self) -> Path:
        return self.root / "atlas"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def overlays(self) -> Path:
        return self.root / "overlays"

    @property
    def run(self) -> Path:
        return self.root / "run"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def up_file(self) -> Path:
        return self.root / "up.json"

    @property
    def lock_file(self) -> Path:
        return self.root / "up.lock"

    @property
    def supervisor_file(self) -> Path:
        return self.run / "supervisor.json"

    @property
    def supervisor_log(self) -> Path:
        return self.log("supervisor")

    def log(self, service: str) -> Path:
        """Returns the log of a service."""
        return self.logs / f"{service}.log"

    def create(self) -> None:
        """Create the folders, accessible to their owner only."""
        try:
            for folder in (
                self.root,
                self.nats,
                self.qdrant,
                self.atlas,
                self.cache,
                self.run,
                self.logs,
                self.root / "secrets",
            ):
                folder.mkdir(mode=MODE_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(
                f"The data folder {self.root} cannot be created: {error.strerror or error}.",
                "Choose another one with --data-dir or PRISM_DATA_DIR.",
                code="data_dir_unusable",
            ) from error

    def token(self) -> str:
        """Returns the bearer token of the gateway; generates it at the first call."""
        from prism_contracts.token_secrets import new_secret  # the supervisor stays light

        return _secret(self.root / "token", new_secret)

    def secret(self, name: str) -> str:
        """Returns a key between the services of this folder; generates it at the first call."""
        return _secret(self.root / "secrets" / name)


def data_dir(chosen: str | Path | None = None) -> DataDir:
    """Returns the data folder: the chosen one, else `PRISM_DATA_DIR`, else the system's folder for program
    data.

    The path is canonical, links resolved: the marks on processes are compared by it. Raises CommandError if
    `chosen` is empty, as it is when a script passes an unset variable.
    """
    if chosen is not None and not str(chosen).strip():
        raise CommandError(
            "--data-dir is empty.", "Give a folder. The default is the user data folder.",
            code="data_dir_unusable", exit_code=Exit.USAGE,
        )  # fmt: skip
    return DataDir((Path(chosen) if chosen else _default()).expanduser().resolve())


def _default() -> Path:
    from_environment = os.environ.get("PRISM_DATA_DIR")
    if from_environment:
        return Path(from_environment)
    import platformdirs

    return Path(platformdirs.user_data_dir("prism", appauthor=False))


def read_json(path: Path) -> dict[str, Any] | None:
    """Returns the object in a file; None if the file is missing or incomplete."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace a file atomically, readable by its owner only."""
    write_private(path, json.dumps(value, indent=1))


def write_private(path: Path, text: str) -> None:
    """Replace a file atomically, readable by its owner only from the first moment."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, MODE_FILE)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    partial.replace(path)


def _random_key() -> str:
    return secrets.token_urlsafe(KEY_BYTES)


def _secret(path: Path, make: Callable[[], str] = _random_key) -> str:
    if path.exists():
        try:
            found = path.read_text(encoding="ascii").strip()
        except ValueError as error:
            raise CommandError(
                f"{path} does not contain a secret of Prism.",
                "Restore it from a backup, or delete it. Prism then generates a new one.",
                code="data_dir_unusable",
            ) from error
        if found:
            return found
    made = make()
    write_private(path, made)
    return made
