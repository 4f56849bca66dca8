"""The secrets of developer tokens: `prism_`, 32 random characters, and a checksum of 6.

The form lets scanners recognize a leaked secret, and reveals a typo without a look-up. Secrets of older
releases have another length and no checksum; they stay valid.
"""

import hashlib
import re
import secrets
import string
import zlib
from typing import Final

PREFIX: Final = "prism_"
RANDOM_CHARS: Final = 32  # 190 bits
CHECKSUM_CHARS: Final = 6
ID_CHARS: Final = 12

_ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_CHECKED = re.compile(f"{PREFIX}[0-9A-Za-z]{{{RANDOM_CHARS + CHECKSUM_CHARS}}}")


def new_secret() -> str:
    """Returns a new random secret."""
    random = "".join(secrets.choice(_ALPHABET) for _ in range(RANDOM_CHARS))
    return f"{PREFIX}{random}{_checksum(random)}"


def is_mistyped(secret: str) -> bool:
    """Whether the secret has the form of this release and a wrong checksum."""
    if not _CHECKED.fullmatch(secret):
        return False
    random = secret[len(PREFIX) : -CHECKSUM_CHARS]
    return secret[-CHECKSUM_CHARS:] != _checksum(random)


def digest_of(secret: str) -> str:
    """Returns the SHA-256 of a secret in hex: all that Prism stores of it."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def token_id(digest: str) -> str:
    """Returns the public id of a token: the beginning of its digest."""
    return digest[:ID_CHARS]


def _checksum(random: str) -> str:
    """Returns the CRC-32 in base 62."""
    number, digits = zlib.crc32(random.encode()), ""
    for _ in range(CHECKSUM_CHARS):
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits
