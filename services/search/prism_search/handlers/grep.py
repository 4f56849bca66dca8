"""Find every line that matches, in order of path and line, a page at a time."""

import asyncio
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc import GrepMatch, GrepReply, GrepRequest
from prism_search.adapters.filters import nothing_passes, refuse_unknown_language
from prism_search.adapters.listing import Listing, place
from prism_search.adapters.repositories import Repositories, Target
from prism_search.adapters.texts import Texts, read_text
from prism_search.core.cursors import read_cursor, write_cursor
from prism_search.core.globs import compile_glob
from prism_search.core.lines import Block, matching_lines
from prism_search.core.patterns import Pattern, compile_pattern
from prism_search.settings import SearchSettings
from prism_store.reader import Reader, StoredPoint

# A first page is often full after a few files; who looks on looks at many.
FILES_AT_ONCE_FIRST = 8
FILES_AT_ONCE_GROWTH = 4
FILES_AT_ONCE_MAX = 512
BYTES_AT_ONCE_MAX = 16 * 1024 * 1024
# Stands for the last line of a file that has been looked at, of which nobody counted the lines.
FILE_END = sys.maxsize


class GrepHandler:
    """Answers `grep`."""

    def __init__(self, reader: Reader, repositories: Repositories, settings: SearchSettings) -> None:
        self._reader = reader
        self._repositories = repositories
        self._settings = settings
        self._listing = Listing(reader)
        self._texts = Texts(reader, settings.texts_kept_bytes_max)

    async def grep(self, request: GrepRequest) -> GrepReply:
        """Matching lines; `complete` says whether all of the scope has been looked at."""
        deadline = time.monotonic() + self._settings.grep_deadline_s
        pattern = compile_pattern(
            request.pattern, regex=request.regex, case_sensitive=request.case_sensitive, word=request.word
        )
        question = request.model_dump_json(exclude={"cursor", "limit", "context_lines"})
        start = _start(question, request.cursor)
        target = self._repositories.target(request)
        await refuse_unknown_language(self._reader, self._repositories, target, request.language)
        scan = _Scan(request, pattern, target, start, deadline)
        listed = await self._listing.files(target)
        passes = _filter(request)
        files = list(filter(passes, listed.that_may_hold(pattern.clauses)))
        await self._look(scan, files[bisect_right(files, start, key=_end) :])
        complete = not scan.full and not scan.late
        excludes_all = bool(listed.points) and not files and not any(map(passes, listed.points))
        return GrepReply(
            matches=tuple(scan.matches),
            next_cursor="" if complete else write_cursor(question, *scan.position),
            complete=complete,
            note=nothing_passes(request.path_filter, request.language) if excludes_all else _note(scan),
            files_scanned=scan.files,
            receipt=await self._repositories.receipt(target),
        )

    async def _look(self, scan: "_Scan", files: Sequence[StoredPoint]) -> None:
        """Look at the files until the page is full or the time is up, and at one at least."""
        step, begin = FILES_AT_ONCE_FIRST, 0
        while begin < len(files) and not (begin and scan.is_over()):
            batch = _at_once(files[begin : begin + step])
            texts = [
                text if text is not None else await self._newer_text(scan.target, file)
                for file, text in zip(batch, await self._texts.read(scan.target.scope, batch), strict=True)
            ]
            # In a thread: a slow pattern must not keep other questions from being taken.
            await asyncio.to_thread(scan.take, batch, texts)
            begin, step = begin + len(batch), min(step * FILES_AT_ONCE_GROWTH, FILES_AT_ONCE_MAX)

    async def _newer_text(self, target: Target, file: StoredPoint) -> str:
        """The text of a file that was replaced since it was listed; nothing if it was removed."""
        try:
            return (await read_text(self._reader, target.scope, file)).text
        except PrismError as error:
            if error.code is ErrorCode.FILE_NOT_FOUND:
                return ""
            raise


class _Scan:
    """Matches so far, and how far the scan has come: `position` is path, scope and last line looked at."""

    def __init__(
        self,
        request: GrepRequest,
        pattern: Pattern,
        target: Target,
        position: tuple[str, str, int],
        deadline: float,
    ) -> None:
        self.target = target
        self.matches: list[GrepMatch] = []
        self.files = 0
        self.position = position
        self.late = False
        self._request = request
        self._pattern = pattern
        self._deadline = deadline

    @property
    def full(self) -> bool:
        """The page is."""
        return len(self.matches) >= self._request.limit

    def is_over(self) -> bool:
        """Whether to look no further: the page is full, or it is `late` from now on."""
        self.late = self.late or time.monotonic() > self._deadline
        return self.full or self.late

    def take(self, files: Sequence[StoredPoint], texts: Sequence[str]) -> None:
        for file, text in zip(files, texts, strict=True):
            self._take_file(file, text)
            if self.is_over():
                return

    def _take_file(self, file: StoredPoint, text: str) -> None:
        key = place(file)
        after = self.position[2] if key == self.position[:2] else 0
        self.files += 1
        context = self._request.context_lines
        for block in matching_lines(text, self._pattern, after_line=after, context=context):
            self.position = (*key, self._take_block(file, block))
            if self.is_over():
                return
        self.position = (*key, FILE_END)

    def _take_block(self, file: StoredPoint, block: Block) -> int:
        """Take what there is room for; the last line that is done with."""
        taken = block.matches[: self._request.limit - len(self.matches)]
        repo = self.target.name_of(file.text("scope"))
        self.matches += [
            GrepMatch(
                repo=repo,
                file_path=file.text("path"),
                line=found.line,
                text=found.text,
                before=found.before,
                after=found.after,
            )
            for found in taken
        ]
        return taken[-1].line if self.full else block.last_line


def _filter(request: GrepRequest) -> Callable[[StoredPoint], bool]:
    """Whether a file passes the filters by language and path."""
    language = request.language.lower()
    glob = compile_glob(request.path_filter) if request.path_filter else None
    return lambda file: (
        (not language or file.text("language") == language)
        and (glob is None or glob.fullmatch(file.text("path")) is not None)
    )


def _at_once(files: Sequence[StoredPoint]) -> Sequence[StoredPoint]:
    """The first of the files, as many as have BYTES_AT_ONCE_MAX, and one at least."""
    sizes = accumulate(file.number("size") for file in files)
    return files[: max(1, sum(size <= BYTES_AT_ONCE_MAX for size in sizes))]


def _end(file: StoredPoint) -> tuple[str, str, int]:
    return (*place(file), FILE_END)


def _start(question: str, cursor: str) -> tuple[str, str, int]:
    if not cursor:
        return "", "", 0
    path, scope, line = read_cursor(question, cursor, (str, str, int))
    return str(path), str(scope), int(line)


def _note(scan: _Scan) -> str:
    if scan.full:
        return "more matches: go on with next_cursor"
    return "time ran out: go on with next_cursor" if scan.late else ""
