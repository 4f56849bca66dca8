"""Limits of an import: at the limits, and just past them."""

import pytest

from prism_contracts.code import SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.imports import SnapshotFile
from prism_ingest.core.import_limits import ImportLimits, check_import

LIMITS = ImportLimits(files_max=3, bytes_max=300)


def file(number: int, size_bytes: int, skipped: SkipReason | None = None) -> SnapshotFile:
    return SnapshotFile(path=f"{number}.py", blob="a" * 40, size_bytes=size_bytes, skipped=skipped)


def refusal(*files: SnapshotFile) -> PrismError:
    with pytest.raises(PrismError) as caught:
        check_import(files, LIMITS)
    assert caught.value.code is ErrorCode.PAYLOAD_TOO_LARGE
    return caught.value


def test_an_import_at_its_limits_is_accepted():
    check_import([file(number, 100) for number in range(3)], LIMITS)


def test_one_content_counts_once_per_path():
    assert "PRISM_IMPORT_BYTES_MAX" in str(refusal(*(file(number, 101) for number in range(3))).body)


def test_files_past_the_limit_are_refused():
    assert "PRISM_IMPORT_FILES_MAX" in str(refusal(*(file(number, 1) for number in range(4))).body)


def test_skipped_files_do_not_count_as_text():
    check_import([file(0, 300), file(1, 10**9, SkipReason.TOO_LARGE)], LIMITS)
