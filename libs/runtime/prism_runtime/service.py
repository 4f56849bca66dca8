"""A service: logs, traces, bus and health, assembled in the same way for all services."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from types import MappingProxyType

from prometheus_client import REGISTRY, CollectorRegistry, disable_created_metrics
from pydantic import SecretStr
from starlette.types import ASGIApp

from prism_runtime.bus import Bus
from prism_runtime.exposure import require_secrets
from prism_runtime.health import Check, health_app
from prism_runtime.metrics import ReleaseMetrics
from prism_runtime.nats_login import has_login
from prism_runtime.process import Lifecycle, run_process
from prism_runtime.settings import ServiceSettings
from prism_runtime.telemetry import set_up_logging, set_up_tracing
from prism_runtime.version import release


class Service:
    """One process of Prism. Creating it opens nothing; `run` does, and returns after a signal."""

    def __init__(
        self,
        name: str,
        settings: ServiceSettings,
        *,
        hosts: Sequence[str] = (),
        secrets: Mapping[str, SecretStr] = MappingProxyType({}),
        metrics: CollectorRegistry = REGISTRY,
    ) -> None:
        """`hosts`: further addresses that the service listens on; `secrets`: those that it needs then, by variable.

        Raises InvalidSettingsError if it listens to other hosts without them.
        """
        require_secrets(
            (settings.health_host, *hosts),
            {**_nats_secret(settings), **secrets},
            allow_missing=settings.allow_missing_secrets,
        )
        set_up_logging(name, settings.log_level, settings.log_format)
        self.name = name
        self._settings = settings
        self._exporting = set_up_tracing(name, settings)
        # The times at which counters were created: a series for each series, which no one reads.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._metrics = metrics
        ReleaseMetrics(metrics).show(release(), settings.build_revision)
        self.bus = Bus(name, settings, metrics=metrics)
        if settings.crash_dir:
            crash = importlib.import_module("prism_runtime.crash")  # it wraps clients, so only tests load it
            crash.install(name, settings.crash_dir)

    async def run(
        self,
        start: Callable[[], Coroutine[object, object, None]],
        *,
        close: Callable[[], Awaitable[None]] | None = None,
        checks: Mapping[str, Check] = MappingProxyType({}),
        optional: Mapping[str, Check] = MappingProxyType({}),
    ) -> None:
        """Serve the health endpoints only.

        `start` connects and subscribes; `close` releases the service's own resources. `optional` checks are
        shown, and the service is ready without them.
        """
        self.bus.checks = checks
        app = health_app(self.name, {"nats": self.bus.check, **checks}, self._metrics, optional)
        settings = self._settings
        lifecycle = self._lifecycle(start, drain=self.bus.drain, close=close)
        await self._run(app, settings.health_host, settings.health_port, lifecycle)

    async def run_app(
        self,
        app: ASGIApp,
        host: str,
        port: int,
        start: Callable[[], Coroutine[object, object, None]],
        *,
        drain_s: float = 0.0,
        end_streams: Callable[[], Awaitable[None]] | None = None,
        store_rest: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """The same, with an HTTP app.

        After a signal it serves everything for `drain_s` seconds more. `end_streams` then ends the answers that
        would go on. `store_rest` is called after the last
        answer, while NATS is still connected.
        """

        async def drain() -> None:
            await self.bus.leave()
            await asyncio.sleep(drain_s)
            if end_streams:
                await end_streams()

        await self._run(app, host, port, self._lifecycle(start, drain=drain, store_rest=store_rest))

    def _lifecycle(
        self,
        start: Callable[[], Coroutine[object, object, None]],
        *,
        drain: Callable[[], Awaitable[None]],
        store_rest: Callable[[], Awaitable[None]] | None = None,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> Lifecycle:
        async def begin() -> None:
            await start()
            self.bus.end_start()

        async def stop() -> None:
            async with AsyncExitStack() as steps:  # the last one first; an error skips none
                if self._exporting:
                    steps.push_async_callback(self._exporting.close)
                if close:
                    steps.push_async_callback(close)
                steps.push_async_callback(self.bus.stop)
                if store_rest:
                    steps.push_async_callback(store_rest)

        return Lifecycle(start=begin, drain=drain, cut_short=self.bus.cut_questions_short, stop=stop)

    async def _run(self, app: ASGIApp, host: str, port: int, lifecycle: Lifecycle) -> None:
        await run_process(
            self.name, app, host=host, port=port, run_dir=self._settings.run_dir, lifecycle=lifecycle
        )


def _nats_secret(settings: ServiceSettings) -> dict[str, SecretStr]:
    """The token of NATS; none is needed with another login."""
    return {} if has_login(settings) else {"PRISM_NATS_TOKEN": settings.nats_token}
