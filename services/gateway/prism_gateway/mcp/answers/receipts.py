"""Receipts: how fresh and how complete an answer is."""

from prism_contracts.rpc.common import SEVERAL_REPOSITORIES, GraphReceipt, Receipt
from prism_gateway.mcp.tool import Json

COMMIT_CHARS = 10


def receipt_json(receipt: Receipt) -> Json:
    """For programs."""
    return receipt.model_dump(mode="json")


def receipt_line(receipt: Receipt) -> str:
    """For readers."""
    line = _indexed(receipt)
    if receipt.lag_seconds:
        is_commit = receipt.head_commit not in {"", receipt.indexed_commit}
        head = f" {short_commit(receipt.head_commit)}" if is_commit else ""
        line += f" ({receipt.lag_seconds:.0f} s behind{head})"
    if receipt.mixed_with_job:
        line += f", some files may be newer: job {receipt.mixed_with_job} has not completed"
    if receipt.files_skipped or receipt.files_failed:
        line += f", {receipt.files_skipped} files skipped, {receipt.files_failed} failed"
    if receipt.missing_legs:
        line += f", without {', '.join(receipt.missing_legs)}"
    if isinstance(receipt, GraphReceipt):
        line += f", graph of {short_commit(receipt.graph_commit)}"
        if receipt.graph_lag_seconds:
            line += f" (the index is ahead of it since {receipt.graph_lag_seconds:.0f} s)"
    return f"{line}, cached" if receipt.cached else line


def _indexed(receipt: Receipt) -> str:
    if receipt.repo == SEVERAL_REPOSITORIES:
        return "index of all repositories"
    commit = short_commit(receipt.indexed_commit)
    if commit and receipt.indexed_at is None:
        return f"{receipt.repo}@{commit} as it was fetched, not indexed"
    if not commit:
        return f"index {receipt.repo}, no commit complete yet"
    line = f"index {receipt.repo}@{commit}"
    if receipt.ref:
        line += f" at {receipt.ref}"
    if receipt.dirty:
        line += " with uncommitted changes"
    if receipt.files_missing:
        line += f", {receipt.files_missing} of its files as the base has them: their content was not sent"
    return line


def short_commit(commit: str) -> str:
    """The head of a commit; a folder without git has `tree:` before its digest."""
    kind, mark, digest = commit.rpartition(":")
    return f"{kind}{mark}{digest[:COMMIT_CHARS]}"
