"""Distinguishes secret values from placeholders, references, names and prose. Pure.

The checks use shape alone: how kinds of characters alternate, and how much of a value reads like words. A
value has a few hundred characters at most, and every pattern here is linear.
"""

import base64
import binascii
import math
import re
from collections import Counter

VALUE_CHARS_MAX = 500

# Bits per character. Words have about 3, random base64 of 20 characters about 4, random hex 3.5.
_ENTROPY_TOKEN = 3.0
_ENTROPY_RANDOM = 3.3
_ENTROPY_LETTERS = 3.6
_ENTROPY_HEX = 2.7
_HEX_CHARS_MIN = 16
_SHORT_CHARS_MIN = 8
_LONG_CHARS_MIN = 16
_PASSWORD_CHARS_MIN = 6
_WORD_CHARS_MIN = 4
# Share of the letters of a value that are in runs that read like words: names have more, random text less.
_WORDS_SHARE_MAX = 0.5
_WORDS_SHARE_LETTERS_MAX = 0.4
# Changes between lower case, upper case, digits and symbols, per character.
_RUNS_SHARE_SHORT = 0.4
_RUNS_SHARE_LONG = 0.25
_DISTINCT_SHARE = 0.5

_HEX = re.compile(r"[0-9a-fA-F]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]+")
_PART = re.compile(r"[A-Za-z]*[0-9]{0,4}|[0-9]+[A-Za-z]?|v?[0-9.]+")
_SEPARATORS = re.compile(r"[-_./:+@]+")
_WORDS = re.compile(r"[A-Za-z]+")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{4}")
_SYMBOL = re.compile(r"[!@#$%^&*?~]")
_REFERENCE = re.compile(
    r"\$[A-Za-z_({]|\{\{|\$\{|%\(|#\{|<%|\[REDACTED:|://|^[<@&*!]|^(?:npm|workspace|patch|portal|link|file|git|github):|^[~.]{0,2}/|^%[A-Za-z_]+%$|\(\)"
)
_PLAIN = re.compile(r"(?i:true|false|yes|no|on|off|null|none)|[0-9.]{1,8}")
_VARIABLE = re.compile(r"\$\{?[A-Za-z_][A-Za-z0-9_]*\}?")
_EXAMPLE_NAME = re.compile(r"example|sample|dummy|placeholder|fake", re.IGNORECASE)
# Names of values that are generated but grant no access.
_PUBLIC_NAME = re.compile(
    r"public|publishable|websocket|(?:next|page|sync|continuation|cancel|primary|foreign|cache|sort|partition|host)[a-z]*[_-]?(?:key|token)"
    r"|(?:key|token|secret)[_-]?(?:id|hash|digest|checksum|sum|fingerprint|url|uri|path|file|name|type|header|regex|pattern)$",
    re.IGNORECASE,
)
# The ending of example keys in the documentation of AWS.
_AWS_EXAMPLE = re.compile(r"EXAMPLE(?:KEY)?$")

_PLACEHOLDERS = """
    password passwd passwort pass pwd pw passphrase secret secrets token tokens key keys value api apikey access private public
    mypassword mypass mysecret yourpassword my your the a an some any this is not in for of here put insert enter string text
    user username name admin root guest host login auth oauth git basic bearer client server app application
    test testing tester tests example examples sample dummy placeholder fake changeme change me replace todo credential
    credentials foo bar baz qux hunter abc abcd abcde abcdef abcdefg abcdefgh xyz x xx xxx xxxx qwerty letmein welcome p
    postgres postgresql mysql mariadb redis mongo mongodb rabbitmq db database dev development local localhost prod production
    redacted hidden masked none null true false undefined nil empty default unset required optional very strong super
"""
_PLACEHOLDER_WORDS = frozenset(_PLACEHOLDERS.split())


def entropy(text: str) -> float:
    """Returns the Shannon entropy of a text, in bits per character."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def is_token(value: str) -> bool:
    """Returns whether a value in the format of a token is real, unlike `ghp_xxxxxxxx`."""
    return entropy(value) >= _ENTROPY_TOKEN and not _AWS_EXAMPLE.search(value)


def is_named_secret(name: str, value: str) -> bool:
    """Returns whether a value with the name of a secret was generated."""
    if _EXAMPLE_NAME.search(name) or _PUBLIC_NAME.search(name) or not _may_be_value(value):
        return False
    return is_random(value)


def is_named_password(name: str, value: str) -> bool:
    """Returns the same for a password on its own line, which a person may have chosen."""
    if _EXAMPLE_NAME.search(name) or not _may_be_value(value) or len(value) < _PASSWORD_CHARS_MIN:
        return False
    has_kinds = re.search("[A-Za-z]", value) and re.search("[0-9]", value) and _SYMBOL.search(value)
    return bool(has_kinds) or is_random(value, chars_min=_PASSWORD_CHARS_MIN)


def is_password(user: str, password: str) -> bool:
    """Returns whether the password of a URL or a login is not a placeholder."""
    return password != user and not _REFERENCE.search(password) and not is_placeholder(password)


def is_basic_credentials(encoded: str) -> bool:
    """Returns whether base64 encodes `user:password`."""
    try:
        decoded = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    user, colon, password = decoded.partition(":")
    return bool(colon and password) and decoded.isprintable() and is_password(user, password)


def is_placeholder(value: str) -> bool:
    """Returns whether a value consists only of words that people write instead of a secret."""
    words = {word.lower() for word in _WORDS.findall(value)}
    return words <= _PLACEHOLDER_WORDS or len(set(value)) <= 2  # noqa: PLR2004 - such as `x-x-x-x`


def is_plain_setting(value: str) -> bool:
    """Returns whether the value of an environment variable is a switch, a number or a reference."""
    return bool(_PLAIN.fullmatch(value)) or "[REDACTED:" in value or bool(_VARIABLE.fullmatch(value))


def is_random(value: str, *, chars_min: int = _SHORT_CHARS_MIN) -> bool:
    """Returns whether a value was generated: kinds of characters alternate, and little reads like words."""
    if not chars_min <= len(value) <= VALUE_CHARS_MAX:
        return False
    if _UUID.fullmatch(value):
        return entropy(value) >= _ENTROPY_TOKEN
    if _HEX.fullmatch(value):
        return _is_random_hex(value)
    if _is_dotted_name(value):
        return False
    return _is_random_long(value) if len(value) >= _LONG_CHARS_MIN else _is_random_short(value)


def _may_be_value(value: str) -> bool:
    return len(value) <= VALUE_CHARS_MAX and not _REFERENCE.search(value) and not is_placeholder(value)


def _is_random_hex(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    is_mixed = 1 < digits < len(value) - 1
    return len(value) >= _HEX_CHARS_MIN and is_mixed and entropy(value) >= _ENTROPY_HEX


def _is_dotted_name(value: str) -> bool:
    """Returns whether it is words and numbers between separators: a name, path, version or cipher suite."""
    parts = _SEPARATORS.split(value.strip("=+/"))
    return len(parts) > 1 and all(map(_PART.fullmatch, parts)) and len(value) / len(parts) < _LONG_CHARS_MIN


def _is_random_short(value: str) -> bool:
    digits, letters = sum(map(str.isdigit, value)), sum(map(str.isalpha, value))
    others = len(value) - digits - letters
    is_mixed = digits and letters > 1 and digits + others > 1
    if not is_mixed or len(set(value)) < _DISTINCT_SHARE * len(value):
        return False
    return (
        len(_RUN.findall(value)) >= _RUNS_SHARE_SHORT * len(value) and _words_share(value) < _WORDS_SHARE_MAX
    )


def _is_random_long(value: str) -> bool:
    digits, runs = sum(map(str.isdigit, value)), len(_RUN.findall(value))
    words = _words_share(value)
    if digits >= 2:  # noqa: PLR2004 - one is a version
        is_mixed = runs >= _RUNS_SHARE_LONG * len(value) and words < _WORDS_SHARE_MAX
        return is_mixed and entropy(value) >= _ENTROPY_RANDOM
    is_mixed = runs >= _RUNS_SHARE_SHORT * len(value) and words < _WORDS_SHARE_LETTERS_MAX
    return is_mixed and entropy(value) >= _ENTROPY_LETTERS


def _words_share(value: str) -> float:
    letters = sum(map(str.isalpha, value)) or 1
    return sum(len(run) for run in _RUN.findall(value) if _is_word(run)) / letters


def _is_word(run: str) -> bool:
    lowered = run.lower()
    return (
        len(run) >= _WORD_CHARS_MIN
        and run.isalpha()
        and any(vowel in lowered for vowel in "aeiouy")
        and not _CONSONANTS.search(lowered)
    )
