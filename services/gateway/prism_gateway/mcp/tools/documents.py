"""The toolset `documents`: what a team writes beside its code."""

from typing import Annotated

from pydantic import Field, WithJsonSchema, model_validator

from prism_contracts import types
from prism_contracts.rpc.documents import (
    COMMIT_DOCUMENTS,
    COMMIT_PATHS_MAX,
    CREATE_DOCUMENT,
    DOCUMENT_DIFF,
    DOCUMENT_HITS_MAX,
    DOCUMENT_VERSIONS,
    DOCUMENTS_LIMIT_MAX,
    GENERATE_EMBEDDINGS,
    GENERATE_TAGS,
    GET_DOCUMENT,
    GET_DOCUMENT_METADATA,
    LIST_DOCUMENTS,
    RELATED_DOCUMENTS,
    SEARCH_DOCUMENTS,
    UPDATE_DOCUMENT,
    CommitDocumentsRequest,
    CreateDocumentRequest,
    DocumentDiffRequest,
    DocumentId,
    DocumentIdOrNone,
    DocumentOrder,
    DocumentVersionsRequest,
    GenerateEmbeddingsRequest,
    GenerateTagsRequest,
    GetDocumentMetadataRequest,
    GetDocumentRequest,
    ListDocumentsRequest,
    RelatedDocumentsRequest,
    SearchDocumentsRequest,
    SortOrder,
    UpdateDocumentRequest,
)
from prism_gateway.mcp.answers import documents
from prism_gateway.mcp.arguments import Arguments, OneOf
from prism_gateway.mcp.schema import BOOLEAN, INTEGER, NUMBER, OBJECT, STRING, STRINGS, array, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Effect, Tool, Toolset

VERSIONS_SHOWN_MAX = 20
DATE_CHARS = len("2026-01-31")
END_OF_DAY = "T23:59:59.999999"

# Lists, because strict validation takes no array for a tuple.
Tags = Annotated[list[types.DocumentTag], Field(max_length=types.DOCUMENT_TAGS_MAX)]
Sources = Annotated[list[types.ShortLine], Field(max_length=types.DOCUMENT_SOURCES_MAX)]
# The whole schema of the values would cost as many tokens as two tools.
Custom = Annotated[
    types.DocumentFields,
    Field(strict=False),
    WithJsonSchema({"type": "object", "maxProperties": types.DOCUMENT_FIELDS_MAX}),
]


class Period(Arguments):
    start: types.Word = ""
    end: types.Word = ""

    def asked(self) -> dict[str, str]:
        """Returns the ends that are set. A day as the end includes that day."""
        end = self.end + END_OF_DAY if len(self.end) == DATE_CHARS else self.end
        return {name: value for name, value in (("start", self.start), ("end", end)) if value}


class SearchDocuments(Arguments):
    query: types.Query
    max_results: Annotated[int, Field(ge=1, le=DOCUMENT_HITS_MAX)] = 10
    similarity_threshold: Annotated[
        float, Field(ge=0, le=1, strict=False, description="lowest score, as a share of the best")
    ] = 0.6
    filter_generated: Annotated[bool, Field(description="leave them out")] = False
    filter_tags: Tags = []
    date_range: Annotated[Period, Field(description="ISO dates of creation")] = Period()
    modified_range: Period = Period()


class DocumentName(Arguments):
    document_id: DocumentIdOrNone = ""
    path: types.FilePath = ""

    @model_validator(mode="after")
    def _one_name(self) -> "DocumentName":
        if bool(self.document_id) == bool(self.path):
            raise ValueError("give exactly one of document_id and path")
        return self


class GetDocument(DocumentName):
    version: Annotated[types.DocumentVersionOrNone, Field(description="a commit or draft number")] = ""
    diff_from: Annotated[
        types.DocumentVersionOrNone, Field(description="show the diff from this version")
    ] = ""
    include_metadata: bool = True


class GetDocumentMetadata(DocumentName):
    include_versions: Annotated[bool, Field(description="drafts and commits")] = False
    include_related: bool = False


class Filter(Arguments):
    tags: Tags = []
    category: types.Word = ""
    is_generated: bool | None = None
    date_range: Period = Period()
    modified_range: Period = Period()
    search_title: types.ShortText = ""
    stale: bool | None = None


class ListDocuments(Arguments):
    filter: Filter = Filter()
    sort_by: Annotated[types.Word, OneOf(DocumentOrder)] = DocumentOrder.CREATED_AT.value
    sort_order: Annotated[types.Word, OneOf(SortOrder)] = SortOrder.DESC.value
    limit: Annotated[int, Field(ge=1, le=DOCUMENTS_LIMIT_MAX)] = 50
    offset: types.Count = 0


class Metadata(Arguments):
    description: types.ShortText | None = None
    sources: Sources | None = None
    custom: Custom | None = None


class CreateDocument(Arguments):
    title: types.DocumentTitle
    content: Annotated[types.DocumentText, Field(description="Markdown")]
    tags: Tags = []
    category: types.Word = ""
    metadata: Metadata = Metadata()
    auto_process: bool = True


class Updates(Arguments):
    title: types.DocumentTitle | None = None
    content: types.DocumentText | None = None
    tags: Tags | None = None
    category: types.Word | None = None
    metadata: Metadata | None = None


class UpdateDocument(Arguments):
    document_id: DocumentId
    updates: Updates
    version: Annotated[types.Count | None, Field(description="refuse if changed")] = None
    regenerate_embeddings: bool = True


class GenerateEmbeddings(Arguments):
    document_id: DocumentId
    force_regenerate: Annotated[bool, Field(description="index it again")] = False


class GenerateTags(Arguments):
    document_id: DocumentId
    merge_with_existing: bool = True
    model: types.Word = ""


class CommitToGit(Arguments):
    message: Annotated[str, Field(min_length=1, max_length=types.SHORT_TEXT_CHARS_MAX)]
    paths: Annotated[
        list[types.FilePath], Field(max_length=COMMIT_PATHS_MAX, description="default: all drafts")
    ] = []
    auto_push: bool = False


async def search_documents(call: Call, arguments: SearchDocuments) -> Answer:
    ranges = {
        "date_range": arguments.date_range.asked(),
        "modified_range": arguments.modified_range.asked(),
    }
    given = arguments.model_dump() | ranges
    request = SearchDocumentsRequest(tenant=call.caller.tenant, **given)
    return documents.found(await call.backend.ask(SEARCH_DOCUMENTS, request))


async def get_document(call: Call, arguments: GetDocument) -> Answer:
    given = arguments.model_dump(exclude={"diff_from"})
    found = await call.backend.ask(GET_DOCUMENT, GetDocumentRequest(tenant=call.caller.tenant, **given))
    if not arguments.diff_from:
        return documents.document(found)
    wanted = DocumentDiffRequest(
        tenant=call.caller.tenant,
        document_id=found.document_id,
        base=arguments.diff_from,
        version=arguments.version,
    )
    return documents.changes(found, await call.backend.ask(DOCUMENT_DIFF, wanted), arguments.diff_from)


async def get_document_metadata(call: Call, arguments: GetDocumentMetadata) -> Answer:
    name = {"document_id": arguments.document_id, "path": arguments.path}
    request = GetDocumentMetadataRequest(tenant=call.caller.tenant, **name)
    found = await call.backend.ask(GET_DOCUMENT_METADATA, request)
    document = {"tenant": call.caller.tenant, "document_id": found.document_id}
    history = related = None
    if arguments.include_versions:
        wanted = DocumentVersionsRequest(**document, limit=VERSIONS_SHOWN_MAX)
        history = await call.backend.ask(DOCUMENT_VERSIONS, wanted)
    if arguments.include_related:
        related = await call.backend.ask(RELATED_DOCUMENTS, RelatedDocumentsRequest(**document))
    return documents.metadata(found, history, related)


async def list_documents(call: Call, arguments: ListDocuments) -> Answer:
    given = arguments.model_dump()
    given["filter"]["date_range"] = arguments.filter.date_range.asked()
    given["filter"]["modified_range"] = arguments.filter.modified_range.asked()
    request = ListDocumentsRequest(tenant=call.caller.tenant, **given)
    return documents.listed(await call.backend.ask(LIST_DOCUMENTS, request))


async def create_document(call: Call, arguments: CreateDocument) -> Answer:
    caller = call.caller
    request = CreateDocumentRequest(
        tenant=caller.tenant, author=caller.label, connected_repo=call.repo, **arguments.model_dump()
    )
    return documents.created(await call.backend.ask(CREATE_DOCUMENT, request))


async def update_document(call: Call, arguments: UpdateDocument) -> Answer:
    caller = call.caller
    request = UpdateDocumentRequest(
        tenant=caller.tenant, author=caller.label, connected_repo=call.repo, **arguments.model_dump()
    )
    return documents.updated(await call.backend.ask(UPDATE_DOCUMENT, request))


async def generate_embeddings(call: Call, arguments: GenerateEmbeddings) -> Answer:
    request = GenerateEmbeddingsRequest(tenant=call.caller.tenant, **arguments.model_dump())
    return documents.embedded(await call.backend.ask(GENERATE_EMBEDDINGS, request))


async def generate_tags(call: Call, arguments: GenerateTags) -> Answer:
    request = GenerateTagsRequest(tenant=call.caller.tenant, **arguments.model_dump())
    return documents.tagged(await call.backend.ask(GENERATE_TAGS, request))


async def commit_to_git(call: Call, arguments: CommitToGit) -> Answer:
    caller = call.caller
    request = CommitDocumentsRequest(tenant=caller.tenant, author=caller.label, **arguments.model_dump())
    return documents.committed(await call.backend.ask(COMMIT_DOCUMENTS, request))


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "search_documents",
        Toolset.DOCUMENTS,
        "Search the team's documents by meaning and words: the best excerpt of each.",
        SearchDocuments,
        record(
            results=array(
                record(
                    document_id=STRING,
                    path=STRING,
                    title=STRING,
                    snippet=STRING,
                    start_line=INTEGER,
                    end_line=INTEGER,
                    similarity_score=NUMBER,
                    metadata=OBJECT,
                )
            ),
            total_found=INTEGER,
            query_embedding_time_ms=INTEGER,
        ),
        search_documents,
    ),
    Tool(
        "get_document",
        Toolset.DOCUMENTS,
        "Read a document: its Markdown, metadata and front matter.",
        GetDocument,
        record(
            document_id=STRING, path=STRING, content=STRING, diff=STRING, metadata=OBJECT, frontmatter=STRING
        ),
        get_document,
    ),
    Tool(
        "get_document_metadata",
        Toolset.DOCUMENTS,
        "The metadata of a document, without its text.",
        GetDocumentMetadata,
        record(
            document_id=STRING,
            path=STRING,
            metadata=OBJECT,
            frontmatter=STRING,
            versions=array(OBJECT),
            related=array(OBJECT),
        ),
        get_document_metadata,
    ),
    Tool(
        "list_documents",
        Toolset.DOCUMENTS,
        "List documents by tags, category, date or title.",
        ListDocuments,
        record(documents=array(OBJECT), total=INTEGER, limit=INTEGER, offset=INTEGER),
        list_documents,
    ),
    Tool(
        "create_document",
        Toolset.DOCUMENTS,
        "Write a document in generated/, as a draft until commit_to_git.",
        CreateDocument,
        record(
            document_id=STRING,
            path=STRING,
            created_at=STRING,
            version=INTEGER,
            auto_processed=BOOLEAN,
            processing_results=OBJECT,
        ),
        create_document,
        effect=Effect.TAKES,
    ),
    Tool(
        "update_document",
        Toolset.DOCUMENTS,
        "Change a generated document, as a draft until commit_to_git.",
        UpdateDocument,
        record(
            document_id=STRING,
            path=STRING,
            modified_at=STRING,
            version=INTEGER,
            changes_applied=STRINGS,
            embeddings_regenerated=BOOLEAN,
            tags_generated=STRINGS,
        ),
        update_document,
        effect=Effect.TAKES,
    ),
    Tool(
        "generate_embeddings",
        Toolset.DOCUMENTS,
        "Wait until a document is searchable, or index it again.",
        GenerateEmbeddings,
        record(
            document_id=STRING,
            embeddings_created=BOOLEAN,
            chunks_processed=INTEGER,
            model_used=STRING,
            processing_time_ms=INTEGER,
            state=STRING,
            reason=STRING,
        ),
        generate_embeddings,
        effect=Effect.TAKES,
    ),
    Tool(
        "generate_tags",
        Toolset.DOCUMENTS,
        "Propose tags and a category for a document; update_document sets them.",
        GenerateTags,
        record(
            document_id=STRING,
            generated_tags=STRINGS,
            category=STRING,
            confidence=NUMBER,
            existing_tags=STRINGS,
            final_tags=STRINGS,
            model=STRING,
            without_model=STRING,
        ),
        generate_tags,
    ),
    Tool(
        "commit_to_git",
        Toolset.DOCUMENTS,
        "Commit drafts of documents to their git repository.",
        CommitToGit,
        record(
            commit_hash=STRING,
            files_committed=STRINGS,
            timestamp=STRING,
            pushed=BOOLEAN,
            pending_push=BOOLEAN,
            push_error=OBJECT,
            conflicts=array(OBJECT),
        ),
        commit_to_git,
        effect=Effect.TAKES,
    ),
)
