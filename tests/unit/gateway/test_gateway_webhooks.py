"""Payloads as GitHub, GitLab, Gitea and Bitbucket document them, shortened, with invented names."""

import contextlib
import hashlib
import hmac
import json
from datetime import UTC, datetime
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import MergedPullRequest, PushedCommit
from prism_contracts.records import LayerState, Repository
from prism_gateway.webhooks.mentions import mentions
from prism_gateway.webhooks.payloads import Provider, Push, Remote, WebhookEvent, read_hook
from prism_gateway.webhooks.receiver import is_behind, named_by, why_nothing
from prism_gateway.webhooks.signatures import is_signed

COMMIT, GONE = "4f5e6d7c8b9a0f1e2d3c4b5a69788796a5b4c3d2", "0" * 40
JSON = {"content-type": "application/json"}
GITHUB = JSON | {"x-github-event": "push", "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958"}
GITLAB = JSON | {"x-gitlab-event": "Push Hook", "x-gitlab-event-uuid": "13792a34-cac6-4fda-95a8-c58e00a3954e"}
# Gitea also sends the headers of GitHub and Gogs.
GITEA = JSON | {
    "x-gitea-event": "push", "x-gogs-event": "push", "x-github-event": "push",
    "x-gitea-delivery": "f6266f16-1bf3-46a5-9ea4-602e06ead473", "x-github-delivery": "other",
}  # fmt: skip

GITHUB_PUSH = {
    "ref": "refs/heads/main", "before": "1" * 40, "after": COMMIT, "base_ref": None,
    "created": False, "deleted": False, "forced": True, "compare": "https://github.example/acme/app/compare/1...4",
    "commits": [{"id": COMMIT, "message": "Go on", "added": [], "removed": [], "modified": ["a.py"]}],
    "head_commit": {"id": COMMIT},
    "repository": {
        "id": 35129377, "name": "app", "full_name": "acme/app", "private": False,
        "html_url": "https://github.example/acme/app", "git_url": "git://github.example/acme/app.git",
        "ssh_url": "git@github.example:acme/app.git", "clone_url": "https://github.example/acme/app.git",
        "default_branch": "main", "master_branch": "main",
    },
    "pusher": {"name": "ada", "email": "ada@example.org"}, "sender": {"login": "ada", "id": 1},
}  # fmt: skip
GITLAB_PUSH = {
    "object_kind": "push", "event_name": "push", "before": "1" * 40, "after": COMMIT, "ref": "refs/heads/main",
    "checkout_sha": COMMIT, "user_name": "Ada", "project_id": 15,
    "project": {
        "id": 15, "name": "App", "web_url": "https://gitlab.example/acme/group/app",
        "git_ssh_url": "git@gitlab.example:acme/group/app.git",
        "git_http_url": "https://gitlab.example/acme/group/app.git",
        "path_with_namespace": "acme/group/app", "default_branch": "main", "ci_config_path": None,
    },
    "commits": [], "total_commits_count": 1,
}  # fmt: skip
PULL = {"number": 12, "pull_request": {"head": {"sha": COMMIT, "ref": "topic"}}}
REMOTE = Remote(
    "acme/app",
    (
        "https://github.example/acme/app.git",
        "git@github.example:acme/app.git",
        "https://github.example/acme/app",
    ),
    "main",
)


# The cloud of Bitbucket; the second commit of a push is the older one.
CLOUD = JSON | {"x-event-key": "repo:push", "x-request-uuid": "0b5a3f5e-2d1c-4a9e-8a52-6d1f0c9be7aa"}
CLOUD_REPOSITORY = {
    "type": "repository", "full_name": "acme/app", "name": "app", "uuid": "{71f0d3ce}", "is_private": True,
    "links": {
        "self": {"href": "https://api.bitbucket.example/2.0/repositories/acme/app"},
        "html": {"href": "https://bitbucket.example/acme/app"},
    },
}  # fmt: skip
OLDER = "5e6d" * 10


def cloud_ref(name, kind="branch", commit=COMMIT):
    return {"type": kind, "name": name, "target": {"type": "commit", "hash": commit}}


CLOUD_CHANGES = [
    {
        "old": cloud_ref("main", commit=OLDER), "new": cloud_ref("main"), "forced": False, "truncated": False,
        "commits": [{"hash": COMMIT, "message": "Go on"}, {"hash": OLDER, "message": "Begin"}],
    },
    {"old": cloud_ref("topic"), "new": None, "closed": True},
    {"old": None, "new": cloud_ref("v1", kind="tag")},
    {"old": None, "new": cloud_ref("notes", kind="bookmark")},
]  # fmt: skip
CLOUD_PUSH = {
    "actor": {"display_name": "Ada"},
    "repository": CLOUD_REPOSITORY,
    "push": {"changes": CLOUD_CHANGES},
}
SERVER = JSON | {"x-event-key": "repo:refs_changed", "x-request-id": "d2a1b7f0-6a51-4f0b-b1cb-1a2f6f4a9c11"}
SERVER_REPOSITORY = {
    "slug": "app", "id": 84, "name": "App", "scmId": "git", "project": {"key": "ACME", "id": 7, "name": "Acme"},
    "links": {
        "clone": [
            {"href": "ssh://git@bitbucket.example:7999/acme/app.git", "name": "ssh"},
            {"href": "https://bitbucket.example/scm/acme/app.git", "name": "http"},
        ]
    },
}  # fmt: skip


def server_change(ref, kind="UPDATE", to=COMMIT):
    return {"ref": {"id": ref, "type": "BRANCH"}, "refId": ref, "fromHash": OLDER, "toHash": to, "type": kind}


SERVER_PUSH = {
    "eventKey": "repo:refs_changed", "date": "2026-01-01T10:00:00+0000", "repository": SERVER_REPOSITORY,
    "changes": [server_change("refs/heads/main")],
    "commits": [{"id": COMMIT, "message": "Go on"}, {"id": OLDER, "message": "Begin"}],
}  # fmt: skip
SIDE = {"latestCommit": COMMIT, "repository": SERVER_REPOSITORY}
SERVER_PULL = {
    "pullRequest": {
        "id": 12, "title": "Retry", "description": "Closes #1234abcd", "state": "MERGED",
        "fromRef": SIDE | {"id": "refs/heads/topic"}, "toRef": SIDE | {"id": "refs/heads/main"},
        "links": {"self": [{"href": "https://bitbucket.example/projects/ACME/repos/app/pull-requests/12"}]},
    }
}  # fmt: skip
CLOUD_PULL = {
    "repository": CLOUD_REPOSITORY,
    "pullrequest": {
        "id": 12, "title": "Retry", "description": "Closes #1234abcd", "state": "MERGED",
        "source": {"branch": {"name": "topic"}, "commit": {"hash": "4f5e6d7c8b9a"}, "repository": CLOUD_REPOSITORY},
        "destination": {"branch": {"name": "main"}, "repository": CLOUD_REPOSITORY},
        "links": {"html": {"href": "https://bitbucket.example/acme/app/pull-requests/12"}},
    },
}  # fmt: skip


def read(headers, payload):
    return read_hook(headers, json.dumps(payload).encode())


def refused(headers, body) -> ErrorCode:
    with pytest.raises(PrismError) as caught:
        read_hook(headers, body)
    assert caught.value.body.next_action
    return caught.value.code


def test_a_push_of_github_is_parsed():
    hook = read(GITHUB, GITHUB_PUSH)
    assert hook == (
        Provider.GITHUB,
        WebhookEvent.PUSH,
        GITHUB["x-github-delivery"],
        REMOTE,
        Push("refs/heads/main", COMMIT, commits=(PushedCommit(commit=COMMIT, message="Go on"),)),
        (),
    )


def test_a_push_of_gitea_is_not_taken_for_githubs():
    hook = read(GITEA, GITHUB_PUSH)
    assert (hook.provider, hook.event, hook.delivery) == (
        Provider.GITEA,
        WebhookEvent.PUSH,
        GITEA["x-gitea-delivery"],
    )


def test_a_push_of_gitlab_is_parsed():
    hook = read(GITLAB, GITLAB_PUSH)
    assert (hook.provider, hook.event, hook.push) == (
        Provider.GITLAB,
        WebhookEvent.PUSH,
        Push("refs/heads/main", COMMIT),
    )
    assert hook.remote.full_name == "acme/group/app"
    assert "https://gitlab.example/acme/group/app.git" in hook.remote.urls
    again = read(GITLAB | {"idempotency-key": "same"}, GITLAB_PUSH)
    assert (hook.delivery, again.delivery) == (GITLAB["x-gitlab-event-uuid"], "same")


@pytest.mark.parametrize(
    ("headers", "action", "commit"),
    [
        (GITHUB, "opened", COMMIT),
        (GITHUB, "reopened", COMMIT),
        (GITHUB, "synchronize", COMMIT),
        (GITHUB, "closed", ""),
        (GITEA | {"x-gitea-event": "pull_request"}, "synchronized", COMMIT),
        (GITEA | {"x-gitea-event": "pull_request"}, "closed", ""),
    ],
)
def test_a_pull_request_is_a_ref_of_its_own(headers, action, commit):
    event = headers | {"x-github-event": "pull_request"}
    hook = read(event, GITHUB_PUSH | PULL | {"action": action})
    assert (hook.event, hook.push) == (
        WebhookEvent.PULL_REQUEST,
        Push("refs/pull/12/head", commit, "pull/12"),
    )


@pytest.mark.parametrize(
    ("action", "commit"),
    [("open", COMMIT), ("reopen", COMMIT), ("update", COMMIT), ("close", ""), ("merge", "")],
)
def test_a_merge_request_of_gitlab_is_parsed(action, commit):
    attributes = {"iid": 12, "action": action, "last_commit": {"id": COMMIT}}
    payload = {"object_kind": "merge_request", "object_attributes": attributes}
    hook = read(GITLAB, GITLAB_PUSH | payload)
    merged = MergedPullRequest() if action == "merge" else None
    assert (hook.event, hook.push) == (
        WebhookEvent.PULL_REQUEST, Push("refs/merge-requests/12/head", commit, "pull/12", merged=merged),
    )  # fmt: skip


MERGED = MergedPullRequest(
    url="https://github.example/acme/app/pull/12",
    title="Retry",
    body="Task: 7c0d5a54",
    branch="topic",
    target="main",
)


def merged_on_github(**fields):
    pull = {
        "head": {"sha": COMMIT, "ref": "topic", "repo": {"full_name": "acme/app"}},
        "base": {"ref": "main", "repo": {"full_name": "acme/app"}},
        "merged": True, "title": MERGED.title, "body": MERGED.body, "html_url": MERGED.url,
    }  # fmt: skip
    return GITHUB_PUSH | {"number": 12, "action": "closed", "pull_request": pull | fields}


@pytest.mark.parametrize("headers", [GITHUB, GITEA | {"x-gitea-event": "pull_request"}])
def test_a_merged_pull_request_says_what_it_was_about(headers):
    event = headers | {"x-github-event": "pull_request"}
    assert read(event, merged_on_github()).push == Push("refs/pull/12/head", "", "pull/12", merged=MERGED)
    assert read(event, merged_on_github(merged=False)).push == Push("refs/pull/12/head", "", "pull/12")
    assert read(event, merged_on_github() | {"action": "synchronize"}).push.merged is None


@pytest.mark.parametrize("repo", [None, {"full_name": "stranger/app"}, {}])
def test_a_branch_of_a_fork_has_no_name_here(repo):
    event = GITHUB | {"x-github-event": "pull_request"}
    head = {"sha": COMMIT, "ref": "topic", "repo": repo}
    assert read(event, merged_on_github(head=head)).push.merged.branch == ""


def test_texts_of_a_merged_pull_request_are_cut_or_empty():
    event = GITHUB | {"x-github-event": "pull_request"}
    long = read(event, merged_on_github(title="a" * 2_000, body="b" * 70_000)).push.merged
    assert (len(long.title), len(long.body)) == (1_000, 4_000)
    assert read(event, merged_on_github(body=None)).push.merged.body == ""


def test_a_merged_merge_request_of_gitlab_says_what_it_was_about():
    attributes = {
        "iid": 12, "action": "merge", "last_commit": {"id": COMMIT}, "source_branch": "topic",
        "target_branch": "main", "source_project_id": 15, "target_project_id": 15, "url": MERGED.url,
        "title": MERGED.title, "description": MERGED.body,
    }  # fmt: skip

    def push(**fields):
        payload = {"object_kind": "merge_request", "object_attributes": attributes | fields}
        return read(GITLAB, GITLAB_PUSH | payload).push

    assert push() == Push("refs/merge-requests/12/head", "", "pull/12", merged=MERGED)
    assert push(action="close").merged is None
    assert push(source_project_id=16).merged.branch == ""
    assert push(description=None).merged.body == ""


def test_the_newest_commits_of_a_push_are_read_and_what_is_none_is_left_out():
    commits = [{"id": f"{number:040x}", "message": "m" * 5_000} for number in range(150)]
    found = read(GITHUB, GITHUB_PUSH | {"commits": commits}).push.commits
    assert [one.commit for one in found] == [one["id"] for one in commits[50:]]
    assert {len(one.message) for one in found} == {4_000}
    for strange in (
        None,
        {},
        "x",
        [None, 7, {}, {"id": "x", "message": "m"}, {"id": COMMIT, "message": None}],
    ):
        assert read(GITHUB, GITHUB_PUSH | {"commits": strange}).push == Push("refs/heads/main", COMMIT)
    assert read(GITHUB, GITHUB_PUSH | {"after": GONE}).push == Push("refs/heads/main", "")


def test_system_hooks_of_gitlab_are_parsed():
    system = {key: value for key, value in GITLAB_PUSH.items() if key != "object_kind"}
    assert read(GITLAB | {"x-gitlab-event": "System Hook"}, system).event is WebhookEvent.PUSH
    assert read(GITLAB, {"event_name": "user_create"}).event is WebhookEvent.OTHER


def test_a_form_equals_the_json_body():
    form = {**GITHUB, "content-type": "application/x-www-form-urlencoded"}
    body = urlencode({"payload": json.dumps(GITHUB_PUSH)}).encode()
    assert read_hook(form, body) == read(GITHUB, GITHUB_PUSH)


def test_a_delivery_without_an_id_is_named_by_its_content():
    headers = {name: value for name, value in GITHUB.items() if name != "x-github-delivery"}
    body = json.dumps(GITHUB_PUSH).encode()
    assert read_hook(headers, body).delivery == hashlib.sha256(body).hexdigest()


@pytest.mark.parametrize(
    ("event", "changes", "reason"),
    [
        ("push", {}, ""),
        ("push", {"ref": "refs/tags/v1"}, "tags are not followed"),
        ("push", {"ref": "refs/changes/1"}, "only branches are followed"),
        ("push", {"after": GONE, "deleted": True}, "the branch was deleted; its index is kept"),
        ("ping", {}, "the webhook works"),
        ("push", {"ref": "refs/heads/topic", "after": GONE, "deleted": True}, ""),
        ("create", {"ref": "topic", "ref_type": "branch"}, "Prism handles pushes and pull requests only"),
        ("delete", {"ref": "topic", "ref_type": "branch"}, ""),
        ("delete", {"ref": "main", "ref_type": "branch"}, "the branch was deleted; its index is kept"),
        ("delete", {"ref": "v1", "ref_type": "tag"}, "tags are not followed"),
        ("pull_request", PULL | {"action": "opened"}, ""),
        ("pull_request", PULL | {"action": "labeled"}, "Prism handles pushes and pull requests only"),
        ("repository", {"action": "renamed"}, "Prism handles pushes and pull requests only"),
    ],
)
def test_ignored_events_have_a_reason(event, changes, reason):
    assert why_nothing(read(GITHUB | {"x-github-event": event}, GITHUB_PUSH | changes)) == reason


def test_the_ping_of_an_organisation_names_no_repository():
    hook = read(GITHUB | {"x-github-event": "ping"}, {"zen": "Keep it logically awesome.", "hook_id": 1})
    assert (hook.event, hook.remote) == (WebhookEvent.PING, Remote())


@pytest.mark.parametrize(
    "payload",
    [
        {},
        [],
        {"ref": "refs/heads/main", "after": COMMIT},
        GITHUB_PUSH | {"after": "main"},
        GITHUB_PUSH | {"after": None},
        GITHUB_PUSH | {"ref": "main"},
        GITHUB_PUSH | {"ref": "refs/heads/" + "x" * 1_000},
        GITHUB_PUSH | {"repository": {"name": "app"}},
        GITHUB_PUSH | {"repository": {"full_name": 7}},
    ],
)
def test_payloads_of_another_shape_are_refused(payload):
    assert refused(GITHUB, json.dumps(payload).encode()) is ErrorCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("headers", "body", "code"),
    [
        (JSON, b"{}", ErrorCode.INVALID_ARGUMENT),
        (GITHUB | {"content-type": "text/xml"}, b"<a/>", ErrorCode.UNSUPPORTED_MEDIA_TYPE),
        ({"x-github-event": "push"}, b"{}", ErrorCode.UNSUPPORTED_MEDIA_TYPE),
        (GITHUB, b"", ErrorCode.INVALID_ARGUMENT),
        (GITHUB, b"\xff", ErrorCode.INVALID_ARGUMENT),
        (GITHUB | {"content-type": "application/x-www-form-urlencoded"}, b"a=1&" * 11, ErrorCode.INVALID_ARGUMENT),
    ],
)  # fmt: skip
def test_a_request_that_is_not_a_webhook_is_refused(headers, body, code):
    assert refused(headers, body) is code


@given(st.binary(max_size=200))
def test_random_bodies_are_refused_or_ignored(body):
    for headers in (GITHUB, GITLAB, GITEA, GITHUB | {"content-type": "application/x-www-form-urlencoded"}):
        with contextlib.suppress(PrismError):
            # Any JSON object is an event of GitLab's, and none that Prism handles.
            assert read_hook(headers, body).event is WebhookEvent.OTHER


# GitHub's own example: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
EXAMPLE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_the_documented_signature_of_github_is_valid():
    headers = {"x-hub-signature-256": EXAMPLE}
    assert is_signed(Provider.GITHUB, headers, b"Hello, World!", "It's a Secret to Everybody")
    assert not is_signed(Provider.GITHUB, headers, b"Hello, World?", "It's a Secret to Everybody")
    assert not is_signed(Provider.GITHUB, headers, b"Hello, World!", "It's a secret to everybody")


@pytest.mark.parametrize("provider", list(Provider))
@given(body=st.binary(max_size=50), secret=st.text(min_size=1), other=st.text())
def test_only_the_secret_signs(provider, body, secret, other):
    secret, other = (text.encode(errors="replace").decode() for text in (secret, other))
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    given_headers = {
        Provider.GITHUB: {"x-hub-signature-256": f"sha256={digest}"},
        Provider.GITLAB: {"x-gitlab-token": secret},
        Provider.GITEA: {"x-gitea-signature": digest},
        Provider.BITBUCKET: {"x-hub-signature": f"sha256={digest}"},
    }
    assert is_signed(provider, given_headers[provider], body, secret)
    assert is_signed(provider, given_headers[provider], body, other) == (other == secret)
    assert not is_signed(provider, {}, body, secret)


@pytest.mark.parametrize("provider", list(Provider))
def test_an_empty_secret_signs_nothing(provider):
    digest = hmac.new(b"", b"{}", hashlib.sha256).hexdigest()
    headers = {"x-hub-signature-256": f"sha256={digest}", "x-gitlab-token": "", "x-gitea-signature": digest}
    assert not is_signed(provider, headers, b"{}", "")


def repository(name="acme/app", source="https://github.example/acme/app", **changes) -> Repository:
    return Repository(
        tenant="t", repo="r", name=name, source=source, created_at=datetime(2026, 1, 1, tzinfo=UTC), **changes
    )


@pytest.mark.parametrize(
    ("known", "is_meant"),
    [
        (repository(), True),
        (repository(name="ACME/App", source="upload"), True),
        (repository(name="ours/app", source="git@github.example:acme/app.git"), True),
        (repository(name="ours/app", source="ssh://git@github.example:22/Acme/app.git"), True),
        (repository(name="ours/app", source="upload"), False),
        (repository(name="ours/app", source="https://github.example/acme/app2"), False),
        (repository(name="ours/app", source="https://other.example/acme/app"), False),
    ],
)
def test_a_payload_selects_repositories_by_url_or_name(known, is_meant):
    assert bool(named_by(REMOTE, [known])) is is_meant


def test_a_payload_without_names_selects_no_repository():
    assert not named_by(Remote(), [repository(), repository(name="", source="upload")][:1])


def test_a_repository_with_an_unserved_head_is_behind():
    served = LayerState(commit=COMMIT, version=1, job="j", indexed_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert is_behind(repository(head_commit=COMMIT))
    assert is_behind(repository(head_commit="b" * 40, served=served))
    assert not is_behind(repository(head_commit=COMMIT, served=served))
    assert not is_behind(repository(head_commit="b" * 40, served=served, active_job="j"))


def test_a_push_of_the_cloud_of_bitbucket_is_one_hook_for_each_branch():
    hook = read(CLOUD, CLOUD_PUSH)
    listed = (PushedCommit(commit=OLDER, message="Begin"), PushedCommit(commit=COMMIT, message="Go on"))
    first, second, third = hook.each()
    assert first == (
        Provider.BITBUCKET,
        WebhookEvent.PUSH,
        CLOUD["x-request-uuid"],
        Remote("acme/app", ("https://bitbucket.example/acme/app",)),
        Push("refs/heads/main", COMMIT, commits=listed),
        (),
    )
    assert (second.push, third.push) == (Push("refs/heads/topic", ""), Push("refs/tags/v1", COMMIT))
    assert len({one.delivery for one in hook.each()}) == 3


def test_a_push_of_a_server_of_bitbucket_is_parsed():
    hook = read(SERVER, SERVER_PUSH)
    assert (hook.provider, hook.event, hook.delivery) == (
        Provider.BITBUCKET,
        WebhookEvent.PUSH,
        SERVER["x-request-id"],
    )
    assert hook.remote.full_name == "ACME/app"
    assert [one.commit for one in hook.push.commits] == [OLDER, COMMIT]
    both = SERVER_PUSH | {
        "changes": [server_change("refs/heads/a", "DELETE", GONE), server_change("refs/heads/b")]
    }
    assert [one.push for one in read(SERVER, both).each()] == [
        Push("refs/heads/a", ""),
        Push("refs/heads/b", COMMIT),
    ]


@pytest.mark.parametrize(
    "source", ["https://bitbucket.example/scm/acme/app", "ssh://git@bitbucket.example/acme/app"]
)
def test_a_repository_of_a_server_of_bitbucket_is_found_by_its_address(source):
    known = Repository(tenant="t", repo="r", name="other/name", source=source, created_at=datetime.now(UTC))
    assert named_by(read(SERVER, SERVER_PUSH).remote, [known]) == [known]
    found = mentions(JSON["content-type"], json.dumps(SERVER_PUSH).encode())
    assert "ACME/app" in found.names
    assert "https://bitbucket.example/scm/acme/app.git" in found.urls


def merged_by(url: str, branch: str = "topic") -> MergedPullRequest:
    return MergedPullRequest(url=url, title="Retry", body="Closes #1234abcd", branch=branch, target="main")


def test_a_merged_pull_request_of_bitbucket_names_what_it_merged():
    ref = "refs/pull-requests/12/from"
    hook = read(SERVER | {"x-event-key": "pr:merged"}, SERVER_PULL)
    url = "https://bitbucket.example/projects/ACME/repos/app/pull-requests/12"
    assert (hook.event, hook.push) == (
        WebhookEvent.PULL_REQUEST,
        Push(ref, "", "pull/12", merged=merged_by(url)),
    )
    hook = read(CLOUD | {"x-event-key": "pullrequest:fulfilled"}, CLOUD_PULL)
    merged = merged_by("https://bitbucket.example/acme/app/pull-requests/12")
    assert hook.push == Push(ref, "", "pull/12", merged=merged)
    fork = {**CLOUD_PULL["pullrequest"], "source": {"branch": {"name": "topic"}, "repository": None}}
    hook = read(CLOUD | {"x-event-key": "pullrequest:fulfilled"}, CLOUD_PULL | {"pullrequest": fork})
    assert hook.push.merged.branch == ""


def test_open_and_closed_pull_requests_of_bitbucket():
    ref = "refs/pull-requests/12/from"
    for key, push in (
        ("pr:opened", Push(ref, COMMIT, "pull/12")),
        ("pr:from_ref_updated", Push(ref, COMMIT, "pull/12")),
        ("pr:declined", Push(ref, "", "pull/12")),
        ("pr:comment:added", None),
    ):
        assert read(SERVER | {"x-event-key": key}, SERVER_PULL).push == push, key
    for key, push in (("pullrequest:rejected", Push(ref, "", "pull/12")), ("pullrequest:created", None)):
        hook = read(CLOUD | {"x-event-key": key}, CLOUD_PULL)
        assert hook.push == push, key
    assert why_nothing(hook) == "its branch is indexed when it is pushed"


def test_a_ping_and_unknown_events_of_bitbucket_have_no_push():
    ping = read(SERVER | {"x-event-key": "diagnostics:ping"}, {"test": True})
    assert (ping.event, ping.remote, ping.push) == (WebhookEvent.PING, Remote(), None)
    other = read(CLOUD | {"x-event-key": "repo:fork"}, {"repository": CLOUD_REPOSITORY})
    assert (other.event, other.remote.full_name, other.each()) == (WebhookEvent.OTHER, "acme/app", [other])
    assert refused(CLOUD, b'{"repository": {"full_name": "a/b"}}') == ErrorCode.INVALID_ARGUMENT


def test_bitbucket_signs_with_the_header_of_its_own():
    body, secret = json.dumps(CLOUD_PUSH).encode(), "s" * 20
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = CLOUD | {"x-hub-signature": f"sha256={digest}"}
    assert is_signed(Provider.BITBUCKET, headers, body, secret)
    assert not is_signed(Provider.BITBUCKET, headers, body + b" ", secret)
    assert not is_signed(
        Provider.BITBUCKET, CLOUD | {"x-hub-signature-256": f"sha256={digest}"}, body, secret
    )
