"""Receipts: the freshness and completeness of an answer."""

from prism_contracts.rpc.common import SEVERAL_REPOSITORIES, GraphReceipt, Receipt
from prism_gateway.mcp.tool import Answer, Json

COMMIT_CHARS = 10
RECEIPT_START = "index "  # of the line


def receipt_json(receipt: Receipt) -> Json:
    """Returns the receipt for programs."""
    return receipt.model_dump(mode="json")


def receipt_line(receipt: Receipt) -> str:
    """Returns the receipt for readers, in one line."""
    line = _indexed(receipt)
    if receipt.lag_seconds:
        is_commit = receipt.head_commit not in {"", receipt.indexed_commit}
        head = f" {short_commit(receipt.head_commit)}" if is_commit else ""
        line += f" ({receipt.lag_seconds:.0f} s behind{head})"
    if receipt.mixed_with_job:
        line += f", some files may be newer: job {receipt.mixed_with_job} has not completed"
    if receipt.files_failed:
        line += f", {receipt.files_failed} files failed: index_coverage names them"
    if receipt.missing_legs:
        line += f", without {', '.join(receipt.missing_legs)}"
    if isinstance(receipt, GraphReceipt) and receipt.graph_lag_seconds:
        line += f", graph of {short_commit(receipt.graph_commit)} ({receipt.graph_lag_seconds:.0f} s behind the index)"
    return line


def corrections(answer: Answer) -> list[str]:
    """Returns a line per name that nothing has and whose answer is about a similar one."""
    corrected = answer.structured.get("receipt", {}).get("corrected", {})
    return [f"No `{asked}`; showing `{shown}`, the nearest name." for asked, shown in corrected.items()]


def _indexed(receipt: Receipt) -> str:
    if receipt.repo == SEVERAL_REPOSITORIES:
        return "index of all repositories"
    commit = short_commit(receipt.indexed_commit)
    if commit and receipt.indexed_at is None:
        return f"{receipt.repo}@{commit} from the mirror, not indexed"
    if not commit:
        return f"index {receipt.repo}, first import not complete"
    line = f"index {receipt.repo}@{commit}"
    if receipt.ref:
        line += f" at {receipt.ref}"
    if receipt.dirty:
        line += " with uncommitted changes"
    if receipt.files_missing:
        line += (
            f", {receipt.files_missing} changed files answered from the base: their content was not uploaded"
        )
    return line


def short_commit(commit: str) -> str:
    """Returns a short commit. A folder without git has `tree:` before its digest."""
    kind, mark, digest = commit.rpartition(":")
    return f"{kind}{mark}{digest[:COMMIT_CHARS]}"
