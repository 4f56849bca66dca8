"""Takes folders of Markdown files as documents, and gives documents as files."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate

from dulwich.objects import Blob

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import AnchoredKind, DocumentRecord, document_id, folded_path
from prism_contracts.rpc.documents import (
    DocumentFile,
    ExportDocumentsReply,
    ExportDocumentsRequest,
    FileOutcome,
    ImportDocumentsReply,
    ImportDocumentsRequest,
    ImportedFile,
)
from prism_workspace.adapters.anchors import WantLinks
from prism_workspace.adapters.documents import DocumentRecords
from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.core.markdown_files import MarkdownFile, checked_path, normalized, read
from prism_workspace.core.paths import GENERATED
from prism_workspace.operations.documents import TeamDocuments, noted, unless_changed

# A page of an export ends after the file that reaches this, so that it fits in memory several times.
PAGE_CHARS_MAX = 8 * 1024 * 1024
RACES_MAX = 20


def _now() -> datetime:
    return datetime.now(UTC)


class DocumentFolders:
    """Imports and exports of a tenant's documents."""

    def __init__(
        self,
        documents: TeamDocuments,
        records: DocumentRecords,
        objects: GitObjects,
        want_links: WantLinks,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self._documents = documents
        self._records = records
        self._objects = objects
        self._want_links = want_links
        self._now = now

    async def take(self, request: ImportDocumentsRequest) -> ImportDocumentsReply:
        """Store files as documents. Raises FORBIDDEN, UNAVAILABLE; a file that is refused has its own error."""
        self._documents.require_sight(request)
        places = _Places(one.path for one in await self._records.all_of(request.tenant))
        admitted = [_admitted(file, places) for file in request.files]
        results = await asyncio.gather(
            *(
                self._taken(request, file, problem)
                for file, problem in zip(request.files, admitted, strict=True)
            )
        )
        return ImportDocumentsReply(files=tuple(results))

    async def give(self, request: ExportDocumentsRequest) -> ExportDocumentsReply:
        """Returns a page of documents as files. Raises UNAVAILABLE, STORE_DAMAGED."""
        below = f"{request.folder.rstrip('/')}/" if request.folder else ""
        records = [
            one
            for one in await self._documents.listed(request)
            if one.path.startswith(below) and one.path > request.cursor
        ]
        files: list[DocumentFile] = []
        chars = 0
        for record in sorted(records, key=lambda one: one.path)[: request.limit]:
            text = (await self._objects.blob(record.tenant, record.blob)).decode()
            files.append(DocumentFile(path=record.path, text=text))
            chars += len(text)
            if chars > PAGE_CHARS_MAX:
                break
        has_more = len(files) < len(records)
        return ExportDocumentsReply(files=tuple(files), next_cursor=files[-1].path if has_more else "")

    async def _taken(
        self, request: ImportDocumentsRequest, file: DocumentFile, problem: PrismError | None
    ) -> ImportedFile:
        try:
            if problem:
                raise problem
            return await self._stored(request, file)
        except PrismError as error:
            if error.code in {ErrorCode.UNAVAILABLE, ErrorCode.DISK_FULL, ErrorCode.STORE_DAMAGED}:
                raise
            return ImportedFile(
                path=file.path,
                outcome=FileOutcome.REFUSED,
                code=error.code,
                message=" ".join(filter(None, (error.body.message, error.body.next_action))),
            )

    async def _stored(self, request: ImportDocumentsRequest, file: DocumentFile) -> ImportedFile:
        parsed = read(file.path, file.text)
        source = Blob.from_string(normalized(file.text).encode()).id.decode()
        document = document_id(request.tenant, file.path)
        for _ in range(RACES_MAX):
            found = await self._records.get(request.tenant, document)
            if found and found.path != file.path:
                raise _exists(file.path, found.path)
            is_edited = found is not None and found.version != found.imported_version
            if found and found.imported_blob == source and not (is_edited and request.replace):
                return _result(file, found, FileOutcome.UNCHANGED)
            draft = await self._draft(request, file.path, parsed, found, source)
            if found and draft.blob == found.blob:
                return _result(file, found, FileOutcome.UNCHANGED)
            if found and is_edited and not request.replace:
                raise _changed_since(found)
            await self._want_links(
                request, AnchoredKind.DOCUMENT, document, parsed.content, request.connected_repo
            )
            if found is None and await self._records.create(draft):
                return _result(file, draft, FileOutcome.CREATED, parsed.left_out)
            if found and await self._replaced(found, draft, request.author):
                return _result(file, draft, FileOutcome.UPDATED, parsed.left_out)
        raise PrismError(
            ErrorCode.DOCUMENT_CONFLICT,
            f"{file.path} changed {RACES_MAX} times while it was being imported.",
            "Import the file again.",
        )

    async def _draft(
        self,
        request: ImportDocumentsRequest,
        path: str,
        parsed: MarkdownFile,
        found: DocumentRecord | None,
        source: str,
    ) -> DocumentRecord:
        """Returns the record that the file makes, with its blob stored."""
        now = self._now()
        version = found.version + 1 if found else 1
        record = DocumentRecord(
            tenant=request.tenant,
            document=document_id(request.tenant, path),
            path=path,
            blob="",
            created_at=found.created_at if found else parsed.created_at or now,
            modified_at=now,
            is_generated=path.startswith(f"{GENERATED}/"),
            version=version,
            imported_blob=source,
            imported_version=version,
            **parsed.fields,
        )
        stored = await self._documents.stored(record, parsed.content)
        return stored if found else noted(stored, request.author)

    async def _replaced(self, found: DocumentRecord, draft: DocumentRecord, author: str) -> bool:
        """Put the draft in place of what was found. Returns False if a caller changed the document meanwhile."""
        changed = await self._records.change(
            found.tenant,
            found.document,
            partial(unless_changed, before=found, draft=draft, author=author),
        )
        return (changed.version, changed.blob) == (draft.version, draft.blob)


class _Places:
    """The files and folders of a tenant, where names that differ in case or composition count as one."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._files: dict[str, str] = {}
        self._folders: dict[str, str] = {}  # with a path below each
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        folded = folded_path(path)
        self._files.setdefault(folded, path)
        for folder in _folders_of(folded):
            self._folders.setdefault(folder, path)

    def other(self, path: str) -> str:
        """Returns the path of another document that cannot exist beside this one; empty if there is none."""
        folded = folded_path(path)
        above = (self._files[folder] for folder in _folders_of(folded) if folder in self._files)
        same = self._files.get(folded, path)
        return next(above, "") or self._folders.get(folded, "") or (same if same != path else "")


def _folders_of(path: str) -> list[str]:
    return list(accumulate(path.split("/")[:-1], "{}/{}".format))


def _admitted(file: DocumentFile, places: _Places) -> PrismError | None:
    """Notes the place of a file that may be stored. Returns why another one may not."""
    try:
        path = checked_path(file.path)
        if other := places.other(path):
            raise _exists(path, other)
    except PrismError as error:
        return error
    places.add(path)
    return None


def _exists(path: str, other: str) -> PrismError:
    return PrismError(
        ErrorCode.DOCUMENT_EXISTS,
        f"{path} cannot exist beside {other}.",
        "Rename one of them: they differ only in case or composition, or one is a folder of the other.",
        path=other,
    )


def _changed_since(found: DocumentRecord) -> PrismError:
    return PrismError(
        ErrorCode.DOCUMENT_CONFLICT,
        f"{found.path} was written in Prism since its last import.",
        "Export it and merge, or import with replace: its versions stay.",
    )


def _result(
    file: DocumentFile, record: DocumentRecord, outcome: FileOutcome, left_out: Iterable[str] = ()
) -> ImportedFile:
    names = ", ".join(left_out)
    return ImportedFile(
        path=file.path,
        outcome=outcome,
        document_id=record.document,
        message=f"Left out of the front matter: {names}." if names else "",
    )
