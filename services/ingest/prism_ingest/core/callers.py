"""What a caller who is limited to some repositories may not do."""

from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.rpc.common import CallerRequest


def check_may_import(request: CallerRequest, name: str) -> None:
    """Raise FORBIDDEN if the caller may not see a repository of this name, whether it exists or not."""
    if not request.sees(name):
        raise PrismError(
            ErrorCode.FORBIDDEN,
            f"The token is limited to some repositories, and {shown(name)} is none of them.",
            "Use a token with this repository, or without a list of repositories.",
        )
