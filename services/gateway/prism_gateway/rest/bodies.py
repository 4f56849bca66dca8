"""The bodies of REST requests: the requests of the contract without the tenant, which the token decides."""

import base64
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from prism_contracts.rpc.imports import EDIT_FILES_MAX, EditRequest, FileEdit, OpenSnapshotRequest
from prism_contracts.rpc.layers import (
    OVERLAY_TTL_DEFAULT_S,
    OVERLAY_TTL_MAX_S,
    OVERLAY_TTL_MIN_S,
    OpenOverlayRequest,
)
from prism_contracts.rpc.search import GrepRequest, SearchRequest
from prism_contracts.types import (
    EDIT_BYTES_MAX,
    BlobHash,
    CommitId,
    CommitIdOrNone,
    EditDiff,
    FilePath,
    FileText,
    GitUrl,
    RefName,
    RefOrNone,
    RepoKeyOrNone,
    RepoNameOrNone,
)
from prism_gateway.budget import TOKENS_MAX, TOKENS_MIN

LOGIN_CHARS_MAX = 255
SECRET_CHARS_MAX = 1_000
KEY_CHARS_MAX = 16_000  # of RSA with 16,384 bits, about 12,500


def _refuse(_: object) -> str:
    raise ValueError("is not an argument: the token decides it")


# Never read from a body and absent from the schema; filled in with `for_tenant`.
TokenTenant = SkipJsonSchema[Annotated[str, Field(max_length=0), BeforeValidator(_refuse)]]
STRICT = ConfigDict(extra="forbid", frozen=True)


class SearchBody(SearchRequest):
    """A question. `repo` empty means the header `X-Prism-Repo`, and else all repositories."""

    model_config = STRICT
    tenant: TokenTenant = ""
    max_tokens: Annotated[int, Field(ge=TOKENS_MIN, le=TOKENS_MAX)] = TOKENS_MAX


class GrepBody(GrepRequest):
    """A pattern. `repo` empty means the header `X-Prism-Repo`, and else all repositories."""

    model_config = STRICT
    tenant: TokenTenant = ""


class SnapshotBody(OpenSnapshotRequest):
    """The files of a snapshot, known by their git blob hashes."""

    model_config = STRICT
    tenant: TokenTenant = ""


class RepositoryBody(BaseModel):
    """A git URL to index. `name` is taken from the URL if empty, `ref` is the default branch."""

    model_config = STRICT
    url: GitUrl = Field(min_length=1)
    name: RepoNameOrNone = ""
    ref: RefName = ""


class LayerBody(BaseModel):
    """A ref to make a layer of: a branch, a tag, a commit or `pull/N`."""

    model_config = STRICT
    repo: RepoKeyOrNone = ""
    ref: RefName = Field(min_length=1)


class SecretsBody(BaseModel):
    """Secrets of a repository. What is left out stays as it is, an empty text takes it away."""

    model_config = STRICT
    webhook_secret: str | None = Field(None, max_length=SECRET_CHARS_MAX, repr=False)
    git_host: str | None = Field(
        None, max_length=LOGIN_CHARS_MAX, description="of the git URL, with its port if it has one"
    )
    git_username: str | None = Field(None, max_length=LOGIN_CHARS_MAX, repr=False)
    git_password: str | None = Field(
        None,
        max_length=KEY_CHARS_MAX,
        repr=False,
        description="or token; for ssh URLs a private key without a passphrase",
    )

    @model_validator(mode="after")
    def _whole_login(self) -> "SecretsBody":
        # A new host for a password that was kept before would be shown that password.
        if len({part is None for part in (self.git_host, self.git_username, self.git_password)}) > 1:
            raise ValueError("git_host, git_username and git_password come together")
        return self


def _decoded(text: object) -> bytes | None:
    if text is None:
        return None
    # The decoder by itself passes over what is no base64.
    return base64.b64decode(str(text), validate=True)


Base64 = Annotated[
    Annotated[bytes, Field(max_length=EDIT_BYTES_MAX)] | None,
    BeforeValidator(_decoded, json_schema_input_type=str | None),
]


class FileBody(BaseModel):
    """A file as it is to be: its text, its bytes in base64, or gone."""

    model_config = STRICT
    path: FilePath
    content: FileText | None = None
    content_base64: Base64 = None
    removed: bool = False
    base_blob: BlobHash | None = Field(
        None, description="git blob hash that the edit was made from, empty if there was no such file"
    )

    @model_validator(mode="after")
    def _one_content(self) -> "FileBody":
        if (self.content is not None) + (self.content_base64 is not None) + self.removed != 1:
            raise ValueError("give one of content, content_base64 and removed")
        return self

    @property
    def edit(self) -> FileEdit:
        """What ingest is asked."""
        content = self.content.encode() if self.content is not None else self.content_base64
        return FileEdit(path=self.path, content=content, base_blob=self.base_blob)


class FileEditBody(FileBody):
    """One file, as it is to be."""

    repo: RepoKeyOrNone = ""

    def request(self, tenant: str, repo: str) -> EditRequest:
        """What ingest is asked."""
        return EditRequest(tenant=tenant, repo_name=repo, files=(self.edit,))


class DiffBody(BaseModel):
    """What changed since a commit: a unified diff as `git diff` prints it, or the files themselves, or both."""

    model_config = STRICT
    repo: RepoKeyOrNone = ""
    base_commit: CommitId = Field(description="that is indexed")
    commit: CommitIdOrNone = Field(
        "",
        description="whose tree the files then are; empty: none, they are uncommitted",
    )
    diff: EditDiff = ""
    files: Annotated[tuple[FileBody, ...], Field(max_length=EDIT_FILES_MAX)] = ()

    @model_validator(mode="after")
    def _something(self) -> "DiffBody":
        if not self.diff and not self.files:
            raise ValueError("give a diff or files")
        return self

    def request(self, tenant: str, repo: str) -> EditRequest:
        """What ingest is asked."""
        return EditRequest(
            tenant=tenant,
            repo_name=repo,
            base_commit=self.base_commit,
            commit=self.commit,
            files=tuple(file.edit for file in self.files),
            diff=self.diff,
        )


class OverlayFileBody(BaseModel):
    """A file of an overlay: its text, or its bytes in base64; gone if it has neither."""

    model_config = STRICT
    path: FilePath
    content: FileText | None = None
    content_base64: Base64 = None

    @property
    def edit(self) -> FileEdit:
        """What ingest is asked."""
        content = self.content.encode() if self.content is not None else self.content_base64
        return FileEdit(path=self.path, content=content)


class OverlayBody(BaseModel):
    """All edits of an overlay: files, or a unified diff against what is served at `base_ref`, or both."""

    model_config = STRICT
    repo: RepoKeyOrNone = ""
    base_ref: RefOrNone = Field("", description="what it lies on; empty for the base")
    base_commit: CommitIdOrNone = Field("", description="that must be served there")
    handle: RefOrNone = Field("", description="of an overlay whose edits these replace")
    files: Annotated[tuple[OverlayFileBody, ...], Field(max_length=EDIT_FILES_MAX)] = ()
    diff: EditDiff = ""
    ttl_s: int = Field(OVERLAY_TTL_DEFAULT_S, ge=OVERLAY_TTL_MIN_S, le=OVERLAY_TTL_MAX_S)

    def request(self, tenant: str, repo: str) -> OpenOverlayRequest:
        """What ingest is asked."""
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
