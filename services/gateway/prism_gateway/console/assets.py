"""The style sheet and the script of the console: by the hash of their content, so that they can be cached for ever."""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

FOLDER: Final = Path(__file__).with_name("static")
PREFIX: Final = "/assets/"
TYPES: Final = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
FOR_EVER: Final = "public, max-age=31536000, immutable"
HASH_CHARS: Final = 12


class Asset(NamedTuple):
    """A file, plain and compressed."""

    url: str
    media_type: str
    plain: bytes
    gzipped: bytes


@cache
def assets() -> dict[str, Asset]:
    """Returns the files by name."""
    return {path.name: _read(path) for path in sorted(FOLDER.iterdir()) if path.suffix in TYPES}


def asset_url(name: str) -> str:
    """Returns the address of a file."""
    return assets()[name].url


def takes_gzip(request: Request) -> bool:
    """Whether a browser reads compressed answers."""
    return "gzip" in request.headers.get("accept-encoding", "")


async def serve_asset(request: Request) -> Response:
    """Answer with a file. Its address changes with its content."""
    asset = next((one for one in assets().values() if one.url == request.url.path), None)
    if asset is None:
        return Response(status_code=404)
    is_gzip = takes_gzip(request)
    headers = {"Cache-Control": FOR_EVER, "Vary": "Accept-Encoding"}
    if is_gzip:
        headers["Content-Encoding"] = "gzip"
    return Response(asset.gzipped if is_gzip else asset.plain, media_type=asset.media_type, headers=headers)


def _read(path: Path) -> Asset:
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:HASH_CHARS]
    url = f"{PREFIX}{path.stem}.{digest}{path.suffix}"
    return Asset(url, TYPES[path.suffix], content, gzip.compress(content, mtime=0))
