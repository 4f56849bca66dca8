"""Finds a file by its path, or reports why it is not there."""

from prism_catalog.target import Target
from prism_contracts.code import FileStatus
from prism_contracts.errors import ErrorCode, PrismError
from prism_search.adapters.texts import find_file
from prism_search.core.near_paths import near_paths
from prism_store.reader import Reader, StoredPoint, with_status

PATHS_COMPARED_MAX = 50_000


async def indexed_file(reader: Reader, target: Target, path: str, *fields: str) -> StoredPoint:
    """Returns the file point of a path of one repository. Raises FILE_SKIPPED, FILE_NOT_FOUND."""
    path = cleaned(path)
    point = await find_file(reader, target.scope, path, *fields)
    status = point.text("status") if point else ""
    if point and status == FileStatus.INDEXED:
        return point
    if point and status in (FileStatus.SKIPPED, FileStatus.FAILED):
        raise PrismError(
            ErrorCode.FILE_SKIPPED,
            f"{path} is not searchable: {point.text('reason')}. {point.text('detail')}".strip(),
            "index_coverage lists all such files.",
            reason=point.text("reason"),
        )
    raise await _not_found(reader, target, path)


def cleaned(path: str) -> str:
    """Returns a path relative to the repository, without the `./` or `/` that callers may write."""
    return path.strip().removeprefix("./").lstrip("/")


async def _not_found(reader: Reader, target: Target, path: str) -> PrismError:
    scan = reader.scan(target.scope, [with_status(FileStatus.INDEXED)], ["path"])
    paths: list[str] = []
    async for point in scan:
        paths.append(point.text("path"))
        if len(paths) >= PATHS_COMPARED_MAX:
            break
    near = near_paths(path, paths)
    return PrismError(
        ErrorCode.FILE_NOT_FOUND,
        f"There is no file {path} in {target.repositories[0].name}.",
        f"Did you mean {near[0]}?" if near else "list_files shows all files.",
        near=near,
    )
