"""Scopes: the repositories of a tenant that a read may see, and for one of them an optional view of a layer.

Every read of the store takes a `Scope`. A scope is never sent in a message: the service that answers builds
it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from prism_contracts.base import BASE_LAYER, FILE_CHARS, NO_CHUNK, file_id, scope_key


@dataclass(frozen=True)
class View:
    """A layer's overrides of the base of its repository. Views with the same `state` are equal."""

    state: tuple[str, ...]  # names of the objects that it was read from
    files: Mapping[str, str] = field(compare=False, repr=False)  # path -> file id of the variant
    keys: tuple[str, ...] = field(compare=False, repr=False)  # values of the field `scope` of the variants
    # Id prefixes of hidden base files, shared by the ids of a file and of its chunks.
    hidden: frozenset[str] = field(compare=False, repr=False)

    @classmethod
    def of(
        cls,
        state: tuple[str, ...],
        place: tuple[str, str],
        variants: Mapping[str, str],
        hidden: Collection[str],
    ) -> "View":
        """Builds a view of a repository that hides base files by path, and adds variants by path."""
        tenant, repo = place
        unseen = (file_id(tenant, repo, BASE_LAYER, path) for path in {*variants, *hidden})
        return cls(
            state=state,
            files={path: file_id(tenant, repo, layer, path) for path, layer in variants.items()},
            keys=tuple(scope_key(repo, layer) for layer in variants.values()),
            hidden=frozenset(file[:FILE_CHARS] for file in unseen),
        )

    def hides(self, point: str) -> bool:
        """Returns whether a point id belongs to a hidden base file."""
        return point[:FILE_CHARS] in self.hidden

    def hidden_files(self) -> list[str]:
        """Returns the ids of hidden base files, whether they exist or not."""
        return [f"{beginning}{NO_CHUNK}" for beginning in self.hidden]


@dataclass(frozen=True)
class Scope:
    """What a read may see. A `view` applies to the base of the only repository."""

    tenant: str
    repos: tuple[str, ...]  # ids; never empty
    layer: str = BASE_LAYER
    view: View | None = None

    @cached_property
    def keys(self) -> frozenset[str]:
        """All values of the field `scope` inside this scope."""
        own = (scope_key(repo, self.layer) for repo in self.repos)
        return frozenset((*own, *(self.view.keys if self.view else ())))

    @property
    def base(self) -> "Scope":
        """The same scope without the view."""
        return Scope(self.tenant, self.repos, self.layer)

    def file(self, path: str) -> str:
        """Returns the id of a file of the only repository."""
        known = self.view.files.get(path) if self.view else None
        return known or file_id(self.tenant, self.repos[0], self.layer, path)

    def sees(self, point: str, key: str) -> bool:
        """Returns whether a point with this id and this value of the field `scope` is inside."""
        return key in self.keys and not (self.view and self.view.hides(point))
