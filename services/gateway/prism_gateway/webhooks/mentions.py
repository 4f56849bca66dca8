"""Finds the repositories that a webhook mentions, before its signature is verified.

Parsing 24 MiB of JSON takes seconds of CPU and hundreds of megabytes, and any stranger could trigger it. This
scan looks for the few fields that name a repository, in linear time, and keeps at most `VALUES_MAX` of them.
They only decide which secrets the signature is compared with.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from prism_gateway.webhooks.payloads import FORM

NAMES = (b"full_name", b"path_with_namespace")
URLS = (b"clone_url", b"ssh_url", b"html_url", b"git_http_url", b"git_ssh_url", b"web_url", b"href")
# Servers of Bitbucket name a repository by two fields.
PROJECT, REPOSITORY = b"key", b"slug"
# Per field. A payload names its repository near the start; forks and pull requests name a few more.
VALUES_MAX = 16
# Bitbucket has several links of each person, too.
LINKS_MAX = 64

_JSON_VALUE = re.compile(rb'\s{0,16}:\s{0,16}"([^"\\]{1,2048})"')
_FORM_VALUE = re.compile(
    rb"(?:%20|\+){0,16}%3A(?:%20|\+){0,16}%22([A-Za-z0-9._%~-]{1,2048}?)%22", re.IGNORECASE
)


class Mentions(NamedTuple):
    """Full names and URLs of repositories that occur in a body."""

    names: frozenset[str]
    urls: frozenset[str]


def mentions(content_type: str, body: bytes) -> Mentions:
    """Returns the repositories that a body mentions. The body is JSON, or a form with JSON in a field."""
    is_form = content_type.partition(";")[0].strip().lower() == FORM
    names = {value for field in NAMES for value in _values(body, field, is_form=is_form)}
    projects = set(_values(body, PROJECT, is_form=is_form))
    names |= {f"{one}/{slug}" for slug in _values(body, REPOSITORY, is_form=is_form) for one in projects}
    urls = (value for field in URLS for value in _values(body, field, is_form=is_form))
    return Mentions(frozenset(names), frozenset(urls))


def _values(body: bytes, field: bytes, *, is_form: bool) -> Iterator[str]:
    quote, value = (b"%22", _FORM_VALUE) if is_form else (b'"', _JSON_VALUE)
    key, at, found = quote + field + quote, 0, 0
    most = LINKS_MAX if field == b"href" else VALUES_MAX
    while found < most and (at := body.find(key, at)) >= 0:
        at += len(key)
        match = value.match(body, at)
        if match:
            found += 1
            raw = unquote_to_bytes(match[1]) if is_form else match[1]
            yield raw.decode(errors="replace")
