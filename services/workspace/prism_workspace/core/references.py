"""What a planning reference names: a file, a symbol, a document, or an address.

Takes the text of a reference, returns its type and what is to be looked up. Whether it exists is asked of the index.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.tasks import ReferenceType
from prism_source.paths import path_problem, validate_path
from prism_workspace.core.mentions import Mention, of_code, of_target

_ADDRESSES = ("http://", "https://")
_CODE = frozenset(
    {".py", ".go", ".rs", ".ts", ".js", ".java", ".c", ".h", ".cc", ".cpp", ".cs", ".rb", ".kt"}
)
_TYPES_OF_FOLDERS = {
    "spec": ReferenceType.SPEC,
    "specs": ReferenceType.SPEC,
    "plan": ReferenceType.PLAN,
    "plans": ReferenceType.PLAN,
    "adr": ReferenceType.DECISION,
    "decisions": ReferenceType.DECISION,
}


@dataclass(frozen=True)
class Named:
    """What a reference may name. It is found if any of it is."""

    reference: str
    repo: str = ""  # owner/name in lower case; empty if the reference does not say it
    path: str = ""
    symbol: str = ""  # with a path: in that file


def is_address(reference: str) -> bool:
    """Whether a reference is a URL. Nothing is fetched from it."""
    return reference.lower().startswith(_ADDRESSES)


def checked_reference(reference: str) -> str:
    """Returns a reference that a task may have. Raises INVALID_PATH."""
    if not is_address(reference):
        return validate_path(reference)
    if not reference.isprintable():
        raise PrismError(
            ErrorCode.INVALID_PATH,
            "An address among the planning references has a control character.",
            "Give the address as a browser shows it.",
        )
    return reference


def reference_type(reference: str) -> ReferenceType:
    """Returns what a reference is likely to be: by its form, and for a path by its folders, name and suffix."""
    if is_address(reference):
        return ReferenceType.URL
    mention = of_code(reference)
    if mention and _is_symbol(reference, mention):
        return ReferenceType.SYMBOL
    pure = PurePosixPath((mention.path if mention and mention.path else reference).lower())
    for part in (*pure.parts[:-1], pure.stem):
        if part in _TYPES_OF_FOLDERS:
            return _TYPES_OF_FOLDERS[part]
    return ReferenceType.CODE if pure.suffix in _CODE else ReferenceType.DOCUMENT


def named(reference: str) -> Named | None:
    """Returns what is to be looked up for a reference; None for an address that leads to no file of a forge."""
    if is_address(reference):
        mention = of_target(reference)
        return Named(reference, repo=mention.repo, path=mention.path) if mention else None
    mention = of_code(reference)
    if mention and mention.path:
        return Named(reference, repo=mention.repo, path=mention.path, symbol=mention.symbol)
    # `notes.adoc` may be either.
    path = "" if path_problem(reference) else reference
    return Named(reference, path=path, symbol=mention.symbol if mention else "")


def _is_symbol(reference: str, mention: Mention) -> bool:
    if mention.path:
        return False
    is_marked = mention.is_call or "::" in reference or "#" in reference
    return is_marked or "." not in mention.symbol or mention.symbol[0].isupper()
