"""What a caller may see, and how it reaches every request."""

from typing import cast

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import VISIBLE_MAX, CallerRequest
from prism_contracts.rpc.imports import JobReply, JobRequest
from prism_contracts.rpc.search import GREP, GrepReply, GrepRequest
from prism_gateway.backend import BackendServices
from prism_gateway.callers import Caller
from prism_gateway.groups import Groups, is_group
from prism_gateway.visibility import visible_to

APP, WEB, PAY = "acme/app", "acme/web", "acme/pay"


class KnownGroups(Groups):
    """Groups without a bucket."""

    def __init__(self, **groups: frozenset[str]) -> None:
        super().__init__()
        self._known = groups

    def members(self, tenant: str, name: str) -> frozenset[str] | None:
        return self._known.get(name.removeprefix("@")) if tenant == "acme" else None


class RecordingServices(BackendServices):
    """Keeps requests instead of sending them."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self.asked: list[CallerRequest] = []

    async def ask(self, rpc, request):
        self.asked.append(request)


GROUPS = KnownGroups(backend=frozenset({APP, PAY}), empty=frozenset())


def caller(*repos: str, tenant: str = "acme") -> Caller:
    return Caller(tenant, frozenset({"read"}), "token:0123456789ab", "", repos)


@pytest.mark.parametrize(
    ("repos", "visible"),
    [
        ((), None),
        (("acme/app",), {APP}),
        (("Acme/App", "acme/web"), {APP, WEB}),
        (("@backend",), {APP, PAY}),
        (("@backend", "acme/web"), {APP, PAY, WEB}),
        (("@empty",), set()),
        (("@gone",), set()),
        (("@scope/app",), {"@scope/app"}),
    ],
)
def test_a_list_of_repositories_limits_what_is_visible(repos, visible) -> None:
    assert visible_to(caller(*repos), GROUPS) == visible


def test_a_group_of_another_tenant_has_no_members() -> None:
    assert visible_to(caller("@backend", tenant="other"), GROUPS) == set()


def test_a_token_with_too_many_repositories_sees_none() -> None:
    large = KnownGroups(all=frozenset(map(str, range(VISIBLE_MAX + 1))))
    with pytest.raises(PrismError) as caught:
        visible_to(caller("@all"), large)
    assert caught.value.code is ErrorCode.FORBIDDEN


@pytest.mark.parametrize("request_", [GrepRequest(tenant="other", pattern="x"), JobRequest(tenant="other")])
async def test_every_request_carries_the_caller(request_) -> None:
    services = RecordingServices(GROUPS)
    rpc = cast("Rpc[CallerRequest, GrepReply | JobReply]", None)
    forged = request_.model_copy(update={"visible": None})
    await services.of(caller("acme/app")).ask(rpc, forged)
    [asked] = services.asked
    assert (asked.tenant, asked.visible) == ("acme", {APP})
    assert asked.sees(APP)
    assert not asked.sees(WEB)


@pytest.mark.parametrize(
    ("repos", "group", "visible"),
    [
        ((), "@backend", {APP, PAY}),
        (("acme/app", "acme/web"), "@backend", {APP}),
        (("acme/web",), "@backend", None),
        ((), "@empty", None),
        ((), "@gone", None),
    ],
)
async def test_a_group_selects_its_visible_repositories(repos, group, visible) -> None:
    services = RecordingServices(GROUPS)
    question = GrepRequest(tenant="acme", pattern="x", repo=group)
    if visible is None:
        with pytest.raises(PrismError) as caught:
            await services.of(caller(*repos)).ask(GREP, question)
        assert caught.value.code is ErrorCode.REPO_NOT_FOUND
        assert not services.asked
    else:
        await services.of(caller(*repos)).ask(GREP, question)
        assert services.asked == [question.model_copy(update={"repo": "", "visible": visible})]


@pytest.mark.parametrize(("name", "is_one"), [("@a", True), ("@a/b", False), ("a", False), ("", False)])
def test_a_name_with_a_mark_and_no_slash_is_a_group(name, is_one) -> None:
    assert is_group(name) is is_one
