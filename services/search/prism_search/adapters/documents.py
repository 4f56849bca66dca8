"""Reads documents of a repository, and quotes the rules among them within limits."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from prism_catalog.target import Target
from prism_contracts.code import Flag, Symbol
from prism_contracts.rpc.guidance import RulesDocument
from prism_runtime.packing import unpack_symbols
from prism_search.adapters.listing import Listing
from prism_search.adapters.texts import Texts
from prism_search.core.documents import ABOUT_WORK, LineRange, about_edits, head, headings, sections_about
from prism_search.core.lines import lines_of
from prism_search.core.rules import applies, is_contributing, rules_for
from prism_store.reader import Reader, StoredPoint

RULES_READ_MAX = 60
RULES_QUOTED_MAX = 8
RULES_CHARS_MAX = 6_000  # of one file


class DocumentText(NamedTuple):
    """A document's path, its lines without line ends, and its symbols, sections included."""

    path: str
    lines: Sequence[str]
    symbols: Sequence[Symbol]

    def quote(self, lines: LineRange, chars_max: int) -> str:
        """Returns some of its lines, cut at `chars_max`."""
        return "\n".join(self.lines[lines.start - 1 : lines.end])[:chars_max]


class Documents:
    """Reads documents."""

    def __init__(self, reader: Reader, texts: Texts, listing: Listing) -> None:
        self._reader = reader
        self._texts = texts
        self._listing = listing

    async def read(self, target: Target, points: Sequence[StoredPoint]) -> list[DocumentText]:
        """Returns the files that have not changed since they were listed."""
        texts = await self._texts.read(target.scope, points)
        facts = await self._reader.points(
            target.scope, [point.id for point in points], ["generation", "symbols"]
        )
        return [
            DocumentText(point.text("path"), lines_of(text), unpack_symbols(fact.text("symbols")))
            for point, text in zip(points, texts, strict=True)
            if text is not None
            and (fact := facts.get(point.id)) is not None
            and fact.text("generation") == point.text("generation")
        ]

    async def rules(self, target: Target) -> tuple[RulesDocument, ...]:
        """Returns all rules of a repository; of contributing guides, the sections about work on the code."""
        return tuple(
            rules
            for file, why in await self._rules_for(target, "")
            for rules in (is_contributing(file.path) and _quoted(file, why, ABOUT_WORK)) or _quoted(file, why)
        )

    async def rules_for_edits(self, target: Target, path: str) -> tuple[RulesDocument, ...]:
        """Returns the rules that apply to a path, nearest folder first.

        Of contributing guides only the sections that concern such a file.
        """
        point = (await self._listing.files(target)).by_path.get(path)
        is_prose = point is not None and bool(point.payload.get("prose"))
        about = about_edits(is_test=point is not None and Flag.TEST in point.text("flags"), is_prose=is_prose)
        return tuple(
            rules
            for file, why in await self._rules_for(target, path)
            for rules in _quoted(file, why, about if is_contributing(file.path) else None)
        )

    async def _rules_for(self, target: Target, path: str) -> list[tuple[DocumentText, str]]:
        """Returns the rules files that apply to a path, each with the reason; all for an empty path."""
        points = (await self._listing.files(target)).rules
        wanted = rules_for(path, points)[:RULES_READ_MAX]
        files = await self.read(target, [points[rules] for rules in wanted])
        held = ((file, applies(file.path, "\n".join(file.lines), path)) for file in files)
        return [(file, why) for file, why in held if why][:RULES_QUOTED_MAX]


def _quoted(file: DocumentText, why: str, about: re.Pattern[str] | None = None) -> list[RulesDocument]:
    """Returns the sections of a rules file about a subject; without one, its head."""
    sections = sections_about(file.symbols, about) if about else [LineRange(1, len(file.lines))]
    quoted: list[RulesDocument] = []
    room = RULES_CHARS_MAX
    for section in sections:
        lines = head(file.lines, room, section)
        content = file.quote(lines, room)
        room -= len(content)
        quoted.append(
            RulesDocument(
                file_path=file.path,
                line_count=len(file.lines),
                start_line=lines.start,
                end_line=lines.end,
                content=content,
                headings=() if quoted else headings(file.symbols),
                applies=why,
            )
        )
        if room <= 0:
            break
    return quoted
