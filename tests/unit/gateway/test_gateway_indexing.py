"""Jobs, repositories and coverage."""

from datetime import timedelta

import pytest
from gateway_receipts import RECEIPT

from prism_contracts.base import Lane
from prism_contracts.errors import ErrorBody, ErrorCode
from prism_contracts.records import FileProblem, Job, JobState, Layer, LayerKind, LayerState, Repository
from prism_contracts.rpc.files import CoverageReply
from prism_gateway.mcp.answers import indexing


@pytest.mark.parametrize(
    ("state", "settled", "count"),
    [
        (JobState.INDEXING, b"", 0),
        (JobState.INDEXING, b"\x03", 2),
        (JobState.FAILED, b"\xff\x01", 9),
        (JobState.COMPLETE, b"", 9),
    ],
)
def test_a_job_shows_counts_and_hides_internals(state, settled, count) -> None:
    job = Job(
        job="j",
        tenant="t",
        repo="r",
        repo_name="acme/app",
        lane=Lane.BULK,
        state=state,
        expected=9,
        settled=settled,
        problems=tuple(FileProblem(path=str(number), code="internal") for number in range(50)),
        error=ErrorBody(code=ErrorCode.CLONE_FAILED, message="no route"),
        created_at=RECEIPT.indexed_at,
        updated_at=RECEIPT.indexed_at,
    )
    answer = indexing.job(job)
    shown = answer.structured["job"]
    assert (shown["settled"], shown["expected"], shown["repo"]) == (count, 9, "acme/app")
    assert len(shown["problems"]) == indexing.JOB_PROBLEMS_MAX
    assert "tenant" not in shown
    assert (shown["repository_id"], "duration_seconds" in shown) == ("r", False)
    assert answer.text.endswith("clone_failed: no route")
    ended = job.model_copy(update={"finished_at": job.created_at + timedelta(seconds=2.5), "error": None})
    answer = indexing.job(ended)
    assert answer.structured["job"]["duration_seconds"] == 2.5
    assert answer.text.endswith(" in 2.5 s")


def test_an_empty_list_explains_how_to_index() -> None:
    assert "index_repository" in indexing.repositories([], []).text
    fresh = Repository(tenant="t", repo="r", name="acme/app", source="upload", created_at=RECEIPT.indexed_at)
    assert indexing.repositories([fresh], []).text == "acme/app: not indexed yet"


def test_repositories_list_branches_and_no_overlays() -> None:
    served = LayerState(commit="c" * 40, ref="main", version=1, job="j", indexed_at=RECEIPT.indexed_at)
    at = {"tenant": "t", "repo": "r", "created_at": RECEIPT.indexed_at}
    repository = Repository(name="acme/app", source="upload", served=served, **at)
    of_branch = served.model_copy(update={"commit": "b" * 40})
    layers = [
        Layer(layer="l1", kind=LayerKind.BRANCH, ref="topic", files="f1", served=of_branch, **at),
        Layer(layer="l2", kind=LayerKind.OVERLAY, ref="overlay:1", files="f2", served=of_branch, **at),
        Layer(layer="l3", kind=LayerKind.BRANCH, ref="fresh", **at),
        Layer(
            layer="l4", kind=LayerKind.BRANCH, ref="other", files="f4", served=served, **at | {"repo": "r2"}
        ),
    ]
    answer = indexing.repositories([repository], layers)
    (shown,) = answer.structured["repositories"]
    assert [(layer["layer"], layer["ref"]) for layer in shown["layers"]] == [
        ("base", "main"),
        ("topic", "topic"),
    ]
    assert answer.text.startswith("acme/app: base ccccccc")
    assert "topic bbbbbbb" in answer.text


@pytest.mark.parametrize(("scip", "is_said"), [(0, False), (2, True)])
def test_coverage_counts_files_of_scip_indexes(scip, is_said) -> None:
    reply = CoverageReply(
        repo="acme/app",
        files=3,
        indexed=3,
        skipped=0,
        failed=0,
        by_reason={},
        by_language={},
        by_parse={},
        redacted_files=0,
        redactions={},
        problems=(),
        scip=scip,
        receipt=RECEIPT,
    )
    assert ("SCIP: 2 of 3 files" in indexing.coverage(reply, 1_000).text) is is_said
