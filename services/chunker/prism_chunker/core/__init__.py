"""The text of a file becomes chunks, symbols and references: `chunk_file` is the only entry point.

In: a path and a text. Out: `Parsed`. No broker, no store, no clock except the budget of a parse. A file that
cannot be parsed is chunked by lines: `Parsed.parse` has the reason, and nothing is raised.
"""

from prism_chunker.core.detect import detect_language
from prism_chunker.core.file import chunk_file
from prism_chunker.core.model import CHUNKER_VERSION, Budget, Parsed

__all__ = ["CHUNKER_VERSION", "Budget", "Parsed", "chunk_file", "detect_language"]
