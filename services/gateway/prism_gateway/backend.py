"""Requests from the gateway to other services, over NATS, within the limits of each tenant.

Raises PrismError only.
"""

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import IO, TypeVar

from prism_catalog.tenants import Tenants
from prism_contracts.base import Lane, Message
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.events import FilesUploaded
from prism_contracts.registry import Rpc, Timeout
from prism_contracts.rpc.common import RECEIPT, CallerRequest, ReceiptRequest, ScopedRequest
from prism_contracts.rpc.guidance import EDIT_CONTEXT
from prism_contracts.rpc.imports import STORE_SCIP, StoreScipReply, StoreScipRequest
from prism_gateway.accounting.facts import CallFacts
from prism_gateway.callers import Caller
from prism_gateway.groups import Groups, is_group
from prism_gateway.settings import GatewaySettings
from prism_gateway.turns import TurnLimits, Turns, Waiters
from prism_gateway.visibility import visible_to
from prism_runtime.bus import Bus

Request = TypeVar("Request", bound=CallerRequest)
Answer = TypeVar("Answer", bound=Message)


class BackendServices:
    """The services behind the gateway."""

    def __init__(self, bus: Bus, settings: GatewaySettings, groups: Groups, tenants: Tenants) -> None:
        self._bus = bus
        self._settings = settings
        self._groups = groups
        self._tenants = tenants
        limits = TurnLimits(
            total=settings.questions_max,
            of_tenant_shared=settings.questions_of_tenant_shared,
            queued_of_tenant=settings.questions_queued_max,
            queue_s=settings.rpc_timeout_s,
        )
        self._turns = Turns(limits)
        # These cost so much that many of them would starve all other questions.
        self._edit_turns = Turns(limits._replace(total=settings.edit_contexts_max, of_tenant_shared=1))
        # These wait for a language model, not for a service of ours, so they take no turn of a question.
        self._model_turns = Turns(
            limits._replace(
                total=settings.model_answers_max, of_tenant_shared=settings.model_answers_of_tenant_shared
            )
        )
        self._timeouts_s = {
            Timeout.QUESTION: settings.rpc_timeout_s,
            Timeout.IMPORT: settings.rpc_snapshot_timeout_s,
            Timeout.SCIP: settings.rpc_scip_timeout_s,
            Timeout.MODEL: settings.rpc_model_timeout_s,
        }
        self._waiters = Waiters(settings.waiters_of_tenant_max)

    def of(self, caller: Caller, facts: CallFacts | None = None) -> "Backend":
        """Returns the services as one caller may use them, for a call whose facts they note."""
        return Backend(self, caller, visible_to(caller, self._groups), facts)

    def members(self, tenant: str, group: str) -> frozenset[str] | None:
        """Returns the names of a group's repositories; None if there is no such group."""
        return self._groups.members(tenant, group)

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
        tenant = request.tenant
        if rpc.timeout is Timeout.MODEL:
            async with self._model_turns.turn(tenant):
                return await self._send(rpc, request)
        costly_turn = self._edit_turns.turn(tenant) if rpc is EDIT_CONTEXT else nullcontext()
        async with costly_turn, self._turns.turn(tenant):
            return await self._send(rpc, request)

    def waiting(self, tenant: str) -> AbstractAsyncContextManager[None]:
        """Hold a place of a request that waits. Raises RATE_LIMITED if the tenant has none left."""
        return self._waiters.place(tenant)

    async def store_file(self, file: IO[bytes]) -> str:
        """Store the body of a later request. Returns its name."""
        self._bus.room.check()
        return await self._bus.codec.store_file(file)

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
            visible=request.visible,
            repo=request.repo,
            ref=request.ref,
            wait_for_commit=request.wait_for_commit,
        )
        async with self._waiters.place(request.tenant):
            await self._send(RECEIPT, waiting)

    async def _send(self, rpc: Rpc[Request, Answer], request: Request) -> Answer:
        # A call may have waited, and may ask repeatedly, long after its token was checked.
        self._check_active(request.tenant)
        reply = await self._bus.ask(rpc, request, timeout_s=self._timeouts_s[rpc.timeout])
        if not rpc.writes:
            self._check_active(request.tenant)
        return reply

    def _check_active(self, tenant: str) -> None:
        if not self._tenants.is_active(tenant):
            raise PrismError(
                ErrorCode.UNAUTHENTICATED,
                "The tenant was deactivated during this call.",
                "Ask the operator of this Prism.",
            )


@dataclass(frozen=True)
class Backend:
    """The services as one caller may use them: every request carries what the caller may see."""

    services: BackendServices
    caller: Caller
    visible: frozenset[str] | None  # as in `CallerRequest`
    facts: CallFacts | None = None

    async def ask(self, rpc: Rpc[Request, Answer], request: Request) -> Answer:
        """Send a request to its service and return the reply; see `BackendServices.ask`.

        A group in `repo` selects those of its repositories that the caller may see.
        """
        limits: dict[str, object] = {"tenant": self.caller.tenant, "visible": self.visible}
        if isinstance(request, ScopedRequest) and is_group(request.repo):
            limits |= {"repo": "", "visible": self._members(request.repo)}
        if self.facts:
            self.facts.note_request(request)
        reply = await self.services.ask(rpc, request.model_copy(update=limits))
        if self.facts:
            self.facts.note(request, reply)
        return reply

    async def store_scip(self, request: StoreScipRequest, file: IO[bytes]) -> StoreScipReply:
        """Upload a SCIP index, and have ingest store it."""
        name = await self.services.store_file(file)
        return await self.ask(STORE_SCIP, request.model_copy(update={"object": name}))

    async def store_pack(self, pack: FilesUploaded, lane: Lane) -> None:
        """Publish a pack of file contents for a job that admits it. Returns when it is stored."""
        await self.services.store_pack(pack, lane)

    def reporting(self) -> "Backend":
        """Returns the services for a report on the change of this call: the change is done, whatever follows.

        It is recorded with the first part of the answer, and the requests of the report are not noted.
        """
        if self.facts:
            self.facts.is_answered = True
        return replace(self, facts=None)

    def waiting(self) -> AbstractAsyncContextManager[None]:
        """Hold a place of a request that waits. Raises RATE_LIMITED if the tenant has none left."""
        return self.services.waiting(self.caller.tenant)

    def sees(self, name: str) -> bool:
        """Whether the caller may see and change the repository with a name."""
        return CallerRequest(tenant=self.caller.tenant, visible=self.visible).sees(name)

    def _members(self, group: str) -> frozenset[str]:
        members = self.services.members(self.caller.tenant, group)
        seen = frozenset(name for name in members or () if self.sees(name))
        if not seen:
            raise PrismError(
                ErrorCode.REPO_NOT_FOUND,
                f"There is no group {shown(group)}.",
                "`prism groups list` lists the groups. Or name a repository.",
            )
        return seen
