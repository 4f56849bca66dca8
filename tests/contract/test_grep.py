"""Exact search on a real store finds the lines of a plain scan, from the index and from memory, page by page."""

import asyncio
import itertools
import re
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import numpy as np
import pytest
from indexed_texts import OneVector
from prometheus_client import CollectorRegistry

from prism_contracts import names
from prism_contracts.base import Lane, repo_id
from prism_contracts.code import Chunk, FileFlags, Symbol, SymbolKind
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileChunked, FileEmbedded, FileRemoved
from prism_contracts.records import LayerState, Repository
from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.search import FileMatches, GrepReply, GrepRequest, OutputMode
from prism_indexer.core import indexed_point, removed_point
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_runtime.vectors import to_message
from prism_search.adapters.line_matcher import match_in_process
from prism_search.core.lines import LINE_WORK_MAX
from prism_search.core.patterns import compile_pattern
from prism_search.handlers.grep import GrepHandler
from prism_search.main import SearchApp, build
from prism_search.settings import SearchSettings
from prism_store.client import StoreClient
from prism_store.gate import connect
from prism_store.points import FilePoint
from prism_store.settings import StoreSettings
from prism_store.writer import Writer

MODEL = "m1"
DIMENSION = 4
REPO = repo_id("acme/kiln")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
LINES_A_CHUNK = 3
LANGUAGES = {"py": "python", "md": "markdown"}
DEADLINE_S = 120
TEXTS = {
    "a.py": "import glaze\nfor kiln in kilns:\n    kiln.fire(cone=6)\n\nGLAZE = 'Celadon'\n",
    "docs/größe.md": "Die Größe des Ofens\r\n陶器 焼き物\n\n\tkiln log",
    "empty.txt": "",
    "glazes.csv": "name,cone\n" + "".join(f"glaze_{n},{n % 11}\n" for n in range(300)),
    "long.js": "x" * 400 + "kiln" + "y" * 400 + "\n",
    "newlines.txt": "\n\n\n",
}
# Pattern, and whether it is a regular expression. Python finds the same lines in these texts.
PATTERNS = [
    ("kiln", False), ("KILN", False), ("glaze_1", False), (".", False), ("e", False), ("(cone=6)", False), ("nowhere", False),
    ("kiln|glaze", True), (r"^\s*$", True), (r"\w+_\d+,[05]$", True), ("Größe.*", True), (r"\b焼", True), ("[^a-z]{4}", True),
    ("glaze_(29|3)", True), ("x{100}kiln", True), (r"s\s$", True),
]  # fmt: skip
# On lines of words it remains undecided to the end: seconds for the longest indexed line.
SLOW = r"(\w+\s+\w*){100}[?]"
SLOW_LINE = "foo bar_1 " * (512 * 1024 // 10)


class Kiln:
    """A repository of its own in the store, and processes of search."""

    def __init__(self, nats_url: str, client: StoreClient, tenant: str) -> None:
        self.tenant = tenant
        self.version = 1
        self.bus = Bus("search", SearchSettings(nats_url=nats_url))
        self._client = client
        self._writer = Writer(client)
        self._apps: list[SearchApp] = []

    async def handler(self, **settings: float) -> GrepHandler:
        """Starts a search with empty caches."""
        known = SearchSettings(**settings)
        app = await build(self.bus, known, self._client, OneVector(), CollectorRegistry())
        self._apps.append(app)
        return app.grep

    async def import_(self, *files: FilePoint) -> None:
        """Writes files of the current version, then serves it."""
        await self.write(*files)
        state = LayerState(commit="c", version=self.version, job="j", indexed_at=NOW)
        record = Repository(
            tenant=self.tenant, repo=REPO, name="acme/kiln", source="upload", created_at=NOW,
            next_version=self.version + 1, served=state,
        )  # fmt: skip
        await Records(await open_bucket(self.bus.js, names.KV_REPOSITORIES), Repository).put(
            record.key, record
        )
        async with asyncio.timeout(DEADLINE_S):
            for app in self._apps:
                while not await app.records.is_current():
                    await asyncio.sleep(0.005)

    async def write(self, *files: FilePoint) -> None:
        assert await self._writer.write(self.tenant, files) == [True] * len(files)

    def file(self, path: str, text: str, *symbols: Symbol, flags: FileFlags | None = None) -> FilePoint:
        where = self.address(path)
        lines = text.splitlines(keepends=True) if "\r" not in text else re.findall(r"[^\n]*\n|[^\n]+", text)
        groups = [lines[start : start + LINES_A_CHUNK] for start in range(0, len(lines), LINES_A_CHUNK)]
        chunks = tuple(
            Chunk(ordinal=n, start_line=n * LINES_A_CHUNK + 1, end_line=n * LINES_A_CHUNK + len(group), text="".join(group))
            for n, group in enumerate(groups)
        )  # fmt: skip
        file = FileChunked(
            **where, blob=uuid.uuid5(uuid.NAMESPACE_DNS, text).hex, size_bytes=len(text), line_count=len(lines),
            language=LANGUAGES.get(path.rpartition(".")[2], "text"), flags=flags or FileFlags(), chunker="1", chunks=chunks,
            symbols=symbols,
        )  # fmt: skip
        rows = np.ones((len(chunks), DIMENSION), np.float32)
        return indexed_point(FileEmbedded(**where, file=file, vectors=to_message(MODEL, rows)))

    def address(self, path: str) -> dict:
        return {
            "tenant": self.tenant, "repo": REPO, "path": path, "version": self.version, "job": "j",
            "ordinal": 0, "lane": Lane.LIVE,
        }  # fmt: skip


@pytest.fixture
async def kiln(nats_server, qdrant_url) -> AsyncIterator[Kiln]:
    client = connect(StoreSettings(url=qdrant_url, timeout_s=30))
    kiln = Kiln(nats_server.url, client, f"t{uuid.uuid4().hex}")
    await kiln.bus.start()
    await Writer(client).ensure_collection(kiln.tenant, MODEL, DIMENSION)
    await kiln.import_(*(kiln.file(path, text) for path, text in TEXTS.items()))
    yield kiln
    await kiln.bus.stop()
    await client.close()


async def pages(handler: GrepHandler, request: GrepRequest) -> list[GrepReply]:
    """Returns all pages of an answer."""
    replies = [await handler.grep(request)]
    while not replies[-1].complete:
        cursor = replies[-1].next_cursor
        replies.append(await handler.grep(request.model_copy(update={"cursor": cursor})))
        assert replies[-1].next_cursor != cursor
    return replies


def lines_of(replies: list[GrepReply]) -> list[tuple[str, int]]:
    return [(match.file_path, match.line) for reply in replies for match in reply.matches]


def plainly(pattern: str, *, regex: bool, texts: dict[str, str] = TEXTS) -> list[tuple[str, int]]:
    source = pattern if regex else re.escape(pattern)
    return [
        (path, number)
        for path, text in sorted(texts.items())
        for number, line in enumerate(text.removesuffix("\n").split("\n") if text else [], 1)
        if re.search(source, line)
    ]


async def test_every_pattern_finds_the_lines_of_a_plain_scan(kiln) -> None:
    forgetful, remembering = await kiln.handler(texts_kept_bytes_max=0), await kiln.handler()
    await remembering.grep(GrepRequest(tenant=kiln.tenant, pattern="@"))  # reads all
    for (pattern, regex), limit in itertools.product(PATTERNS, (1, 7, 2_000)):
        request = GrepRequest(tenant=kiln.tenant, pattern=pattern, regex=regex, limit=limit)
        for handler in (forgetful, remembering):
            assert lines_of(await pages(handler, request)) == plainly(pattern, regex=regex), (pattern, limit)


async def test_the_index_selects_the_files_to_read(kiln) -> None:
    reply = await (await kiln.handler()).grep(GrepRequest(tenant=kiln.tenant, pattern="Celadon"))
    assert (reply.files_scanned, reply.complete, reply.note) == (1, True, "")


async def test_a_match_names_the_symbol_around_it(kiln) -> None:
    text = "import clay\n\n\nclass Oven:\n    def fire(self):\n        clay.melt()\n\n\nclay.melt()\n"
    oven = Symbol(
        name="Oven", qualified_name="Oven", kind=SymbolKind.CLASS, start_line=4, end_line=6, name_line=4, signature="class Oven"
    )  # fmt: skip
    fire = Symbol(
        name="fire", qualified_name="Oven.fire", kind=SymbolKind.METHOD, start_line=5, end_line=6, name_line=5, parent=0,
        signature="def fire(self)",
    )  # fmt: skip
    await kiln.write(kiln.file("src/oven.py", text, oven, fire))
    reply = await (await kiln.handler()).grep(
        GrepRequest(tenant=kiln.tenant, pattern="clay", path_filter="src/oven.py")
    )
    around = [(match.line, match.enclosing) for match in reply.matches]
    assert around == [
        (1, EnclosingSymbol(name="")),
        (6, EnclosingSymbol(name="Oven.fire", kind="method", start_line=5, end_line=6)),
        (9, EnclosingSymbol(name="")),
    ]


async def test_cached_texts_are_read_again_after_a_change(kiln) -> None:
    handler = await kiln.handler()
    request = GrepRequest(tenant=kiln.tenant, pattern="ki|zz", regex=True, limit=2_000)
    assert lines_of([await handler.grep(request)]) == plainly("ki|zz", regex=True)
    kiln.version += 1
    await kiln.import_(
        kiln.file("a.py", "zz\n"),
        kiln.file("new.py", "a\nkiln\n"),
        removed_point(FileRemoved(**kiln.address("long.js"))),
    )
    texts = {path: text for path, text in TEXTS.items() if path != "long.js"}
    texts |= {"a.py": "zz\n", "new.py": "a\nkiln\n"}
    assert lines_of([await handler.grep(request)]) == plainly("ki|zz", regex=True, texts=texts)


async def test_a_file_deleted_under_a_cached_list_is_no_error(kiln) -> None:
    handler = await kiln.handler(texts_kept_bytes_max=0)
    request = GrepRequest(tenant=kiln.tenant, pattern="k", limit=2_000)
    await handler.grep(request)
    kiln.version += 1  # whose record has not arrived yet
    await kiln.write(removed_point(FileRemoved(**kiln.address("long.js"))), kiln.file("a.py", "kk\n\nk\n"))
    found = lines_of([await handler.grep(request)])
    assert [line for line in found if line[0] in {"a.py", "long.js"}] == [("a.py", 1), ("a.py", 3)]


async def test_filters_select_files(kiln) -> None:
    asked = {"tenant": kiln.tenant, "pattern": "kiln", "limit": 2_000}
    for handler in (await kiln.handler(), await kiln.handler(texts_kept_bytes_max=0)):
        for filters, expected in [
            ({"path_filter": "docs/**"}, {"docs/größe.md"}), ({"language": "Python"}, {"a.py"}),
            ({"path_filter": "*.js"}, {"long.js"}), ({"path_filter": "none/*"}, set()),
            ({"path_filter": "*.js", "language": "python"}, set()),
        ]:  # fmt: skip
            reply = await handler.grep(GrepRequest(**asked, **filters))
            assert ({match.file_path for match in reply.matches}, reply.complete) == (expected, True), filters


async def test_excluded_paths_are_skipped(kiln) -> None:
    handler = await kiln.handler()
    for filters, expected in [
        ({"exclude": "docs/**"}, {"a.py", "long.js"}), ({"path_filter": "!docs/**"}, {"a.py", "long.js"}),
        ({"exclude": "*.{py,js}"}, {"docs/größe.md"}), ({"exclude": "!*.py"}, {"a.py"}),
    ]:  # fmt: skip
        reply = await handler.grep(GrepRequest(tenant=kiln.tenant, pattern="kiln", **filters))
        assert {match.file_path for match in reply.matches} == expected, filters
    reply = await handler.grep(GrepRequest(tenant=kiln.tenant, pattern="kiln", exclude="**"))
    assert (reply.matches, reply.note) == ((), "no indexed file passes exclude '**'")


async def test_matches_are_selected_by_where_they_are(kiln) -> None:
    await kiln.write(
        kiln.file("tests/test_oven.py", "oven = 1  # an oven\n", flags=FileFlags(test=True)),
        kiln.file("src/oven.py", "# the oven\nsay('oven')\n"),
        kiln.file("oven.md", "The oven.\n"),
    )
    handler = await kiln.handler()
    test, comment, string = ("tests/test_oven.py", 1), ("src/oven.py", 1), ("src/oven.py", 2)
    prose = ("oven.md", 1)
    for only, expected in [
        ("code", [test]), ("comments", [comment, test]), ("strings", [string]), ("tests", [test]),
        ("sources", [comment, string]), (None, [prose, comment, string, test]),
    ]:  # fmt: skip
        request = GrepRequest(tenant=kiln.tenant, pattern="oven", only=only)
        reply = await handler.grep(request)
        assert (lines_of([reply]), reply.total_lines) == (expected, len(expected)), only
        counted = await handler.grep(request.model_copy(update={"output_mode": OutputMode.COUNT}))
        assert counted.total_lines == len(expected)
        assert lines_of(await pages(handler, request.model_copy(update={"limit": 1}))) == expected
    reply = await handler.grep(GrepRequest(tenant=kiln.tenant, pattern="oven", source_only=True))
    assert lines_of([reply]) == [comment, string]


async def test_the_first_page_counts_the_rest(kiln) -> None:
    handler = await kiln.handler()
    for (pattern, regex), limit in itertools.product(PATTERNS, (1, 7, 2_000)):
        expected = plainly(pattern, regex=regex)
        replies = await pages(
            handler, GrepRequest(tenant=kiln.tenant, pattern=pattern, regex=regex, limit=limit)
        )
        totals = (len({path for path, _ in expected}), len(expected))
        assert {(reply.total_files, reply.total_lines) for reply in replies} == {totals}, (pattern, limit)
        rest = Counter(path for path, _ in expected[limit:])
        assert {file.file_path: file.lines for file in replies[0].rest} == rest, (pattern, limit)


async def test_a_literal_that_is_nowhere_is_read_as_the_regex_it_looks_like(kiln) -> None:
    handler = await kiln.handler()
    for asked, regex in [
        ("kiln|GLAZE", "kiln|GLAZE"),
        (r"kiln\|GLAZE", "kiln|GLAZE"),
        (r"\bfire\(", r"\bfire\("),
    ]:
        request = GrepRequest(tenant=kiln.tenant, pattern=asked, limit=1)
        replies = await pages(handler, request)
        assert lines_of(replies) == plainly(regex, regex=True)
        assert all(f"read as the regex {regex}" in reply.note for reply in replies)
    for asked in ("(cone=6)", "nowhere|", "nowhere at all", "(kiln|"):
        reply = await handler.grep(GrepRequest(tenant=kiln.tenant, pattern=asked))
        assert (lines_of([reply]), "regex" in reply.note) == (plainly(asked, regex=False), False)


async def test_without_a_match_a_note_counts_matches_of_any_case(kiln) -> None:
    handler = await kiln.handler()
    for mode, note in [("content", "4 lines"), ("count", "4 lines"), ("files_with_matches", "3 files")]:
        request = GrepRequest(tenant=kiln.tenant, pattern="KILN", output_mode=mode)
        reply = await handler.grep(request)
        assert (reply.matches, reply.files, reply.note) == ((), (), f"with case_sensitive=false: {note}")
    for others in ({"case_sensitive": False}, {"pattern": "nowhere"}, {"pattern": "kiln"}):
        assert (await handler.grep(request.model_copy(update=others))).note == ""


async def test_after_the_time_limit_the_cursor_continues(kiln) -> None:
    handler = await kiln.handler(grep_deadline_s=1e-9)
    request = GrepRequest(tenant=kiln.tenant, pattern="kiln|e,", regex=True, limit=2_000)
    replies = await pages(handler, request)
    assert lines_of(replies) == plainly("kiln|e,", regex=True)
    assert {reply.note for reply in replies[:-1]} == {"time limit reached: continue with next_cursor"}
    assert len(replies) > 2


async def test_files_and_counts_agree_with_the_lines(kiln) -> None:
    handler = await kiln.handler()
    for (pattern, regex), limit in itertools.product(PATTERNS, (1, 2, 2_000)):
        counts = Counter(path for path, _ in plainly(pattern, regex=regex))
        for mode, lines, total in (
            (OutputMode.COUNT, dict(counts), counts.total()),
            (OutputMode.FILES_WITH_MATCHES, dict.fromkeys(counts), None),
        ):
            asked = GrepRequest(
                tenant=kiln.tenant, pattern=pattern, regex=regex, limit=limit, output_mode=mode
            )
            replies = await pages(handler, asked)
            files = [file for reply in replies for file in reply.files]
            assert {file.file_path: file.lines for file in files} == lines, (pattern, limit)
            assert [file.file_path for file in files] == sorted(counts)
            assert {(reply.total_files, reply.total_lines) for reply in replies} == {(len(counts), total)}
            assert not any(reply.matches for reply in replies)


async def test_counts_cut_by_time_add_up_and_have_no_total(kiln) -> None:
    # A pattern of a thousand parts is tried on a thousand characters at once, so pages end within a file.
    pattern = "(?:y{980})?(?:glaze|kiln)"
    expected = Counter(path for path, _ in plainly("glaze|kiln", regex=True))
    for mode in (OutputMode.COUNT, OutputMode.FILES_WITH_MATCHES):
        asked = GrepRequest(tenant=kiln.tenant, pattern=pattern, regex=True, limit=2_000, output_mode=mode)
        replies = await pages(await kiln.handler(grep_deadline_s=1e-9), asked)
        files = [file for reply in replies for file in reply.files]
        assert {reply.total_files for reply in replies} == {None}
        if mode is OutputMode.COUNT:
            added = sum((Counter({file.file_path: file.lines}) for file in files), Counter())
            assert added == expected
            assert len(files) > len(added)
        else:
            assert files == [FileMatches(repo="acme/kiln", file_path=path) for path in sorted(expected)]


async def test_an_expensive_line_is_still_found(kiln) -> None:
    line = SLOW_LINE[: LINE_WORK_MAX // 300]
    await kiln.write(kiln.file("slow.txt", f"a\n{line}\n{line}?\n"))
    request = GrepRequest(tenant=kiln.tenant, pattern=SLOW, regex=True, path_filter="slow.txt")
    unhurried = await kiln.handler(grep_deadline_s=600)
    assert lines_of([await unhurried.grep(request)]) == [("slow.txt", 3)]


async def test_a_line_that_takes_all_the_time_is_a_named_error(kiln) -> None:
    await kiln.write(kiln.file("slow.txt", f"kiln\n{SLOW_LINE}\n"))
    handler = await kiln.handler(grep_deadline_s=1e-9)
    request = GrepRequest(tenant=kiln.tenant, pattern=SLOW, regex=True, path_filter="slow.txt")
    first = await handler.grep(request)  # the line before it is finished
    assert not first.complete
    with pytest.raises(PrismError) as caught:
        await handler.grep(request.model_copy(update={"cursor": first.next_cursor}))
    assert caught.value.code is ErrorCode.DEADLINE_EXCEEDED
    assert caught.value.body.details == {"file_path": "slow.txt"}


async def test_a_slow_line_does_not_block_other_requests() -> None:
    pattern = compile_pattern(SLOW, regex=True, case_sensitive=True, word=False)
    slow = asyncio.create_task(asyncio.to_thread(match_in_process, pattern, SLOW_LINE, time.monotonic() + 2))
    turns = 0
    while not slow.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 10_000
    with pytest.raises(TimeoutError):
        await slow


@pytest.mark.parametrize("limit", [1, 30, 2_000])
async def test_texts_read_ahead_belong_to_their_files(kiln, limit) -> None:
    texts = TEXTS | {f"many/{n:03}.txt": f"kiln {n}\n" for n in range(200)}
    await kiln.write(*(kiln.file(path, text) for path, text in texts.items() if path not in TEXTS))
    request = GrepRequest(tenant=kiln.tenant, pattern="k", limit=limit, path_filter="many/*")
    expected = [line for line in plainly("k", regex=False, texts=texts) if line[0].startswith("many/")]
    replies = await pages(
        await kiln.handler(texts_kept_bytes_max=0), request.model_copy(update={"limit": max(limit, 30)})
    )
    assert lines_of(replies) == expected
    first = await (await kiln.handler(texts_kept_bytes_max=0)).grep(request)
    assert [match.text for match in first.matches] == [f"kiln {n}" for n in range(min(limit, 200))]
