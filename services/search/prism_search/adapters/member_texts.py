"""Reads the text around passages, and caches it with what was computed from it."""

from collections.abc import Sequence

from prism_runtime.weighted_cache import WeightedCache
from prism_search.adapters.texts import Excerpt, read_excerpts
from prism_search.core.retrieval.member_text import MemberText
from prism_store.reader import Reader
from prism_store.scope import Scope

# Memory per byte of text, with its lines and the lines of its identifiers.
WEIGHT = 10


class MemberTexts:
    """Reads texts, and caches them up to a number of bytes.

    A generation is a content address, so a text of it never changes.
    """

    def __init__(self, reader: Reader, bytes_max: int) -> None:
        self._reader = reader
        self._cache: WeightedCache[Excerpt, MemberText] = WeightedCache(bytes_max)

    async def read(
        self, scope: Scope, excerpts: Sequence[Excerpt], languages: Sequence[str]
    ) -> list[MemberText | None]:
        """Returns the text of each excerpt; None if its file was replaced."""
        known = {excerpt: self._cache.get(excerpt) for excerpt in excerpts}
        missing = [excerpt for excerpt, text in known.items() if text is None]
        read = await read_excerpts(self._reader, scope, missing) if missing else ()
        contents = dict(zip(missing, read, strict=True))
        for excerpt, language in zip(excerpts, languages, strict=True):
            if known[excerpt] is None and (content := contents[excerpt]) is not None:
                text = known[excerpt] = MemberText(content, excerpt.first, language)
                self._cache.put(excerpt, text, WEIGHT * len(content))
        return [known[excerpt] for excerpt in excerpts]
