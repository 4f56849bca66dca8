"""Every setting of Prism, by variable.

The classes are imported by name when they are needed: importing them all takes a second, and the command line does
not depend on services.
"""

import importlib
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from prism_runtime.settings import PrismSettings, is_secret


class Part(NamedTuple):
    """A class of settings, and the processes that read it."""

    title: str
    module: str
    name: str
    note: str = ""

    def settings(self) -> type[PrismSettings]:
        """Import the class."""
        found: type[PrismSettings] = getattr(importlib.import_module(self.module), self.name)
        return found


# In the order of docs/settings.md.
PARTS = (
    Part("The command line", "prism_cli.settings", "CommandSettings"),
    Part(
        "Every service",
        "prism_runtime.settings",
        "ServiceSettings",
        "All but the local store read these as well as their own.",
    ),
    Part("Gateway", "prism_gateway.settings", "GatewaySettings"),
    Part("Ingest", "prism_ingest.settings", "IngestSettings"),
    Part("Gateway, ingest and workspace: secrets", "prism_catalog.vault", "VaultSettings"),
    Part("Gateway, ingest and scribe: plans", "prism_catalog.tenants", "PlanSettings"),
    Part("Chunker", "prism_chunker.settings", "ChunkerSettings"),
    Part("Embedder", "prism_embedder.settings", "EmbedderSettings"),
    Part("Indexer", "prism_indexer.settings", "IndexerSettings"),
    Part("Search", "prism_search.settings", "SearchSettings"),
    Part("Atlas", "prism_atlas.settings", "AtlasSettings"),
    Part("Workspace", "prism_workspace.settings", "WorkspaceSettings"),
    Part("Scribe", "prism_scribe.settings", "ScribeSettings"),
    Part("Indexer, search and atlas: the store", "prism_store.settings", "StoreSettings"),
    Part(
        "The local store",
        "prism_qdrant_local.settings",
        "QdrantLocalSettings",
        "`prism up` sets the first four.",
    ),
)

# `prism up` chooses these for its processes, whatever the file says.
SET_BY_UP = frozenset(
    {
        "PRISM_NATS_URL",
        "PRISM_NATS_TOKEN",
        "PRISM_QDRANT_URL",
        "PRISM_QDRANT_API_KEY",
        "PRISM_SECRETS_KEY",
        "PRISM_RUN_DIR",
        "PRISM_DISK_DIR",
        "PRISM_ATLAS_DIR",
        "PRISM_CACHE_DIR",
        "PRISM_HEALTH_HOST",
        "PRISM_HEALTH_PORT",
        "PRISM_GATEWAY_HOST",
        "PRISM_BOOTSTRAP_TOKEN_SHA256",
        "PRISM_QDRANT_LOCAL_DATA_DIR",
        "PRISM_QDRANT_LOCAL_HOST",
        "PRISM_QDRANT_LOCAL_PORT",
        "PRISM_QDRANT_LOCAL_API_KEY",
    }
)


class Setting(NamedTuple):
    """A setting: where it belongs, and its field."""

    variable: str
    part: str
    field: FieldInfo

    @property
    def is_secret(self) -> bool:
        return is_secret(self.field)

    @property
    def default(self) -> str:
        """Its default as text; empty if it has none."""
        value: Any = None if self.field.is_required() else self.field.get_default(call_default_factory=True)
        if value is None or isinstance(value, SecretStr) or value in ((), {}, []):
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)


@cache
def settings() -> dict[str, Setting]:
    """Returns every setting by variable; one that several services read is listed once."""
    found: dict[str, Setting] = {}
    for setting in _all():
        found.setdefault(setting.variable, setting)
    return found


def _all() -> Iterator[Setting]:
    for part in PARTS:
        for variable, field in part.settings().variables().items():
            yield Setting(variable, part.title, field)
