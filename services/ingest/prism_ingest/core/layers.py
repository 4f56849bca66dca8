"""Layers of a repository: which one a ref is, what tells one from the base, and what it becomes when the base moves."""

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from prism_contracts.base import BASE_LAYER, layer_id, short_names, variant_layer
from prism_contracts.code import FileStatus
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Layer, LayerFiles, LayerKind, LayerState, Repository, layer_key
from prism_contracts.rpc.files import ManifestEntry
from prism_contracts.rpc.imports import SnapshotFile

BRANCHES = "refs/heads/"
# The layer of jobs that bring variants for many layers at once, and how the lists of what they claim begin. No layer has this id.
REBASE = "rebase"
# Longer than it takes to switch all layers of a repository.
REBASE_KEPT_MS = 24 * 3600 * 1000
SUGGESTIONS_MAX = 5


def followed_ref(repository: Repository, default_branch: str = "") -> str:
    """The branch, tag or commit that the base follows; empty if that is not known yet."""
    served = repository.served
    return repository.ref or default_branch or (served.ref if served else "")


def usual_ref(ref: str) -> str:
    """What a ref is called by the layers: `main` for `refs/heads/main`; empty for HEAD, which is what the base follows."""
    return "" if ref == "HEAD" else next(iter(short_names(ref)), ref)


def layer_of(repository: Repository, branch: str, default_branch: str = "") -> str:
    """The id of the layer that a branch of a repository is.

    `branch` is empty for what the base follows; `default_branch` for what the sender does not know.
    """
    followed = followed_ref(repository, default_branch)
    return BASE_LAYER if not branch or not followed or branch == followed else layer_id(branch)


def layer_named(repository: Repository, layers: Iterable[Layer], ref: str) -> Layer | None:
    """The layer that a caller means by a branch, a tag, a pull request or a handle; None is the base.

    Raises REF_NOT_FOUND, with the names that are nearest.
    """
    id_ = layer_of(repository, usual_ref(ref))
    if id_ == BASE_LAYER:
        return None
    known = {layer.layer: layer for layer in layers if layer.served is not None}
    if id_ in known:
        return known[id_]
    # An overlay is for whoever has its handle.
    names = [layer.ref for layer in known.values() if layer.kind is not LayerKind.OVERLAY]
    near = difflib.get_close_matches(ref, names, SUGGESTIONS_MAX)
    raise PrismError(
        ErrorCode.REF_NOT_FOUND,
        f"{repository.name} has no layer of {ref[:200]!a}.",
        f"Did you mean {near[0]}?" if near else "Create one with create_branch_index.",
        suggestions=near,
    )


def new_layer(
    repository: Repository, kind: LayerKind, ref: str, *, source: str, now: datetime, expires_at: datetime
) -> Layer:
    """A layer that serves nothing yet."""
    return Layer(
        tenant=repository.tenant,
        repo=repository.repo,
        layer=layer_id(ref),
        kind=kind,
        ref=ref,
        source=source,
        created_at=now,
        expires_at=expires_at,
    )


def is_followed(layer: Layer) -> bool:
    """Whether a layer is of a ref of the repository's remote, which may move."""
    return layer.source.startswith("refs/")


def layer_version(next_version: int, now: datetime) -> int:
    """The version of a layer's next job: milliseconds of the clock, so that it is higher than those of any layer
    that has written the same variant before.
    """
    return max(next_version, int(now.timestamp() * 1000))


class ListName(NamedTuple):
    """The name of a list of a layer's files in the object store."""

    tenant: str
    repo: str
    layer: str
    version: int  # of the job that made it

    def __str__(self) -> str:
        """The name as the store has it."""
        return f"{layer_key(self.tenant, self.repo, self.layer)}.{self.version}"

    @classmethod
    def read(cls, name: str) -> "ListName":
        """From the name as the store has it."""
        tenant, repo, layer, version = name.split(".")
        return cls(tenant, repo, layer, int(version))


def exact_commit(repository: Repository, basis: str) -> str:
    """The commit whose tree the base holds exactly, or is on the way from; empty if that is not sure.

    While an import is under way the base is between two trees. It is told apart from the older one: when the import ends,
    its layers are told apart again.
    """
    served = repository.served
    if served is None or served.basis != basis or not (repository.is_quiet or repository.active_job):
        return ""
    return served.commit


class Base(NamedTuple):
    """The base that a layer was told apart from. An empty commit: what it holds is not exactly a commit's tree."""

    version: int
    commit: str
    files: int = -1  # how many it has; -1: not known


class Difference(NamedTuple):
    """What tells a layer from its base."""

    files: tuple[int, ...]  # positions of those that the base has not so
    hidden: tuple[str, ...]  # paths that only the base has


def difference(files: Sequence[SnapshotFile], base: Iterable[ManifestEntry]) -> Difference:
    """All files of a layer beside all that the index holds of the base."""
    blobs = present_blobs(base)
    differing = tuple(number for number, file in enumerate(files) if blobs.get(file.path) != file.blob)
    present = {file.path for file in files}
    return Difference(differing, tuple(sorted(blobs.keys() - present)))


def is_in_use(name: ListName, layer: Layer | None, now: datetime, settles_s: float) -> bool:
    """Whether a list of files is that which its layer serves or is about to, or of the job that works on it.

    A layer may be gone. `settles_s` is longer than from the put of a list to the change of the record that names it.
    """
    age_ms = now.timestamp() * 1000 - name.version
    if name.layer.startswith(REBASE):
        return age_ms < REBASE_KEPT_MS
    if age_ms < settles_s * 1000:
        return True
    if layer is None:
        return False
    served = layer.served.version if layer.served else 0
    return layer.files == str(name) or bool(layer.active_job and name.version > served)


def present_blobs(entries: Iterable[ManifestEntry]) -> dict[str, str]:
    """By path the blobs of the files that the index knows to be there."""
    return {entry.path: entry.blob for entry in entries if entry.status != FileStatus.REMOVED}


class BaseChange(NamedTuple):
    """A path that two trees of the base do not have alike. None: it is not in that tree."""

    path: str
    old: SnapshotFile | None
    new: SnapshotFile | None


def rebased(files: LayerFiles, changes: Iterable[BaseChange], basis: str) -> LayerFiles:
    """The files of a layer over the new base that are the same as they were over the old one.

    What the layer has otherwise than the old base it keeps, unless the new base has it so. Of everything else it had what the
    old base had.
    """
    variants, hidden = dict(files.variants), set(files.hidden)
    for path, old, new in changes:
        ours = variants.pop(path, "")
        if not ours and old is not None and path not in hidden:
            ours = variant_layer(path, old.blob, basis)
        hidden.discard(path)
        theirs = variant_layer(path, new.blob, basis) if new else ""
        if ours and ours != theirs:
            variants[path] = ours
        elif not ours and new is not None:
            hidden.add(path)
    return _in_order(variants, hidden, files.listing)


def listed(
    listing: Mapping[str, str], blobs: Mapping[str, str], basis: str, stored: Collection[str]
) -> tuple[LayerFiles, int]:
    """The files of a layer of which only the blobs are known, over a base of these blobs; and how many the base has otherwise whose
    content nobody has sent, as their variant is not `stored`.
    """
    wanted = differing_blobs(listing, blobs, basis)
    variants = {path: variant for path, variant in wanted.items() if variant in stored}
    missing = len(wanted) - len(variants)
    return _in_order(variants, blobs.keys() - listing.keys(), dict(listing)), missing


def differing_blobs(listing: Mapping[str, str], blobs: Mapping[str, str], basis: str) -> dict[str, str]:
    """The variant of each path of a listing that the base has not so."""
    return {
        path: variant_layer(path, blob, basis) for path, blob in listing.items() if blobs.get(path) != blob
    }


def _in_order(variants: Mapping[str, str], hidden: Iterable[str], listing: dict[str, str]) -> LayerFiles:
    return LayerFiles(variants=dict(sorted(variants.items())), hidden=tuple(sorted(hidden)), listing=listing)


def check_served(repository: Repository) -> LayerState:
    """What the base serves. Raises REF_NOT_FOUND if that is nothing yet."""
    if repository.served is None:
        raise PrismError(
            ErrorCode.REF_NOT_FOUND,
            f"{repository.name} is not indexed yet.",
            "Wait for its first import; index_status shows it.",
        )
    return repository.served


def check_commit(name: str, served: LayerState, commit: str) -> None:
    """Raise BASE_MISMATCH unless a commit that edits were made on is served; an empty one is whatever is."""
    if commit and commit != served.commit:
        raise PrismError(
            ErrorCode.BASE_MISMATCH,
            f"{name} is indexed at {served.commit}, not at {commit}.",
            "Create the diff against details.indexed_commit, or send the files themselves.",
            indexed_commit=served.commit,
        )
