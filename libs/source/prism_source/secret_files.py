"""Detects files that hold secrets: those withheld as a whole, and env files, whose values are redacted.

Pure.
"""

import re

import re2  # type: ignore[import-untyped]

from prism_source.secret_policy import SecretPolicy

# Withheld regardless of content: folders and names in lower case, matched after a `/`.
_ALWAYS = re2.compile(
    r"(?:^|/)(?:"
    r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|[^/]+\.(?:p12|pfx|jks|keystore|ppk|kdbx|agekey|tfstate|tfstate\.backup)"
    r"|[._]netrc|\.pgpass|\.my\.cnf|\.pypirc|\.git-credentials|\.htpasswd|\.dockercfg|\.vault-token|kubeconfig|[^/]+\.kubeconfig"
    r"|\.docker/config\.json|\.aws/credentials|\.kube/config|secring\.(?:gpg|pgp|asc)|config/master\.key"
    r")$"
)
# Withheld if the text contains a secret: certificates, settings and projects have the same names.
_IF_TELLING = (
    (
        re2.compile(r"(?:^|/)[^/]+\.(?:pem|key|p8|asc)$"),
        re2.compile(r"private key(?: block)?-----|age-secret-key-"),
    ),
    (re2.compile(r"(?:^|/)\.npmrc$"), re2.compile(r"_auth(?:token)?\s*=|_password\s*=")),
    (re2.compile(r"(?:^|/)credentials$"), re2.compile(r"aws_secret_access_key")),
    (re2.compile(r"\.json$"), re2.compile(r'"type":\s*"service_account"')),
    (re2.compile(r"(?:^|/)config\.json$"), re2.compile(r'"auths"\s*:')),
)
_TELLING_CHARS = 8_000

_ENV = re2.compile(r"(?:^|/)(?:\.env(?:\.[a-z0-9_.-]+)?|[a-z0-9_-]+\.env|\.envrc|\.flaskenv)$")
_ENV_EXAMPLE = re2.compile(r"\.(?:example|sample|template|tmpl|dist|defaults?|schema)(?:\.env)?$")


def is_withheld(path: str, data: bytes, policy: SecretPolicy) -> bool:
    """Returns whether a file is withheld as a whole. `data` is its content, or the beginning of it."""
    if not policy.withhold:
        return False
    lowered = path.lower()
    if _ALWAYS.search(lowered) or policy.has_file(path):
        return True
    kinds = [telling for name, telling in _IF_TELLING if name.search(lowered)]
    return bool(kinds) and _matches_any(kinds, data)


def is_env_file(path: str) -> bool:
    """Returns whether a file sets environment variables: their names are useful, their values secret."""
    lowered = path.lower()
    return _ENV.search(lowered) is not None and _ENV_EXAMPLE.search(lowered) is None


def _matches_any(kinds: list[re.Pattern[str]], data: bytes) -> bool:
    head = data[:_TELLING_CHARS].decode(errors="replace").lower()
    return any(telling.search(head) for telling in kinds)
