"""A service: logs, traces, bus and health, assembled in the same way for all services."""

import importlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from types import MappingProxyType
from urllib.parse import urlsplit

from pydantic import SecretStr
from starlette.types import ASGIApp

from prism_runtime.bus import Bus
from prism_runtime.exposure import require_secrets
from prism_runtime.health import Check, health_app
from prism_runtime.process import run_process
from prism_runtime.settings import ServiceSettings
from prism_runtime.telemetry import set_up_logging, set_up_tracing


class Service:
    """One process of Prism. Creating it opens nothing; `run` does, and returns after a signal."""

    def __init__(
        self,
        name: str,
        settings: ServiceSettings,
        *,
        hosts: Sequence[str] = (),
        secrets: Mapping[str, SecretStr] = MappingProxyType({}),
    ) -> None:
        """`hosts`: further addresses that the service listens on; `secrets`: those that it needs then, by variable.

        Raises InvalidSettingsError if it listens to other hosts without them.
        """
        require_secrets(
            (settings.health_host, *hosts),
            {**_nats_secret(settings), **secrets},
            allow_missing=settings.allow_missing_secrets,
        )
        set_up_logging(name, settings.log_level)
        self.name = name
        self._settings = settings
        self._tracing = set_up_tracing(name, settings.otlp_endpoint)
        self.bus = Bus(name, settings, self._tracing)
        if settings.crash_dir:
            crash = importlib.import_module("prism_runtime.crash")  # it wraps clients, so only tests load it
            crash.install(name, settings.crash_dir)

    async def run(
        self,
        start: Callable[[], Coroutine[object, object, None]],
        *,
        close: Callable[[], Awaitable[None]] | None = None,
        checks: Mapping[str, Check] | None = None,
    ) -> None:
        """Serve the health endpoints only.

        `start` connects and subscribes; `close` releases the service's own resources.
        """
        self.bus.checks = checks or {}
        app = health_app(self.name, {"nats": self.bus.check, **(checks or {})})
        await self.run_app(app, self._settings.health_host, self._settings.health_port, start, close=close)

    async def run_app(
        self,
        app: ASGIApp,
        host: str,
        port: int,
        start: Callable[[], Coroutine[object, object, None]],
        *,
        store_rest: Callable[[], Awaitable[None]] | None = None,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """The same, with an HTTP app. `store_rest` is called while NATS is still connected."""

        async def stop() -> None:
            if store_rest:
                await store_rest()
            await self.bus.stop()
            if close:
                await close()
            if self._tracing:
                self._tracing.shutdown()  # sends the remaining spans

        run_dir = self._settings.run_dir
        await run_process(self.name, app, host=host, port=port, run_dir=run_dir, start=start, stop=stop)


def _nats_secret(settings: ServiceSettings) -> dict[str, SecretStr]:
    """The token of NATS; none is needed if its URLs have a login."""
    urls = settings.nats_url.split(",")
    return (
        {}
        if all(urlsplit(url.strip()).username for url in urls)
        else {"PRISM_NATS_TOKEN": settings.nats_token}
    )
