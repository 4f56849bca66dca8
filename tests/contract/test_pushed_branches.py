"""Which branches and commits ingest reports after a push, on a real NATS server and with the real git."""

from collections.abc import AsyncIterator

import pytest
from layers_stack import NAME, REPO, TENANT, Town, town
from nats.js.errors import NotFoundError

from prism_contracts import topics
from prism_contracts.events import MergedPullRequest, PushedCommit
from prism_contracts.registry import Topic
from prism_contracts.rpc.imports import OpenSnapshotRequest
from prism_contracts.rpc.layers import CreateLayerRequest


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(nats_server, tmp_path) as made:
        yield made


async def reported(place: Town, topic: Topic = topics.BRANCH_PUSHED) -> list:
    """Returns the events in their queue: nothing consumes them here."""
    stream = topic.stream.name
    state = (await place.bus.js.stream_info(stream)).state
    found = []
    for number in range(state.first_seq, state.last_seq + 1):
        try:
            message = await place.bus.js.get_msg(stream, number)
        except NotFoundError:
            continue
        if message.subject.endswith(topic.fact):
            found.append(topic.event.model_validate_json(message.data))
    return found


async def test_the_first_import_is_no_push(place: Town) -> None:
    assert await reported(place) == []


async def test_a_push_to_the_base_has_its_new_commits(place: Town) -> None:
    commits = [place.commit({"a.py": f"a = {number}\n"}) for number in (2, 3)]
    await place.push("main")
    await place.serves_base(commits[-1])
    (event,) = await reported(place)
    assert (event.tenant, event.repo, event.name, event.branch) == (TENANT, REPO, NAME, "main")
    assert [one.commit for one in event.commits] == commits
    assert {one.message for one in event.commits} == {"Go on\n"}


async def test_a_poll_reports_what_no_webhook_announced(place: Town) -> None:
    commit = place.commit({"a.py": "a = 2\n"})
    await place.poller.round()
    await place.serves_base(commit)
    (event,) = await reported(place)
    assert [one.commit for one in event.commits] == [commit]


async def test_a_branch_is_reported_as_it_appears_and_as_it_moves(place: Town) -> None:
    first = place.branch("7c0d5a54-retry", {"b.py": "b = 2\n"})
    await place.push("7c0d5a54-retry")
    await place.serves("7c0d5a54-retry", first)
    second = place.branch("7c0d5a54-retry", {"b.py": "b = 3\n"}, start="7c0d5a54-retry")
    await place.push("7c0d5a54-retry")
    await place.serves("7c0d5a54-retry", second)
    events = await reported(place)
    assert {event.branch for event in events} == {"7c0d5a54-retry"}
    assert [[one.commit for one in event.commits] for event in events] == [[first], [second]]


async def test_a_branch_without_a_commit_of_its_own_is_reported_by_name(place: Town) -> None:
    place.origin.git("branch", "7c0d5a54-retry", "main")
    await place.push("7c0d5a54-retry")
    await place.serves("7c0d5a54-retry", place.origin.git("rev-parse", "main"))
    (event,) = await reported(place)
    assert (event.branch, event.commits) == ("7c0d5a54-retry", ())


@pytest.mark.parametrize("ref", ["v1", "pull/7"])
async def test_tags_and_heads_of_pull_requests_are_not_reported(place: Town, ref: str) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    place.origin.git("tag", "v1", "topic")
    place.origin.git("update-ref", "refs/pull/7/head", "topic")
    await place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref=ref))
    await place.serves(ref, commit)
    assert await reported(place) == []


async def test_what_is_fetched_again_without_a_push_is_not_reported(place: Town) -> None:
    commit = place.commit({"a.py": "a = 2\n"})
    await place.push("main")
    await place.serves_base(commit)
    before = len(await reported(place))
    await place.push("main")

    async def is_quiet() -> bool:
        return (await place.repository()).next_version > 3 and (await place.repository()).is_quiet

    await place.until(is_quiet)
    assert len(await reported(place)) == before


async def test_of_a_branch_that_is_not_fetched_the_webhook_is_believed(nats_server, tmp_path) -> None:
    commits = (PushedCommit(commit="a" * 40, message="Retry\n\nTask: 7c0d5a54"),)
    async with town(nats_server, tmp_path, layers_by_push=False) as place:
        await place.push("7c0d5a54-retry", delivery="1", commits=commits)
        await place.push("pull/7", pull_request="pull/7", ref="refs/pull/7/head", commits=commits)
        await place.push("gone", is_deleted=True)
        commit = place.commit({"a.py": "a = 2\n"})
        await place.push("main", commits=commits)
        await place.serves_base(commit)
        announced, fetched = await reported(place)
    assert (announced.branch, announced.commits, announced.name) == ("7c0d5a54-retry", commits, NAME)
    assert (fetched.branch, [one.commit for one in fetched.commits]) == ("main", [commit])


async def test_a_merge_into_the_branch_of_the_base_is_reported(place: Town) -> None:
    def closed(number: int, merged: MergedPullRequest | None) -> dict[str, object]:
        name = f"pull/{number}"
        ref = f"refs/{name}/head"
        return {"pull_request": name, "ref": ref, "is_deleted": True, "merged": merged}

    merged = MergedPullRequest(url="https://git.example.org/pull/1", title="#7c0d5a54", target="main")
    await place.push("", **closed(1, merged))
    await place.push("", **closed(2, merged.model_copy(update={"target": "topic"})))
    await place.push("", **closed(3, None))
    commit = place.commit({"a.py": "a = 2\n"})
    await place.push("main")
    await place.serves_base(commit)
    (event,) = await reported(place, topics.PULL_MERGED)
    assert (event.pull_request, event.merged, event.name) == ("pull/1", merged, NAME)


async def test_an_upload_of_a_checkout_counts_as_a_push(place: Town) -> None:
    def pushed(number: int) -> PushedCommit:
        return PushedCommit(commit=f"{number:040x}", message="Go on\n")

    async def upload(name: str, *commits: PushedCommit, layer: str = "") -> None:
        request = OpenSnapshotRequest(
            tenant=TENANT, repo_name=name, layer_ref=layer, snapshot=commits[-1].commit + layer, ref="main",
            commit=commits[-1].commit, commits=commits, files=(),
        )  # fmt: skip
        await place.ended((await place.snapshots.open_snapshot(request)).job)

    first, second, third = pushed(1), pushed(2), pushed(3)
    await upload("acme/local", first, second)
    assert await reported(place) == []
    await upload("acme/local", first, second, third)
    await upload("acme/local", first, second, third, layer="7c0d5a54-retry")
    base, layer = await reported(place)
    assert (base.name, base.branch, base.commits) == ("acme/local", "main", (third,))
    assert (layer.branch, layer.commits) == ("7c0d5a54-retry", ())
    await upload(
        "acme/local", second, pushed(4)
    )  # instead of the third, so its list does not say what is new
    assert (await reported(place))[-1].commits == (second, pushed(4))
