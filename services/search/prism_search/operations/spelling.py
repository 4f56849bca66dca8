"""Corrects names of a question that no file contains and that one known name is near to beyond doubt.

A name that occurs anywhere, in code or in prose, stays as it is.
"""

from prism_catalog.target import Target
from prism_resolver.symbol_names import SymbolName
from prism_search.adapters.known_names import NameReader
from prism_search.adapters.rarity import RarityCounter
from prism_search.core.near_names import corrected_name
from prism_search.core.query import Query
from prism_source.words import PART

NAMES_MAX = 3


class Spelling:
    """Corrects the names in questions."""

    def __init__(self, names: NameReader, rarity: RarityCounter) -> None:
        self._names = names
        self._rarity = rarity

    async def corrections(self, target: Target, query: Query) -> dict[str, str]:
        """Returns the names to search for instead, by the names as written."""
        found: dict[str, str] = {}
        for symbol in query.symbols[:NAMES_MAX]:
            words = [part.lower() for part in PART.findall(symbol)]
            if not await self._rarity.absent(target, words):
                continue
            asked = SymbolName.read(symbol)
            if meant := corrected_name(asked, await self._names.near(target, asked.parts)):
                found[symbol] = meant
        return found
