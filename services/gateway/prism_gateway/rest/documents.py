"""Documents: what a team writes beside its code."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from prism_contracts.rpc.documents import (
    COMMIT_DOCUMENTS,
    CREATE_DOCUMENT,
    DOCUMENT_DIFF,
    DOCUMENT_VERSIONS,
    DOCUMENTS_LIMIT_MAX,
    EXPORT_DOCUMENTS,
    GENERATE_EMBEDDINGS,
    GENERATE_TAGS,
    GET_DOCUMENT,
    GET_DOCUMENT_METADATA,
    IMPORT_DOCUMENTS,
    IMPORT_FILES_MAX,
    LIST_DOCUMENTS,
    RELATED_DOCUMENTS,
    RELATED_DOCUMENTS_MAX,
    SEARCH_DOCUMENTS,
    UPDATE_DOCUMENT,
    VERSIONS_LIMIT_MAX,
    CommitDocumentsReply,
    CreateDocumentReply,
    DateRange,
    DocumentDiffReply,
    DocumentDiffRequest,
    DocumentFilter,
    DocumentId,
    DocumentMetadataReply,
    DocumentOrder,
    DocumentReply,
    DocumentVersionsReply,
    DocumentVersionsRequest,
    ExportDocumentsReply,
    ExportDocumentsRequest,
    GenerateEmbeddingsReply,
    GenerateEmbeddingsRequest,
    GenerateTagsReply,
    GenerateTagsRequest,
    GetDocumentMetadataRequest,
    GetDocumentRequest,
    ImportDocumentsReply,
    ListDocumentsReply,
    ListDocumentsRequest,
    RelatedDocumentsReply,
    RelatedDocumentsRequest,
    SearchDocumentsReply,
    SortOrder,
    UpdateDocumentReply,
    UpdateDocumentRequest,
)
from prism_contracts.types import Cursor, DocumentTag, DocumentVersionOrNone, FilePath, ShortText, Word
from prism_gateway.rest.bodies import (
    CommitDocumentsBody,
    DocumentBody,
    DocumentEmbeddingsBody,
    DocumentFilesBody,
    DocumentPatch,
    DocumentSearchBody,
    DocumentTagsBody,
)
from prism_gateway.rest.dependencies import Caller, RepoHeader, Services
from prism_gateway.rest.replies import reply

LIMIT_DEFAULT = 50

router = APIRouter(tags=["documents"])


def _written(repo: str, caller: Caller) -> dict[str, str]:
    """Returns the fields of a write that the body does not say itself."""
    return {"tenant": caller.tenant, "author": caller.label, "connected_repo": repo}


@router.post("/documents/search", response_model=SearchDocumentsReply)
async def search_documents(body: DocumentSearchBody, caller: Caller, backend: Services) -> Response:
    """Search the text of documents, and filter by their metadata."""
    return reply(await backend.ask(SEARCH_DOCUMENTS, body.model_copy(update={"tenant": caller.tenant})))


@router.get("/documents", response_model=ListDocumentsReply)
async def list_documents(
    *,
    caller: Caller,
    backend: Services,
    tag: Annotated[list[DocumentTag], Query(max_length=100, description="Documents with all of them.")] = [],  # noqa: B006 - FastAPI copies it
    category: Word = "",
    is_generated: bool | None = None,
    search_title: ShortText = "",
    stale: Annotated[bool | None, Query(description="whether code that it names has changed")] = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    modified_after: datetime | None = None,
    modified_before: datetime | None = None,
    sort_by: DocumentOrder = DocumentOrder.CREATED_AT,
    sort_order: SortOrder = SortOrder.DESC,
    limit: Annotated[int, Query(ge=1, le=DOCUMENTS_LIMIT_MAX)] = LIMIT_DEFAULT,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> Response:
    """List documents by their metadata. A time without a zone is UTC; the times themselves are included."""
    wanted = DocumentFilter(
        tags=tuple(tag),
        category=category,
        is_generated=is_generated,
        search_title=search_title,
        stale=stale,
        date_range=DateRange(start=created_after, end=created_before),
        modified_range=DateRange(start=modified_after, end=modified_before),
    )
    request = ListDocumentsRequest(
        tenant=caller.tenant,
        filter=wanted,
        sort_by=sort_by,
        sort_order=sort_order,
        limit=limit,
        offset=offset,
    )
    return reply(await backend.ask(LIST_DOCUMENTS, request))


@router.post("/documents", response_model=CreateDocumentReply, status_code=201)
async def create_document(
    body: DocumentBody, caller: Caller, backend: Services, header: RepoHeader = ""
) -> Response:
    """Create a generated document as a draft."""
    request = body.model_copy(update=_written(body.connected_repo or header, caller))
    return reply(await backend.ask(CREATE_DOCUMENT, request), status=201)


@router.post("/documents/commit", response_model=CommitDocumentsReply)
async def commit_documents(body: CommitDocumentsBody, caller: Caller, backend: Services) -> Response:
    """Commit drafts to the git repository of documents: those at `paths`, or all of them."""
    request = body.model_copy(update={"tenant": caller.tenant, "author": caller.label})
    return reply(await backend.ask(COMMIT_DOCUMENTS, request))


@router.put("/documents/files", response_model=ImportDocumentsReply)
async def import_documents(
    body: DocumentFilesBody, caller: Caller, backend: Services, header: RepoHeader = ""
) -> Response:
    """Store Markdown files as documents, each for itself. A file that is refused does not stop the others."""
    request = body.model_copy(update=_written(body.connected_repo or header, caller))
    return reply(await backend.ask(IMPORT_DOCUMENTS, request))


@router.get("/documents/files", response_model=ExportDocumentsReply)
async def export_documents(
    caller: Caller,
    backend: Services,
    folder: FilePath = "",
    limit: Annotated[int, Query(ge=1, le=IMPORT_FILES_MAX)] = IMPORT_FILES_MAX,
    cursor: Cursor = "",
) -> Response:
    """Return documents as files with front matter, in the order of their paths."""
    request = ExportDocumentsRequest(tenant=caller.tenant, folder=folder, limit=limit, cursor=cursor)
    return reply(await backend.ask(EXPORT_DOCUMENTS, request))


@router.get("/documents/by-path", response_model=DocumentReply)
async def get_document_by_path(
    path: FilePath, caller: Caller, backend: Services, version: DocumentVersionOrNone = ""
) -> Response:
    """Return the document at a path, in its newest version or another."""
    request = GetDocumentRequest(tenant=caller.tenant, path=path, version=version)
    return reply(await backend.ask(GET_DOCUMENT, request))


@router.get("/documents/{document}", response_model=DocumentReply)
async def get_document(
    document: DocumentId, caller: Caller, backend: Services, version: DocumentVersionOrNone = ""
) -> Response:
    """Return a document with its text, in its newest version or another: a commit, or the number of a draft."""
    request = GetDocumentRequest(tenant=caller.tenant, document_id=document, version=version)
    return reply(await backend.ask(GET_DOCUMENT, request))


@router.get("/documents/{document}/metadata", response_model=DocumentMetadataReply)
async def get_document_metadata(document: DocumentId, caller: Caller, backend: Services) -> Response:
    """Return a document without its text."""
    request = GetDocumentMetadataRequest(tenant=caller.tenant, document_id=document)
    return reply(await backend.ask(GET_DOCUMENT_METADATA, request))


@router.get("/documents/{document}/versions", response_model=DocumentVersionsReply)
async def list_document_versions(
    document: DocumentId,
    caller: Caller,
    backend: Services,
    limit: Annotated[int, Query(ge=1, le=VERSIONS_LIMIT_MAX)] = LIMIT_DEFAULT,
    cursor: Cursor = "",
) -> Response:
    """List the drafts of a document since its last commit, and the commits that changed it, the newest first."""
    request = DocumentVersionsRequest(tenant=caller.tenant, document_id=document, limit=limit, cursor=cursor)
    return reply(await backend.ask(DOCUMENT_VERSIONS, request))


@router.get("/documents/{document}/related", response_model=RelatedDocumentsReply)
async def list_related_documents(
    document: DocumentId,
    caller: Caller,
    backend: Services,
    limit: Annotated[int, Query(ge=1, le=RELATED_DOCUMENTS_MAX)] = 5,
) -> Response:
    """List documents with a similar text, and those that name the same places in code, the closest first."""
    request = RelatedDocumentsRequest(tenant=caller.tenant, document_id=document, limit=limit)
    return reply(await backend.ask(RELATED_DOCUMENTS, request))


@router.get("/documents/{document}/diff", response_model=DocumentDiffReply)
async def diff_document(
    document: DocumentId,
    caller: Caller,
    backend: Services,
    base: DocumentVersionOrNone = "",
    version: DocumentVersionOrNone = "",
) -> Response:
    """Compare two versions, by default the last commit with the newest draft."""
    request = DocumentDiffRequest(tenant=caller.tenant, document_id=document, base=base, version=version)
    return reply(await backend.ask(DOCUMENT_DIFF, request))


@router.patch("/documents/{document}", response_model=UpdateDocumentReply)
async def update_document(
    document: DocumentId, body: DocumentPatch, caller: Caller, backend: Services, header: RepoHeader = ""
) -> Response:
    """Change a generated document as a draft. Captured documents are read-only."""
    request = UpdateDocumentRequest(
        tenant=caller.tenant,
        author=caller.label,
        document_id=document,
        **dict(body) | {"connected_repo": body.connected_repo or header},
    )
    return reply(await backend.ask(UPDATE_DOCUMENT, request))


@router.post("/documents/{document}/tags", response_model=GenerateTagsReply)
async def generate_tags(
    document: DocumentId, caller: Caller, backend: Services, body: DocumentTagsBody | None = None
) -> Response:
    """Propose tags and a category. A language model chooses them, if one is set. Nothing is changed."""
    wanted = body or DocumentTagsBody()
    request = GenerateTagsRequest(tenant=caller.tenant, document_id=document, **dict(wanted))
    return reply(await backend.ask(GENERATE_TAGS, request))


@router.post("/documents/{document}/embeddings", response_model=GenerateEmbeddingsReply)
async def generate_embeddings(
    document: DocumentId, caller: Caller, backend: Services, body: DocumentEmbeddingsBody | None = None
) -> Response:
    """Wait some seconds until the newest content is searchable. With `force_regenerate`, it is indexed again."""
    wanted = body or DocumentEmbeddingsBody()
    request = GenerateEmbeddingsRequest(
        tenant=caller.tenant, document_id=document, force_regenerate=wanted.force_regenerate
    )
    return reply(await backend.ask(GENERATE_EMBEDDINGS, request))
