"""`python -m bench.console`: how heavy the console's pages are, and what pages that stay open cost.

Measured on a stack of its own: the bytes of the first page with what it loads, and the time until it is there; a
search in the console beside the same search over REST, in turns; and the memory of the gateway, and searches over
REST, with pages open that show running imports.
"""

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2

from bench.measure_index import index_folder
from bench.spread import Spread, spread
from bench.stack import Stack, running_stack
from prism_cli.client import Prism

ROOT = Path(__file__).parents[1]
REPO = "acme/services"
PAGE = "/repos"
ORIGIN = {"Sec-Fetch-Site": "same-origin"}
BROWSER = {"Accept-Encoding": "gzip, br"}
PAGE_BYTES_MAX = 100 * 1024
PAGE_MS_MAX = 150
SEARCH_MORE_MS_MAX = 15
OPEN_BYTES_MAX = 150 * 1024 * 1024
WARM_UPS = 5
TIMEOUT_S = 180
MIB = 1024 * 1024
WORDS = [
    "token",
    "revoked",
    "retry",
    "limit",
    "stream",
    "delivery",
    "letter",
    "branch",
    "overlay",
    "layer",
    "wiki",
    "page",
    "graph",
    "symbol",
    "file",
]


class Row(NamedTuple):
    """A measured value beside its bar."""

    what: str
    value: str
    bar: str
    is_kept: bool


def main() -> None:
    """Measure and print; exit with 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200, help="pages that stay open")
    parser.add_argument("--searches", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder)) as stack:
        rows = asyncio.run(_measure(stack, options.pages, options.searches))
    width = max(len(row.what) for row in rows)
    for row in rows:
        print(f"{row.what:{width}}  {row.value:>24}  {row.bar:>16}  {'' if row.is_kept else 'missed'}")
    sys.exit(int(not all(row.is_kept for row in rows)))


async def _measure(stack: Stack, pages: int, searches: int) -> list[Row]:
    async with Prism(stack.target) as prism:
        await index_folder(prism, ROOT / "services", REPO)
    async with _browser(stack) as browser, _rest(stack) as rest:
        rows = await _first_page(browser)
        questions = [f"how is {one} of {other}" for one in WORDS for other in WORDS if one != other]
        console, api = await _in_turns(
            [lambda question: _page_of(browser, question), lambda question: _answer_of(rest, question)],
            questions[:searches],
        )
        rows.append(_search_row(console, api))
        rows += await _open_pages(stack, browser, rest, pages, questions[searches : 2 * searches])
    return rows


async def _first_page(browser: httpx2.AsyncClient) -> list[Row]:
    """The bytes of the page with its assets as they travel, and the time of the page."""
    page, sent = await _received(browser, PAGE)
    for asset in sorted(set(re.findall(r'"(/assets/[^"]+)"', page))):
        sent += (await _received(browser, asset))[1]
    times = spread([await _timed(browser.get(PAGE)) for _ in range(WARM_UPS * 8)][WARM_UPS:])
    return [
        Row("first page, on the wire", f"{sent / 1024:.1f} KiB", "100 KiB", sent <= PAGE_BYTES_MAX),
        Row("first page, time", _shown(times), f"{PAGE_MS_MAX} ms p95", times.p95 <= PAGE_MS_MAX),
    ]


async def _received(browser: httpx2.AsyncClient, path: str) -> tuple[str, int]:
    """Returns a text, and its bytes as they were sent."""
    async with browser.stream("GET", path) as answer:
        answer.raise_for_status()
        text = (await answer.aread()).decode()
        return text, answer.num_bytes_downloaded


def _search_row(console: Spread, api: Spread) -> Row:
    more = console.p95 - api.p95
    return Row(
        "search in the console, over the API",
        f"{console.p95:.0f} and {api.p95:.0f} ms p95",
        f"{SEARCH_MORE_MS_MAX} ms more",
        more <= SEARCH_MORE_MS_MAX,
    )


async def _open_pages(
    stack: Stack, browser: httpx2.AsyncClient, rest: httpx2.AsyncClient, pages: int, questions: list[str]
) -> list[Row]:
    """Memory and searches while pages are open, beside before."""
    half = len(questions) // 2
    before = spread([await _timed(_answer_of(rest, one)) for one in questions[:half]])
    memory = stack.memory()["gateway"].pss
    async with _streams(browser, pages):
        beside = spread([await _timed(_answer_of(rest, one)) for one in questions[half:]])
        grown = stack.memory()["gateway"].pss - memory
    return [
        Row(f"memory of {pages} open pages", f"{grown / MIB:.0f} MiB", "150 MiB", grown <= OPEN_BYTES_MAX),
        Row(
            f"search beside {pages} open pages",
            f"{before.p50:.0f}, then {beside.p50:.0f} ms p50",
            "no delay",
            beside.p50 <= before.p50 * 1.25 + 1,
        ),
    ]


@asynccontextmanager
async def _streams(browser: httpx2.AsyncClient, count: int) -> AsyncIterator[None]:
    """Keeps streams of running imports open, each with its first part received."""

    async def watch(began: asyncio.Future[None]) -> None:
        try:
            async with browser.stream("GET", f"{PAGE}/events", timeout=None) as answer:
                answer.raise_for_status()
                async for _ in answer.aiter_lines():
                    if not began.done():
                        began.set_result(None)
        except httpx2.HTTPError as error:
            if began.done():
                raise
            began.set_exception(error)

    begun = [asyncio.get_running_loop().create_future() for _ in range(count)]
    tasks = [asyncio.create_task(watch(began)) for began in begun]
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await asyncio.gather(*begun)
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _in_turns(
    ask: list[Callable[[str], Awaitable[None]]], questions: list[str]
) -> tuple[Spread, Spread]:
    """Ask each question in both ways, the first way alternating, so that neither profits from a cache."""
    times: tuple[list[float], list[float]] = ([], [])
    for number, question in enumerate(questions):
        for turn in (0, 1):
            way = (number + turn) % 2
            asked = f"{question} {'again' * turn}".strip()
            times[way].append(await _timed(ask[way](asked)))
    return spread(times[0][WARM_UPS:]), spread(times[1][WARM_UPS:])


async def _page_of(browser: httpx2.AsyncClient, question: str) -> None:
    answer = await browser.get("/search", params={"q": question})
    assert 'class="hit"' in answer.text, question


async def _answer_of(rest: httpx2.AsyncClient, question: str) -> None:
    answer = await rest.post("/api/v1/search", json={"query": question})
    assert answer.json()["results"], question


async def _timed(act: Awaitable[object]) -> float:
    began = time.perf_counter()
    await act
    return time.perf_counter() - began


@asynccontextmanager
async def _browser(stack: Stack) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that is signed in to the console."""
    limits = httpx2.Limits(max_connections=1_000)
    async with httpx2.AsyncClient(
        base_url=stack.target.url, headers=BROWSER, limits=limits, timeout=TIMEOUT_S
    ) as http:
        answer = await http.post("/login", data={"token": stack.target.token}, headers=ORIGIN)
        assert answer.status_code == httpx2.codes.SEE_OTHER, answer.text
        yield http


@asynccontextmanager
async def _rest(stack: Stack) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Bearer {stack.target.token}"}
    async with httpx2.AsyncClient(base_url=stack.target.url, headers=headers, timeout=TIMEOUT_S) as http:
        yield http


def _shown(times: Spread) -> str:
    return f"{times.p50:.0f} ms p50, {times.p95:.0f} p95"


if __name__ == "__main__":
    main()
