"""The names of buckets, and of subjects that belong to no event and no request.

See `topics` and `rpc` for those.
"""

HOUR_S = 3600
WEEK_S = 7 * 24 * HOUR_S
MIB = 1024 * 1024

JOBS_MAX_AGE_S = 30 * 24 * HOUR_S
# How long GitHub can redeliver a webhook.
DELIVERIES_MAX_AGE_S = 3 * 24 * HOUR_S
# Longer than a message waits in a work queue: its services read the record until then.
CANCELLED_JOBS_MAX_AGE_S = WEEK_S + 24 * HOUR_S
LEASE_S = 120
REQUESTS_MAX_AGE_S = 24 * HOUR_S
# How long a person stays signed in to the console.
SESSIONS_MAX_AGE_S = 12 * HOUR_S
REQUESTS_MAX_BYTES = 256 * MIB

DEAD_LETTERS = "PRISM_DEAD_LETTERS"
DEAD_LETTER_SUBJECTS = "prism.dead.>"
DEAD_LETTERS_MAX_BYTES = 256 * MIB
DEAD_LETTERS_MAX_AGE_S = 30 * 24 * HOUR_S


def dead_letter_subject(tenant: str, stream: str, consumer: str) -> str:
    """The subject of messages of a tenant that a consumer gave up on."""
    return f"prism.dead.{tenant}.{stream}.{consumer}"


# Counters of rate limits.
LIMITS_MINUTE = "PRISM_LIMITS_MINUTE"
LIMITS_DAY = "PRISM_LIMITS_DAY"


# What happened at the doors, see `accounting`.
USAGE = "PRISM_USAGE"
AUDIT = "PRISM_AUDIT"
HISTORY = "PRISM_HISTORY"
FEEDBACK = "PRISM_FEEDBACK"
# Which files each import changed.
CHANGES = "PRISM_CHANGES"
CHANGES_MAX_AGE_S = 90 * 24 * HOUR_S
# Per repository; beyond it the oldest are dropped.
CHANGES_ENTRIES_MAX = 1_000
AUDIT_MAX_AGE_S = 400 * 24 * HOUR_S
# Per tenant and action; beyond it the oldest are dropped, so a flood of one action hides no other.
AUDIT_ENTRIES_MAX = 100_000
# Per tenant; beyond it the oldest are dropped.
HISTORY_ENTRIES_MAX = 20_000
FEEDBACK_MAX_AGE_S = 400 * 24 * HOUR_S


def accounting_subject(stream: str, tenant: str, *parts: str) -> str:
    """The subject of a tenant in a stream of accounting, such as `prism.audit.<tenant>`."""
    return ".".join(("prism", stream.rpartition("_")[2].lower(), tenant, *parts))


def limits_subject(stream: str, counter: str) -> str:
    """The subject of a counter of rate limits, such as `<tenant>.search`."""
    return f"prism.limits.{stream.rpartition('_')[2].lower()}.{counter}"


def ping_subject(service: str) -> str:
    """The subject on which a service reports its readiness: an empty request, an empty reply if all is well."""
    return f"prism.ping.{service}"


def inbox_prefix(service: str) -> str:
    """The prefix of the subjects on which a service receives replies."""
    return f"_INBOX_{service}"


# Key-value buckets.
KV_REPOSITORIES = "prism_repositories"  # <tenant>.<repo id> -> Repository
KV_REPOSITORY_NAMES = "prism_repository_names"  # <tenant>.<repo_id of the name> -> RepositoryName
KV_LAYERS = "prism_layers"  # <tenant>.<repo id>.<layer> -> Layer
KV_CONDEMNED = "prism_condemned"  # <tenant>.<repo id> -> Condemned
KV_JOBS = "prism_jobs"  # <job id> -> Job
KV_CANCELLED_JOBS = "prism_cancelled_jobs"  # <job id> -> CancelledJob
KV_TOKENS = "prism_tokens"  # <sha256 of the token> -> Token
KV_TENANTS = "prism_tenants"  # <tenant> -> Tenant
KV_GROUPS = "prism_groups"  # <tenant>.<name> -> Group
KV_SECRETS = "prism_secrets"  # <tenant>.<repo id> -> SealedSecrets
KV_DELIVERIES = "prism_deliveries"  # <sha256 of a webhook's delivery> -> Delivery
KV_REQUESTS = "prism_requests"  # <sha256 of caller and Idempotency-Key> -> KeptRequest
KV_SESSIONS = "prism_sessions"  # <sha256 of a cookie, or of a one-time code> -> Session
KV_LEASES = "prism_leases"  # <task> -> its holder
KV_INSTALLATION = "prism_installation"  # one record -> Installation
KV_MODEL_VERSIONS = "prism_components"  # chunker, embedder-fast, embedder-deep -> ModelVersion
KV_SCIP = "prism_scip"  # <tenant>.<repo id>.<layer>.<hash of indexer and folder> -> ScipIndex
KV_ANSWERS = "prism_answers"  # <tenant>.<sha256 of everything that an answer depends on> -> SearchAnswer
KV_DEEP_VECTORS = "prism_deep_vectors"  # <sha256 of model and text> -> float16 bytes
KV_ANCHORS = "prism_anchors"  # <tenant>.<kind>.<id of a document or task> -> AnchorsRecord
KV_GRAPHS = "prism_graphs"  # <tenant>.<repo id>.<layer> -> GraphRecord
KV_DESCRIPTIONS = "prism_descriptions"  # <tenant>.<repo id> -> DescriptionsRecord
# <tenant>.<repo id>.<address of a content> -> WrittenDescription
KV_WRITTEN_DESCRIPTIONS = "prism_written_descriptions"
KV_WIKI = "prism_wiki"  # <tenant>.<repo id> -> WikiRecord
KV_DOCUMENTS = "prism_documents"  # <tenant>.<document id> -> DocumentRecord
KV_GIT_OBJECTS = "prism_git_objects"  # <tenant>.<SHA-1> -> a git object, compressed
KV_GIT_REFS = "prism_git_refs"  # <tenant>.<branch> -> SHA-1 of its commit
KV_DOCUMENT_REMOTES = "prism_document_remotes"  # <tenant>.remote -> DocumentRemote
KV_MODEL_DAYS = "prism_model_days"  # <tenant>.<day> -> ModelDay
KV_TASKS = "prism_tasks"  # <tenant>.<task id> -> TaskRecord

# Object buckets.
OBJECTS_CLAIMS = "prism_claims"  # bodies of messages too large for the bus
OBJECTS_HISTORIES = "prism_histories"  # <tenant>.<repo id> -> History of the newest snapshot that has one
OBJECTS_SNAPSHOTS = "prism_snapshots"  # <job id> -> manifest of the snapshot
OBJECTS_GRAPHS = "prism_graph_files"  # <tenant>.<repo id>.<layer>.<version>.<indexes>.<format> -> graph
OBJECTS_WIKI = "prism_wiki_pages"  # <tenant>.<repo id>.<page>.<hash of its sources> -> Markdown
OBJECTS_LAYERS = "prism_layer_files"  # <tenant>.<repo id>.<layer>.<version> -> LayerFiles
OBJECTS_GIT = "prism_large_git_objects"  # <tenant>.<SHA-1> -> a git object too large for KV_GIT_OBJECTS
OBJECTS_SCIP = "prism_occurrences"  # <sha256> -> occurrences of a repository, packed

# A larger body goes to the object store, and a reference travels instead. The server counts headers too, and
# drops a client that exceeds its limit of 1 MiB.
MESSAGE_BYTES_MAX = 768 * 1024
