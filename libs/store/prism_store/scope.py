"""What a question may see: a tenant's repositories, and of one of them perhaps what a layer has in the place of its base.

Every read of the store goes through a `Scope`. None is a message: it is made where a question is answered.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from prism_contracts.base import BASE_LAYER, FILE_CHARS, NO_CHUNK, file_id, scope_key


@dataclass(frozen=True)
class View:
    """What a layer has in the place of the base of its repository. Views of the same `state` are the same."""

    state: tuple[str, ...]  # the objects that it was read from
    files: Mapping[str, str] = field(compare=False, repr=False)  # path -> id of the file that the base lacks
    keys: tuple[str, ...] = field(compare=False, repr=False)  # values of the field `scope` of those files
    # Of base files that are not seen: what the ids of a file and of its chunks begin with.
    hidden: frozenset[str] = field(compare=False, repr=False)

    @classmethod
    def of(
        cls,
        state: tuple[str, ...],
        place: tuple[str, str],
        variants: Mapping[str, str],
        hidden: Collection[str],
    ) -> "View":
        """Of a tenant's repository, without the base's files of the paths `hidden`, and with the variants, by their paths."""
        tenant, repo = place
        unseen = (file_id(tenant, repo, BASE_LAYER, path) for path in {*variants, *hidden})
        return cls(
            state=state,
            files={path: file_id(tenant, repo, layer, path) for path, layer in variants.items()},
            keys=tuple(scope_key(repo, layer) for layer in variants.values()),
            hidden=frozenset(file[:FILE_CHARS] for file in unseen),
        )

    def hides(self, point: str) -> bool:
        """Whether the point with this id is of a base file that is not seen."""
        return point[:FILE_CHARS] in self.hidden

    def hidden_files(self) -> list[str]:
        """The ids of base files that are not seen, whether they exist or not."""
        return [f"{beginning}{NO_CHUNK}" for beginning in self.hidden]


@dataclass(frozen=True)
class Scope:
    """What a question may see. A `view` lies over the base of the one repository."""

    tenant: str
    repos: tuple[str, ...]  # ids; never empty
    layer: str = BASE_LAYER
    view: View | None = None

    @cached_property
    def keys(self) -> frozenset[str]:
        """All values that the field `scope` has within."""
        own = (scope_key(repo, self.layer) for repo in self.repos)
        return frozenset((*own, *(self.view.keys if self.view else ())))

    @property
    def base(self) -> "Scope":
        """The same without the view."""
        return Scope(self.tenant, self.repos, self.layer)

    def file(self, path: str) -> str:
        """The id of a file of the only repository."""
        known = self.view.files.get(path) if self.view else None
        return known or file_id(self.tenant, self.repos[0], self.layer, path)

    def sees(self, point: str, key: str) -> bool:
        """Whether a point with this id and this field `scope` is within."""
        return key in self.keys and not (self.view and self.view.hides(point))
