"""Layers: which layer a ref is, its diff against the base, and its diff after the base moves."""

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
# The layer of jobs that index variants for many layers at once, and the prefix of the lists that pin these
# variants. No real layer has this id.
REBASE = "rebase"
# Longer than it takes to switch all layers of a repository.
REBASE_KEPT_MS = 24 * 3600 * 1000
SUGGESTIONS_MAX = 5


def followed_ref(repository: Repository, default_branch: str = "") -> str:
    """Returns the branch, tag or commit that the base follows; empty if it is not known yet."""
    served = repository.served
    return repository.ref or default_branch or (served.ref if served else "")


def usual_ref(ref: str) -> str:
    """Returns the short name of a ref: `main` for `refs/heads/main`, empty for HEAD (the base's branch)."""
    return "" if ref == "HEAD" else next(iter(short_names(ref)), ref)


def layer_of(repository: Repository, branch: str, default_branch: str = "") -> str:
    """Returns the layer id of a branch of a repository.

    An empty `branch` is the one that the base follows. An empty `default_branch` is unknown to the sender.
    """
    followed = followed_ref(repository, default_branch)
    return BASE_LAYER if not branch or not followed or branch == followed else layer_id(branch)


def layer_named(repository: Repository, layers: Iterable[Layer], ref: str) -> Layer | None:
    """Returns the layer of a branch, a tag, a pull request or a handle; None is the base.

    Raises REF_NOT_FOUND, with the most similar names.
    """
    id_ = layer_of(repository, usual_ref(ref))
    if id_ == BASE_LAYER:
        return None
    known = {layer.layer: layer for layer in layers if layer.served is not None}
    if id_ in known:
        return known[id_]
    # Only those who have its handle may see an overlay.
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
    """Returns a layer that serves nothing yet."""
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
    """Whether a layer follows a ref of the repository's remote, which may move."""
    return layer.source.startswith("refs/")


def layer_version(next_version: int, now: datetime) -> int:
    """Returns the version of a layer's next job.

    It is the time in milliseconds, so that it is higher than that of any layer that wrote the same variant
    before.
    """
    return max(next_version, int(now.timestamp() * 1000))


class ListName(NamedTuple):
    """The name of a layer's file list in the object store."""

    tenant: str
    repo: str
    layer: str
    version: int  # the version of the job that wrote the list

    def __str__(self) -> str:
        """Returns the name as stored."""
        return f"{layer_key(self.tenant, self.repo, self.layer)}.{self.version}"

    @classmethod
    def read(cls, name: str) -> "ListName":
        """Parse a stored name."""
        tenant, repo, layer, version = name.split(".")
        return cls(tenant, repo, layer, int(version))


def exact_commit(repository: Repository, basis: str) -> str:
    """Returns the commit whose tree the base holds exactly; empty if that is uncertain.

    While an import runs, the base is between two trees. The older one counts: when the import ends, the
    layers are compared with the base again.
    """
    served = repository.served
    if served is None or served.basis != basis or not (repository.is_quiet or repository.active_job):
        return ""
    return served.commit


class Base(NamedTuple):
    """The base that a layer was diffed against. `commit` is empty if it is not exactly a commit's tree."""

    version: int
    commit: str
    files: int = -1  # the number of files; -1: unknown


class Difference(NamedTuple):
    """The diff of a layer against its base."""

    files: tuple[int, ...]  # positions of the files that differ from the base
    hidden: tuple[str, ...]  # paths that exist only in the base


def difference(files: Sequence[SnapshotFile], base: Iterable[ManifestEntry]) -> Difference:
    """Returns the diff of all files of a layer against the indexed files of the base."""
    blobs = present_blobs(base)
    differing = tuple(number for number, file in enumerate(files) if blobs.get(file.path) != file.blob)
    present = {file.path for file in files}
    return Difference(differing, tuple(sorted(blobs.keys() - present)))


def is_in_use(name: ListName, layer: Layer | None, now: datetime, settles_s: float) -> bool:
    """Whether a layer serves a file list or is about to, or its active job uses it.

    `layer` is None if it was deleted. `settles_s` is longer than the time from writing a list to updating the
    record that names it.
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
    """Returns the blobs of the existing files by path."""
    return {entry.path: entry.blob for entry in entries if entry.status != FileStatus.REMOVED}


class BaseChange(NamedTuple):
    """A path that differs between two trees of the base. None means that it is not in that tree."""

    path: str
    old: SnapshotFile | None
    new: SnapshotFile | None


def rebased(files: LayerFiles, changes: Iterable[BaseChange], basis: str) -> LayerFiles:
    """Returns the diff of a layer against the new base, so that the layer's contents do not change.

    Keeps every override that still differs from the new base. Each other path that the base changed is
    overridden with the content of the old base, or hidden if the old base had no such file.
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
    """Returns the diff of an uploaded layer against a base, both given as blobs by path, and the number of
    missing files: those that differ from the base and whose content was never uploaded, so that their variant
    is not `stored`.
    """
    wanted = differing_blobs(listing, blobs, basis)
    variants = {path: variant for path, variant in wanted.items() if variant in stored}
    missing = len(wanted) - len(variants)
    return _in_order(variants, blobs.keys() - listing.keys(), dict(listing)), missing


def differing_blobs(listing: Mapping[str, str], blobs: Mapping[str, str], basis: str) -> dict[str, str]:
    """Returns the variant of each path of a listing that differs from the base."""
    return {
        path: variant_layer(path, blob, basis) for path, blob in listing.items() if blobs.get(path) != blob
    }


def _in_order(variants: Mapping[str, str], hidden: Iterable[str], listing: dict[str, str]) -> LayerFiles:
    return LayerFiles(variants=dict(sorted(variants.items())), hidden=tuple(sorted(hidden)), listing=listing)


def check_served(repository: Repository) -> LayerState:
    """Returns what the base serves. Raises REF_NOT_FOUND if it serves nothing yet."""
    if repository.served is None:
        raise PrismError(
            ErrorCode.REF_NOT_FOUND,
            f"{repository.name} is not indexed yet.",
            "Wait for its first import; index_status shows it.",
        )
    return repository.served


def check_commit(name: str, served: LayerState, commit: str) -> None:
    """Raise BASE_MISMATCH unless the edits' commit is the served one. An empty commit always matches."""
    if commit and commit != served.commit:
        raise PrismError(
            ErrorCode.BASE_MISMATCH,
            f"{name} is indexed at {served.commit}, not at {commit}.",
            "Create the diff against details.indexed_commit, or send the files themselves.",
            indexed_commit=served.commit,
        )
