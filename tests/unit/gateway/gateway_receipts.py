"""A receipt for tests."""

from datetime import UTC, datetime

from prism_contracts.rpc.common import Receipt

RECEIPT = Receipt(
    repo="acme/app",
    indexed_commit="1" * 40,
    head_commit="1" * 40,
    lag_seconds=0,
    indexed_at=datetime(2026, 1, 2, tzinfo=UTC),
    corpus_version=1,
    files_indexed=1,
    files_skipped=0,
    files_failed=0,
)
