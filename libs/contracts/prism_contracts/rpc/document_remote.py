"""The remote of the documents: the git repository of a team that Prism pushes them to and fetches them from."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.errors import ErrorBody
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.documents import DocumentConflict
from prism_contracts.types import URL_CHARS_MAX, LabelOrNone, RefName

BRANCH_DEFAULT = "main"
# In a message, where it takes a third more.
BUNDLE_BYTES_MAX = 40 * 1024 * 1024

RemoteBranch = Annotated[RefName, Field(min_length=1)]
RemoteUrl = Annotated[str, Field(min_length=1, max_length=URL_CHARS_MAX)]


class GetDocumentRemoteRequest(CallerRequest):
    """Returns the remote of the documents, and how far pushes have come."""


class SetDocumentRemoteRequest(CallerRequest):
    """Sets the remote. Its login is a secret of the repository of documents, which no URL contains."""

    url: RemoteUrl
    branch: RemoteBranch = BRANCH_DEFAULT
    set_by: LabelOrNone = ""


class RemoveDocumentRemoteRequest(CallerRequest):
    """Forgets the remote. The documents and the remote itself stay as they are."""


class PushDocumentsRequest(CallerRequest):
    """Fetches from the remote, and pushes what is committed. A push is never forced."""


class DocumentsAnnouncedRequest(CallerRequest):
    """Says that somebody pushed to the remote, so that it is fetched at once. Nothing is pushed."""


class DocumentBundleRequest(CallerRequest):
    """Returns the committed documents and their history as a git bundle."""


class DocumentBundleReply(Message):
    """A git bundle, see gitformat-bundle(5)."""

    commit: str
    branch: str
    bundle: Annotated[bytes, Field(max_length=BUNDLE_BYTES_MAX)]


class DocumentRemoteReply(Message):
    """The remote of the documents. An empty `url`: there is none any more."""

    url: str
    branch: str
    set_by: str = ""
    set_at: datetime | None = None
    pending_push: bool  # the documents have commits that the remote is not known to have
    remote_commit: str = ""  # the newest commit of the remote that the documents contain
    checked_at: datetime | None = None  # when the remote last answered
    next_at: datetime | None = None  # when Prism looks at the remote again
    failures: int = 0  # tries in a row that failed
    error: ErrorBody | None = None  # why the last one failed
    conflicts: tuple[DocumentConflict, ...] = ()  # documents with a version of the remote beside them


GET_DOCUMENT_REMOTE = Rpc(
    "workspace.get_document_remote", GetDocumentRemoteRequest, DocumentRemoteReply, reads=True
)
SET_DOCUMENT_REMOTE = Rpc(
    "workspace.set_document_remote", SetDocumentRemoteRequest, DocumentRemoteReply, writes=True
)
REMOVE_DOCUMENT_REMOTE = Rpc(
    "workspace.remove_document_remote", RemoveDocumentRemoteRequest, DocumentRemoteReply, writes=True
)
PUSH_DOCUMENTS = Rpc("workspace.push_documents", PushDocumentsRequest, DocumentRemoteReply, writes=True)
DOCUMENTS_ANNOUNCED = Rpc(
    "workspace.documents_announced", DocumentsAnnouncedRequest, DocumentRemoteReply, writes=True
)
DOCUMENT_BUNDLE = Rpc("workspace.document_bundle", DocumentBundleRequest, DocumentBundleReply, reads=True)
