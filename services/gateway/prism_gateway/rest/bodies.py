"""Bodies of REST requests: the requests of the contracts without the tenant, which follows from the token."""

import base64
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from prism_contracts.records import Limit, TasksOnMerge
from prism_contracts.rpc.context import ContextRequest
from prism_contracts.rpc.document_remote import BRANCH_DEFAULT, RemoteBranch, RemoteUrl
from prism_contracts.rpc.documents import (
    CommitDocumentsRequest,
    CreateDocumentRequest,
    DocumentUpdates,
    ImportDocumentsRequest,
    SearchDocumentsRequest,
)
from prism_contracts.rpc.imports import EDIT_FILES_MAX, EditRequest, FileEdit, OpenSnapshotRequest
from prism_contracts.rpc.layers import (
    OVERLAY_TTL_DEFAULT_S,
    OVERLAY_TTL_MAX_S,
    OVERLAY_TTL_MIN_S,
    OpenOverlayRequest,
)
from prism_contracts.rpc.repositories import RegisterRequest, UpdateRepositoryRequest
from prism_contracts.rpc.search import GrepRequest, SearchRequest
from prism_contracts.rpc.tasks import ClientId, CommitHash, References
from prism_contracts.types import (
    COUNT_MAX,
    EDIT_BYTES_MAX,
    BlobHash,
    CommitId,
    CommitIdOrNone,
    Count,
    EditDiff,
    FeedbackHits,
    FilePath,
    FileText,
    GitUrl,
    Globs,
    Label,
    LabelOrNone,
    Query,
    RefName,
    RefOrNone,
    RepoKeyOrNone,
    RepoName,
    RepoNameOrNone,
    RepoOrGroup,
    ShortText,
    TaskText,
    TaskTitle,
    TenantId,
    TenantIdOrNone,
    Word,
)
from prism_gateway.budget import TOKENS_MAX, TOKENS_MIN
from prism_gateway.scopes import TokenScope

TOKEN_REPOS_MAX = 100
LOGIN_CHARS_MAX = 255
SECRET_CHARS_MAX = 1_000
KEY_CHARS_MAX = 16_000  # an RSA key of 16,384 bits has about 12,500


def _refuse(_: object) -> str:
    raise ValueError("is not an argument: it follows from the token")


# Never read from a body and absent from the schema; `for_tenant` sets it.
TokenTenant = SkipJsonSchema[Annotated[str, Field(max_length=0), BeforeValidator(_refuse)]]
TokenVisible = SkipJsonSchema[Annotated[None, BeforeValidator(_refuse)]]
TokenAuthor = SkipJsonSchema[Annotated[str, Field(max_length=0), BeforeValidator(_refuse)]]
STRICT = ConfigDict(extra="forbid", frozen=True)


class SearchBody(SearchRequest):
    """A search. An empty `repo` means the header `X-Prism-Repo`; without both, all repositories."""

    model_config = STRICT
    tenant: TokenTenant = ""
    visible: TokenVisible = None
    max_tokens: Annotated[int, Field(ge=TOKENS_MIN, le=TOKENS_MAX)] = TOKENS_MAX


class GrepBody(GrepRequest):
    """An exact search. An empty `repo` means the header `X-Prism-Repo`; without both, all repositories."""

    model_config = STRICT
    tenant: TokenTenant = ""
    visible: TokenVisible = None


class ContextBody(ContextRequest):
    """A question. An empty `repo` means the header `X-Prism-Repo`; without both, all repositories."""

    model_config = STRICT
    tenant: TokenTenant = ""
    visible: TokenVisible = None


class DocumentSearchBody(SearchDocumentsRequest):
    """A search of documents."""

    model_config = STRICT
    tenant: TokenTenant = ""
    visible: TokenVisible = None


class DocumentBody(CreateDocumentRequest):
    """A new document. The author follows from the token."""

    model_config = STRICT
    tenant: TokenTenant = ""
    visible: TokenVisible = None
    author: TokenAuthor = ""


class CommitDocumentsBody(CommitDocumentsRequest):
    """Which drafts to commit. The author follows from the token."""

    model_config = STRICT
    tenant: TokenTenant = ""
    visible: TokenVisible = None
    author: TokenAuthor = ""


class DocumentRemoteBody(BaseModel):
    """The git repository that documents are pushed to. Its login is kept with `PUT /repos/{name}/secrets`."""

    model_config = STRICT

    url: RemoteUrl
    branch: RemoteBranch = BRANCH_DEFAULT


class DocumentFilesBody(ImportDocumentsRequest):
    """Files to store as documents. The author follows from the token."""

    model_config = STRICT
    tenant: TokenTenant = ""
    visible: TokenVisible = None
    author: TokenAuthor = ""


class DocumentPatch(BaseModel):
    """New values of a document. With `version`, it must not have changed since a reply with that version."""

    model_config = STRICT

    updates: DocumentUpdates
    version: Annotated[int, Field(ge=0, le=COUNT_MAX)] | None = None
    regenerate_embeddings: bool = True
    connected_repo: RepoKeyOrNone = ""


class DocumentEmbeddingsBody(BaseModel):
    """Whether a document that is indexed is indexed again."""

    model_config = STRICT

    force_regenerate: bool = False


class DocumentTagsBody(BaseModel):
    """How tags are proposed."""

    model_config = STRICT

    merge_with_existing: bool = True
    model: Word = ""  # one of the language models of the settings


class SnapshotBody(OpenSnapshotRequest):
    """The files of a snapshot, with their git blob hashes."""

    model_config = STRICT
    tenant: TokenTenant = ""
    visible: TokenVisible = None


class RepositoryBody(BaseModel):
    """A git URL to register. An empty `name` is derived from the URL; an empty `ref` is the default branch."""

    model_config = STRICT
    url: GitUrl = Field(min_length=1)
    name: RepoNameOrNone = ""
    ref: RefName = ""
    is_active: bool | None = Field(None, description="false: neither polled nor updated by webhooks")
    repo_root_prefix: FilePath | None = Field(
        None, description="import only this folder; empty for the whole repository"
    )
    include: Globs | None = Field(None, description="globs of the files to import; empty for all")
    exclude: Globs | None = Field(None, description="globs of files that are not imported")
    webhook_secret: str | None = Field(
        None,
        min_length=1,
        max_length=SECRET_CHARS_MAX,
        repr=False,
        description="signs the webhooks of the forge; stored encrypted, never returned",
    )
    index: bool = Field(default=True, description="false: import nothing yet")

    def request(self, tenant: str) -> RegisterRequest:
        """Returns the request to ingest, which does not have the secret."""
        given = self.model_dump(exclude={"name", "webhook_secret"})
        return RegisterRequest(tenant=tenant, repo_name=self.name, **given)


class RepositoryPatch(BaseModel):
    """Settings of a repository to change. Omitted ones stay; the next import applies the others."""

    model_config = STRICT
    name: RepoName | None = Field(None, description="another name, at once; needs the scope `admin`")
    ref: RefName | None = Field(None, description="the ref to follow; empty for the default branch")
    is_active: bool | None = Field(None, description="false: neither polled nor updated by webhooks")
    repo_root_prefix: FilePath | None = Field(
        None, description="import only this folder; empty for the whole repository"
    )
    include: Globs | None = Field(None, description="globs of the files to import; empty for all")
    exclude: Globs | None = Field(None, description="globs of files that are not imported")
    tasks_on_merge: TasksOnMerge | None = Field(
        None, description="what a merged pull request does to the tasks that it names, at once"
    )

    @model_validator(mode="after")
    def _something(self) -> "RepositoryPatch":
        if not self.model_dump(exclude_none=True):
            raise ValueError("give a setting to change")
        return self

    def request(self, tenant: str, repo: str) -> UpdateRepositoryRequest:
        """Returns the request to ingest."""
        return UpdateRepositoryRequest(tenant=tenant, repo=repo, **self.model_dump())


class TaskBody(BaseModel):
    """A new task."""

    model_config = STRICT
    title: TaskTitle
    description: TaskText = ""
    notes: TaskText = ""
    planning_references: References = Field((), description="paths, symbols, documents, addresses")
    repo: RepoNameOrNone = Field("", description="owner/name; only callers who see it see the task")
    client_id: ClientId = Field("", description="repeated requests with it create one task")


class TaskPatch(BaseModel):
    """Fields of a task to change, and links to add. Omitted ones stay."""

    model_config = STRICT
    title: TaskTitle | None = None
    description: TaskText | None = None
    notes: TaskText | None = None
    status: Word | None = None
    planning_references: References | None = None
    branch: RefName = ""
    commit: CommitHash = Field("", description="40 hex digits")
    commit_message: ShortText = ""
    repo: RepoNameOrNone = Field(
        "", description="Repository of the branch and the commit; default: the repository of the task"
    )
    expected_version: Count | None = Field(None, description="fail if the task has changed since")


class ReindexBody(BaseModel):
    """How much of a repository to index again. By default, the changes since the served commit."""

    model_config = STRICT
    full: bool = Field(default=False, description="compare every file with the index")
    force: bool = Field(
        default=False, description="index every file again, also unchanged ones; implies `full`"
    )


class LayerBody(BaseModel):
    """The ref of a layer: a branch, a tag, a commit or `pull/N`."""

    model_config = STRICT
    repo: RepoKeyOrNone = ""
    ref: RefName = Field(min_length=1)


class SecretsBody(BaseModel):
    """Secrets of a repository. Omitted fields stay unchanged; an empty string deletes a secret."""

    model_config = STRICT
    webhook_secret: str | None = Field(None, max_length=SECRET_CHARS_MAX, repr=False)
    git_host: str | None = Field(
        None, max_length=LOGIN_CHARS_MAX, description="host of the git URL, with its port if it has one"
    )
    git_username: str | None = Field(None, max_length=LOGIN_CHARS_MAX, repr=False)
    git_password: str | None = Field(
        None,
        max_length=KEY_CHARS_MAX,
        repr=False,
        description="password or token; for ssh URLs a private key without a passphrase",
    )

    @model_validator(mode="after")
    def _whole_login(self) -> "SecretsBody":
        # Otherwise a new host would receive the password of the old one.
        if len({part is None for part in (self.git_host, self.git_username, self.git_password)}) > 1:
            raise ValueError("set git_host, git_username and git_password together")
        return self


class HistoryBody(BaseModel):
    """Whether the questions of a tenant are kept."""

    model_config = STRICT
    is_on: bool | None = Field(description="null for the setting of this Prism")
    tenant: TenantIdOrNone = Field("", description="another tenant, for the scope `operator`")


class FeedbackBody(BaseModel):
    """What a caller says about an answer."""

    model_config = STRICT
    useful: bool
    hits: FeedbackHits = Field(
        (), description="ids of hits, or their `path:line`; empty for the whole answer"
    )
    query: Query = Field("", description="the question")
    comment: ShortText = Field("", description="what was missing, or where the answer is")


class TokenBody(BaseModel):
    """A new developer token."""

    model_config = STRICT
    label: Label = Field(description="what the token is for")
    scopes: Annotated[frozenset[TokenScope], Field(min_length=1, max_length=len(TokenScope))] = frozenset(
        {TokenScope.READ}
    )
    repos: Annotated[tuple[RepoOrGroup, ...], Field(max_length=TOKEN_REPOS_MAX)] = Field(
        (), description="owner/name or @group; empty for every repository of the tenant"
    )
    expires_at: AwareDatetime | None = Field(None, description="empty for a token that does not expire")
    tenant: TenantIdOrNone = Field("", description="another tenant, for the scope `operator`")

    @field_validator("expires_at")
    @classmethod
    def _ahead(cls, moment: datetime | None) -> datetime | None:
        if moment is not None and moment <= datetime.now(UTC):
            raise ValueError("should be in the future")
        return moment


OF_PLAN: Final = "plan"
LimitChange = Annotated[int, Field(ge=0, le=COUNT_MAX)] | Literal["plan"] | None
LimitChanges = Annotated[dict[Limit, LimitChange], Field(max_length=len(Limit))]
LIMITS_DOC = "by limit: a number, null for no limit, or `plan` for the one of the plan"


class TenantBody(BaseModel):
    """A new tenant."""

    model_config = STRICT
    id: TenantId
    name: LabelOrNone = Field("", description="for people")
    plan: Word = Field("", description="empty for the default plan")
    limits: LimitChanges = Field({}, description=LIMITS_DOC)


class TenantChanges(BaseModel):
    """Changes to a tenant. Omitted fields and limits stay unchanged."""

    model_config = STRICT
    name: LabelOrNone | None = None
    plan: Word | None = Field(None, description="empty for the default plan")
    limits: LimitChanges = Field({}, description=LIMITS_DOC)
    is_active: bool | None = Field(None, description="false refuses every token and webhook of the tenant")


def _decoded(text: object) -> bytes | None:
    if text is None:
        return None
    # By default the decoder skips characters that are not base64.
    return base64.b64decode(str(text), validate=True)


Base64 = Annotated[
    Annotated[bytes, Field(max_length=EDIT_BYTES_MAX)] | None,
    BeforeValidator(_decoded, json_schema_input_type=str | None),
]


class FileBody(BaseModel):
    """The new state of a file: its text, its bytes in base64, or removed."""

    model_config = STRICT
    path: FilePath
    content: FileText | None = None
    content_base64: Base64 = None
    removed: bool = False
    base_blob: BlobHash | None = Field(
        None, description="git blob hash of the file that was edited; empty for a new file"
    )

    @model_validator(mode="after")
    def _one_content(self) -> "FileBody":
        if (self.content is not None) + (self.content_base64 is not None) + self.removed != 1:
            raise ValueError("give one of content, content_base64 and removed")
        return self

    @property
    def edit(self) -> FileEdit:
        """Returns the request to ingest."""
        content = self.content.encode() if self.content is not None else self.content_base64
        return FileEdit(path=self.path, content=content, base_blob=self.base_blob)


class FileEditBody(FileBody):
    """The new state of one file."""

    repo: RepoKeyOrNone = ""

    def request(self, tenant: str, repo: str) -> EditRequest:
        """Returns the request to ingest."""
        return EditRequest(tenant=tenant, repo_name=repo, files=(self.edit,))


class DiffBody(BaseModel):
    """Changes since a commit: a unified diff as printed by `git diff`, the files themselves, or both."""

    model_config = STRICT
    repo: RepoKeyOrNone = ""
    base_commit: CommitId = Field(description="the indexed commit that the changes start from")
    commit: CommitIdOrNone = Field(
        "",
        description="the commit whose tree this results in; empty for uncommitted changes",
    )
    diff: EditDiff = ""
    files: Annotated[tuple[FileBody, ...], Field(max_length=EDIT_FILES_MAX)] = ()

    @model_validator(mode="after")
    def _something(self) -> "DiffBody":
        if not self.diff and not self.files:
            raise ValueError("give a diff or files")
        return self

    def request(self, tenant: str, repo: str) -> EditRequest:
        """Returns the request to ingest."""
        return EditRequest(
            tenant=tenant,
            repo_name=repo,
            base_commit=self.base_commit,
            commit=self.commit,
            files=tuple(file.edit for file in self.files),
            diff=self.diff,
        )


class OverlayFileBody(BaseModel):
    """A file of an overlay: its text, or its bytes in base64. Without both it is deleted."""

    model_config = STRICT
    path: FilePath
    content: FileText | None = None
    content_base64: Base64 = None

    @property
    def edit(self) -> FileEdit:
        """Returns the request to ingest."""
        content = self.content.encode() if self.content is not None else self.content_base64
        return FileEdit(path=self.path, content=content)


class OverlayBody(BaseModel):
    """All edits of an overlay: files, a unified diff against the served state of `base_ref`, or both."""

    model_config = STRICT
    repo: RepoKeyOrNone = ""
    base_ref: RefOrNone = Field("", description="the layer below; empty for the base")
    base_commit: CommitIdOrNone = Field("", description="the commit that the layer below must serve")
    handle: RefOrNone = Field("", description="the open overlay whose edits these replace")
    files: Annotated[tuple[OverlayFileBody, ...], Field(max_length=EDIT_FILES_MAX)] = ()
    diff: EditDiff = ""
    ttl_s: int = Field(OVERLAY_TTL_DEFAULT_S, ge=OVERLAY_TTL_MIN_S, le=OVERLAY_TTL_MAX_S)

    def request(self, tenant: str, repo: str) -> OpenOverlayRequest:
        """Returns the request to ingest."""
        return OpenOverlayRequest(
            tenant=tenant,
            repo=repo,
            base_ref=self.base_ref,
            base_commit=self.base_commit,
            handle=self.handle,
            files=tuple(file.edit for file in self.files),
            diff=self.diff,
            ttl_s=self.ttl_s,
        )
