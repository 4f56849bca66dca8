"""What the entries of the audit are about, in words: the label of a token, the title of a document. Ids in, links out."""

import asyncio
from collections.abc import Iterable
from typing import Final, NamedTuple

from prism_contracts.accounting import AuditAction, AuditEntry
from prism_contracts.errors import PrismError
from prism_contracts.rpc.documents import GET_DOCUMENT_METADATA
from prism_contracts.rpc.imports import JOBS
from prism_gateway.console.formats import repo_url
from prism_gateway.console.page import Visit

# Documents whose titles one page looks up.
TITLES_MAX: Final = 20
TOKENS: Final = frozenset({AuditAction.TOKEN_CREATED, AuditAction.TOKEN_REVOKED})
DOCUMENTS: Final = frozenset({AuditAction.DOCUMENT_CREATED, AuditAction.DOCUMENT_CHANGED})


class AuditSubject(NamedTuple):
    """What was changed, as a page shows it. The address is empty if it has no page."""

    text: str
    url: str = ""


async def subjects_of(visit: Visit, entries: Iterable[AuditEntry]) -> dict[str, AuditSubject]:
    """Returns what entries are about, by what they say; without the ids whose names are not known."""
    entries = list(entries)
    found = {
        one.subject: AuditSubject(one.details.get("label", "") or one.subject, "/tokens")
        for one in entries
        if one.action in TOKENS and one.subject
    }
    for one in entries:
        if one.action is AuditAction.JOB_CANCELLED and (repo := one.details.get("repo")):
            found[one.subject] = AuditSubject(f"an import of {repo}", repo_url(repo))
    names, titles = await asyncio.gather(_repositories(visit), _documents(visit, entries))
    return {name: AuditSubject(name, repo_url(name)) for name in names} | found | titles


async def _repositories(visit: Visit) -> list[str]:
    try:
        known = await visit.ask(JOBS, limit=1)
    except PrismError:
        return []
    return [repository.name for repository in known.repositories]


async def _documents(visit: Visit, entries: Iterable[AuditEntry]) -> dict[str, AuditSubject]:
    ids = dict.fromkeys(one.subject for one in entries if one.action in DOCUMENTS and not one.code)
    titles = await asyncio.gather(*(_title(visit, one) for one in [*ids][:TITLES_MAX]))
    return {
        one: AuditSubject(title, f"/documents/{one}")
        for one, title in zip(ids, titles, strict=False)
        if title
    }


async def _title(visit: Visit, document: str) -> str:
    try:
        return (await visit.ask(GET_DOCUMENT_METADATA, document_id=document)).metadata.title
    except PrismError:
        return ""
