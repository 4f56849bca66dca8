"""A lease: only one copy of a service at a time does a task.

It is held by renewal, and expires when its holder dies.
"""

import asyncio
import uuid

from nats.js import JetStreamContext
from nats.js.errors import KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from prism_contracts import names
from prism_ingest.adapters.metrics import LeaseMetrics
from prism_runtime.records import open_bucket


class Lease:
    """The right to do a task, until `names.LEASE_S` after the last renewal.

    The task must tolerate two holders for a moment: a holder that was suspended may not know that its lease
    expired.
    """

    def __init__(self, bucket: KeyValue, thing: str, metrics: LeaseMetrics) -> None:
        self._bucket = bucket
        self._thing = thing
        self._metrics = metrics
        self._holder = uuid.uuid4().hex.encode()
        self._revision = 0
        self._lock = asyncio.Lock()

    @classmethod
    async def open(cls, js: JetStreamContext, thing: str, metrics: LeaseMetrics, *, replicas: int) -> "Lease":
        """Open a lease, and create its bucket if it does not exist."""
        # Entries of the bucket expire unless they are renewed.
        bucket = await open_bucket(js, names.KV_LEASES, ttl_s=names.LEASE_S, replicas=replicas)
        return cls(bucket, thing, metrics)

    async def hold(self) -> bool:
        """Acquire or renew the lease. Returns False if another process holds it."""
        async with self._lock:  # otherwise two tasks of one holder would exclude each other
            is_held = await self._hold()
        self._metrics.show(self._thing, is_held=is_held)
        return is_held

    async def _hold(self) -> bool:
        try:
            if self._revision:
                self._revision = await self._bucket.update(self._thing, self._holder, last=self._revision)
            else:
                self._revision = await self._bucket.create(self._thing, self._holder)
        except KeyWrongLastSequenceError:
            self._revision = 0  # if this process held it, it has expired
            return False
        return True
