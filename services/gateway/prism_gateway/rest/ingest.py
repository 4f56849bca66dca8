"""Uploads by `prism index`: a snapshot with hashes, then packs of the contents that Prism needs.

These bodies are large. They are read as bytes, and limited again after decompression.
"""

import asyncio
import hashlib
import hmac
import zlib
from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.responses import Response

from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.events import FilesUploaded
from prism_contracts.rpc.imports import ADMIT_UPLOAD, OPEN_SNAPSHOT, AdmitUploadRequest, OpenSnapshotReply
from prism_contracts.types import Digest, JobId
from prism_gateway.rest import replies
from prism_gateway.rest.bodies import SnapshotBody
from prism_gateway.rest.dependencies import Caller, Services, Settings
from prism_gateway.rest.replies import reply

# The overhead of a pack of incompressible contents: header, ordinals and lengths.
PACK_OVERHEAD_BYTES = 64 * 1024
GZIP_WINDOW = 16 + zlib.MAX_WBITS

SNAPSHOT_DOC = {
    "requestBody": {
        "required": True,
        "description": "JSON, optionally with `Content-Encoding: gzip`.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SnapshotBody"}}},
    }
}
PACK_DOC = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


router = APIRouter(tags=["ingest"], prefix="/ingest")


@router.post("/snapshots", response_model=OpenSnapshotReply, openapi_extra=SNAPSHOT_DOC)
async def open_snapshot(request: Request, caller: Caller, backend: Services, settings: Settings) -> Response:
    """Start an import of a set of files. The response lists the files whose contents must be uploaded."""
    body = await _unpacked(request, settings.snapshot_unpacked_bytes_max)
    snapshot = _snapshot(body).model_copy(update={"tenant": caller.tenant})
    return reply(await backend.ask(OPEN_SNAPSHOT, snapshot), exclude=replies.JOB)


@router.post("/snapshots/{job}/packs", response_model=replies.Stored, status_code=202, openapi_extra=PACK_DOC)
async def store_pack(
    job: JobId,
    request: Request,
    *,
    caller: Caller,
    backend: Services,
    digest: Annotated[Digest, Header(alias="X-Prism-Pack", description="SHA-256 of the body, in hex.")],
    lane: Lane = Lane.BULK,
) -> Response:
    """Upload a pack of file contents.

    The response is sent once the pack is stored; a repeated pack counts once.

    A job that has ended needs no contents: `stored` is then false.

    """
    admitted = await backend.ask(ADMIT_UPLOAD, AdmitUploadRequest(tenant=caller.tenant, job=job))
    if not admitted.is_open:
        return reply(replies.Stored(stored=False), status=202)
    data = await request.body()
    if len(data) > admitted.bytes_max + PACK_OVERHEAD_BYTES:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            "The pack is larger than all files that the job needs.",
            "Send only the contents that the snapshot's response lists.",
            limit_bytes=admitted.bytes_max,
        )
    await asyncio.to_thread(_verify, data, digest)
    pack = FilesUploaded(tenant=caller.tenant, job=job, pack=digest.lower(), data=data)
    await backend.store_pack(pack, lane)
    return reply(replies.Stored(stored=True), status=202)


def _snapshot(body: bytes) -> SnapshotBody:
    try:
        return SnapshotBody.model_validate_json(body)
    except ValidationError as error:
        problems = error.errors(include_input=False)
        raise RequestValidationError([{**p, "loc": ("body", *p["loc"])} for p in problems]) from error


async def _unpacked(request: Request, bytes_max: int) -> bytes:
    body = await request.body()
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding == "gzip":
        return await asyncio.to_thread(_gunzip, body, bytes_max)
    if encoding != "identity":
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            f"Content-Encoding {shown(encoding)} is not supported.",
            "Send gzip or plain JSON.",
        )
    return body


def _gunzip(body: bytes, bytes_max: int) -> bytes:
    unpacker = zlib.decompressobj(GZIP_WINDOW)
    try:
        unpacked = unpacker.decompress(body, bytes_max + 1)
    except zlib.error as error:
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            "The body is not gzip.",
            "Compress the body again, or send plain JSON.",
        ) from error
    if len(unpacked) > bytes_max:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The decompressed snapshot exceeds {bytes_max} bytes.",
            "Index a subfolder of the repository.",
            limit_bytes=bytes_max,
        )
    if not unpacker.eof:
        raise PrismError(ErrorCode.INVALID_ARGUMENT, "The gzip body is cut off.", "Send the pack again.")
    return unpacked


def _verify(data: bytes, digest: str) -> None:
    actual = hashlib.sha256(data).hexdigest()
    if not hmac.compare_digest(actual.encode(), digest.lower().encode()):
        raise PrismError(
            ErrorCode.UPLOAD_MISMATCH,
            "The pack does not match its digest.",
            "Send the pack again.",
            expected=digest.lower(),
            actual=actual,
        )
