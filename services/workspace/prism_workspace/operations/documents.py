"""Reads documents, and creates drafts of generated ones."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from functools import partial

from dulwich.objects import Blob

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import AnchoredKind, DocumentRecord, DraftNote, document_id
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.documents import CreateDocumentRequest, UpdateDocumentRequest
from prism_contracts.types import DOCUMENT_CHARS_MAX
from prism_source.paths import validate_path
from prism_workspace.adapters.anchors import WantLinks
from prism_workspace.adapters.documents import DocumentRecords, not_found
from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.core import documents, front_matter
from prism_workspace.core.anchors import Title
from prism_workspace.core.documents import updated
from prism_workspace.core.paths import generated_path

# Documents of one title on one day.
SAME_TITLES_MAX = 1_000
# How often an update is applied again because another one was faster.
RACES_MAX = 20
# A document that Prism would not index for its size is not taken either.
DOCUMENT_BYTES_MAX = DOCUMENT_CHARS_MAX
# Drafts of one document that can be read again until a commit holds the last of them.
DRAFTS_KEPT_MAX = 20


def _now() -> datetime:
    return datetime.now(UTC)


class TeamDocuments:
    """The documents of all tenants, in a repository that each of them has."""

    def __init__(
        self,
        records: DocumentRecords,
        objects: GitObjects,
        repo: str,
        want_links: WantLinks,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """`repo`: the name of that repository, which decides who sees its documents."""
        self._records = records
        self._objects = objects
        self._repo = repo
        self._want_links = want_links
        self._now = now

    async def find(self, request: CallerRequest, document: str, path: str) -> DocumentRecord:
        """Returns a document by id or path. Raises DOCUMENT_NOT_FOUND, INVALID_ARGUMENT, INVALID_PATH."""
        if bool(document) == bool(path):
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT,
                "Exactly one of document_id and path is needed.",
                "Give the id of a document, or its path.",
            )
        wanted = document or document_id(request.tenant, validate_path(path))
        found = await self._records.get(request.tenant, wanted) if request.sees(self._repo) else None
        if found is None:
            raise not_found(document or path)
        return found

    async def listed(self, request: CallerRequest, tags: Collection[str] = ()) -> list[DocumentRecord]:
        """Returns the documents that a caller sees, and that have all of these tags. Raises UNAVAILABLE."""
        return await self._records.all_of(request.tenant, tags) if request.sees(self._repo) else []

    async def finder(self, request: CallerRequest) -> Callable[[str], DocumentRecord | None] | None:
        """Returns a function that returns the document at a path; None if the caller sees no document.

        It knows all that was written before this call. Raises UNAVAILABLE.
        """
        if not request.sees(self._repo):
            return None
        await self._records.require_current()
        tenant = request.tenant
        if not self._records.has_known(tenant):
            return None
        return lambda path: self._records.known_one(tenant, document_id(tenant, path))

    async def parts(self, record: DocumentRecord) -> tuple[str, str]:
        """Returns the front matter of a document as YAML, and its content."""
        return front_matter.split((await self._objects.blob(record.tenant, record.blob)).decode())

    async def text(self, tenant: str, document: str) -> str | None:
        """Returns the content of a document, or None if there is none."""
        record = await self._records.get(tenant, document)
        return (await self.parts(record))[1] if record else None

    def known(self, request: CallerRequest, document: str) -> DocumentRecord | None:
        """Returns a document that this copy knows of, if the caller sees it."""
        return self._records.known_one(request.tenant, document) if request.sees(self._repo) else None

    def title(self, request: CallerRequest, document: str) -> Title | None:
        """Returns how a document is shown, if there is one and the caller sees it."""
        record = self.known(request, document)
        return Title(record.title, path=record.path) if record else None

    def is_known(self, request: CallerRequest, name: str) -> bool:
        """Whether the caller sees a document with this id or path."""
        names = (name, document_id(request.tenant, name))
        return any(self.title(request, one) for one in names)

    async def create(self, request: CreateDocumentRequest) -> DocumentRecord:
        """Store a new generated document as a draft. It has a path of its own, whatever its title.

        Raises PrismError: FORBIDDEN, INVALID_ARGUMENT, PAYLOAD_TOO_LARGE, DOCUMENT_EXISTS.
        """
        self.require_sight(request)
        now = self._now()
        for number in range(1, SAME_TITLES_MAX + 1):
            path = generated_path(request.title, now, number)
            document = document_id(request.tenant, path)
            if await self._records.get(request.tenant, document):
                continue
            record = DocumentRecord(
                tenant=request.tenant,
                document=document,
                path=path,
                blob="",
                title=request.title,
                tags=request.tags,
                category=request.category,
                description=request.metadata.description or "",
                sources=request.metadata.sources or (),
                custom=request.metadata.custom or {},
                created_at=now,
                modified_at=now,
            )
            stored = noted(await self.stored(record, request.content), request.author)
            await self._want_links(
                request, AnchoredKind.DOCUMENT, document, request.content, request.connected_repo
            )
            if await self._records.create(stored):
                return stored
        raise PrismError(
            ErrorCode.DOCUMENT_EXISTS,
            f"{SAME_TITLES_MAX} documents were created with this title today.",
            "Update one of them, or choose another title.",
        )

    async def update(self, request: UpdateDocumentRequest) -> tuple[DocumentRecord, tuple[str, ...]]:
        """Store new values of a generated document as a draft. Returns it, and which fields changed.

        Raises PrismError: FORBIDDEN, DOCUMENT_NOT_FOUND, DOCUMENT_READ_ONLY, DOCUMENT_CONFLICT,
        INVALID_ARGUMENT, PAYLOAD_TOO_LARGE.
        """
        self.require_sight(request)
        for _ in range(RACES_MAX):
            before = await self.find(request, request.document_id, "")
            _check_update(before, request)
            _, content = await self.parts(before)
            after, new_content, changes = updated(before, content, request.updates)
            if not changes:
                return before, ()
            now = {"modified_at": self._now(), "version": before.version + 1, "conflict": ""}
            draft = await self.stored(after.model_copy(update=now), new_content)
            if new_content != content:
                await self._want_links(
                    request, AnchoredKind.DOCUMENT, before.document, new_content, request.connected_repo
                )
            changed = await self._records.change(
                before.tenant,
                before.document,
                partial(unless_changed, before=before, draft=draft, author=request.author),
            )
            if (changed.version, changed.blob) == (draft.version, draft.blob):
                return changed, changes
        raise _conflict(request.document_id)

    async def stored(self, record: DocumentRecord, content: str) -> DocumentRecord:
        """Store the file of a document as a blob, before a record names it. Returns the record that does.

        Raises PrismError: INVALID_ARGUMENT, PAYLOAD_TOO_LARGE.
        """
        body = documents.text_of(record, content).encode()
        if len(body) > DOCUMENT_BYTES_MAX:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The document has {len(body)} bytes; the limit is {DOCUMENT_BYTES_MAX}.",
                "Divide it into several documents.",
            )
        if b"\0" in body:
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT, "The content has a NUL character.", "Send text without it."
            )
        blob = Blob.from_string(body)
        await self._objects.write(record.tenant, [blob])
        return documents.described(record, content).model_copy(update={"blob": blob.id.decode()})

    def require_sight(self, request: CallerRequest) -> None:
        """Raise FORBIDDEN unless the caller may change the repository of documents."""
        if not request.sees(self._repo):
            raise PrismError(
                ErrorCode.FORBIDDEN,
                f"The token is not valid for the repository {self._repo}, which holds the documents.",
                "Use a token without a list of repositories, or with this one in it.",
            )


def _check_update(found: DocumentRecord, request: UpdateDocumentRequest) -> None:
    if not found.is_generated:
        raise PrismError(
            ErrorCode.DOCUMENT_READ_ONLY,
            f"{found.path} was captured, so it is read-only.",
            "Create a document of your own that names this one as a source.",
        )
    if request.version is not None and request.version != found.version:
        raise _conflict(found.document)


def unless_changed(
    found: DocumentRecord, before: DocumentRecord, draft: DocumentRecord, author: str
) -> DocumentRecord:
    """Returns the draft with what commits and imports noted since, or what was found if a caller changed it."""
    if found.version != before.version:
        return found
    since = ("committed_blob", "commit", "indexed_blob", "drafts")
    return noted(draft.model_copy(update={field: getattr(found, field) for field in since}), author)


def noted(draft: DocumentRecord, author: str) -> DocumentRecord:
    """Returns a draft that is noted among its last ones."""
    note = DraftNote(version=draft.version, blob=draft.blob, by=author, at=draft.modified_at)
    return draft.model_copy(update={"drafts": (*draft.drafts, note)[-DRAFTS_KEPT_MAX:]})


def _conflict(document: str) -> PrismError:
    return PrismError(
        ErrorCode.DOCUMENT_CONFLICT,
        f"The document {document} changed since it was read.",
        "Read it again, and apply the update to its newest version.",
    )
