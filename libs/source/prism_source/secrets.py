r"""Secrets go out of a text before anything else sees it. Pure.

Only formats that are secrets by their shape (docs/decisions/0001-secret-scanning.md says why they are our own
table). The shapes are facts of gitleaks' rules, https://github.com/gitleaks/gitleaks. All rules are matched at
once by one RE2 set in linear time; a rule itself runs only on a text that it matches.

A secret becomes `[REDACTED:<rule>]`. Nothing else changes, no line is added or lost, and doing it twice is doing it once.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import re2  # type: ignore[import-untyped]


class Redacted(NamedTuple):
    """A text without its secrets, and the names of the rules that matched, sorted."""

    text: str
    rules: tuple[str, ...]


class _Rule(NamedTuple):
    """A shape, and a test of what it caught. The pattern is: (what stays) (the secret) (what stays)."""

    name: str
    pattern: str
    is_secret: Callable[[str, str], bool]  # the secret, what stands before it in the match


# Bits a character. Words have about 3, random base64 of 20 characters about 4, random hex 3.5.
_ENTROPY_TOKEN = 3.0
_ENTROPY_VALUE = 3.6
_ENTROPY_HEX = 3.0
_HEX_CHARS_MIN = 32
# A key block is base64; code between two mentions of its borders is not.
_KEY_CHARS_MIN = 64
_KEY_SHARE_MIN = 0.6

# What goes may uncover what stood beside it. A second pass is for that, the others are for hostile texts.
_PASSES_MAX = 4

_EXAMPLE = re.compile(
    r"example|placeholder|redacted|dummy|changeme|change-me|your[_-]|xxxx|\*\*\*|\.\.\.|0000|1234567|abcdef",
    re.IGNORECASE,
)
_HEX = re.compile(r"[0-9a-fA-F]+")
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/=]{16,}")
_WORDS = re.compile(r"[A-Za-z]+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_NOBODYS_PASSWORDS = frozenset(
    {
        *(
            "password",
            "passwd",
            "passwort",
            "pass",
            "pwd",
            "pw",
            "passphrase",
            "secret",
            "token",
            "key",
            "value",
        ),
        *("mypassword", "mypass", "mysecret", "yourpassword", "my", "your", "the", "some", "any", "string"),
        *("user", "username", "name", "admin", "root", "guest", "host", "login", "auth", "oauth", "git"),
        *("test", "testing", "tester", "example", "sample", "changeme", "credential", "credentials"),
        *("foo", "bar", "baz", "qux", "hunter", "abc", "xyz", "x", "xx", "xxx", "p"),
        *("postgres", "mysql", "redis", "mongo", "rabbitmq"),
    }
)


def redact(text: str) -> Redacted:
    """Take the secrets out of a text."""
    found: set[str] = set()
    for _ in range(_PASSES_MAX):
        before = text
        for position in sorted(_rule_set().Match(text) or ()):
            text = _apply(position, text, found)
        if text == before:
            break
    return Redacted(text, tuple(sorted(found)))


def _apply(position: int, text: str, found: set[str]) -> str:
    rule = _RULES[position]

    def replace(match: re.Match[str]) -> str:
        before, secret, after = match[1], match[2], match[3]
        if not rule.is_secret(secret, before):
            return match[0]
        found.add(rule.name)
        return before + _marker(rule.name, secret) + after

    return str(_pattern(position).sub(replace, text))


def _marker(name: str, secret: str) -> str:
    """The marker, with the line ends of the secret around it."""
    first, *others = _LINE_END.findall(secret) or [""]
    return f"{first}[REDACTED:{name}]{''.join(others)}"


def _entropy(text: str) -> float:
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def _is_token(secret: str, _before: str) -> bool:
    return _entropy(secret) >= _ENTROPY_TOKEN and not _EXAMPLE.search(secret)


def _is_key_block(secret: str, _before: str) -> bool:
    body = secret.replace("\\n", "\n")
    run_chars = sum(map(len, _BASE64_RUN.findall(body)))
    return run_chars >= _KEY_CHARS_MIN and run_chars >= _KEY_SHARE_MIN * len("".join(body.split()))


def _is_password(secret: str, before: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(secret)]
    user = before.rpartition("//")[2].rstrip(":")
    return secret != user and not _EXAMPLE.search(secret) and not set(words) <= _NOBODYS_PASSWORDS


def _is_random(secret: str, _before: str) -> bool:
    """Whether a value was made by a machine: mixed characters, high entropy, or long hex."""
    if _EXAMPLE.search(secret):
        return False
    if _HEX.fullmatch(secret):
        return len(secret) >= _HEX_CHARS_MIN and _entropy(secret) >= _ENTROPY_HEX
    has_all = all(re.search(kind, secret) for kind in ("[a-z]", "[A-Z]", "[0-9].*[0-9]"))
    return has_all and _entropy(secret) >= _ENTROPY_VALUE


_NAMED = (
    r"(?:passw(?:or)?d|passphrase|secret|api[_-]?key|apikey|access[_-]?key|auth[_-]?key|private[_-]?key"
    r"|encryption[_-]?key|signing[_-]?key|token|credentials?)"
)
_VALUE = r"[A-Za-z0-9+/=_.~!@#$%^&*-]{16,200}"

_RULES = (
    _Rule(
        "private-key",
        r"(-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----)((?:[^-]|-{1,4}[^-])*)(-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY)",
        _is_key_block,
    ),
    _Rule(
        "private-key",  # cut off: no end follows
        r"(-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----)((?:(?:\\n|\s)+[A-Za-z0-9+/=]{40,80})+)()",
        _is_key_block,
    ),
    _Rule("aws-access-key-id", r"(\b)((?:AKIA|ASIA)[A-Z2-7]{16})(\b)", _is_token),
    _Rule(
        "aws-secret-access-key",
        r"""((?i:secret|aws[_-]?key)[A-Za-z_.\-]{0,30}["']?\s{0,3}(?::=|=>|[:=])\s{0,3}["']?)([A-Za-z0-9/+]{40})((?:[^A-Za-z0-9/+=]|$))""",
        _is_random,
    ),
    _Rule("github-token", r"(\b)(gh[pousr]_[A-Za-z0-9]{36,255})(\b)", _is_token),
    _Rule("github-token", r"(\b)(github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})(\b)", _is_token),
    _Rule("gitlab-token", r"(\b)(gl(?:pat|ptt|rt|dt|cbt|soat|ft)-[A-Za-z0-9_-]{20,})()", _is_token),
    _Rule("slack-token", r"(\b)(xox[abeoprs]-[0-9]{6,}-[A-Za-z0-9-]{10,})()", _is_token),
    _Rule("slack-token", r"(\b)(xapp-[0-9]-[A-Z0-9]{6,}-[0-9]+-[A-Za-z0-9]{30,})()", _is_token),
    _Rule(
        "slack-webhook",
        r"(hooks\.slack\.com/(?:services|workflows)/)(T[A-Z0-9]{6,}/[A-Z][A-Z0-9]{6,}/[A-Za-z0-9/]{20,})()",
        _is_token,
    ),
    _Rule("stripe-key", r"(\b)([sr]k_live_[0-9A-Za-z]{16,})()", _is_token),
    _Rule("google-api-key", r"(\b)(AIza[0-9A-Za-z_-]{35})((?:[^0-9A-Za-z_-]|$))", _is_token),
    _Rule("google-oauth-secret", r"(\b)(GOCSPX-[0-9A-Za-z_-]{28,})()", _is_token),
    _Rule("npm-token", r"(\b)(npm_[A-Za-z0-9]{36})(\b)", _is_token),
    _Rule("pypi-token", r"(\b)(pypi-AgE[A-Za-z0-9_-]{60,})()", _is_token),
    _Rule("sendgrid-key", r"(\b)(SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43,})()", _is_token),
    _Rule("twilio-key", r"(\b)(SK[0-9a-f]{32})(\b)", _is_token),
    _Rule(
        "twilio-token",
        r"""((?i:twilio)[A-Za-z_.\-]{0,30}(?i:token|secret)["']?\s{0,3}(?::=|=>|[:=])\s{0,3}["']?)([0-9a-f]{32})(\b)""",
        _is_token,
    ),
    _Rule("anthropic-key", r"(\b)(sk-ant-[a-z0-9]{3,10}-[A-Za-z0-9_-]{60,})()", _is_token),
    _Rule("openai-key", r"(\b)(sk-[A-Za-z0-9_-]{16,200}T3BlbkFJ[A-Za-z0-9_-]{16,})()", _is_token),
    _Rule("openai-key", r"(\b)(sk-(?:or-v1-|proj-)?[A-Za-z0-9]{48,64})(\b)", _is_token),
    _Rule("jwt", r"(\b)(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,})()", _is_token),
    _Rule("azure-storage-key", r"(AccountKey=)([A-Za-z0-9+/]{86}==)()", _is_token),
    _Rule(
        "basic-auth-url",
        r"""(\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'`<>(){}\[\]|\\$%,;]{0,100}:)((?:[^\s/:@"'`<>(){}\[\]|\\$%*]|%[0-9A-Fa-f]{2}){3,200})(@[A-Za-z0-9\[])""",
        _is_password,
    ),
    _Rule(
        "secret-value",
        rf"""((?i:{_NAMED})[A-Za-z0-9_-]{{0,30}}["'`]?\]?\s{{0,3}}(?::=|=>|[:=])\s{{0,3}}["'`])({_VALUE})(["'`])""",
        _is_random,
    ),
    _Rule(
        "secret-value",  # as in a .env file
        rf"""((?m:^)[ \t]*(?:export[ \t]+)?[A-Z0-9_]{{0,60}}(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY)[A-Z0-9_]{{0,30}}[ \t]*=[ \t]*)({_VALUE})([ \t]*\r?(?m:$))""",
        _is_random,
    ),
)


@cache
def _rule_set() -> re2.Set:
    rules = re2.Set.SearchSet(_options())
    for rule in _RULES:
        rules.Add(rule.pattern)
    rules.Compile()
    return rules


@cache
def _pattern(position: int) -> re.Pattern[str]:
    return re2.compile(_RULES[position].pattern, _options())  # type: ignore[no-any-return]


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    # Enough for the set's automaton to stay whole: rebuilding it over and over would cost more than the search.
    options.max_mem = 64 * 1024 * 1024
    return options
