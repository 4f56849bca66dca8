"""How a service stops."""

import pytest
from prometheus_client import CollectorRegistry

from prism_runtime.service import Service
from prism_runtime.settings import ServiceSettings


async def test_a_failing_step_of_the_stop_skips_no_other_step() -> None:
    service = Service("test", ServiceSettings(), metrics=CollectorRegistry())
    steps: list[str] = []

    async def store_rest() -> None:
        steps.append("store the rest")
        raise OSError("the disk is full")

    async def stop_bus() -> None:
        steps.append("stop the bus")

    async def close() -> None:
        steps.append("close")

    service.bus.stop = stop_bus  # type: ignore[method-assign]
    lifecycle = service._lifecycle(stop_bus, drain=stop_bus, store_rest=store_rest, close=close)
    with pytest.raises(OSError, match="the disk is full"):
        await lifecycle.stop()
    assert steps == ["store the rest", "stop the bus", "close"]
