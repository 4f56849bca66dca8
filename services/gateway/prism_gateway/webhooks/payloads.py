"""Parses webhooks: forge, event, repository, and the push if there is one. Pure.

In: headers and body of a request. Out: a `Hook`. The list of changed files is never read: GitHub truncates it,
and for a forced push it does not help. Of commits and merged pull requests, the beginnings of texts are read, in
which tasks may be named.

https://docs.github.com/en/webhooks/webhook-events-and-payloads,
https://docs.gitlab.com/user/project/integrations/webhook_events/, https://docs.gitea.com/usage/webhooks,
https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/,
https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html
"""

import hashlib
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qs

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import MergedPullRequest, PushedCommits
from prism_contracts.types import (
    COMMIT_MESSAGE_CHARS_MAX,
    PUSHED_COMMITS_MAX,
    SHORT_TEXT_CHARS_MAX,
    CommitMessage,
    FullRef,
    RefName,
    ShortText,
)
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
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def _newest(listed: object) -> list[dict[str, str]]:
    """Returns the newest commits, oldest first as in the payload. What is none is left out: the push counts."""
    found = listed[-PUSHED_COMMITS_MAX:] if isinstance(listed, list) else []
    return [
        {"commit": one["id"], "message": one["message"][:COMMIT_MESSAGE_CHARS_MAX]}
        for one in found
        if isinstance(one, dict)
        and isinstance(one.get("message"), str)
        and isinstance(one.get("id"), str)
        and _COMMIT.fullmatch(one["id"])
    ]


def _cut(chars_max: int) -> BeforeValidator:
    def cut(text: Any) -> Any:
        return text[:chars_max] if isinstance(text, str) else "" if text is None else text

    return BeforeValidator(cut)


Commits = Annotated[PushedCommits, BeforeValidator(_newest)]
Title = Annotated[ShortText, _cut(SHORT_TEXT_CHARS_MAX)]
Body = Annotated[CommitMessage, _cut(COMMIT_MESSAGE_CHARS_MAX)]


class Provider(StrEnum):
    """The forge that sent a webhook."""

    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"
    BITBUCKET = "bitbucket"  # the cloud, and servers of Data Center


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
    commits: PushedCommits = ()  # new ones of a branch, if the forge lists them
    merged: MergedPullRequest | None = None


class Hook(NamedTuple):
    """A parsed webhook."""

    provider: Provider
    event: WebhookEvent
    delivery: str
    remote: Remote
    push: Push | None = None
    # Bitbucket sends what one push did to several branches as one webhook.
    others: tuple[Push, ...] = ()

    def each(self) -> "list[Hook]":
        """Returns one hook for each push, with a delivery of its own; this one if there is one push or none."""
        later = [
            self._replace(push=push, others=(), delivery=f"{self.delivery}:{number}")
            for number, push in enumerate(self.others, start=2)
        ]
        return [self._replace(others=()), *later]


# Gitea comes first, because it also sends GitHub's header.
_EVENT_HEADERS = (
    ("x-gitea-event", Provider.GITEA),
    ("x-gitlab-event", Provider.GITLAB),
    ("x-github-event", Provider.GITHUB),
    ("x-event-key", Provider.BITBUCKET),
)
_DELIVERY_HEADERS = {
    Provider.GITEA: ("x-gitea-delivery",),
    # The key stays the same when GitLab retries. Older versions send only the event's id.
    Provider.GITLAB: ("idempotency-key", "x-gitlab-event-uuid"),
    Provider.GITHUB: ("x-github-delivery",),
    Provider.BITBUCKET: ("x-request-uuid", "x-request-id"),
}
# Closing a pull request does not move its head, but its layer is deleted.
_OPEN, _CLOSED = frozenset({"opened", "reopened", "synchronize", "synchronized"}), frozenset({"closed"})
_GITLAB_OPEN, _GITLAB_CLOSED = frozenset({"open", "reopen", "update"}), frozenset({"close", "merge"})
_GITLAB_MERGED = "merge"
_REF_FOLDERS = {"branch": BRANCHES, "tag": TAGS}
_GITLAB_EVENTS = {
    "push": WebhookEvent.PUSH,
    "tag_push": WebhookEvent.PUSH,
    "merge_request": WebhookEvent.PULL_REQUEST,
}


# The first list has what the cloud calls an event, the second what servers call it.
_BITBUCKET_EVENTS = {
    "repo:push": WebhookEvent.PUSH,
    "repo:refs_changed": WebhookEvent.PUSH,
    "diagnostics:ping": WebhookEvent.PING,
}
_BITBUCKET_PULLS = ("pullrequest:", "pr:")
_CLOUD_MERGED, _CLOUD_CLOSED = (
    "pullrequest:fulfilled",
    frozenset({"pullrequest:fulfilled", "pullrequest:rejected"}),
)
_SERVER_OPEN = frozenset({"pr:opened", "pr:reopened", "pr:from_ref_updated"})
_SERVER_MERGED, _SERVER_CLOSED = "pr:merged", frozenset({"pr:merged", "pr:declined", "pr:deleted"})
LINKS_MAX = 20  # one for each protocol
BITBUCKET_CHANGES_MAX = 100


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
        if provider is Provider.BITBUCKET:
            return _bitbucket(header, document, delivery)
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
    commits: Commits = ()

    @property
    def push(self) -> Push:
        is_deleted = not self.after.strip("0")
        return Push(self.ref, "") if is_deleted else Push(self.ref, self.after, commits=self.commits)


class _GitHubPush(_Moved):
    repository: _GitHubRepository


class _GitHubDelete(_Payload):
    ref: RefName
    ref_type: Name

    @property
    def push(self) -> Push | None:
        folder = _REF_FOLDERS.get(self.ref_type)
        return Push(folder + self.ref, "") if folder else None


class _GitHubFork(_Payload):
    full_name: Name = ""


class _GitHubHead(_Payload):
    sha: Commit
    ref: RefName = ""
    repo: _GitHubFork | None = None  # None: the fork was deleted


class _GitHubTarget(_Payload):
    ref: RefName = ""
    repo: _GitHubFork | None = None


class _GitHubPull(_Payload):
    head: _GitHubHead
    base: _GitHubTarget = _GitHubTarget()
    merged: bool = False
    html_url: Url = ""
    title: Title = ""
    body: Body = ""

    @property
    def merge(self) -> MergedPullRequest | None:
        if not self.merged:
            return None
        is_here = self.head.repo is not None and self.head.repo == self.base.repo
        return MergedPullRequest(
            url=self.html_url,
            title=self.title,
            body=self.body,
            branch=self.head.ref if is_here else "",
            target=self.base.ref,
        )


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
        if self.action not in _CLOSED:
            return None
        return Push(ref, "", name, merged=self.pull_request.merge)


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
    source_branch: RefName = ""
    target_branch: RefName = ""
    source_project_id: Number | None = None
    target_project_id: Number | None = None
    url: Url = ""
    title: Title = ""
    description: Body = ""

    @property
    def merge(self) -> MergedPullRequest | None:
        if self.action != _GITLAB_MERGED:
            return None
        is_here = self.source_project_id is not None and self.source_project_id == self.target_project_id
        return MergedPullRequest(
            url=self.url,
            title=self.title,
            body=self.description,
            branch=self.source_branch if is_here else "",
            target=self.target_branch,
        )


class _GitLabMergeRequest(_Payload):
    project: _GitLabProject
    object_attributes: _GitLabAttributes

    @property
    def push(self) -> Push | None:
        said = self.object_attributes
        ref, name = f"refs/merge-requests/{said.iid}/head", f"pull/{said.iid}"
        if said.action in _GITLAB_OPEN:
            return Push(ref, said.last_commit.id, name)
        return Push(ref, "", name, merged=said.merge) if said.action in _GITLAB_CLOSED else None


class _Link(_Payload):
    href: Url = ""


class _CloudLinks(_Payload):
    html: _Link = _Link()


class _CloudRepository(_Payload):
    full_name: Name
    links: _CloudLinks = _CloudLinks()

    @property
    def remote(self) -> Remote:
        return Remote(self.full_name, (self.links.html.href,))


class _CloudCommit(_Payload):
    hash: Commit


class _CloudRef(_Payload):
    type: Name = ""
    name: RefName
    target: _CloudCommit | None = None


def _with_ids(listed: object) -> object:
    """Returns commits of Bitbucket, oldest first as other forges list them. In the cloud, `hash` is their id."""
    if not isinstance(listed, list):
        return listed
    return [
        {**one, "id": one.get("id", one.get("hash"))} if isinstance(one, dict) else one
        for one in reversed(listed)
    ]


BitbucketCommits = Annotated[PushedCommits, BeforeValidator(_newest), BeforeValidator(_with_ids)]


class _CloudChange(_Payload):
    old: _CloudRef | None = None
    new: _CloudRef | None = None  # None: the branch was deleted
    commits: BitbucketCommits = ()

    @property
    def push(self) -> Push | None:
        named = self.new or self.old
        folder = _REF_FOLDERS.get(named.type) if named else None
        if named is None or folder is None:
            return None
        if self.new is None:
            return Push(folder + named.name, "")
        # An annotated tag may have no commit.
        return Push(folder + named.name, named.target.hash, commits=self.commits) if named.target else None


class _CloudChanges(_Payload):
    changes: Annotated[tuple[_CloudChange, ...], Field(max_length=BITBUCKET_CHANGES_MAX)] = ()


class _CloudPush(_Payload):
    repository: _CloudRepository
    push: _CloudChanges


class _CloudBranch(_Payload):
    name: RefName = ""


class _CloudSide(_Payload):
    branch: _CloudBranch = _CloudBranch()
    repository: _GitHubFork | None = None  # None: the fork was deleted


class _CloudPull(_Payload):
    id: Number
    title: Title = ""
    description: Body = ""
    source: _CloudSide = _CloudSide()
    destination: _CloudSide = _CloudSide()
    links: _CloudLinks = _CloudLinks()

    def push(self, key: str) -> Push | None:
        """Returns what the event does. The cloud has no ref of an open pull request: its branch is pushed anyway."""
        if key not in _CLOUD_CLOSED:
            return None
        is_here = self.source.repository is not None and self.source.repository == self.destination.repository
        merged = MergedPullRequest(
            url=self.links.html.href,
            title=self.title,
            body=self.description,
            branch=self.source.branch.name if is_here else "",
            target=self.destination.branch.name,
        )
        ref, name = f"refs/pull-requests/{self.id}/from", f"pull/{self.id}"
        return Push(ref, "", name, merged=merged if key == _CLOUD_MERGED else None)


class _CloudPullRequest(_Payload):
    repository: _CloudRepository
    pullrequest: _CloudPull


class _ServerProject(_Payload):
    key: Name


Links = Annotated[tuple[_Link, ...], Field(max_length=LINKS_MAX)]


class _ServerLinks(_Payload):
    clone: Links = ()


class _ServerRepository(_Payload):
    slug: Name
    project: _ServerProject
    links: _ServerLinks = _ServerLinks()

    @property
    def full_name(self) -> str:
        return f"{self.project.key}/{self.slug}"

    @property
    def remote(self) -> Remote:
        return Remote(self.full_name, tuple(one.href for one in self.links.clone if one.href))


class _ServerChange(_Payload):
    ref_id: FullRef = Field(alias="refId")
    to_hash: Commit = Field(alias="toHash")
    type: Name = ""

    def push(self, commits: PushedCommits) -> Push:
        is_deleted = self.type == "DELETE"
        return Push(self.ref_id, "") if is_deleted else Push(self.ref_id, self.to_hash, commits=commits)


class _ServerPush(_Payload):
    repository: _ServerRepository
    changes: Annotated[tuple[_ServerChange, ...], Field(max_length=BITBUCKET_CHANGES_MAX)] = ()
    commits: BitbucketCommits = ()  # newer servers list them


class _ServerRef(_Payload):
    id: FullRef
    latest_commit: Commit = Field(alias="latestCommit")
    repository: _ServerRepository


class _ServerSelfLinks(_Payload):
    own: Links = Field((), alias="self")


class _ServerPull(_Payload):
    id: Number
    title: Title = ""
    description: Body = ""
    source: _ServerRef = Field(alias="fromRef")
    target: _ServerRef = Field(alias="toRef")
    links: _ServerSelfLinks = _ServerSelfLinks()

    def push(self, key: str) -> Push | None:
        """Returns what the event does."""
        ref, name = f"refs/pull-requests/{self.id}/from", f"pull/{self.id}"
        if key in _SERVER_OPEN:
            return Push(ref, self.source.latest_commit, name)
        if key not in _SERVER_CLOSED:
            return None
        is_here = self.source.repository.full_name == self.target.repository.full_name
        merged = MergedPullRequest(
            url=next((one.href for one in self.links.own), ""),
            title=self.title,
            body=self.description,
            branch=self.source.id.removeprefix(BRANCHES) if is_here else "",
            target=self.target.id.removeprefix(BRANCHES),
        )
        return Push(ref, "", name, merged=merged if key == _SERVER_MERGED else None)


class _ServerPullRequest(_Payload):
    pull: _ServerPull = Field(alias="pullRequest")


class _BitbucketAny(_Payload):
    repository: _CloudRepository | _ServerRepository | None = None


def _sender(headers: Mapping[str, str]) -> tuple[Provider, str]:
    for name, provider in _EVENT_HEADERS:
        if name in headers:
            return provider, headers[name]
    raise _invalid(
        "none of the headers X-GitHub-Event, X-Gitlab-Event, X-Gitea-Event and X-Event-Key is present"
    )


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


def _bitbucket(key: str, document: bytes, delivery: str) -> Hook:
    is_pull = key.startswith(_BITBUCKET_PULLS)
    event = WebhookEvent.PULL_REQUEST if is_pull else _BITBUCKET_EVENTS.get(key, WebhookEvent.OTHER)
    pushes: list[Push | None] = []
    if key == "repo:push":
        pushed = _CloudPush.model_validate_json(document)
        remote, pushes = pushed.repository.remote, [one.push for one in pushed.push.changes]
    elif key == "repo:refs_changed":
        moved = _ServerPush.model_validate_json(document)
        # The list of commits does not say which branch they are of.
        commits = moved.commits if len(moved.changes) == 1 else ()
        remote, pushes = moved.repository.remote, [one.push(commits) for one in moved.changes]
    elif key.startswith("pullrequest:"):
        cloud = _CloudPullRequest.model_validate_json(document)
        remote, pushes = cloud.repository.remote, [cloud.pullrequest.push(key)]
    elif is_pull:
        pull = _ServerPullRequest.model_validate_json(document).pull
        remote, pushes = pull.target.repository.remote, [pull.push(key)]
    else:
        repository = _BitbucketAny.model_validate_json(document).repository
        remote = repository.remote if repository else Remote()
    found = [one for one in pushes if one is not None]
    return Hook(Provider.BITBUCKET, event, delivery, remote, found[0] if found else None, tuple(found[1:]))


def _places(error: ValidationError) -> str:
    return ", ".join(".".join(map(str, problem["loc"])) or "the document" for problem in error.errors()[:5])


def _invalid(problem: str) -> PrismError:
    return PrismError(
        ErrorCode.INVALID_ARGUMENT,
        f"This is not a webhook that Prism supports: {problem}.",
        "Send what GitHub, GitLab, Gitea or Bitbucket send: see docs/guides/keep-fresh.md.",
    )
