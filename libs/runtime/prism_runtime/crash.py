"""Ends a process right before a chosen write, to test that the next process finishes the work.

Only tests enable this, with the setting `crash_dir`. Without it, no function here runs and no client is
changed. With it, every durable write of the process goes through `watch`: messages, records and objects on
NATS, acks, writes to the store, git commands, renamed files and removed folders. An unknown request to the
store, or an unknown git command, counts as a write.

In the folder, `<service>.writes` lists the writes of a service, and a number in `<service>.at` ends the
service before its n-th write from now on. `<service>.ended` then names that write.
"""

import contextlib
import functools
import itertools
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx
from nats.aio.msg import Msg
from nats.js import JetStreamContext

EXIT_CRASHED = 137  # as after `kill -9`
# Reads; anything else counts as a write. POST requests to the store, by the end of their path:
READING_POSTS = (
    *("/points", "/points/count", "/points/scroll", "/facet"),
    *(
        "/points/query",
        "/points/query/batch",
        "/points/query/groups",
        "/points/search",
        "/points/search/batch",
    ),
)
GIT_READS = frozenset(
    {
        *("cat-file", "check-attr", "check-ignore", "diff", "diff-tree", "for-each-ref", "log", "ls-files", "ls-remote"),
        *("ls-tree", "merge-base", "rev-list", "rev-parse", "status", "version"),
    }
)  # fmt: skip

Before = Callable[[str], None]


def install(service: str, folder: str) -> None:
    """End this process when a file in the folder requests it."""
    watch(_Orders(service, Path(folder)).before)


def watch(before: Before) -> Callable[[], None]:
    """Call `before` with the name of each durable write, right before the write.

    Returns a function that undoes this.

    If `before` raises, the write does not happen.

    """
    undo = contextlib.ExitStack()
    for owner, method, name_of in _WRITES:
        undo.callback(setattr, owner, method, getattr(owner, method))
        setattr(owner, method, _watched(getattr(owner, method), name_of, before))
    return undo.close


class _Orders:
    """The files with which a test controls a service."""

    def __init__(self, service: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._order = folder / f"{service}.at"
        self._writes = folder / f"{service}.writes"
        self._ended = folder / f"{service}.ended"
        self._left = 0

    def before(self, write: str) -> None:
        """Count a write, and end the process if it is the chosen one."""
        with contextlib.suppress(FileNotFoundError):
            self._left = int(self._order.read_text())
            self._order.unlink()
        if self._left == 1:
            self._ended.write_text(write)
            os._exit(EXIT_CRASHED)
        self._left = max(0, self._left - 1)
        with self._writes.open("a") as log:
            log.write(f"{write}\n")


def _watched(method: Callable[..., Any], name_of: Callable[..., str], before: Before) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*arguments: Any, **named: Any) -> Any:
        name = name_of(*arguments, **named)
        if name:
            before(name)
        return method(*arguments, **named)

    return call


def _published(_: JetStreamContext, subject: str, *__: Any, **___: Any) -> str:
    return f"publish {subject}"


def _purged(_: JetStreamContext, stream: str, *__: Any, **___: Any) -> str:
    return f"purge {stream}"


def _acked(message: Msg, *_: Any, **__: Any) -> str:
    return f"ack {message.subject}"


def _sent(_: httpx.AsyncClient, request: httpx.Request, **__: Any) -> str:
    """Empty for a read."""
    return _request(request.method, str(request.url))


def _asked(_: aiohttp.ClientSession, method: str, url: Any, **__: Any) -> str:
    """Empty for a read."""
    return _request(method, str(url))


def _request(method: str, url: str) -> str:
    path = urlsplit(url).path
    is_read = method in {"GET", "HEAD"} or (method == "POST" and path.endswith(READING_POSTS))
    return "" if is_read else f"{method} {path}"


def _started(_: Any, arguments: Any, *__: Any, **___: Any) -> str:
    """Returns the git command; empty for other programs and for commands that only read."""
    command = _git_command([arguments] if isinstance(arguments, str) else list(map(str, arguments)))
    return f"git {command}" if command and command not in GIT_READS else ""


def _git_command(words: list[str]) -> str:
    """Returns the git command in a command line, also after a shell that sets limits."""
    rest = iter(itertools.dropwhile(lambda word: Path(word).name != "git", words))
    next(rest, "")
    for word in rest:
        if word in {"-c", "-C"}:
            next(rest, "")
        elif not word.startswith("-"):
            return word
    return ""


def _renamed(_: Any, target: Any) -> str:
    return f"rename to {Path(target).suffix or 'a folder'}"


def _removed(*_: Any, **__: Any) -> str:
    return "remove a folder"


_WRITES: tuple[tuple[Any, str, Callable[..., str]], ...] = (
    (JetStreamContext, "publish", _published),
    (JetStreamContext, "publish_async", _published),
    (JetStreamContext, "purge_stream", _purged),
    (JetStreamContext, "delete_msg", _purged),
    (Msg, "ack", _acked),
    (Msg, "ack_sync", _acked),
    (Msg, "term", _acked),
    (httpx.AsyncClient, "send", _sent),
    (aiohttp.ClientSession, "_request", _asked),
    (subprocess.Popen, "__init__", _started),
    (Path, "rename", _renamed),
    (Path, "replace", _renamed),
    (shutil, "rmtree", _removed),
)
