"""Ends a process right before a chosen write, to test that the next process finishes what this one began.

Tests alone turn this on, by the setting `crash_dir`. Without it nothing here is called, and no client is changed. With it, every
durable write of the process goes through `watch`: messages, records and objects on NATS, acknowledgements, writes to the store, git
commands, and renamed files.

In the folder, `<service>.writes` lists the writes of a service, and a number in `<service>.at` ends the service before
its n-th write from now on. `<service>.ended` then names that write.
"""

import contextlib
import functools
import os
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
# Requests of the store that write, by the end of their path; those by PUT, PATCH and DELETE do anyway.
WRITING_POSTS = ("/delete", "/batch", "/aliases")
GIT_WRITES = frozenset({"init", "config", "fetch", "repack", "gc", "update-ref", "symbolic-ref"})

Before = Callable[[str], None]


def install(service: str, folder: str) -> None:
    """End this process when a file in the folder orders it."""
    watch(_Orders(service, Path(folder)).before)


def watch(before: Before) -> Callable[[], None]:
    """Call `before` with the name of each durable write of this process right before it is made; returns what undoes this.

    An exception that it raises takes the place of the write.
    """
    undo = contextlib.ExitStack()
    for owner, method, name_of in _WRITES:
        undo.callback(setattr, owner, method, getattr(owner, method))
        setattr(owner, method, _watched(getattr(owner, method), name_of, before))
    return undo.close


class _Orders:
    """The files by which a test gives orders to a service."""

    def __init__(self, service: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._order = folder / f"{service}.at"
        self._writes = folder / f"{service}.writes"
        self._ended = folder / f"{service}.ended"
        self._left = 0

    def before(self, write: str) -> None:
        """Count a write, and end the process if it is the one that was ordered."""
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
    is_write = method in ("PUT", "PATCH", "DELETE") or path.endswith(WRITING_POSTS)
    return f"{method} {path}" if is_write else ""


def _started(_: Any, arguments: Any, *__: Any, **___: Any) -> str:
    """Empty for a program that is not git, and for a command that only reads."""
    words = [arguments] if isinstance(arguments, str) else [str(word) for word in arguments]
    return next((f"git {word}" for word in words if word in GIT_WRITES and "git" in words[0]), "")


def _renamed(_: Any, target: Any) -> str:
    return f"rename to {Path(target).suffix or 'a folder'}"


_WRITES: tuple[tuple[Any, str, Callable[..., str]], ...] = (
    (JetStreamContext, "publish", _published),
    (JetStreamContext, "purge_stream", _purged),
    (Msg, "ack", _acked),
    (httpx.AsyncClient, "send", _sent),
    (aiohttp.ClientSession, "_request", _asked),
    (subprocess.Popen, "__init__", _started),
    (Path, "rename", _renamed),
    (Path, "replace", _renamed),
)
