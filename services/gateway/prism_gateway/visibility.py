"""Which repositories a caller may see and change. Every request to a service carries the result."""

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import VISIBLE_MAX
from prism_gateway.callers import Caller
from prism_gateway.groups import Groups, is_group


def visible_to(caller: Caller, groups: Groups) -> frozenset[str] | None:
    """Returns the names of the repositories that a caller may see, in lower case; None for all of its tenant's.

    A group has the members that it has now; a group that does not exist has none.
    """
    if not caller.repos:
        return None
    visible: set[str] = set()
    for name in caller.repos:
        visible |= (groups.members(caller.tenant, name) or frozenset()) if is_group(name) else {name.lower()}
    if len(visible) > VISIBLE_MAX:
        raise PrismError(
            ErrorCode.FORBIDDEN,
            f"The groups of the token have {len(visible)} repositories, more than {VISIBLE_MAX}.",
            "Use a token with smaller groups, or one without a list of repositories.",
        )
    return frozenset(visible)
