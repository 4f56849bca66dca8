"""Events that the bus delivers twice, out of order, or broken. Published to NATS directly."""

import itertools
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nats.js import JetStreamContext
from running_stack import RunningStack, until
from source_repos import GitRepo

from prism_contracts import names, topics
from prism_contracts.base import DEFAULT_TENANT, Lane, file_id, ordinal_of, repo_id
from prism_contracts.code import Chunk, FileFlags, SkipReason
from prism_contracts.events import (
    FileChanged,
    FileChunked,
    FileEmbedded,
    FileEvent,
    FileRemoved,
    FileSkipped,
    Vectors,
)
from prism_contracts.records import FAST_MODEL_KEY, ModelVersion
from prism_contracts.topics import topic_of

SEED = 7
VERSIONS = 4
CROWDS = (500, 1_000, 2_000)
PIPELINE = ("PRISM_FILES", "PRISM_CHUNKED", "PRISM_EMBEDDED")
# By path: the content of each version, oldest first. C: changed, R: removed, S: skipped, lowercase c: the old
# content again.
LIVES = ["CCCC", "CCCR", "CRCc", "RCRC", "CSCS", "SCRS", "CcRc", "RRRR", "CCRC", "SSCR"]


def blob(text: str) -> str:
    return f"{abs(hash(text)):040x}"[:40]


class Story:
    """Events about files of one repository."""

    def __init__(self, name: str, model: ModelVersion) -> None:
        self.repo = repo_id(name)
        self._model = model
        self._name = name

    def events(self, *, embedded: bool) -> list[FileEvent]:
        return [
            self._event(life, path, version, embedded=embedded)
            for path, life in enumerate(LIVES)
            for version in range(1, VERSIONS + 1)
        ]

    def _event(self, life: str, path: int, version: int, *, embedded: bool) -> FileEvent:
        kind = life[version - 1]
        # Each version comes from its own job, as in production.
        fields: dict[str, Any] = self.address(f"src/file_{path}.py", version, path)
        if kind == "R":
            return FileRemoved(**fields)
        text = "".join(
            f"def step_{path}_{'first' if kind == 'c' else version}_{line}():\n    return {line}\n\n\n"
            for line in range(30)
        )
        if kind == "S":
            return FileSkipped(**fields, blob=blob(text), size_bytes=9, reason=SkipReason.BINARY)
        if embedded:
            return self.embedded(fields, text)
        return FileChanged(**fields, blob=blob(text), size_bytes=len(text), text=text)

    def address(self, path: str, version: int, ordinal: int, job: str = "") -> dict[str, Any]:
        return {
            "tenant": DEFAULT_TENANT,
            "repo": self.repo,
            "path": path,
            "version": version,
            "job": job or f"{self._name}-{version}",
            "ordinal": ordinal,
            "lane": Lane.LIVE if version % 2 else Lane.BULK,
        }

    def embedded(self, fields: dict[str, Any], text: str, *, vectors_missing: int = 0) -> FileEmbedded:
        """Returns the event as the embedder would publish it, with vectors that depend on the text."""
        lines = text.splitlines(keepends=True)
        chunks = tuple(
            Chunk(
                ordinal=number,
                start_line=first + 1,
                end_line=first + 40,
                text="".join(lines[first : first + 40]),
            )
            for number, first in enumerate(range(0, len(lines), 40))
        )
        rows = np.random.default_rng(len(text)).normal(
            size=(len(chunks) - vectors_missing, self._model.dimension)
        )
        return FileEmbedded(
            **fields,
            file=FileChunked(
                **fields,
                blob=blob(text),
                size_bytes=len(text),
                line_count=len(lines),
                language="python",
                flags=FileFlags(),
                chunker="made-up",
                chunks=chunks,
            ),
            vectors=Vectors(
                model=self._model.version,
                dimension=self._model.dimension,
                count=len(rows),
                data=rows.astype("<f2").tobytes(),
            ),
        )


async def publish(js: JetStreamContext, event: FileEvent) -> None:
    # Without a message id, because NATS must not deduplicate the repeated event.
    await js.publish(topic_of(type(event)).subject(event.lane), event.model_dump_json().encode())


async def drained(js: JetStreamContext) -> None:
    """Waits until no work is left. Checks the first stage first: a stage publishes before it acks its last
    message.
    """

    async def is_empty() -> bool:
        for stream in PIPELINE:
            if (await js.stream_info(stream)).state.messages:
                return False
        return True

    while not await is_empty():
        pass


async def the_model(js: JetStreamContext) -> ModelVersion:
    entry = await (await js.key_value(names.KV_MODEL_VERSIONS)).get(FAST_MODEL_KEY)
    return ModelVersion.model_validate_json(entry.value)


def told_apart_from_repo(stack: RunningStack, repo: str) -> dict[tuple[str, int], Any]:
    """Returns points by path and ordinal (-1: the file point), without the fields that name the repository."""
    points: dict[tuple[str, int], Any] = {}
    for key, point in stack.points(repo).items():
        payload = dict(point["payload"])
        if "file" not in payload:
            assert key == file_id(DEFAULT_TENANT, repo, "base", payload["path"])
        else:
            # Either of two versions may have written last the chunk that they share.
            del payload["version"]
        owner = payload.pop("file", key)
        assert owner == file_id(DEFAULT_TENANT, repo, "base", payload["path"])
        assert payload.pop("scope") == f"{repo}/base"
        points[payload["path"], ordinal_of(key)] = (payload, point["vector"])
    return points


@pytest.mark.parametrize("embedded", [True, False], ids=["to the indexer", "through all stages"])
async def test_repeated_and_shuffled_events_equal_ordered_ones(shared_stack: RunningStack, embedded) -> None:
    dice = random.Random(SEED)
    async with shared_stack.jetstream() as js:
        model = await the_model(js)
        in_order = Story(f"acme/in-order-{embedded}", model)
        for _, version in itertools.groupby(
            sorted(in_order.events(embedded=embedded), key=lambda event: event.version),
            lambda event: event.version,
        ):
            for event in version:
                await publish(js, event)
            await drained(js)
        expected = told_apart_from_repo(shared_stack, in_order.repo)
        assert {payload["status"] for (_, ordinal), (payload, _) in expected.items() if ordinal < 0} == {
            "indexed", "removed", "skipped",
        }  # fmt: skip

        for round_ in range(3):
            shuffled = Story(f"acme/shuffled-{embedded}-{round_}", model)
            events = shuffled.events(embedded=embedded)
            disorder = [*events, *dice.sample(events, len(events) // 2)]
            dice.shuffle(disorder)
            for event in disorder:
                await publish(js, event)
            await drained(js)
            found = told_apart_from_repo(shared_stack, shuffled.repo)
            assert found.keys() == expected.keys()
            for key in expected:
                assert found[key] == expected[key], (round_, key)

        # Everything again, long after: nothing changes.
        before = shared_stack.points(shuffled.repo)
        for event in reversed(events):
            await publish(js, event)
        await drained(js)
        assert shared_stack.points(shuffled.repo) == before


async def test_late_events_of_an_older_import_are_not_written(
    shared_stack: RunningStack, make_repo: Callable[..., GitRepo]
) -> None:
    """A file that the newer import did not change has no newer version that could win."""
    name = "acme/late"
    repo = make_repo("late", {"kept.py": "def kept():\n    return 1\n"})
    for number in range(3):
        repo.write({"changed.py": f"A = {number}\n"})
        repo.commit()
        shared_stack.index(repo.folder, "--name", name)
    before = shared_stack.points(repo_id(name))
    async with shared_stack.jetstream() as js:
        story = Story(name, await the_model(js))
        text = "def ghost():\n    return 2\n"
        late = [
            story.embedded(story.address("kept.py", 2, 0, "given-up"), text),
            story.embedded(story.address("ghost.py", 2, 1, "given-up"), text),
            FileRemoved(**story.address("kept.py", 2, 2, "given-up")),
        ]
        for event in late:
            await publish(js, event)
        await drained(js)
    assert shared_stack.points(repo_id(name)) == before


async def test_poison_becomes_a_dead_letter_and_delays_no_file(shared_stack: RunningStack) -> None:
    name = "acme/poisoned"
    files = {f"src/{kind}.py": f"def {kind}():\n    return 1\n".encode() for kind in (
        "good", "also_good", "swapped", "unreadable", "vectorless",
    )}  # fmt: skip
    job, needed = shared_stack.open_snapshot(name, files, "bulk")
    assert needed == [0, 1, 2, 3, 4]
    contents = list(files.values())
    # Differs from the announced content.
    shared_stack.send_pack(job["job"], {0: contents[0], 1: contents[1], 2: b"something else\n"}, "bulk")
    async with shared_stack.jetstream() as js:
        story = Story(name, await the_model(js))
        broken = story.address("src/unreadable.py", job["version"], 3, job["job"]) | {"size_bytes": "huge"}
        await js.publish(topics.FILE_CHANGED.subject(Lane.BULK), json.dumps(broken).encode())
        short = story.address("src/vectorless.py", job["version"], 4, job["job"])
        await publish(js, story.embedded(short, contents[4].decode(), vectors_missing=1))
        # Not an event at all, and an event of an unknown job.
        await js.publish(topics.FILE_CHANGED.subject(Lane.BULK), b"\xff not json")
        await js.publish(topics.FILE_EMBEDDED.subject(Lane.LIVE), b"{}")

    ended = shared_stack.ended_job(job["job"])
    assert ended["state"] == "complete_with_errors"
    counts = ended["counts"]
    assert (counts["seen"], counts["indexed"], counts["failed"]) == (5, 2, 3)
    assert {problem["path"]: problem["code"] for problem in ended["problems"]} == {
        "src/swapped.py": "upload_mismatch",
        "src/unreadable.py": "message_invalid",
        "src/vectorless.py": "message_invalid",
    }
    async with shared_stack.agent(name) as agent:
        coverage = await agent.ask("index_coverage")
        status = await agent.ask("index_status", job=job["job"])
        error = await agent.fails("read_file", file_path="src/vectorless.py")
        good = await agent.ask("search_code", query="also_good")
    assert (coverage["indexed"], coverage["failed"]) == (2, 3)
    assert {problem["file_path"] for problem in coverage["problems"]} == {
        "src/swapped.py", "src/unreadable.py", "src/vectorless.py",
    }  # fmt: skip
    assert status["job"]["state"] == "complete_with_errors"
    assert error["code"] == "file_skipped"
    assert good["results"][0]["file_path"] == "src/also_good.py"
    assert good["receipt"]["files_failed"] == 3

    def letters() -> dict[str, Any]:
        return shared_stack.get("/api/v1/status")["dead_letters"]

    await until(lambda: letters()["messages"] >= 2, what="the dead letters")
    shown = {letter["path"] for letter in letters()["newest"]}
    assert {"src/unreadable.py", "src/vectorless.py"} <= shown
    assert "" not in shown, "a message without a tenant belongs to no tenant"

    # The next import retries the failed file, and only that one.
    healed = shared_stack.send(name, files)
    assert healed["state"] == "complete"
    assert (healed["counts"]["unchanged"], healed["counts"]["indexed"]) == (2, 3)
    async with shared_stack.agent(name) as agent:
        assert (await agent.ask("index_coverage"))["failed"] == 0


def test_a_live_edit_does_not_wait_behind_an_import(shared_stack: RunningStack) -> None:
    """Proves something only if most of the import waits: a too quick import is followed by a larger one."""
    for size in CROWDS:
        crowd, edit = begin_import(shared_stack, size), begin_edit(shared_stack, size)
        most_waits = shared_stack.job(crowd)["counts"]["indexed"] < size / 2
        edited, imported = shared_stack.ended_job(edit), shared_stack.ended_job(crowd)
        assert edited["state"] == imported["state"] == "complete"
        assert imported["counts"]["indexed"] == size
        if most_waits:
            assert edited["finished_at"] < imported["finished_at"]
            return
    pytest.fail("each import was half done before the edit was taken in")


def begin_import(stack: RunningStack, size: int) -> str:
    """Returns the job of this many files, all of them sent."""
    files = {
        f"src/crowd_{number}.py": b"".join(
            b"def f%d_%d():\n    return 1\n\n\n" % (number, n) for n in range(60)
        )
        for number in range(size)
    }
    job, needed = stack.open_snapshot(f"acme/crowd-{size}", files, "bulk")
    stack.send_pack(job["job"], dict(zip(needed, files.values(), strict=True)), "bulk")
    return job["job"]


def begin_edit(stack: RunningStack, number: int) -> str:
    """Returns the job of one file that was just saved, sent."""
    content = b"def edited_just_now():\n    return 1\n"
    job, _ = stack.open_snapshot(f"acme/edit-{number}", {"a.py": content})
    stack.send_pack(job["job"], {0: content})
    return job["job"]
