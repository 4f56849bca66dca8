"""Documents: Markdown with YAML front matter, in a git repository that each tenant has.

Captured documents are read-only. Generated ones are created and updated as drafts, which are searchable before
a commit holds them.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.errors import ErrorBody, ErrorCode
from prism_contracts.registry import Rpc, Timeout
from prism_contracts.rpc.anchors import StalePlace
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.types import (
    DOCUMENT_TITLE_CHARS_MAX,
    Count,
    Cursor,
    DocumentFields,
    DocumentSources,
    DocumentTag,
    DocumentTags,
    DocumentText,
    DocumentTitle,
    DocumentVersionOrNone,
    FilePath,
    ImportedText,
    LabelOrNone,
    Query,
    RepoKeyOrNone,
    ShortText,
    Word,
)

DOCUMENT_ID_CHARS_MAX = 64
DOCUMENTS_LIMIT_MAX = 500
DOCUMENT_HITS_MAX = 100
COMMIT_PATHS_MAX = 5_000
VERSIONS_LIMIT_MAX = 200
RELATED_DOCUMENTS_MAX = 50
# What a language model reads of a document and of the tags in use.
TAGGED_CHARS_MAX = 8_000
TAGS_OFFERED_MAX = 200
IMPORT_FILES_MAX = 100

DocumentId = Annotated[str, Field(min_length=1, max_length=DOCUMENT_ID_CHARS_MAX)]
DocumentIdOrNone = Annotated[str, Field(max_length=DOCUMENT_ID_CHARS_MAX)]


class DateRange(Message):
    """A range of times, both ends included. A time without a zone is UTC."""

    start: datetime | None = None
    end: datetime | None = None


class DocumentMetadata(Message):
    """What is known of a document besides its text."""

    title: str
    url: str = ""  # where a captured page comes from
    tags: tuple[str, ...] = ()
    category: str = ""
    description: str = ""
    sources: tuple[str, ...] = ()
    custom: DocumentFields = {}
    created_at: datetime
    modified_at: datetime
    is_generated: bool
    word_count: int
    version: int
    is_draft: bool  # no commit holds its newest content
    commit: str = ""  # a commit that holds the last committed version
    is_indexed: bool = False  # the index holds its newest content
    conflict: str = ""  # path of another version, which was pushed to the remote; until the next update
    stale: tuple[StalePlace, ...] = ()  # places that it names and that have changed since it was written


class GetDocumentRequest(CallerRequest):
    """Returns a document with its text. Exactly one of `document_id` and `path` is set."""

    document_id: DocumentIdOrNone = ""
    path: FilePath = ""
    version: DocumentVersionOrNone = ""  # empty: the newest
    include_metadata: bool = True


class DocumentReply(Message):
    """A document. `frontmatter` is YAML, and `content` the Markdown below it.

    Those are of the requested version; `metadata` is of the newest.
    """

    document_id: str
    path: str
    content: str
    metadata: DocumentMetadata | None = None
    frontmatter: str = ""


class GetDocumentMetadataRequest(CallerRequest):
    """Returns a document without its text. Exactly one of `document_id` and `path` is set."""

    document_id: DocumentIdOrNone = ""
    path: FilePath = ""


class DocumentMetadataReply(Message):
    """The metadata of a document."""

    document_id: str
    path: str
    metadata: DocumentMetadata
    frontmatter: str


class DocumentFilter(Message):
    """Which documents a list has: those that match every field that is set."""

    tags: DocumentTags = ()  # the document has all of them
    category: Word = ""
    is_generated: bool | None = None
    date_range: DateRange = DateRange()  # compared with `created_at`
    modified_range: DateRange = DateRange()
    search_title: ShortText = ""  # part of the title, in any case
    stale: bool | None = None  # whether a place that it names has changed


class DocumentOrder(StrEnum):
    """What a list of documents is sorted by."""

    CREATED_AT = "created_at"
    MODIFIED_AT = "modified_at"
    TITLE = "title"


class SortOrder(StrEnum):
    """The direction of a list."""

    ASC = "asc"
    DESC = "desc"


class ListDocumentsRequest(CallerRequest):
    """Lists documents by their metadata."""

    filter: DocumentFilter = DocumentFilter()
    sort_by: DocumentOrder = DocumentOrder.CREATED_AT
    sort_order: SortOrder = SortOrder.DESC
    limit: Annotated[int, Field(ge=1, le=DOCUMENTS_LIMIT_MAX)] = 50
    offset: Count = 0


class DocumentSummary(Message):
    """A document in a list."""

    document_id: str
    path: str
    title: str
    summary: str = ""  # the beginning of its text
    tags: tuple[str, ...] = ()
    category: str = ""
    created_at: datetime
    modified_at: datetime
    is_generated: bool
    word_count: int
    is_draft: bool = False
    stale: tuple[StalePlace, ...] = ()  # the first of them


class ListDocumentsReply(Message):
    """A page of documents, and how many match."""

    documents: tuple[DocumentSummary, ...]
    total: int
    limit: int
    offset: int


class SearchDocumentsRequest(CallerRequest):
    """Searches the text of documents.

    `similarity_threshold` is the lowest score of a hit, relative to the best one. `filter_generated` leaves
    generated documents out.
    """

    query: Query
    max_results: Annotated[int, Field(ge=1, le=DOCUMENT_HITS_MAX)] = 10
    similarity_threshold: Annotated[float, Field(ge=0, le=1)] = 0.6
    filter_generated: bool = False
    filter_tags: DocumentTags = ()
    date_range: DateRange = DateRange()  # compared with `created_at`
    modified_range: DateRange = DateRange()


class DocumentHit(Message):
    """A document that matches a search, and the excerpt that matches best."""

    document_id: str
    path: str
    title: str
    snippet: str
    start_line: int = 0
    end_line: int = 0
    similarity_score: float
    metadata: DocumentMetadata


class SearchDocumentsReply(Message):
    """Documents, the best first."""

    results: tuple[DocumentHit, ...]
    total_found: int
    query_embedding_time_ms: int = 0


class NewDocumentMetadata(Message):
    """Metadata of a document that a caller writes. In an update, fields that are None stay."""

    description: ShortText | None = None
    sources: DocumentSources | None = None
    custom: DocumentFields | None = None  # an update merges them with the existing ones; None removes a field


class CreateDocumentRequest(CallerRequest):
    """Creates a generated document as a draft.

    With `auto_process`, the answer waits until it is searchable, and suggests tags. The document has only the
    tags that are given.
    """

    title: DocumentTitle
    content: DocumentText
    tags: DocumentTags = ()
    category: Word = ""
    metadata: NewDocumentMetadata = NewDocumentMetadata()
    auto_process: bool = True
    # Where its writer works: a name that several repositories have is meant there.
    connected_repo: RepoKeyOrNone = ""
    author: LabelOrNone = ""  # the name of the caller


class ProcessingResults(Message):
    """What was done to a new document besides storing it."""

    tags_generated: tuple[str, ...] = ()  # suggestions, which the document does not have
    embeddings_created: bool = False
    git_committed: bool = False


class CreateDocumentReply(Message):
    """The new document."""

    document_id: str
    path: str
    created_at: datetime
    version: int = 1
    auto_processed: bool
    processing_results: ProcessingResults = ProcessingResults()


class DocumentUpdates(Message):
    """The new values of a document. Those that are None stay."""

    title: DocumentTitle | None = None
    content: DocumentText | None = None
    tags: DocumentTags | None = None
    category: Word | None = None
    metadata: NewDocumentMetadata | None = None


class UpdateDocumentRequest(CallerRequest):
    """Updates a generated document as a draft.

    With `version`, the document must not have changed since a reply with that version.
    """

    document_id: DocumentId
    updates: DocumentUpdates
    version: Count | None = None
    regenerate_embeddings: bool = True  # wait until the new content is searchable, and suggest tags
    # Where its writer works: a name that several repositories have is meant there.
    connected_repo: RepoKeyOrNone = ""
    author: LabelOrNone = ""  # the name of the caller


class UpdateDocumentReply(Message):
    """The updated document, and which fields have other values now."""

    document_id: str
    path: str
    modified_at: datetime
    version: int
    changes_applied: tuple[str, ...]
    embeddings_regenerated: bool = False
    tags_generated: tuple[str, ...] = ()  # suggestions for a new content, which the document does not have


class GenerateEmbeddingsRequest(CallerRequest):
    """Waits until a document is indexed in its newest version; with `force_regenerate`, indexes it again."""

    document_id: DocumentId
    force_regenerate: bool = False


class EmbeddingState(StrEnum):
    """What the index has of the newest content of a document."""

    INDEXED = "indexed"
    SKIPPED = "skipped"  # the content cannot be searched, and the reason says why
    PENDING = "pending"  # it is being indexed


class GenerateEmbeddingsReply(Message):
    """What the index has of a document. `chunks_processed` counts the passages that have vectors."""

    document_id: str
    embeddings_created: bool
    chunks_processed: int
    model_used: str  # the fingerprint of its weights; empty if no model has run yet
    processing_time_ms: int
    state: EmbeddingState
    reason: str = ""


class GenerateTagsRequest(CallerRequest):
    """Proposes tags and a category for a document, from its text and from the tags of the others."""

    document_id: DocumentId
    merge_with_existing: bool = True
    model: Word = ""  # one of the language models of the settings; empty: any of them


class GenerateTagsReply(Message):
    """The tags. `final_tags` are those that an update would set; nothing is changed."""

    document_id: str
    generated_tags: tuple[DocumentTag, ...]
    category: str
    confidence: Annotated[float, Field(ge=0, le=1)]
    existing_tags: tuple[str, ...] = ()
    final_tags: tuple[str, ...]
    model: str = ""  # the language model that chose them; empty: they follow from the words of the documents
    without_model: str = ""  # why no language model took part; empty if one did


class WriteTagsRequest(CallerRequest):
    """Has a language model choose tags for a text."""

    title: Annotated[str, Field(max_length=DOCUMENT_TITLE_CHARS_MAX)]
    text: Annotated[str, Field(max_length=TAGGED_CHARS_MAX)]  # the beginning of the document
    in_use: Annotated[tuple[DocumentTag, ...], Field(max_length=TAGS_OFFERED_MAX)] = ()  # the most used first
    model: Word = ""  # as in GenerateTagsRequest


class WriteTagsReply(Message):
    """The tags that the model chose. Nothing has checked them: a document can contain instructions to a model."""

    tags: tuple[str, ...] = ()
    model: str = ""  # empty if no model chose
    without_model: str = ""  # why; empty if one did


class DocumentConflict(Message):
    """A document that was changed here and at the remote. Both versions are kept."""

    document_id: str
    path: str  # with the version of Prism
    kept_path: str  # with the version of the remote


class CommitDocumentsRequest(CallerRequest):
    """Commits drafts: those at the given paths, or all of them. `author` is the name of the caller."""

    paths: Annotated[tuple[FilePath, ...], Field(max_length=COMMIT_PATHS_MAX)] = ()
    message: Annotated[str, Field(min_length=1, max_length=5_000)]
    auto_push: bool = False
    author: LabelOrNone = ""


class CommitDocumentsReply(Message):
    """The commit that holds the drafts.

    If an earlier call committed the same contents, it is that one.
    """

    commit_hash: str
    files_committed: tuple[str, ...]
    timestamp: datetime
    pushed: bool = False
    pending_push: bool = False  # there is a remote, and it is not known to have this commit
    push_error: ErrorBody | None = None  # why the push failed; it is tried again
    conflicts: tuple[DocumentConflict, ...] = ()  # documents that were changed at the remote as well


class DocumentFile(Message):
    """A Markdown file, with front matter or without."""

    path: FilePath
    text: ImportedText


class ImportDocumentsRequest(CallerRequest):
    """Stores files as documents, each for itself, as drafts at their paths. Repeating it changes nothing.

    A document that was written in Prism since its last import is kept, unless `replace` is set.
    """

    files: Annotated[tuple[DocumentFile, ...], Field(min_length=1, max_length=IMPORT_FILES_MAX)]
    replace: bool = False
    # Where its writer works: a name that several repositories have is meant there.
    connected_repo: RepoKeyOrNone = ""
    author: LabelOrNone = ""  # the name of the caller


class FileOutcome(StrEnum):
    """What an import did with a file."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


class ImportedFile(Message):
    """A file of an import. If it was refused, `code` and `message` say why; the others are stored all the same."""

    path: str
    outcome: FileOutcome
    document_id: str = ""
    code: ErrorCode | None = None
    message: str = ""


class ImportDocumentsReply(Message):
    """One result for each file, in the order of the request."""

    files: tuple[ImportedFile, ...]


class ExportDocumentsRequest(CallerRequest):
    """Returns documents as files, in the order of their paths."""

    folder: FilePath = ""  # only those below it
    limit: Annotated[int, Field(ge=1, le=IMPORT_FILES_MAX)] = IMPORT_FILES_MAX
    cursor: Cursor = ""


class ExportDocumentsReply(Message):
    """A page of files in their newest version, with front matter. A page ends early if the files are large."""

    files: tuple[DocumentFile, ...]
    next_cursor: str = ""


class DocumentVersionsRequest(CallerRequest):
    """Lists the versions of a document, the newest first: drafts since its last commit, then commits."""

    document_id: DocumentId
    limit: Annotated[int, Field(ge=1, le=VERSIONS_LIMIT_MAX)] = 50
    cursor: Cursor = ""


class DocumentVersion(Message):
    """A draft, or a commit that changed the document."""

    version: str  # the commit, or the number of the draft: what other requests take
    is_draft: bool
    blob: str
    message: str = ""  # the first line of the commit's
    author: str
    at: datetime


class DocumentVersionsReply(Message):
    """A page of versions. It may have few, or none, because only some commits are read for it."""

    document_id: str
    path: str
    versions: tuple[DocumentVersion, ...]
    next_cursor: str = ""  # empty: there are no older ones


class RelatedDocumentsRequest(CallerRequest):
    """Returns documents on the subject of a document: with a similar text, or that name the same places in code."""

    document_id: DocumentId
    limit: Annotated[int, Field(ge=1, le=RELATED_DOCUMENTS_MAX)] = 5


class RelatedDocument(Message):
    """A document on the same subject, and why it is listed."""

    document_id: str
    path: str
    title: str
    score: float = 0.0  # how similar its text is, from 0 to 1; 0 if only the shared places relate them
    shared_places: tuple[
        str, ...
    ] = ()  # the rarest first, each as `repository path` or `repository path symbol`
    shared_tags: tuple[str, ...] = ()


class RelatedDocumentsReply(Message):
    """Related documents, the closest first."""

    document_id: str
    path: str
    related: tuple[RelatedDocument, ...]


class DocumentDiffRequest(CallerRequest):
    """Compares two versions of a document. An empty `base` is its last commit, an empty `version` its newest one."""

    document_id: DocumentId
    base: DocumentVersionOrNone = ""
    version: DocumentVersionOrNone = ""


class DocumentDiffReply(Message):
    """A unified diff of the files with their front matter, empty if they are equal."""

    document_id: str
    path: str
    diff: str


GET_DOCUMENT = Rpc("workspace.get_document", GetDocumentRequest, DocumentReply, reads=True)
GET_DOCUMENT_METADATA = Rpc(
    "workspace.get_document_metadata", GetDocumentMetadataRequest, DocumentMetadataReply, reads=True
)
LIST_DOCUMENTS = Rpc("workspace.list_documents", ListDocumentsRequest, ListDocumentsReply, reads=True)
UPDATE_DOCUMENT = Rpc("workspace.update_document", UpdateDocumentRequest, UpdateDocumentReply, writes=True)
COMMIT_DOCUMENTS = Rpc(
    "workspace.commit_documents",
    CommitDocumentsRequest,
    CommitDocumentsReply,
    deadline_s=55,
    timeout=Timeout.IMPORT,
    writes=True,
)
CREATE_DOCUMENT = Rpc("workspace.create_document", CreateDocumentRequest, CreateDocumentReply, writes=True)
SEARCH_DOCUMENTS = Rpc("workspace.search_documents", SearchDocumentsRequest, SearchDocumentsReply, reads=True)
DOCUMENT_VERSIONS = Rpc(
    "workspace.document_versions", DocumentVersionsRequest, DocumentVersionsReply, reads=True
)
RELATED_DOCUMENTS = Rpc(
    "workspace.related_documents", RelatedDocumentsRequest, RelatedDocumentsReply, reads=True
)
DOCUMENT_DIFF = Rpc("workspace.document_diff", DocumentDiffRequest, DocumentDiffReply, reads=True)
IMPORT_DOCUMENTS = Rpc(
    "workspace.import_documents", ImportDocumentsRequest, ImportDocumentsReply, writes=True
)
EXPORT_DOCUMENTS = Rpc("workspace.export_documents", ExportDocumentsRequest, ExportDocumentsReply, reads=True)
GENERATE_EMBEDDINGS = Rpc(
    "workspace.generate_embeddings", GenerateEmbeddingsRequest, GenerateEmbeddingsReply, writes=True
)
GENERATE_TAGS = Rpc(
    "workspace.generate_tags",
    GenerateTagsRequest,
    GenerateTagsReply,
    deadline_s=60.0,
    timeout=Timeout.MODEL,
)
WRITE_TAGS = Rpc(
    "scribe.write_tags", WriteTagsRequest, WriteTagsReply, deadline_s=45.0, timeout=Timeout.MODEL
)
