"""`python -m deploy.dashboards.write FOLDER`: writes each dashboard as JSON for Grafana.

It runs in the environment of `make deploy-check`, which has Grafana's SDK.
"""

import sys
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from deploy.dashboards import ingestion, nats, overview, qdrant, search, tenants

DASHBOARDS = (overview, ingestion, search, tenants, nats, qdrant)


def write(folder: Path) -> None:
    """Writes `<name>.json` for each dashboard into a folder, with the same bytes each time."""
    for module in DASHBOARDS:
        board = module.build().build()
        for number, panel in enumerate(board.panels or (), 1):
            panel.id_val = number  # a link to a panel has its number
        text = JSONEncoder(sort_keys=True, indent=2).encode(board)
        (folder / f"{module.__name__.rpartition('.')[2]}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
