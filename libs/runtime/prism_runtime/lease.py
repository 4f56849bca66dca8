"""A lease: of several copies of a service one at a time does a thing. Held by renewing it; lost by dying."""

import asyncio
import uuid

from nats.js import JetStreamContext
from nats.js.errors import KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from prism_contracts import names
from prism_runtime.records import open_bucket


class Lease:
    """The right to do a thing, until `names.LEASE_S` after it was last asked for.

    What is done under it must be harmless if two do it for a moment: a holder that stood still may not know that its time
    is over.
    """

    def __init__(self, bucket: KeyValue, thing: str) -> None:
        self._bucket = bucket
        self._thing = thing
        self._holder = uuid.uuid4().hex.encode()
        self._revision = 0
        self._lock = asyncio.Lock()

    @classmethod
    async def open(cls, js: JetStreamContext, thing: str, *, replicas: int) -> "Lease":
        """A lease that nobody has asked for yet, its bucket made if it is not there."""
        # The bucket forgets what is not renewed.
        bucket = await open_bucket(js, names.KV_LEASES, ttl_s=names.LEASE_S, replicas=replicas)
        return cls(bucket, thing)

    async def hold(self) -> bool:
        """Take the lease, or keep it; False if somebody else has it."""
        async with self._lock:  # or of two tasks of the holder one takes the other for somebody else
            try:
                if self._revision:
                    self._revision = await self._bucket.update(self._thing, self._holder, last=self._revision)
                else:
                    self._revision = await self._bucket.create(self._thing, self._holder)
            except KeyWrongLastSequenceError:
                self._revision = 0  # if it was ours, it has run out
                return False
            return True
