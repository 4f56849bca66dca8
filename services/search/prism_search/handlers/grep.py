"""Find every line that matches, in order of path and line, a page at a time."""

import time
from collections.abc import Sequence

from qdrant_client import models

from prism_contracts.code import FileStatus
from prism_contracts.rpc import GrepMatch, GrepReply, GrepRequest
from prism_search.adapters.filters import no_file_passes, refuse_unknown_language
from prism_search.adapters.repositories import Repositories, Target
from prism_search.adapters.texts import FILE_FIELDS, read_text, read_texts
from prism_search.core.cursors import read_cursor, write_cursor
from prism_search.core.globs import compile_glob, literal_prefix
from prism_search.core.lines import matching_lines
from prism_search.core.patterns import Clause, Pattern, compile_pattern
from prism_search.settings import SearchSettings
from prism_store.reader import Reader, StoredPoint, contains, has, starts_with, with_status
from prism_store.words import ALL_WORDS

FILES_PER_READ = 24
FILES_PER_READ_FIRST = 6
SCAN_PAGE = 5_000


class GrepHandler:
    """Answers `grep`."""

    def __init__(self, reader: Reader, repositories: Repositories, settings: SearchSettings) -> None:
        self._reader = reader
        self._repositories = repositories
        self._settings = settings

    async def grep(self, request: GrepRequest) -> GrepReply:
        """Matching lines; `complete` says whether all of the scope has been looked at."""
        deadline = time.monotonic() + self._settings.grep_deadline_s
        pattern = compile_pattern(
            request.pattern, regex=request.regex, case_sensitive=request.case_sensitive, word=request.word
        )
        question = request.model_dump_json(exclude={"cursor", "limit", "context_lines"})
        target = self._repositories.target(request)
        await refuse_unknown_language(self._reader, self._repositories, target, request.language)
        files = await self._files(target, request, pattern)
        scan = _Scan(request, pattern, *_start(question, request.cursor))
        waiting = [file for file in files if scan.is_ahead(_key(file))]
        step = FILES_PER_READ_FIRST
        while waiting and not scan.full and time.monotonic() < deadline:
            batch, waiting = waiting[:step], waiting[step:]
            step = FILES_PER_READ
            await self._look(target, batch, scan)
        complete = not waiting and not scan.full
        excluded = (
            ""
            if files
            else await no_file_passes(self._reader, target.scope, request.path_filter, request.language)
        )
        return GrepReply(
            matches=tuple(scan.matches),
            next_cursor="" if complete else write_cursor(question, *scan.position),
            complete=complete,
            note=excluded or _note(complete=complete, full=scan.full),
            files_scanned=scan.files,
            receipt=await self._repositories.receipt(target),
        )

    async def _files(self, target: Target, request: GrepRequest, pattern: Pattern) -> list[StoredPoint]:
        """File points that can hold a match, by path."""
        conditions: list[models.Condition] = [with_status(FileStatus.INDEXED), *map(_clause, pattern.clauses)]
        if request.language:
            conditions.append(has("language", request.language.lower()))
        prefix = literal_prefix(request.path_filter)
        if prefix:
            conditions.append(starts_with("path", prefix))
        glob = compile_glob(request.path_filter) if request.path_filter else None
        scan = self._reader.scan(target.scope, conditions, ["scope", *FILE_FIELDS], SCAN_PAGE)
        found = [point async for point in scan if glob is None or glob.fullmatch(point.text("path"))]
        return sorted(found, key=_key)

    async def _look(self, target: Target, files: Sequence[StoredPoint], scan: "_Scan") -> None:
        texts = await read_texts(self._reader, target.scope, files)
        for file, text in zip(files, texts, strict=True):
            if scan.full:
                return
            known = text if text is not None else (await read_text(self._reader, target.scope, file)).text
            scan.take(target.name_of(file.text("scope")), file, known)


class _Scan:
    """Matches so far, and how far the scan has come: `position` is path, scope and last line looked at."""

    def __init__(self, request: GrepRequest, pattern: Pattern, path: str, scope: str, line: int) -> None:
        self.matches: list[GrepMatch] = []
        self.files = 0
        self.position: tuple[str, str, int] = (path, scope, line)
        self._request = request
        self._pattern = pattern

    @property
    def full(self) -> bool:
        return len(self.matches) >= self._request.limit

    def is_ahead(self, key: tuple[str, str]) -> bool:
        return key >= self.position[:2]

    def take(self, repo: str, file: StoredPoint, text: str) -> None:
        key = _key(file)
        after = self.position[2] if key == self.position[:2] else 0
        self.files += 1
        self.position = (*key, text.count("\n") + 1)
        context = self._request.context_lines
        for found in matching_lines(text, self._pattern, after_line=after, context=context):
            self.matches.append(
                GrepMatch(
                    repo=repo,
                    file_path=file.text("path"),
                    line=found.line,
                    text=found.text,
                    before=found.before,
                    after=found.after,
                )
            )
            if self.full:
                self.position = (*key, found.line)
                return


def _key(file: StoredPoint) -> tuple[str, str]:
    return file.text("path"), file.text("scope")


def _start(question: str, cursor: str) -> tuple[str, str, int]:
    if not cursor:
        return "", "", 0
    path, scope, line = read_cursor(question, cursor, (str, str, int))
    return str(path), str(scope), int(line)


def _clause(clause: Clause) -> models.Filter:
    """Files with a word that contains one of the parts, or with more words than are listed."""
    parts: list[models.Condition] = [contains("words", part) for part in sorted(clause)]
    return models.Filter(should=[*parts, has("words", ALL_WORDS)])


def _note(*, complete: bool, full: bool) -> str:
    if complete:
        return ""
    return "more matches: go on with next_cursor" if full else "time ran out: go on with next_cursor"
