"""The keys of deep vectors in their cache: no model embeds the same text twice.

The key covers everything on which a vector depends, so an entry is never stale and may be lost at any time.
Holds hashes of texts, never the texts.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


def vector_key(fingerprint: str, text: str) -> str:
    """Returns the key of a text's vector: SHA-256 (hex) of the model and the text."""
    digest = hashlib.sha256()
    for part in (fingerprint, text):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(
            len(data).to_bytes(8, "little")
        )  # a separator, so that no two pairs have the same bytes
        digest.update(data)
    return digest.hexdigest()
