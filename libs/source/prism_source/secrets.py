r"""Redacts the secrets of a text before anything else reads it. Pure.

`secret_formats.toml` lists token formats that identify a secret by its shape. This module adds secrets that
their context identifies: names, headers, URLs, commands, key files. docs/decisions/0001-secret-scanning.md
has the reasons. An RE2 set finds the matching rules in linear time; only those run on the text.

A secret becomes `[REDACTED:<rule>]`. Nothing else changes, no line is added or lost, and redaction is
idempotent.
"""

import base64
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import re2  # type: ignore[import-untyped]

from prism_source.secret_files import is_env_file
from prism_source.secret_policy import OwnRule
from prism_source.secret_values import (
    is_basic_credentials,
    is_named_password,
    is_named_secret,
    is_password,
    is_plain_setting,
    is_random,
    is_token,
)


class Redacted(NamedTuple):
    """A text without its secrets, and the names of the rules that matched, sorted."""

    text: str
    rules: tuple[str, ...]


Span = tuple[int, int]


class _Rule(NamedTuple):
    """A pattern, and a function that returns the secret spans of a match, in order."""

    name: str
    pattern: str
    spans: Callable[[re.Match[str]], Iterable[Span]]
    trigger: str = ""  # a short pattern inside every match; by default the pattern with small counts


# A key block is base64; code between two mentions of its delimiters is not.
_KEY_CHARS_MIN = 64
_KEY_SHARE_MIN = 0.6
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/=]{16,}")
_ARMOR_CHARS = 64
_LINE_END = re.compile(r"\r\n|\r|\n")
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.-]*\Z")
_NAME_CHARS_MAX = 60
_COUNT = re.compile(r"\{([0-9]+)(?:,[0-9]*)?\}")
_COUNT_MAX = 6

# Redacting one secret may expose its neighbour to a rule, hence a second pass; the others are for hostile
# texts.
_PASSES_MAX = 4


def redact(text: str, own: tuple[OwnRule, ...] = (), path: str = "") -> Redacted:
    """Redacts secrets, also by the operator's own rules, and all values if `path` is an env file."""
    rules = _compiled(own)
    found: set[str] = set()
    if is_env_file(path):
        text = _env_rules().apply(0, text, found)
    for _ in range(_PASSES_MAX):
        before = text
        for position in rules.matching(text):
            text = rules.apply(position, text, found)
        if text == before:
            break
    return Redacted(text, tuple(sorted(found)))


class _Rules:
    """Rules in groups, the most certain first. A group's set finds which of its rules may match a text.

    One set for all would be an automaton of millions of states. The set of the first group also detects
    whether the text has a telling name at all; the second group, whose rules are about such names, runs only
    then.
    """

    def __init__(self, first: tuple[_Rule, ...], named: tuple[_Rule, ...], own: tuple[_Rule, ...]) -> None:
        self._rules = (*first, *named, *own)
        self._patterns = [_compile(rule.pattern) for rule in self._rules]
        self._gate = len(first)
        self._first = _set_of([*map(_trigger, first), _NAME])
        self._named = _set_of(map(_trigger, named))
        self._own = _set_of(rule.pattern for rule in own) if own else None
        self._own_start = len(first) + len(named)

    def matching(self, text: str) -> list[int]:
        """Returns the positions of the rules that may match a text."""
        data = text.encode()
        found = sorted(self._first.Match(data) or ())
        if found and found[-1] == self._gate:
            found[-1:] = [self._gate + hit for hit in sorted(self._named.Match(data) or ())]
        if self._own:
            found += [self._own_start + hit for hit in sorted(self._own.Match(data) or ())]
        return found

    def apply(self, position: int, text: str, found: set[str]) -> str:
        """Redacts the matches of a rule, and adds its name to `found` if there were any."""
        rule = self._rules[position]
        pieces, end = [], 0
        for match in self._patterns[position].finditer(text):
            for start, stop in rule.spans(match):
                found.add(rule.name)
                pieces += [text[end:start], _marker(rule.name, text[start:stop])]
                end = stop
        return "".join([*pieces, text[end:]]) if end else text


def _set_of(patterns: Iterable[str]) -> re2.Set:
    found = re2.Set.SearchSet(_options())
    for pattern in patterns:
        found.Add(pattern)
    found.Compile()
    return found


def _trigger(rule: _Rule) -> str:
    return rule.trigger or _loosened(rule.pattern)


def _loosened(pattern: str) -> str:
    """Returns a pattern that matches wherever the given one does, with small counts for a small automaton."""
    return _COUNT.sub(lambda count: f"{{{min(int(count[1]), _COUNT_MAX)},}}", pattern)


@lru_cache(maxsize=4)
def _compiled(own: tuple[OwnRule, ...]) -> _Rules:
    added = tuple(_Rule(rule.name, rule.pattern, _whole, rule.pattern) for rule in own)
    return _Rules((*_KEYS, *_formats(), *_CONTEXTS), _NAMES, added)


def _compile(pattern: str) -> re.Pattern[str]:
    return re2.compile(pattern, _options())  # type: ignore[no-any-return]


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    # Enough to cache the set's whole automaton: rebuilding it repeatedly would cost more than the search.
    options.max_mem = 256 * 1024 * 1024
    return options


def _marker(name: str, secret: str) -> str:
    """Returns the marker, with the line ends of the secret."""
    first, *others = _LINE_END.findall(secret) or [""]
    return f"{first}[REDACTED:{name}]{''.join(others)}"


# ---- secret spans of a match


def _group(match: re.Match[str]) -> Span:
    return match.span(1) if match.re.groups and match.group(1) is not None else match.span()


def _whole(match: re.Match[str]) -> Iterator[Span]:
    start, end = _group(match)
    if "[REDACTED:" not in match.string[start:end] and start < end:
        yield start, end


def _token(match: re.Match[str]) -> Iterator[Span]:
    start, end = _group(match)
    if is_token(match.string[start:end]):
        yield start, end


def _random(match: re.Match[str]) -> Iterator[Span]:
    if is_random(match[1]):
        yield match.span(1)


def _named(match: re.Match[str]) -> Iterator[Span]:
    """Groups: the name starting at its telling word, and the value, quoted or not."""
    group = next(number for number in range(2, match.re.groups + 1) if match[number] is not None)
    if is_named_secret(_name(match), match[group]):
        yield match.span(group)


def _password_line(match: re.Match[str]) -> Iterator[Span]:
    if is_named_password(match[1], match[2]):
        yield match.span(2)


def _login(match: re.Match[str]) -> Iterator[Span]:
    """Groups: the user, and the password."""
    if is_password(match[1] or "", match[2]):
        yield match.span(2)


def _basic(match: re.Match[str]) -> Iterator[Span]:
    if is_basic_credentials(match[1]):
        yield match.span(1)


def _env_value(match: re.Match[str]) -> Iterator[Span]:
    value = match[1].strip(" \t\"'")
    if value and not is_plain_setting(value):
        start = match.start(1) + match[1].index(value)
        yield start, start + len(value)


def _authorization(match: re.Match[str]) -> Iterator[Span]:
    if is_basic_credentials(match[1]) or is_random(match[1]):
        yield match.span(1)


def _key_block(match: re.Match[str]) -> Iterator[Span]:
    body = match[1].replace("\\n", "\n").replace("\\r", "\r")
    run_chars = sum(map(len, _BASE64_RUN.findall(body)))
    if run_chars >= _KEY_CHARS_MIN and run_chars >= _KEY_SHARE_MIN * len("".join(body.split())):
        yield match.span(1)


def _armored(match: re.Match[str]) -> Iterator[Span]:
    """Base64 of a PEM file that holds a private key, not a certificate."""
    if b"PRIVATE KEY" in base64.b64decode(match[0][:_ARMOR_CHARS]):
        yield match.span()


def _manifest(match: re.Match[str]) -> Iterator[Span]:
    """The values under `data` and `stringData` of a Kubernetes Secret, up to the next document."""
    for value in _secret_data().finditer(match[0]):
        for line in _data_line().finditer(value[1]):
            if not line[1].startswith(("{{", "$", "[REDACTED:", "|", ">", "#")):
                start = match.start() + value.start(1) + line.start(1)
                yield start, start + len(line[1])


def _joined(match: re.Match[str]) -> Iterator[Span]:
    """Concatenated literals, or a word over several lines: secret if the joined text is."""
    pieces = [piece.span() for piece in _piece().finditer(match[0])]
    whole = "".join(match[0][start:end] for start, end in pieces)
    before = match.string[max(0, match.start() - _NAME_CHARS_MAX) : match.start()]
    name = _telling_name().search(before)
    if _is_of_format(whole) or (name and is_named_secret(name[1], whole)):
        yield from ((match.start() + start, match.start() + end) for start, end in pieces)


def _is_of_format(text: str) -> bool:
    rules, found = _format_rules(), set[str]()
    for position in rules.matching(text):
        rules.apply(position, text, found)
    return bool(found)


def _name(match: re.Match[str]) -> str:
    start = match.start(1)
    before = _NAME_BEFORE.search(match.string[max(0, start - _NAME_CHARS_MAX) : start])
    return (before[0] if before else "") + match[1]


@lru_cache(maxsize=1)
def _secret_data() -> re.Pattern[str]:
    return _compile(r"(?m)^(?:data|stringData):[ \t]*\r?\n((?:[ \t]+[^\n]*\n?|[ \t]*\r?\n)+)")


@lru_cache(maxsize=1)
def _data_line() -> re.Pattern[str]:
    return _compile(r"""(?m)^[ \t]+["']?[A-Za-z0-9_.-]+["']?:[ \t]*["']?([^\s"']+)["']?[ \t]*\r?$""")


@lru_cache(maxsize=1)
def _piece() -> re.Pattern[str]:
    return _compile(rf"{_PIECE}{{2,}}")


@lru_cache(maxsize=1)
def _telling_name() -> re.Pattern[str]:
    return _compile(rf"""({_NAME}[A-Za-z0-9_-]*)["'`]?[\])]?[ \t]*(?::=|=>|=|:|,)[ \t]*\(?\s*$""")


@lru_cache(maxsize=1)
def _env_rules() -> _Rules:
    return _Rules((_Rule("env-file", _ENV_VALUE, _env_value),), (), ())


@lru_cache(maxsize=1)
def _format_rules() -> _Rules:
    return _Rules(_formats(), (), ())


# ---- rules

# Telling words: words of a name whose value is secret.
_NAME = (
    r"(?i:passw(?:or)?d|passphrase|passwort|secret|token|credential|authorization|bearer|dsn"
    r"|(?:api|app|application|access|auth|private|encryption|signing|account|master|license|shared|session|deploy|write|admin"
    r"|service|client|storage|consumer|integration|hmac|jwt|cipher|aes)[_.-]?key"
    r"|[_.-](?:key|pass|pwd|pw|auth|salt|pepper)|\b(?:pass|pwd|pw|auth|salt|apikey))"
)
_NAMED = rf"({_NAME}[A-Za-z0-9_-]*)"
# Values with a digit or a symbol only: code about tokens and passwords is full of names without either.
_TELLING = r"[0-9!@#$^&+~?%]"
_QUOTED = rf"""["'`]((?:[^\s"'`\\]*{_TELLING})[^\s"'`\\]*)\\?["'`]"""
_BARE_CHAR = r"[A-Za-z0-9+/=_.~!@#$%^&*?|:-]"
_BARE = rf"""([A-Za-z0-9+/_.~!@#%^*?-]*{_TELLING}[A-Za-z0-9+/=_.~!@#$%^&*?-]*)(?:[\s"'`,;)}}\]<\\]|$)"""
_CLOSE = r"""\\?["'`]?[\])]{0,2}"""
_TYPE = r"""(?:[ \t]*[?!]?:?[ \t]*&?[A-Za-z_][A-Za-z0-9_<>\[\]|?.]*[ \t]*|[ \t]*\{[^{}\n]*\}[ \t]*)?"""
_BREAK = r"(?:[\\(]?[ \t]*\r?\n[ \t]*)?"

_PIECE = "[A-Za-z0-9_/+=.-]"
_JOINT = r"""["'`][ \t]*[+.&]?[ \t]*\\?(?:\r?\n[ \t]*)?[+.&]?[ \t]*[brfu]?["'`]"""

# The value of a line of an env file, with its quotes, without a comment.
_ENV_VALUE = r"""(?m)^[ \t]*(?:export[ \t]+)?[A-Za-z_][A-Za-z0-9_.]*[ \t]*[=:][ \t]*("[^"]*"|'[^']*'|[^\s#"'][^\r\n#]*)"""

_LINE_NAME = r"""[A-Za-z0-9_.-]*(?i:password|passwd|passphrase|pwd|_pass|\bpass|_pw)"""

_KIND = r"""kind:[ \t]*["']?Secret"""
_BEGIN_KEY = r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"

_KEYS = (
    _Rule(
        "private-key",
        rf"{_BEGIN_KEY}((?:[^-]|-{{1,4}}[^-])*)-----END (?:[A-Z0-9]+ ){{0,3}}PRIVATE KEY",
        _key_block,
        _BEGIN_KEY,
    ),
    _Rule(  # truncated: no end delimiter follows
        "private-key",
        rf"{_BEGIN_KEY}((?:(?:\\r|\\n|\s)+[A-Za-z0-9+/=]{{40,80}})+)",
        _key_block,
        _BEGIN_KEY,
    ),
    _Rule(
        "private-key",
        r"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----((?:[^-]|-[^-])*)---- END",
        _key_block,
        r"---- BEGIN SSH2",
    ),
    _Rule(
        "private-key",
        r"Private-Lines: [0-9]+((?:\r?\n[A-Za-z0-9+/=]{1,80})+)(?:\r?\nPrivate-MAC|\s*$)",
        _whole,
    ),
    _Rule(
        "private-key",
        r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{50,}(?:\r?\n[ \t]*[A-Za-z0-9+/]{60,})*(?:\r?\n[ \t]*[A-Za-z0-9+/]+)?={0,2}",
        _armored,
    ),
    _Rule(
        "aws-secret-access-key",
        r"""(?i:secret|aws[_-]?key)[A-Za-z_.\-]*[^A-Za-z0-9/+]{1,30}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)""",
        _random,
    ),
    _Rule(  # near the id that it belongs to
        "aws-secret-access-key",
        r"(?:A[KS]IA[A-Z2-7]{16}|REDACTED:aws-access-key-id)(?:[^A-Za-z0-9/+=\n][^\n]*\n){0,3}?[^\n]*?[^A-Za-z0-9/+=]([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)",
        _random,
        r"A[KS]IA[A-Z2-7]{6}|REDACTED:aws-access-key-id",
    ),
    _Rule(
        "twilio-token",
        r"""(?i:twilio)[A-Za-z_.\-]*(?i:token|secret)["']?\s{0,3}(?::=|=>|[:=])\s{0,3}["']?([0-9a-f]{32})\b""",
        _token,
    ),
)

_CONTEXTS = (
    _Rule(
        "authorization-header",
        r"""(?i:authorization)\\?["'`]?\]?[ \t]*[:=,>][ \t]*(?:[A-Za-z_.]+\()?[bf]?\\?["'`]?(?i:basic|bearer|token|bot|apikey|api-key|ssws|key)[ \t]+([A-Za-z0-9+/=_.~|:-]{8,})""",
        _authorization,
        r"(?i:authorization)",
    ),
    _Rule(
        "joined-secret",
        rf"""["'`]{_PIECE}{{3,}}(?:{_JOINT}{_PIECE}{{3,}})+["'`]""",
        _joined,
        rf"""{_PIECE}{_JOINT}{_PIECE}""",
    ),
    _Rule(
        "joined-secret",
        rf"{_PIECE}{{8,}}(?:\\\r?\n[ \t]*{_PIECE}{{4,}})+",
        _joined,
        rf"{_PIECE}\\\r?\n[ \t]*{_PIECE}",
    ),
    _Rule("authorization-header", r"\b(?i:bearer|ssws)[ \t]+([A-Za-z0-9+/=_.~-]{16,})", _random),
    _Rule("docker-auth", r"""["'](?:auth|_auth)["'][ \t]*:[ \t]*["']([A-Za-z0-9+/]{8,}={0,2})["']""", _basic),
    _Rule("docker-auth", r"""_auth[ \t]*=[ \t]*["']?([A-Za-z0-9+/]{8,}={0,2})""", _basic),
    _Rule(
        "netrc-password",
        r"""\b(?:machine\s+[^\s"']+\s+(?:login\s+([^\s"']+)\s+)?|default\s+login\s+[^\s"']+\s+)(?:account\s+\S+\s+)?password\s+([^\s"'\\]+)""",
        _login,
        r"[ \t\n]password[ \t\r\n]",
    ),
    _Rule(
        "basic-auth-url",
        r"""\b[A-Za-z][A-Za-z0-9+.-]{1,20}://([^\s/:@"'`<>(){}\[\]|\\$%,;]*):((?:[^\s/:@"'`<>(){}\[\]|\\$%*]|%[0-9A-Fa-f]{2}){3,})@[A-Za-z0-9\[]""",
        _login,
        r"://[^\s/:@]*:[^\s/@]{3,}@",
    ),
    _Rule("basic-auth-url", r"://([A-Za-z0-9_-]{20,})(?::x-oauth-basic)?@[A-Za-z0-9]", _random),
    _Rule(
        "kubernetes-secret",
        r"(?m)^kind:[ \t]*[\"']?Secret[\"']?[ \t]*\r?\n(?:[^-\n][^\n]*\n?|-[^-\n][^\n]*\n?|\r?\n)*",
        _manifest,
        _KIND,
    ),
    _Rule(
        "kubernetes-secret",
        r"(?m)^(?:data|stringData):[ \t]*\r?\n(?:[^-\n][^\n]*\n|-[^-\n][^\n]*\n|\r?\n)*kind:[ \t]*[\"']?Secret[\"']?[ \t]*\r?$",
        _manifest,
        _KIND,
    ),
    _Rule(
        "command-password",
        r"""\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n|;]*?[ \t]-p["']?([^\s"'$-][^\s"']{3,})""",
        _random,
        r"(?:mysql|mariadb)[a-z-]*[ \t]",
    ),
    _Rule(
        "command-password",
        r"""\b(?:sshpass|login|sqlcmd|redis-cli|ldapsearch|unzip|zip|7z)\b[^\n|;]*?[ \t]-[pPaw][ \t]*["']?([^\s"'$-][^\s"']{3,})""",
        _random,
        r"[ \t]-[pPaw]",
    ),
    _Rule(
        "command-password",
        r"""\b(?:curl|wget|http)\b[^\n]*?[ \t](?:-u|--user)[ \t=]*["']?([^\s:"'$]+):([^\s"'$]{4,})""",
        _login,
        r"[ \t](?:-u|--user)[ \t=]",
    ),
    _Rule(
        "secret-value",
        r"""(?i:(identified[ \t]+by|requirepass|masterauth))[ \t]+["']?([^\s"'`$;]{8,})""",
        _named,
    ),
)

_NAMES = (
    _Rule(
        "secret-value",  # name = "value", "name": "value", f("name", "value"), env["NAME"] or "value"
        rf"""{_NAMED}(?:{_CLOSE}{_TYPE}[ \t]*(?::=|=>|=|:|\|\|=?|\?\?=?|\?:|\bor\b)[ \t]*{_BREAK}|\\?["'`]\]?[ \t]*,[ \t]*)(?:[A-Za-z_][A-Za-z0-9_.:]*\(|[!A-Za-z@$]{{1,2}})?\\?{_QUOTED}""",
        _named,
    ),
    _Rule(
        "secret-value",  # NAME=value, name: value, ${{NAME:-value}}
        rf"""{_NAMED}{_CLOSE}[ \t]*(?::=|=>|==|=|:[-=?]?|\?=)[ \t]*(?:[>|][+-]?[ \t]*)?(?:\\?\r?\n[ \t]+)?{_BARE}""",
        _named,
    ),
    _Rule(
        "secret-value",  # <name>value</name>, <property name="name">value</property>
        rf"""{_NAMED}["']?[^<>\n]*>\s*([^<>\s]*{_TELLING}[^<>\s]*)\s*</""",
        _named,
    ),
    _Rule(
        "secret-value",  # name: NAME, value: value, in YAML, JSON, XML and Terraform
        rf"""{_NAMED}["'`]?[ \t]*[,{{]?[ \t]*(?:\r?\n[ \t]*(?:type|description|sensitive|nullable)\b[^\n]*)*(?:\r?\n[ \t]*)?["'`]?(?i:value|default|defaultvalue|content)["'`]?[ \t]*[:=][ \t]*["'`]?([^\s"'`,;<>{{}}()]*{_TELLING}[^\s"'`,;<>{{}}()]*)""",
        _named,
    ),
    _Rule(
        "secret-value",  # --name value, ENV NAME value, PASSWORD 'value', "name value"
        rf"""{_NAMED}(?:[ \t]+(?i:is|by|to))?["'`]?[ \t]+["'`]?([A-Za-z0-9+/=_.~!@#%^&*?-]*{_TELLING}[A-Za-z0-9+/=_.~!@#$%^&*?-]*)(?:[\s"'`,;)<\\]|$)""",
        _named,
    ),
    _Rule(
        "password-line",
        rf"""(?m)^[ \t]*(?:-[ \t]+)?(?:export[ \t]+|ENV[ \t]+|ARG[ \t]+|set[ \t]+|env[ \t]+)?["']?({_LINE_NAME})["']?[ \t]*[=:][ \t]*["']?([^\s"'`,;]{{6,}})["']?,?[ \t]*(?:(?:[#;]|//)[^\n]*)?\r?$""",
        _password_line,
    ),
    _Rule(
        "password-line",  # connection strings
        r"""(?i:(password|pwd))[ \t]*=[ \t]*([^\s"'`;{}<>$]{6,});""",
        _password_line,
    ),
)


@lru_cache(maxsize=1)
def _formats() -> tuple[_Rule, ...]:
    table = tomllib.loads((files("prism_source") / "secret_formats.toml").read_text("utf-8"))
    return tuple(
        _Rule(one["name"], one["pattern"], _token, one.get("trigger", "")) for one in table["format"]
    )
