"""Parses webhooks: forge, event, repository, and the push if there is one. Pure.

In: headers and body of a request. Out: a `Hook`. Only names are read from a payload, never the list of
changed files: GitHub truncates it, and for a forced push it does not help.

https://docs.github.com/en/webhooks/webhook-events-and-payloads,
https://docs.gitlab.com/user/project/integrations/webhook_events/, https://docs.gitea.com/usage/webhooks
"""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, NamedTuple
from urllib.parse import parse_qs

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.types import FullRef, RefName
from prism_contracts.types import GitUrl as Url

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
FORM_FIELDS_MAX = 10
DELIVERY_CHARS_MAX = 200
NAME_CHARS_MAX = 1_000
BRANCHES = "refs/heads/"
TAGS = "refs/tags/"

Name = Annotated[str, StringConstraints(max_length=NAME_CHARS_MAX)]
Number = Annotated[int, Field(ge=1, lt=10**12)]
Commit = Annotated[str, StringConstraints(max_length=64, pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]


class Provider(StrEnum):
    """The forge that sent a webhook."""

    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"


class WebhookEvent(StrEnum):
    """The event, in GitHub's terms."""

    PING = "ping"
    PUSH = "push"
    CREATE = "create"
    DELETE = "delete"
    PULL_REQUEST = "pull_request"
    OTHER = "other"


class Remote(NamedTuple):
    """The repository of a payload, as the forge names it."""

    full_name: str = ""
    urls: tuple[str, ...] = ()
    default_branch: str = ""


class Push(NamedTuple):
    """A ref that moved to a commit, or was deleted."""

    ref: str
    commit: str  # empty if the ref was deleted, or the pull request closed
    pull_request: str = ""  # the short name of a pull request, `pull/12`; empty for other refs


class Hook(NamedTuple):
    """A parsed webhook."""

    provider: Provider
    event: WebhookEvent
    delivery: str
    remote: Remote
    push: Push | None = None


# Gitea comes first, because it also sends GitHub's header.
_EVENT_HEADERS = (
    ("x-gitea-event", Provider.GITEA),
    ("x-gitlab-event", Provider.GITLAB),
    ("x-github-event", Provider.GITHUB),
)
_DELIVERY_HEADERS = {
    Provider.GITEA: ("x-gitea-delivery",),
    # The key stays the same when GitLab retries. Older versions send only the event's id.
    Provider.GITLAB: ("idempotency-key", "x-gitlab-event-uuid"),
    Provider.GITHUB: ("x-github-delivery",),
}
# Closing a pull request does not move its head, but its layer is deleted.
_OPEN, _CLOSED = frozenset({"opened", "reopened", "synchronize", "synchronized"}), frozenset({"closed"})
_GITLAB_OPEN, _GITLAB_CLOSED = frozenset({"open", "reopen", "update"}), frozenset({"close", "merge"})
_REF_FOLDERS = {"branch": BRANCHES, "tag": TAGS}
_GITLAB_EVENTS = {
    "push": WebhookEvent.PUSH,
    "tag_push": WebhookEvent.PUSH,
    "merge_request": WebhookEvent.PULL_REQUEST,
}


def read_hook(headers: Mapping[str, str], body: bytes) -> Hook:
    """Parse a webhook. `headers` have lower-case names.

    Raises PrismError: INVALID_ARGUMENT (not a webhook of a known forge), UNSUPPORTED_MEDIA_TYPE.
    """
    provider, header = _sender(headers)
    document = _document(headers.get("content-type", ""), body)
    delivery = _delivery(headers, provider, body)
    try:
        if provider is Provider.GITLAB:
            return _gitlab(document, delivery)
        return _github(provider, header, document, delivery)
    except ValidationError as error:
        raise _invalid(f"the payload is not a valid {provider.value} payload: {_places(error)}") from None


def check_headers(headers: Mapping[str, str]) -> Provider:
    """Returns the forge that sent these headers, without reading the body.

    Raises PrismError: INVALID_ARGUMENT, UNSUPPORTED_MEDIA_TYPE, as `read_hook` does.
    """
    _check_type(headers.get("content-type", ""))
    return _sender(headers)[0]


class _Payload(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _GitHubRepository(_Payload):
    full_name: Name
    clone_url: Url = ""
    ssh_url: Url = ""
    html_url: Url = ""
    default_branch: RefName = ""

    @property
    def remote(self) -> Remote:
        return Remote(self.full_name, (self.clone_url, self.ssh_url, self.html_url), self.default_branch)


class _GitHubAny(_Payload):
    # The ping of an organization has no repository.
    repository: _GitHubRepository | None = None


class _Moved(_Payload):
    """A ref before and after a push, equal for GitHub, Gitea and GitLab.

    `after` is all zeros if it was deleted.
    """

    ref: FullRef
    after: Commit

    @property
    def push(self) -> Push:
        return Push(self.ref, self.after if self.after.strip("0") else "")


class _GitHubPush(_Moved):
    repository: _GitHubRepository


class _GitHubDelete(_Payload):
    ref: RefName
    ref_type: Name

    @property
    def push(self) -> Push | None:
        folder = _REF_FOLDERS.get(self.ref_type)
        return Push(folder + self.ref, "") if folder else None


class _GitHubHead(_Payload):
    sha: Commit


class _GitHubPull(_Payload):
    head: _GitHubHead


class _GitHubPullRequest(_Payload):
    """Gitea sends the same."""

    action: Name
    number: Number
    pull_request: _GitHubPull

    @property
    def push(self) -> Push | None:
        ref, name = f"refs/pull/{self.number}/head", f"pull/{self.number}"
        if self.action in _OPEN:
            return Push(ref, self.pull_request.head.sha, name)
        return Push(ref, "", name) if self.action in _CLOSED else None


class _GitLabProject(_Payload):
    path_with_namespace: Name
    git_http_url: Url = ""
    git_ssh_url: Url = ""
    web_url: Url = ""
    default_branch: RefName | None = None

    @property
    def remote(self) -> Remote:
        urls = (self.git_http_url, self.git_ssh_url, self.web_url)
        return Remote(self.path_with_namespace, urls, self.default_branch or "")


class _GitLabAny(_Payload):
    object_kind: Name = ""
    event_name: Name = ""  # sent instead by system hooks of an installation
    project: _GitLabProject | None = None


class _GitLabPush(_Moved):
    project: _GitLabProject


class _GitLabCommit(_Payload):
    id: Commit


class _GitLabAttributes(_Payload):
    iid: Number
    action: Name = ""
    last_commit: _GitLabCommit


class _GitLabMergeRequest(_Payload):
    project: _GitLabProject
    object_attributes: _GitLabAttributes

    @property
    def push(self) -> Push | None:
        said = self.object_attributes
        ref, name = f"refs/merge-requests/{said.iid}/head", f"pull/{said.iid}"
        if said.action in _GITLAB_OPEN:
            return Push(ref, said.last_commit.id, name)
        return Push(ref, "", name) if said.action in _GITLAB_CLOSED else None


def _sender(headers: Mapping[str, str]) -> tuple[Provider, str]:
    for name, provider in _EVENT_HEADERS:
        if name in headers:
            return provider, headers[name]
    raise _invalid("none of the headers X-GitHub-Event, X-Gitlab-Event and X-Gitea-Event is present")


def _document(content_type: str, body: bytes) -> bytes:
    """Returns the JSON of a body. GitHub and Gitea may wrap it in a form."""
    if _check_type(content_type) == JSON:
        return body
    try:
        fields = parse_qs(body.decode(), strict_parsing=True, max_num_fields=FORM_FIELDS_MAX)
    except ValueError:
        fields = {}
    if len(fields.get("payload", ())) != 1:
        raise _invalid("the form has no field `payload`")
    return fields["payload"][0].encode()


def _check_type(content_type: str) -> str:
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in {JSON, FORM}:
        raise PrismError(
            ErrorCode.UNSUPPORTED_MEDIA_TYPE,
            f"Content type {kind[:100]!a} is not supported for webhooks.",
            "Configure the forge to send application/json.",
        )
    return kind


def _delivery(headers: Mapping[str, str], provider: Provider, body: bytes) -> str:
    """Returns the forge's id of this delivery, or a digest of the body if it has none."""
    named = (headers.get(name, "") for name in _DELIVERY_HEADERS[provider])
    return next(filter(None, named), "")[:DELIVERY_CHARS_MAX] or hashlib.sha256(body).hexdigest()


def _github(provider: Provider, header: str, document: bytes, delivery: str) -> Hook:
    event = WebhookEvent(header) if header in set(WebhookEvent) else WebhookEvent.OTHER
    if event is WebhookEvent.PUSH:
        pushed = _GitHubPush.model_validate_json(document)
        return Hook(provider, event, delivery, pushed.repository.remote, pushed.push)
    repository = _GitHubAny.model_validate_json(document).repository
    remote = repository.remote if repository else Remote()
    if event is WebhookEvent.DELETE:
        return Hook(provider, event, delivery, remote, _GitHubDelete.model_validate_json(document).push)
    if event is WebhookEvent.PULL_REQUEST:
        return Hook(provider, event, delivery, remote, _GitHubPullRequest.model_validate_json(document).push)
    return Hook(provider, event, delivery, remote)


def _gitlab(document: bytes, delivery: str) -> Hook:
    said = _GitLabAny.model_validate_json(document)
    event = _GITLAB_EVENTS.get(said.object_kind or said.event_name, WebhookEvent.OTHER)
    if event is WebhookEvent.PUSH:
        pushed = _GitLabPush.model_validate_json(document)
        return Hook(Provider.GITLAB, event, delivery, pushed.project.remote, pushed.push)
    if event is WebhookEvent.PULL_REQUEST:
        request = _GitLabMergeRequest.model_validate_json(document)
        return Hook(Provider.GITLAB, event, delivery, request.project.remote, request.push)
    return Hook(Provider.GITLAB, event, delivery, said.project.remote if said.project else Remote())


def _places(error: ValidationError) -> str:
    return ", ".join(".".join(map(str, problem["loc"])) or "the document" for problem in error.errors()[:5])


def _invalid(problem: str) -> PrismError:
    return PrismError(
        ErrorCode.INVALID_ARGUMENT,
        f"This is not a webhook that Prism supports: {problem}.",
        "Send what GitHub, GitLab or Gitea send: see docs/guides/keep-fresh.md.",
    )
