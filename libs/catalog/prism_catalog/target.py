"""What a request asks about: repositories, and at most one layer over one of them."""

from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.records import Indexed, Layer, Repository
from prism_store.scope import Scope


class Target(NamedTuple):
    """The repositories that a request asks about, and the layer over them."""

    scope: Scope
    repositories: tuple[Repository, ...]
    layer: Layer | None = None  # None for the base; a layer belongs to a single repository
    visible: frozenset[str] | None = None  # as in `CallerRequest`

    def name_of(self, repo: str) -> str:
        """Returns the name of a repository by its id."""
        return next((known.name for known in self.repositories if known.repo == repo), repo)

    @property
    def ref(self) -> str:
        """The ref of the layer; empty for the base."""
        return self.layer.ref if self.layer else ""

    @property
    def base(self) -> "Target":
        """The same repositories without the layer."""
        return Target(self.scope.base, self.repositories, visible=self.visible)

    @property
    def is_quiet(self) -> bool:
        """Whether the newest import of every repository completed, so that the target's files do not change.

        A layer's files are written before the layer serves them, and never change.
        """
        return all(known.is_quiet for known in self.repositories)

    @property
    def state(self) -> tuple[str, ...]:
        """Identifies what the target sees: ids, versions and cache epochs of repositories, and objects of the
        layer's view.

        While `is_quiet`, the same question about the same state has the same answer.
        """
        view = self.scope.view
        versions = (
            f"{known.repo}.{known.served.version if known.served else 0}.{known.next_version}.{known.cache_epoch}"
            for known in self.repositories
        )
        return (*versions, *(view.state if view else ()))

    @property
    def corpus_version(self) -> int:
        """A number that grows whenever an import of a repository or of the layer starts or ends, or a cache is
        cleared.
        """
        indexed: list[Indexed] = [*self.repositories, *([self.layer] if self.layer else [])]
        served = sum(known.served.version for known in indexed if known.served)
        epochs = sum(known.cache_epoch for known in self.repositories)
        return served + sum(known.next_version for known in indexed) + epochs


def base_target(
    tenant: str, repositories: Sequence[Repository], visible: frozenset[str] | None = None
) -> Target:
    """Returns the base of a tenant's repositories."""
    scope = Scope(tenant, tuple(known.repo for known in repositories))
    return Target(scope, tuple(repositories), visible=visible)
