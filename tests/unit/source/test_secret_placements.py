"""Secrets where people write them. The values are random: none of them opens anything."""

import base64
import random
import re
import string
import tomllib
from pathlib import Path

from prism_source.secrets import redact

PLACEMENTS = tomllib.loads((Path(__file__).parent / "secret_placements.toml").read_text())["placements"]
# This many of a hundred placements are hidden.
HIDDEN_PERCENT_MIN = 99

ALPHABETS = {
    "token": string.ascii_letters + string.digits,
    "pw": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "hex": "0123456789abcdef",
    "up": "ABCDEFGHIJKLMNPQRSTUVWXYZ234567",
    "digits": "123456789",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
MADE_UP = {
    "login": "robot:{pw12}",
    "ghp": "ghp_{token36}",
    "short": "{pw4}7!{pw4}",
    "uuid": "{hex8}-{hex4}-{hex4}-{hex4}-{hex12}",
    "pw": "{pw27}",
}
PLACE = re.compile(r"\{(base64 of [a-z]+|pem[: ]?[A-Za-z ]*|[a-z0-9_]+(?::\d+)?)\}")


class Values:
    """Fills a template, and records the values."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self.made: list[str] = []

    def fill(self, template: str) -> str:
        return PLACE.sub(lambda place: self._value(place[1]), template)

    def _value(self, place: str) -> str:
        if place.startswith(("pem", "pgp", "base64 of pem")):
            return self._key(place)
        if place.startswith("base64 of "):
            return self._keep(base64.b64encode(self._raw(place.removeprefix("base64 of ")).encode()).decode())
        return self._keep(self._raw(place))

    def _raw(self, place: str) -> str:
        if place in MADE_UP:
            return PLACE.sub(lambda part: self._raw(part[1]), MADE_UP[place])
        kind, count = re.fullmatch(r"([a-z]+?|b64):?(\d+)", place).groups()
        return self._some(kind, int(count))

    def _key(self, place: str) -> str:
        kind = "PGP " if place == "pgp" else place.partition(":")[2]
        tail = " BLOCK" if place == "pgp" else ""
        body = [self._keep(self._some("b64", 64)) for _ in range(12)]
        lines = [f"-----BEGIN {kind}PRIVATE KEY{tail}-----", *body, f"-----END {kind}PRIVATE KEY{tail}-----"]
        if place == "base64 of pem":
            return self._keep(base64.b64encode("\n".join(lines).encode()).decode())
        if place == "pem escaped":
            return "\\n".join(lines)
        if place == "pem indented":
            return "\n    ".join(lines)
        if place == "pem joined":
            return " +\n  ".join(f'"{line}\\n"' for line in lines)
        return "\n".join(lines) + "\n"

    def _some(self, kind: str, count: int) -> str:
        return "".join(self._dice.choice(ALPHABETS[kind]) for _ in range(count))

    def _keep(self, value: str) -> str:
        self.made.append(value)
        return value


def is_hidden(template: str, seed: int) -> bool:
    values = Values(seed)
    text = values.fill(template)
    redacted = redact(text).text
    assert redact(redacted) == (redacted, ())
    assert redacted.count("\n") == text.count("\n")
    return not any(value in redacted for value in values.made if len(value) > 8)


def test_secrets_are_hidden_where_people_write_them():
    runs = [(what, is_hidden(template, seed)) for what, _, template in PLACEMENTS for seed in range(5)]
    shown = [what for what, hidden in runs if not hidden]
    assert len(PLACEMENTS) >= 200
    assert len(shown) <= len(runs) * (100 - HIDDEN_PERCENT_MIN) / 100, shown
