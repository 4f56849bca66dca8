"""Checks filters by path and language: refuses unknown languages, reports filters that exclude every file."""

from collections.abc import Sequence

from rapidfuzz import process
from rapidfuzz.distance import JaroWinkler

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.code import LANGUAGES, FileStatus
from prism_contracts.errors import ErrorCode, PrismError
from prism_store.globs import compile_glob, literal_prefix
from prism_store.reader import Reader, has, starts_with, with_status
from prism_store.scope import Scope

LANGUAGES_SHOWN_MAX = 20
LIKENESS_MIN = 0.75
INDEXED = with_status(FileStatus.INDEXED)


async def refuse_unknown_language(
    reader: Reader, repositories: RepositoryCatalog, target: Target, language: str
) -> None:
    """Raises INVALID_ARGUMENT for a language that Prism does not know and no file has that the caller may see.

    The error lists the languages of indexed files. A known language passes, even if no file has it.
    """
    if not language or language.lower() in LANGUAGES:
        return
    around = repositories.around(target).scope
    if await reader.count(around, [INDEXED, has("language", language.lower())]):
        return
    counts = await reader.counts_by(target.scope, "language", [INDEXED])
    indexed = sorted(filter(None, counts), key=lambda name: (-counts[name], name))[:LANGUAGES_SHOWN_MAX]
    near = _nearest(language, indexed) or _nearest(language, sorted(LANGUAGES))
    raise PrismError(
        ErrorCode.INVALID_ARGUMENT,
        f"The language {language!r} is unknown.",
        f"{f'Did you mean {near}? ' if near else ''}details.languages lists the languages of indexed files.",
        languages=indexed,
    )


def _nearest(language: str, names: Sequence[str]) -> str:
    # Jaro-Winkler weighs the beginning most: golang and go, py and python.
    near = process.extractOne(
        language.lower(), names, scorer=JaroWinkler.normalized_similarity, score_cutoff=LIKENESS_MIN
    )
    return str(near[0]) if near else ""


async def no_file_passes(reader: Reader, scope: Scope, path_filter: str, language: str) -> str:
    """Returns a sentence if no indexed file of the scope passes the filters; empty otherwise."""
    if not path_filter and not language:
        return ""
    conditions = [INDEXED, *([has("language", language.lower())] if language else [])]
    prefix = literal_prefix(path_filter)
    if prefix:
        conditions.append(starts_with("path", prefix))
    glob = compile_glob(path_filter or "**")
    async for point in reader.scan(scope, conditions, ["path"]):
        if glob.fullmatch(point.text("path")):
            return ""
    return nothing_passes(path_filter, language)


def nothing_passes(path_filter: str, language: str, **others: str) -> str:
    """Returns the sentence that no file passes these filters."""
    given = {"path_filter": path_filter, "language": language, **others}
    return f"no indexed file passes {' and '.join(f'{name} {value!r}' for name, value in given.items() if value)}"
