"""From the text of a file to its chunks, symbols and references: `chunk_file` is the only door.

In: a path and a text. Out: `Parsed`. No broker, no store, no clock but the budget of a parse. A file that cannot be
parsed is still chunked, by lines: trouble is said in `Parsed.parse`, never raised.
"""

from prism_chunker.core.detect import detect_language
from prism_chunker.core.file import chunk_file
from prism_chunker.core.model import CHUNKER_VERSION, Budget, Parsed

__all__ = ["CHUNKER_VERSION", "Budget", "Parsed", "chunk_file", "detect_language"]
