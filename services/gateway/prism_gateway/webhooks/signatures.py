"""Verification of webhook signatures. Pure; every comparison takes constant time.

https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
"""

import hashlib
import hmac
from collections.abc import Mapping

from prism_gateway.webhooks.payloads import Provider

_GITHUB_PREFIX = "sha256="


def is_signed(provider: Provider, headers: Mapping[str, str], body: bytes, secret: str) -> bool:
    """Whether the signature of a raw body matches a secret.

    GitLab sends the secret itself. An empty secret never matches.
    """
    if not secret:
        return False
    if provider is Provider.GITLAB:
        return _same(headers.get("x-gitlab-token", ""), secret)
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if provider is Provider.GITEA:
        return _same(headers.get("x-gitea-signature", ""), expected)
    if provider is Provider.BITBUCKET:
        return _same(headers.get("x-hub-signature", ""), _GITHUB_PREFIX + expected)
    return _same(headers.get("x-hub-signature-256", ""), _GITHUB_PREFIX + expected)


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(errors="surrogateescape"), expected.encode())
