"""No token is wider than the one that created it."""

from datetime import UTC, datetime

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Token
from prism_gateway.callers import Caller
from prism_gateway.grants import check_grant, may_revoke, may_see, tenant_for


def caller(*scopes: str, repos: tuple[str, ...] = ()) -> Caller:
    return Caller("acme", frozenset(scopes), "token:0123456789ab", "admin", repos)


def token(*scopes: str, repos: tuple[str, ...] = ()) -> Token:
    return Token(
        tenant="acme", label="", scopes=scopes, repos=repos, created_at=datetime(2026, 1, 2, tzinfo=UTC)
    )


@pytest.mark.parametrize(
    ("own", "granted", "code"),
    [
        (("read", "admin"), ("read",), None),
        (("read", "admin"), ("read", "admin"), None),
        (("read", "admin"), ("write",), ErrorCode.FORBIDDEN),
        (("admin",), ("operator",), ErrorCode.FORBIDDEN),
        (("operator",), ("admin", "operator"), None),
        (("operator",), ("read",), ErrorCode.FORBIDDEN),
    ],
)
def test_scopes_are_some_of_the_callers(own, granted, code) -> None:
    assert code_of(caller(*own), granted, ()) is code
    assert may_revoke(caller(*own), token(*granted)) is (code is None)


@pytest.mark.parametrize(
    ("own", "granted", "is_within"),
    [
        ((), (), True),
        ((), ("acme/app",), True),
        (("acme/app",), (), False),
        (("acme/app",), ("acme/app",), True),
        (("acme/app",), ("Acme/App",), True),
        (("acme/app",), ("acme/app", "acme/web"), False),
        (("@backend",), ("@backend",), True),
        (("@backend",), ("acme/app",), False),
    ],
)
def test_repositories_are_some_of_the_callers(own, granted, is_within) -> None:
    creator = caller("read", "admin", repos=own)
    assert code_of(creator, ("read",), granted) is (None if is_within else ErrorCode.FORBIDDEN)
    assert may_see(creator, token("read", repos=granted)) is is_within
    assert may_revoke(creator, token("read", repos=granted)) is is_within


def test_an_operator_is_not_limited_to_repositories() -> None:
    assert code_of(caller("operator"), ("operator",), ("acme/app",)) is ErrorCode.INVALID_ARGUMENT


def test_another_tenant_needs_the_operator() -> None:
    assert tenant_for(caller("admin"), "") == "acme"
    assert tenant_for(caller("admin"), "acme") == "acme"
    assert tenant_for(caller("operator"), "other") == "other"
    with pytest.raises(PrismError) as caught:
        tenant_for(caller("admin"), "other")
    assert caught.value.code is ErrorCode.FORBIDDEN


def code_of(creator: Caller, scopes: tuple[str, ...], repos: tuple[str, ...]) -> ErrorCode | None:
    try:
        check_grant(creator, scopes, repos)
    except PrismError as error:
        return error.code
    return None
