"""Every subject, stream, durable, bucket and request name, each written once.

A subject has no ids in it: `prism.<lane>.<fact>`; metrics are labelled by subject.
"""

from typing import NamedTuple

from prism_contracts.base import Lane

HOUR_S = 3600
MIB = 1024 * 1024


class Stream(NamedTuple):
    """A JetStream stream. `facts` are its subjects without the lane."""

    name: str
    facts: tuple[str, ...]
    work_queue: bool  # True: one reader a subject, a message goes when acked
    max_bytes: int  # past it a publish is refused and the producer waits: that is the back-pressure
    max_age_s: int


FILES_UPLOADED = "files.uploaded"
CLONE_REQUESTED = "clone.requested"
PUSH_RECEIVED = "push.received"
FILE_CHANGED = "file.changed"
FILE_CHUNKED = "file.chunked"
FILE_EMBEDDED = "file.embedded"
FILE_REMOVED = "file.removed"
FILE_SKIPPED = "file.skipped"
FILE_FAILED = "file.failed"
DEEP_STARTED = "deep.started"
DEEP_REQUESTED = "deep.requested"
DEEP_EMBEDDED = "deep.embedded"
FILES_SETTLED = "files.settled"
REPO_INDEXED = "repo.indexed"
SCIP_STORED = "scip.stored"
FILES_DROPPED = "files.dropped"

WEEK_S = 7 * 24 * HOUR_S

STREAMS = (
    Stream(
        "PRISM_UPLOADS",
        (FILES_UPLOADED, CLONE_REQUESTED, PUSH_RECEIVED),
        work_queue=True,
        max_bytes=1024 * MIB,
        max_age_s=WEEK_S,
    ),
    Stream("PRISM_FILES", (FILE_CHANGED,), work_queue=True, max_bytes=512 * MIB, max_age_s=WEEK_S),
    Stream("PRISM_CHUNKED", (FILE_CHUNKED,), work_queue=True, max_bytes=512 * MIB, max_age_s=WEEK_S),
    Stream(
        "PRISM_EMBEDDED",
        (FILE_EMBEDDED, FILE_REMOVED, FILE_SKIPPED, FILE_FAILED, FILES_DROPPED, DEEP_EMBEDDED),
        work_queue=True,
        max_bytes=1024 * MIB,
        max_age_s=WEEK_S,
    ),
    Stream("PRISM_DEEP", (DEEP_REQUESTED,), work_queue=True, max_bytes=2048 * MIB, max_age_s=WEEK_S),
    Stream(
        "PRISM_SETTLED",
        (FILES_SETTLED, REPO_INDEXED, SCIP_STORED, DEEP_STARTED),
        work_queue=False,
        max_bytes=512 * MIB,
        max_age_s=24 * HOUR_S,
    ),
)

JOBS_MAX_AGE_S = 30 * 24 * HOUR_S
# As long as GitHub can be asked to deliver again.
DELIVERIES_MAX_AGE_S = 3 * 24 * HOUR_S
LEASE_S = 120

DEAD_LETTERS = "PRISM_DEAD_LETTERS"
DEAD_LETTER_SUBJECTS = "prism.dead.>"
DEAD_LETTERS_MAX_BYTES = 256 * MIB
DEAD_LETTERS_MAX_AGE_S = 30 * 24 * HOUR_S


def subject(lane: Lane, fact: str) -> str:
    """The subject of a fact on a lane, e.g. `prism.live.file.changed`."""
    return f"prism.{lane.value}.{fact}"


def stream_of(fact: str) -> Stream:
    """The stream that stores a fact."""
    return next(stream for stream in STREAMS if fact in stream.facts)


def durable(service: str, lane: Lane, fact: str) -> str:
    """The name of the consumer by which a service reads a fact on a lane, e.g. `chunker-live-file-changed`."""
    return f"{service}-{lane.value}-{fact.replace('.', '-')}"


def dead_letter_subject(tenant: str, stream: str, consumer: str) -> str:
    """Where messages of a tenant go that a consumer gave up."""
    return f"prism.dead.{tenant}.{stream}.{consumer}"


def ping_subject(service: str) -> str:
    """Where a service answers whether it is there: an empty request, an empty reply."""
    return f"prism.ping.{service}"


# Request/reply. The queue group is the name of the serving service.
RPC_EMBED_DEEP_QUERY = "prism.rpc.embedder-deep.query"
RPC_SEARCH = "prism.rpc.search.search"
RPC_GREP = "prism.rpc.search.grep"
RPC_READ_FILE = "prism.rpc.search.read_file"
RPC_LIST_FILES = "prism.rpc.search.list_files"
RPC_OUTLINE = "prism.rpc.search.outline"
RPC_DEFINITIONS = "prism.rpc.search.definitions"
RPC_REFERENCES = "prism.rpc.search.references"
RPC_EDIT_CONTEXT = "prism.rpc.search.edit_context"
RPC_EXISTING = "prism.rpc.search.existing"
RPC_CONVENTIONS = "prism.rpc.search.conventions"
RPC_REPO_CONTEXT = "prism.rpc.search.repo_context"
RPC_COVERAGE = "prism.rpc.search.coverage"
RPC_RECEIPT = "prism.rpc.search.receipt"
RPC_MANIFEST = "prism.rpc.search.manifest"
RPC_POINT_COUNTS = "prism.rpc.search.point_counts"
RPC_USES = "prism.rpc.atlas.uses"
RPC_DEPENDENCIES = "prism.rpc.atlas.dependencies"
RPC_CALL_HIERARCHY = "prism.rpc.atlas.call_hierarchy"
RPC_TYPE_HIERARCHY = "prism.rpc.atlas.type_hierarchy"
RPC_FIND_PATH = "prism.rpc.atlas.find_path"
RPC_IMPACT = "prism.rpc.atlas.impact"
RPC_MODULE_MAP = "prism.rpc.atlas.module_map"
RPC_ARCHITECTURE = "prism.rpc.atlas.architecture"
RPC_OPEN_SNAPSHOT = "prism.rpc.ingest.open_snapshot"
RPC_STORE_SCIP = "prism.rpc.ingest.store_scip"
RPC_CLONE = "prism.rpc.ingest.clone"
RPC_EDIT = "prism.rpc.ingest.edit"
RPC_CREATE_LAYER = "prism.rpc.ingest.create_layer"
RPC_DELETE_LAYER = "prism.rpc.ingest.delete_layer"
RPC_OPEN_OVERLAY = "prism.rpc.ingest.open_overlay"
RPC_CLOSE_OVERLAY = "prism.rpc.ingest.close_overlay"
RPC_COMMIT_FILE = "prism.rpc.ingest.commit_file"
RPC_COMMIT_FILES = "prism.rpc.ingest.commit_files"
RPC_ADMIT_UPLOAD = "prism.rpc.ingest.admit_upload"
RPC_JOB = "prism.rpc.ingest.job"
RPC_JOBS = "prism.rpc.ingest.jobs"

# Key-value buckets.
KV_REPOSITORIES = "prism_repositories"  # <tenant>.<repo id> -> Repository
KV_LAYERS = "prism_layers"  # <tenant>.<repo id>.<layer> -> Layer
KV_CONDEMNED = "prism_condemned"  # <tenant>.<repo id> -> Condemned
KV_JOBS = "prism_jobs"  # <job id> -> Job
KV_TOKENS = "prism_tokens"  # <sha256 of the token> -> Token
KV_SECRETS = "prism_secrets"  # <tenant>.<repo id> -> SealedSecrets
KV_DELIVERIES = "prism_deliveries"  # <sha256 of a webhook's delivery> -> Delivery
KV_LEASES = "prism_leases"  # <thing> -> who does it
KV_INSTALLATION = "prism_installation"  # one record -> Installation
KV_COMPONENTS = "prism_components"  # chunker, embedder-fast -> Component
KV_SCIP = "prism_scip"  # <tenant>.<repo id>.<layer>.<hash of indexer and folder> -> ScipIndex
KV_ANSWERS = "prism_answers"  # <tenant>.<sha256 of all that an answer depends on> -> SearchAnswer
KV_DEEP_VECTORS = "prism_deep_vectors"  # <sha256 of model and text> -> float16 bytes
KV_GRAPHS = "prism_graphs"  # <tenant>.<repo id>.<layer> -> GraphRecord

# Object buckets.
OBJECTS_CLAIMS = "prism_claims"  # bodies of messages too large for the bus
OBJECTS_HISTORIES = "prism_histories"  # <tenant>.<repo id> -> History, of its newest snapshot that has one
OBJECTS_SNAPSHOTS = "prism_snapshots"  # <job id> -> manifest of the snapshot
OBJECTS_GRAPHS = "prism_graph_files"  # <tenant>.<repo id>.<layer>.<version>.<indexes>.<format> -> graph
OBJECTS_LAYERS = "prism_layer_files"  # <tenant>.<repo id>.<layer>.<version> -> LayerFiles
OBJECTS_SCIP = "prism_occurrences"  # <sha256> -> occurrences of a repository, packed

# A body above this goes to the object store and a reference travels instead. The server counts headers too
# and drops a client that passes its 1 MiB, so there is room left for them.
MESSAGE_BYTES_MAX = 768 * 1024
