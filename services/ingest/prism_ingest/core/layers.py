"""Which layer of a repository a branch is. The only place that knows."""

from prism_contracts.base import BASE_LAYER
from prism_contracts.records import Repository


def layer_of(repository: Repository, branch: str, default_branch: str) -> str | None:
    """The layer that a branch of a repository is; None if no layer follows it.

    `branch` is empty for what the base follows; `default_branch` for what the sender does not know.
    """
    served = repository.served
    followed = repository.ref or default_branch or (served.ref if served else "")
    return BASE_LAYER if not branch or not followed or branch == followed else None
