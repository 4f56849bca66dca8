"""The parser process: a loop or a crash costs one file its grammar, and affects no other file."""

import asyncio
import os
import signal

import pytest
from pydantic import ValidationError

from prism_chunker.adapters.parser import Parser
from prism_contracts.base import Lane
from prism_contracts.events import FileChanged, FileChunked

CODE = "def greet(name):\n    return f'hello {name}'\n"


def changed(path: str = "greet.py", text: str = CODE) -> bytes:
    return (
        FileChanged(
            tenant="t",
            repo="r",
            path=path,
            version=1,
            job="j",
            ordinal=0,
            lane=Lane.BULK,
            blob="b",
            size_bytes=1,
            text=text,
        )
        .model_dump_json()
        .encode()
    )


@pytest.fixture
async def parser():
    made = Parser()
    yield made
    await made.close()


async def test_a_file_is_returned_in_chunks(parser) -> None:
    chunked = FileChunked.model_validate_json(await parser.chunk(Lane.BULK, changed()))
    assert [symbol.name for symbol in chunked.symbols] == ["greet"]
    assert "".join(chunk.text for chunk in chunked.chunks) == CODE


async def test_dead_parser_is_replaced_and_its_file_chunked_by_lines(parser) -> None:
    await parser.chunk(Lane.BULK, changed())
    os.kill(parser._process.pid, signal.SIGSTOP)
    waiting = asyncio.create_task(parser.chunk(Lane.BULK, changed()))
    await asyncio.sleep(0)
    os.kill(parser._process.pid, signal.SIGKILL)
    chunked = FileChunked.model_validate_json(await waiting)
    assert (chunked.parse, chunked.symbols) == ("crashed", ())
    assert "".join(chunk.text for chunk in chunked.chunks) == CODE
    assert FileChunked.model_validate_json(await parser.chunk(Lane.BULK, changed())).parse == "ok"


async def test_hung_parser_is_killed_and_its_file_chunked_by_lines() -> None:
    parser = Parser(seconds_max=5)
    await parser.chunk(Lane.BULK, changed())
    parser._seconds_max = 0.2
    os.kill(parser._process.pid, signal.SIGSTOP)
    chunked = FileChunked.model_validate_json(await parser.chunk(Lane.BULK, changed()))
    assert chunked.parse == "timeout"
    await parser.close()


async def test_live_files_go_first(parser) -> None:
    await parser.chunk(Lane.BULK, changed())
    os.kill(parser._process.pid, signal.SIGSTOP)
    ended: list[str] = []

    async def chunk(lane: Lane, path: str) -> None:
        await parser.chunk(lane, changed(path))
        ended.append(path)

    tasks = [asyncio.create_task(chunk(Lane.BULK, f"bulk{i}.py")) for i in range(3)]
    await asyncio.sleep(0)
    tasks.append(asyncio.create_task(chunk(Lane.LIVE, "live.py")))
    await asyncio.sleep(0)
    os.kill(parser._process.pid, signal.SIGCONT)
    await asyncio.gather(*tasks)
    assert ended.index("live.py") <= 1


async def test_invalid_event_is_a_distinct_error(parser) -> None:
    with pytest.raises(ValidationError):
        await parser.chunk(Lane.BULK, b'{"path": 1}')
    assert FileChunked.model_validate_json(await parser.chunk(Lane.BULK, changed())).parse == "ok"
