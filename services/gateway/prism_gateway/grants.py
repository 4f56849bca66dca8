"""What a caller may grant: never more than it has itself."""

from collections.abc import Collection

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Token
from prism_gateway.callers import Caller
from prism_gateway.scopes import TokenScope, granted


def tenant_for(caller: Caller, tenant: str) -> str:
    """Returns the tenant that a call is about: by default the caller's own. Others need `operator`."""
    if tenant and tenant != caller.tenant and TokenScope.OPERATOR not in caller.scopes:
        raise PrismError(
            ErrorCode.FORBIDDEN,
            "The token belongs to another tenant.",
            "Leave tenant out, or use a token with the scope `operator`.",
        )
    return tenant or caller.tenant


def check_whole_tenant(caller: Caller) -> None:
    """Raise FORBIDDEN if the caller may see some repositories of its tenant only."""
    if caller.repos:
        raise PrismError(
            ErrorCode.FORBIDDEN,
            "The token is limited to some repositories, and this is about all of the tenant's.",
            "Use a token without a list of repositories.",
        )


def check_grant(caller: Caller, scopes: Collection[str], repos: Collection[str]) -> None:
    """Raise FORBIDDEN if a token with these scopes and repositories could do what its creator cannot."""
    wider = sorted(set(scopes) - granted(caller.scopes))
    if wider:
        raise PrismError(
            ErrorCode.FORBIDDEN,
            f"A token cannot grant scopes that it does not have: {', '.join(wider)}.",
            f"Ask for {', '.join(sorted(granted(caller.scopes)))}, or use a token with more scopes.",
            scopes=wider,
        )
    if not _within(caller, repos):
        raise PrismError(
            ErrorCode.FORBIDDEN,
            f"The token is limited to {', '.join(caller.repos)}, and cannot grant more.",
            "Name some of these as repos.",
        )
    if repos and TokenScope.OPERATOR in scopes:
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            "A token with the scope `operator` cannot be limited to repositories.",
            "Leave out `operator`, or repos.",
        )


def may_see(caller: Caller, token: Token) -> bool:
    """Whether a token belongs to what the caller manages."""
    return _within(caller, token.repos)


def may_revoke(caller: Caller, token: Token) -> bool:
    """Whether the caller could have granted the token itself."""
    return may_see(caller, token) and granted(caller.scopes).issuperset(token.scopes)


def _within(caller: Caller, repos: Collection[str]) -> bool:
    """Whether the repositories, none meaning all, are some of the caller's."""
    own = {name.lower() for name in caller.repos}
    return not own or (bool(repos) and own.issuperset(name.lower() for name in repos))
