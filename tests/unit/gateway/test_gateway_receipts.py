"""The receipt line: how fresh and how complete an answer is."""

from gateway_receipts import RECEIPT

from prism_contracts.rpc.common import SEVERAL_REPOSITORIES
from prism_gateway.mcp.answers.receipts import corrections, receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer


def test_the_receipt_line_lists_what_is_missing() -> None:
    stale = RECEIPT.model_copy(
        update={
            "head_commit": "2" * 40,
            "lag_seconds": 12.3,
            "files_skipped": 2,
            "files_failed": 1,
            "missing_legs": ("dense",),
            "cached": True,
        }
    )
    assert receipt_line(stale) == (
        "index acme/app@1111111111 (12 s behind 2222222222), 1 files failed: index_coverage names them, without dense"
    )


def test_the_receipt_line_names_the_ref_and_its_gaps() -> None:
    layer = RECEIPT.model_copy(update={"ref": "topic", "dirty": True, "files_missing": 2})
    assert receipt_line(layer) == (
        "index acme/app@1111111111 at topic with uncommitted changes, "
        "2 changed files answered from the base: their content was not uploaded"
    )


def test_an_answer_about_several_repositories_names_no_commit() -> None:
    receipt = RECEIPT.model_copy(
        update={"repo": SEVERAL_REPOSITORIES, "indexed_commit": "", "head_commit": ""}
    )
    assert receipt_line(receipt) == "index of all repositories"


def test_a_folder_without_git_shows_the_head_of_its_digest() -> None:
    receipt = RECEIPT.model_copy(update={"indexed_commit": "tree:" + "d" * 64, "head_commit": ""})
    assert receipt_line(receipt) == "index acme/app@tree:dddddddddd"


def test_an_answer_begins_with_the_corrected_names() -> None:
    receipt = RECEIPT.model_copy(update={"corrected": {"Sesion": "Session"}})
    answer = Answer({"receipt": receipt_json(receipt)}, "…")
    assert corrections(answer) == ["No `Sesion`; showing `Session`, the nearest name."]
    assert corrections(Answer({}, "…")) == []
