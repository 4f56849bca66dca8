"""What each service does on NATS: the one place from which its permissions are generated.

A service may do what is listed here and nothing else, once each has a login of its own (`prism nats-logins`).
What is missing is refused by NATS; what is not needed is a right that a taken over process could use. See
docs/decisions/0045-nats-logins.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Flag, auto

from prism_contracts import names, topics
from prism_contracts.all_rpcs import ALL_RPCS
from prism_contracts.registry import AnyRpc, AnyTopic
from prism_contracts.rpc import (
    common,
    documents,
    files,
    graph,
    guidance,
    imports,
    maps,
    repositories,
    search,
    symbols,
    unused,
)


class Do(Flag):
    """What a service does with a bucket, or with a stream that belongs to no topic."""

    READ = auto()  # single records or messages
    FOLLOW = auto()  # all of them: list, watch, read as a log; an object is read as the log of its pieces
    WRITE = auto()
    PURGE = auto()  # delete for good, as the pieces of a replaced object are


READ, FOLLOW, WRITE, PURGE = Do.READ, Do.FOLLOW, Do.WRITE, Do.PURGE
READ_OBJECTS = READ | FOLLOW
KEEP_OBJECTS = READ_OBJECTS | WRITE | PURGE


@dataclass(frozen=True)
class Access:
    """What one service does, besides answering its own requests and burying dead letters."""

    consumes: tuple[AnyTopic, ...] = ()
    publishes: tuple[AnyTopic, ...] = ()
    reads_dead_letters: bool = False
    asks: tuple[AnyRpc, ...] = ()
    pings: tuple[str, ...] = ()
    records: Mapping[str, Do] = field(default_factory=dict)  # key-value buckets
    objects: Mapping[str, Do] = field(default_factory=dict)  # object buckets, besides that of large messages
    streams: Mapping[str, Do] = field(default_factory=dict)
    # Reads the state of all streams and consumers.
    measures: bool = False
    # Reads the oldest messages of the queues, for their age.
    ages_queues: bool = False
    # Creates and changes streams and buckets. Whoever may do so can have NATS copy one stream into another, so
    # it is a right to everything.
    declares: bool = False


def _asked_by_gateway() -> tuple[AnyRpc, ...]:
    """All requests but those that only services make."""
    inner = {
        imports.COMMIT_FILE,
        imports.COMMIT_FILES,
        files.MANIFEST,
        files.COUNT_CHUNKS,
        repositories.DROP_POINTS,
        repositories.DROP_TENANT,
        search.EMBED_DEEP_QUERY,
        symbols.USES,
        unused.NAME_LINES,
        documents.WRITE_TAGS,
    }
    return tuple(rpc for rpc in ALL_RPCS if rpc not in inner)


SERVICES: Mapping[str, Access] = {
    "gateway": Access(
        publishes=(topics.FILES_UPLOADED, topics.PUSH_RECEIVED),
        asks=_asked_by_gateway(),
        pings=("search",),
        records={
            names.KV_TOKENS: READ | FOLLOW | WRITE,
            names.KV_TENANTS: READ | FOLLOW | WRITE,
            names.KV_GROUPS: FOLLOW,
            names.KV_REPOSITORIES: FOLLOW,
            names.KV_REPOSITORY_NAMES: READ,
            names.KV_SECRETS: READ | WRITE,
            names.KV_DELIVERIES: READ | WRITE,
            names.KV_DOCUMENT_REMOTES: FOLLOW,
            names.KV_REQUESTS: READ | WRITE,
            names.KV_SESSIONS: READ | WRITE,
            names.KV_MODEL_DAYS: READ | FOLLOW,
        },
        streams={
            names.LIMITS_MINUTE: READ | WRITE,
            names.LIMITS_DAY: READ | WRITE,
            names.USAGE: FOLLOW | WRITE,
            names.AUDIT: FOLLOW | WRITE,
            names.HISTORY: FOLLOW | WRITE | PURGE,
            names.FEEDBACK: FOLLOW | WRITE | PURGE,
            names.DEAD_LETTERS: READ,
        },
        measures=True,
        declares=True,
    ),
    "ingest": Access(
        consumes=(
            topics.FILES_UPLOADED,
            topics.PUSH_RECEIVED,
            topics.CLONE_REQUESTED,
            topics.FILES_SETTLED,
            topics.REPO_INDEXED,
        ),
        reads_dead_letters=True,
        publishes=(
            topics.PUSH_RECEIVED,
            topics.CLONE_REQUESTED,
            topics.BRANCH_PUSHED,
            topics.PULL_MERGED,
            topics.FILE_CHANGED,
            topics.FILE_REMOVED,
            topics.FILE_SKIPPED,
            topics.FILE_FAILED,
            topics.FILES_DROPPED,
            topics.FILES_SETTLED,
            topics.REPO_INDEXED,
            topics.SCIP_STORED,
            topics.SCIP_REMOVED,
        ),
        asks=(
            repositories.DROP_POINTS,
            repositories.DROP_TENANT,
            files.COUNT_CHUNKS,
            files.MANIFEST,
            files.POINT_COUNTS,
            files.READ_FILE,
        ),
        records={
            names.KV_REPOSITORIES: READ | FOLLOW | WRITE | PURGE,
            names.KV_REPOSITORY_NAMES: READ | FOLLOW | WRITE | PURGE,
            names.KV_LAYERS: READ | FOLLOW | WRITE | PURGE,
            names.KV_CONDEMNED: READ | FOLLOW | WRITE | PURGE,
            names.KV_JOBS: READ | FOLLOW | WRITE,
            names.KV_CANCELLED_JOBS: FOLLOW | WRITE,
            names.KV_TOKENS: FOLLOW | WRITE,
            names.KV_TENANTS: READ | FOLLOW | WRITE,
            names.KV_GROUPS: READ | WRITE | PURGE,
            names.KV_SECRETS: READ | WRITE | PURGE,
            names.KV_LEASES: READ | WRITE,
            names.KV_INSTALLATION: READ | WRITE,
            names.KV_MODEL_VERSIONS: READ,
            names.KV_SCIP: READ | FOLLOW | WRITE | PURGE,
            names.KV_GRAPHS: READ | WRITE | PURGE,
            names.KV_WIKI: READ | WRITE | PURGE,
            names.KV_DESCRIPTIONS: READ | WRITE | PURGE,
            names.KV_WRITTEN_DESCRIPTIONS: READ | WRITE | PURGE,
            names.KV_ANSWERS: PURGE,
            names.KV_DOCUMENTS: READ | WRITE | PURGE,
            names.KV_GIT_OBJECTS: READ | WRITE | PURGE,
            names.KV_GIT_REFS: READ | WRITE | PURGE,
            names.KV_DOCUMENT_REMOTES: READ | WRITE | PURGE,
            names.KV_ANCHORS: READ | WRITE | PURGE,
            names.KV_MODEL_DAYS: READ | WRITE | PURGE,
        },
        objects={
            names.OBJECTS_HISTORIES: KEEP_OBJECTS,
            names.OBJECTS_SNAPSHOTS: KEEP_OBJECTS,
            names.OBJECTS_LAYERS: KEEP_OBJECTS,
            names.OBJECTS_SCIP: KEEP_OBJECTS,
            names.OBJECTS_GRAPHS: KEEP_OBJECTS,
            names.OBJECTS_WIKI: KEEP_OBJECTS,
            names.OBJECTS_GIT: KEEP_OBJECTS,
        },
        streams={
            names.DEAD_LETTERS: READ | PURGE,
            names.LIMITS_MINUTE: PURGE,
            names.LIMITS_DAY: PURGE,
            names.USAGE: PURGE,
            names.HISTORY: PURGE,
            names.FEEDBACK: PURGE,
            names.CHANGES: FOLLOW | WRITE | PURGE,
        },
        measures=True,
        ages_queues=True,
        declares=True,
    ),
    "chunker": Access(
        consumes=(topics.FILE_CHANGED,),
        publishes=(topics.FILE_CHUNKED,),
        records={names.KV_MODEL_VERSIONS: WRITE, names.KV_CANCELLED_JOBS: FOLLOW},
    ),
    "embedder": Access(
        consumes=(topics.FILE_CHUNKED,),
        publishes=(topics.FILE_EMBEDDED,),
        records={names.KV_MODEL_VERSIONS: READ | WRITE, names.KV_CANCELLED_JOBS: FOLLOW},
    ),
    "embedder-deep": Access(
        consumes=(topics.DEEP_REQUESTED,),
        publishes=(topics.DEEP_EMBEDDED, topics.DEEP_STARTED),
        records={names.KV_MODEL_VERSIONS: WRITE, names.KV_DEEP_VECTORS: READ | WRITE},
    ),
    "indexer": Access(
        consumes=(
            topics.FILE_EMBEDDED,
            topics.FILE_REMOVED,
            topics.FILE_SKIPPED,
            topics.FILE_FAILED,
            topics.FILES_DROPPED,
            topics.DEEP_STARTED,
            topics.REPO_INDEXED,
            topics.DEEP_EMBEDDED,
        ),
        publishes=(topics.FILES_SETTLED, topics.DEEP_REQUESTED),
        records={
            names.KV_MODEL_VERSIONS: FOLLOW,
            names.KV_REPOSITORIES: FOLLOW,
            names.KV_CANCELLED_JOBS: FOLLOW,
            names.KV_LAYERS: READ | FOLLOW,
        },
        objects={names.OBJECTS_LAYERS: READ_OBJECTS},
    ),
    "search": Access(
        asks=(
            graph.IMPACT,
            symbols.USES,
            search.EMBED_DEEP_QUERY,
            imports.COMMIT_FILE,
            imports.COMMIT_FILES,
        ),
        records={
            names.KV_REPOSITORIES: FOLLOW,
            names.KV_MODEL_VERSIONS: FOLLOW,
            names.KV_LAYERS: FOLLOW,
            names.KV_SCIP: FOLLOW,
            names.KV_ANSWERS: READ | WRITE,
        },
        objects={
            names.OBJECTS_LAYERS: READ_OBJECTS,
            names.OBJECTS_SCIP: READ_OBJECTS,
            names.OBJECTS_HISTORIES: READ_OBJECTS,
        },
    ),
    "atlas": Access(
        consumes=(topics.REPO_INDEXED, topics.SCIP_STORED, topics.SCIP_REMOVED),
        asks=(
            symbols.DEFINITIONS,
            symbols.REFERENCES,
            files.LINES,
            files.READ_FILE,
            search.GREP,
            unused.NAME_LINES,
        ),
        records={
            names.KV_REPOSITORIES: READ | FOLLOW,
            names.KV_LAYERS: FOLLOW,
            names.KV_SCIP: FOLLOW,
            names.KV_GRAPHS: READ | FOLLOW | WRITE,
        },
        objects={
            names.OBJECTS_LAYERS: READ_OBJECTS,
            names.OBJECTS_SCIP: READ_OBJECTS,
            names.OBJECTS_HISTORIES: READ_OBJECTS,
            names.OBJECTS_GRAPHS: KEEP_OBJECTS,
        },
    ),
    "scribe": Access(
        asks=(
            common.RECEIPT,
            search.SEARCH,
            graph.CALL_HIERARCHY,
            graph.TYPE_HIERARCHY,
            files.READ_FILE,
            files.LIST_FILES,
            files.OUTLINE,
            files.LINES,
            symbols.DEFINITIONS,
            maps.ARCHITECTURE,
            maps.MODULE_MAP,
            guidance.REPO_CONTEXT,
            guidance.CONVENTIONS,
        ),
        records={
            names.KV_REPOSITORIES: FOLLOW,
            names.KV_WIKI: READ | FOLLOW | WRITE,
            names.KV_DESCRIPTIONS: READ | FOLLOW | WRITE,
            names.KV_WRITTEN_DESCRIPTIONS: READ | WRITE,
            names.KV_TENANTS: FOLLOW,
            names.KV_MODEL_DAYS: READ | WRITE,
        },
        objects={names.OBJECTS_WIKI: KEEP_OBJECTS},
    ),
    "workspace": Access(
        consumes=(topics.REPO_INDEXED, topics.BRANCH_PUSHED, topics.PULL_MERGED),
        publishes=(topics.ANCHORS_BROKEN,),
        asks=(
            imports.OPEN_SNAPSHOT,
            imports.EDIT,
            imports.JOB,
            files.LINES,
            files.MANIFEST,
            files.OUTLINE,
            search.SEARCH,
            symbols.DEFINITIONS,
            documents.WRITE_TAGS,
        ),
        records={
            names.KV_DOCUMENTS: READ | FOLLOW | WRITE,
            names.KV_GIT_OBJECTS: READ | WRITE,
            names.KV_GIT_REFS: READ | WRITE,
            names.KV_DOCUMENT_REMOTES: READ | FOLLOW | WRITE,
            names.KV_SECRETS: READ,
            names.KV_REPOSITORY_NAMES: READ,
            names.KV_ANCHORS: READ | FOLLOW | WRITE,
            names.KV_REPOSITORIES: FOLLOW,
            names.KV_TASKS: READ | FOLLOW | WRITE,
            names.KV_MODEL_VERSIONS: FOLLOW,
        },
        objects={names.OBJECTS_GIT: KEEP_OBJECTS},
    ),
}
