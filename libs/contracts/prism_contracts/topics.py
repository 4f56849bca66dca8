"""Every event type with its stream and subject, declared once.

push received
files uploaded / cloned
  -> BranchPushed                              ingest, if a branch has new commits
  -> PullRequestMerged                         ingest, if a webhook said so
  -> FileChanged, FileRemoved, FileSkipped     ingest
  -> FileChunked                               chunker
  -> FileEmbedded                              embedder
  -> FilesSettled                              indexer, once the change is durable in Qdrant
  -> RepoIndexed                               ingest, once every file of the job is settled
  -> AnchorsBroken                             workspace, if documents or tasks name what changed
  -> DeepEmbeddingRequested, DeepEmbedded      indexer and embedder, if a deep model runs
"""

from prism_contracts import events
from prism_contracts.base import Event, Lane
from prism_contracts.names import HOUR_S, MIB, WEEK_S
from prism_contracts.registry import AnyTopic, Stream, Topic

UPLOADS_STREAM = Stream("PRISM_UPLOADS", work_queue=True, max_bytes=1024 * MIB, max_age_s=WEEK_S)
FILES_STREAM = Stream("PRISM_FILES", work_queue=True, max_bytes=512 * MIB, max_age_s=WEEK_S)
CHUNKED_STREAM = Stream("PRISM_CHUNKED", work_queue=True, max_bytes=512 * MIB, max_age_s=WEEK_S)
EMBEDDED_STREAM = Stream("PRISM_EMBEDDED", work_queue=True, max_bytes=1024 * MIB, max_age_s=WEEK_S)
DEEP_STREAM = Stream("PRISM_DEEP", work_queue=True, max_bytes=2048 * MIB, max_age_s=WEEK_S)
SETTLED_STREAM = Stream("PRISM_SETTLED", work_queue=False, max_bytes=512 * MIB, max_age_s=24 * HOUR_S)
STREAMS = (UPLOADS_STREAM, FILES_STREAM, CHUNKED_STREAM, EMBEDDED_STREAM, DEEP_STREAM, SETTLED_STREAM)

FILES_UPLOADED = Topic("files.uploaded", events.FilesUploaded, UPLOADS_STREAM)
CLONE_REQUESTED = Topic("clone.requested", events.CloneRequested, UPLOADS_STREAM)
PUSH_RECEIVED = Topic("push.received", events.PushReceived, UPLOADS_STREAM)
BRANCH_PUSHED = Topic("branch.pushed", events.BranchPushed, UPLOADS_STREAM, Lane.LIVE)
PULL_MERGED = Topic("pull.merged", events.PullRequestMerged, UPLOADS_STREAM, Lane.LIVE)
FILE_CHANGED = Topic("file.changed", events.FileChanged, FILES_STREAM)
FILE_CHUNKED = Topic("file.chunked", events.FileChunked, CHUNKED_STREAM)
FILE_EMBEDDED = Topic("file.embedded", events.FileEmbedded, EMBEDDED_STREAM)
FILE_REMOVED = Topic("file.removed", events.FileRemoved, EMBEDDED_STREAM)
FILE_SKIPPED = Topic("file.skipped", events.FileSkipped, EMBEDDED_STREAM)
FILE_FAILED = Topic("file.failed", events.FileFailed, EMBEDDED_STREAM)
FILES_DROPPED = Topic("files.dropped", events.FilesDropped, EMBEDDED_STREAM, Lane.BULK)
DEEP_EMBEDDED = Topic("deep.embedded", events.DeepEmbedded, EMBEDDED_STREAM)
DEEP_REQUESTED = Topic("deep.requested", events.DeepEmbeddingRequested, DEEP_STREAM)
FILES_SETTLED = Topic("files.settled", events.FilesSettled, SETTLED_STREAM)
REPO_INDEXED = Topic("repo.indexed", events.RepoIndexed, SETTLED_STREAM)
SCIP_STORED = Topic("scip.stored", events.ScipStored, SETTLED_STREAM, Lane.BULK)
SCIP_REMOVED = Topic("scip.removed", events.ScipRemoved, SETTLED_STREAM, Lane.BULK)
ANCHORS_BROKEN = Topic("anchors.broken", events.AnchorsBroken, SETTLED_STREAM, Lane.BULK)
DEEP_STARTED = Topic("deep.started", events.DeepModelStarted, SETTLED_STREAM, Lane.BULK)

# In the order in which an event passes through the services.
ALL_TOPICS: tuple[AnyTopic, ...] = (
    FILES_UPLOADED,
    CLONE_REQUESTED,
    PUSH_RECEIVED,
    BRANCH_PUSHED,
    PULL_MERGED,
    FILE_CHANGED,
    FILE_REMOVED,
    FILE_SKIPPED,
    FILE_FAILED,
    FILE_CHUNKED,
    FILE_EMBEDDED,
    FILES_SETTLED,
    REPO_INDEXED,
    SCIP_STORED,
    SCIP_REMOVED,
    ANCHORS_BROKEN,
    FILES_DROPPED,
    DEEP_STARTED,
    DEEP_REQUESTED,
    DEEP_EMBEDDED,
)
# Consumed by no service: a team's own programs read them from their stream.
FOR_OTHERS: tuple[AnyTopic, ...] = (ANCHORS_BROKEN,)
_BY_EVENT: dict[type[Event], AnyTopic] = {topic.event: topic for topic in ALL_TOPICS}


def topic_of(event_type: type[Event]) -> AnyTopic:
    """The topic of an event type. Raises KeyError for an event without a topic."""
    return _BY_EVENT[event_type]


def topics_of(stream: Stream) -> list[AnyTopic]:
    """The topics that a stream stores."""
    return [topic for topic in ALL_TOPICS if topic.stream == stream]
