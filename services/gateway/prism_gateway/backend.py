"""Requests from the gateway to other services, over NATS, within the limits of each tenant.

Raises PrismError only.
"""

import asyncio
from contextlib import nullcontext
from typing import IO, Protocol, TypeVar, cast

from prism_contracts.base import Lane, Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FilesUploaded
from prism_contracts.registry import Rpc, Timeout
from prism_contracts.rpc.common import RECEIPT, ReceiptRequest, ScopedRequest
from prism_contracts.rpc.guidance import EDIT_CONTEXT
from prism_contracts.rpc.imports import STORE_SCIP, StoreScipReply, StoreScipRequest
from prism_gateway.settings import GatewaySettings
from prism_gateway.turns import TurnLimits, Turns, Waiters
from prism_runtime.bus import Bus

Request = TypeVar("Request", bound=Message)
Answer = TypeVar("Answer", bound=Message)


class Backend:
    """The services behind the gateway."""

    def __init__(self, bus: Bus, settings: GatewaySettings) -> None:
        self._bus = bus
        self._settings = settings
        limits = TurnLimits(
            total=settings.questions_max,
            of_tenant_shared=settings.questions_of_tenant_shared,
            queued_of_tenant=settings.questions_queued_max,
            queue_s=settings.rpc_timeout_s,
        )
        self._turns = Turns(limits)
        # These cost so much that many of them would starve all other questions.
        self._edit_turns = Turns(limits._replace(total=settings.edit_contexts_max, of_tenant_shared=1))
        self._timeouts_s = {
            Timeout.QUESTION: settings.rpc_timeout_s,
            Timeout.IMPORT: settings.rpc_snapshot_timeout_s,
            Timeout.SCIP: settings.rpc_scip_timeout_s,
        }
        self._waiters = Waiters(settings.waiters_of_tenant_max)

    async def ask(self, rpc: Rpc[Request, Answer], request: Request) -> Answer:
        """Send a request to its service and return the reply.

        Writes are refused while the disk is full. Questions take turns, so that no tenant can occupy a
        service.
        """
        if rpc.writes:
            self._bus.room.check()
            return await self._send(rpc, request)
        if isinstance(request, ScopedRequest) and request.wait_for_commit:
            await self._wait_for_commit(request)
        tenant = cast("_OfTenant", request).tenant
        costly_turn = self._edit_turns.turn(tenant) if rpc is EDIT_CONTEXT else nullcontext()
        async with costly_turn, self._turns.turn(tenant):
            return await self._send(rpc, request)

    async def store_scip(self, request: StoreScipRequest, file: IO[bytes]) -> StoreScipReply:
        """Upload a SCIP index, and have ingest store it."""
        self._bus.room.check()
        name = await self._bus.codec.store_file(file)
        return await self.ask(STORE_SCIP, request.model_copy(update={"object": name}))

    async def store_pack(self, pack: FilesUploaded, lane: Lane) -> None:
        """Publish a pack of file contents for ingest. Returns when it is stored."""
        try:
            async with asyncio.timeout(self._settings.publish_timeout_s):
                await self._bus.publish(pack, lane=lane)
        except TimeoutError as error:
            raise PrismError(
                ErrorCode.UNAVAILABLE,
                "The upload queue is full.",
                "Send the same pack again in a few seconds. A repeated pack counts once.",
            ) from error

    async def _wait_for_commit(self, request: ScopedRequest) -> None:
        """Wait until the commit is served. The question itself follows, and does not wait."""
        waiting = ReceiptRequest(
            tenant=request.tenant,
            repo=request.repo,
            ref=request.ref,
            wait_for_commit=request.wait_for_commit,
        )
        async with self._waiters.place(request.tenant):
            await self._send(RECEIPT, waiting)

    async def _send(self, rpc: Rpc[Request, Answer], request: Request) -> Answer:
        return await self._bus.ask(rpc, request, timeout_s=self._timeouts_s[rpc.timeout])


class _OfTenant(Protocol):
    tenant: str
