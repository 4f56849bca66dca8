"""What a scenario disturbs: the nodes of NATS, the copies of the services, and the address that clients use."""

from dataclasses import dataclass
from pathlib import Path

from bench.rolls.cluster import NatsCluster
from bench.rolls.copies import Copies
from prism_cli.target import ServerTarget


@dataclass(frozen=True)
class Site:
    """A running installation. `target` is the proxy in front of the gateways."""

    folder: Path
    cluster: NatsCluster
    copies: Copies
    target: ServerTarget
