"""What decides where a request of a browser comes from, and where it may be sent next. Pure functions."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
HOME: Final = "/repos"
NEXT_CHARS_MAX: Final = 2_000
SECURE_COOKIE: Final = "__Host-prism"
PLAIN_COOKIE: Final = "prism_session"
SECURE_ATTEMPT: Final = "__Host-prism-sign-in"
PLAIN_ATTEMPT: Final = "prism_sign_in"

_LOCAL_PATH = re.compile(r"/(?![/\\])[^\s\\\x00-\x1f\x7f]*")


def is_same_origin(headers: Mapping[str, str], public_url: str = "") -> bool:
    """Whether a request was made by a page of the console itself, or by the person at the address bar.

    Browsers say so in `Sec-Fetch-Site`. Where they do not, because the connection is neither encrypted nor
    local, `Origin` has to be this host.
    """
    site = headers.get("sec-fetch-site", "")
    if site:
        return site in ("same-origin", "none")
    origin = urlsplit(headers.get("origin", "")).netloc
    own = {headers.get("host", ""), urlsplit(public_url).netloc} - {""}
    return origin in own


def local_path(wanted: str) -> str:
    """Returns a path of this origin to go to next; the first page for anything else."""
    if len(wanted) > NEXT_CHARS_MAX or not _LOCAL_PATH.fullmatch(wanted):
        return HOME
    return wanted


def cookie_name(*, is_secure: bool) -> str:
    """Returns the name of the cookie of sessions. Browsers take `__Host-` over https only, for one host and path."""
    return SECURE_COOKIE if is_secure else PLAIN_COOKIE


def attempt_name(*, is_secure: bool) -> str:
    """Returns the name of the cookie of a sign-in through an identity provider, as `cookie_name` does."""
    return SECURE_ATTEMPT if is_secure else PLAIN_ATTEMPT


def is_secure(scheme: str, public_url: str) -> bool:
    """Whether the browser's connection is encrypted, as far as the gateway or its settings know."""
    return scheme == "https" or public_url.startswith("https://")


def may_sign_in(scheme: str, host: str, public_url: str) -> bool:
    """Whether a token may be sent: the connection is encrypted or local, or the settings name this http address."""
    if is_secure(scheme, public_url):
        return True
    return urlsplit(f"//{host}").hostname in LOOPBACK or (
        bool(public_url) and urlsplit(public_url).netloc == host
    )
