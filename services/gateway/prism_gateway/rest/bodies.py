"""The bodies of REST requests: the requests of the contract without the tenant, which the token decides."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from prism_contracts.rpc import GrepRequest, OpenSnapshotRequest, SearchRequest
from prism_gateway.budget import TOKENS_MAX, TOKENS_MIN

URL_CHARS_MAX = 2_000
NAME_CHARS_MAX = 255


def _refuse(_: object) -> str:
    raise ValueError("is not an argument: the token decides it")


# Never read from a body and absent from the schema; filled in with `for_tenant`.
TokenTenant = SkipJsonSchema[Annotated[str, BeforeValidator(_refuse)]]
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
    url: str = Field(min_length=1, max_length=URL_CHARS_MAX)
    name: str = Field("", max_length=NAME_CHARS_MAX)
    ref: str = Field("", max_length=NAME_CHARS_MAX)
