"""Infers how code is written in a repository: conventions by topic, with counts and examples.

In: parsed files, and all paths. Out: conventions that a majority of the code follows. Pure: the same files
give the same answer.
"""

from collections.abc import Iterable, Iterator, Sequence

from prism_contracts.code import Symbol
from prism_contracts.rpc.guidance import Convention
from prism_search.core.conventions.habits import habits
from prism_search.core.conventions.layout import commands, layout, tools
from prism_search.core.conventions.naming import naming
from prism_search.core.conventions.running import running
from prism_search.core.references.edges import SourceFile

LANGUAGES_MAX = 3
# A language with fewer files is no evidence of how the repository is written.
FILES_MIN = 3
LANGUAGE_SHARE_MIN = 0.05


def infer(
    files: Sequence[SourceFile], paths: Sequence[str], configured: Iterable[tuple[str, Sequence[Symbol]]]
) -> Iterator[Convention]:
    """Yields the conventions of the most frequent languages, then those of the repository.

    `files` are hand-written code; `paths` are those of all files; `configured` are files that configure tools
    and commands, with their symbols.
    """
    for language in languages_of(files):
        own = [file for file in files if file.language == language]
        for topic in (naming, habits, running):
            yield from topic(language, own)
    known = list(configured)
    yield from layout(files)
    yield from tools(paths, known)
    yield from commands(known)


def languages_of(files: Sequence[SourceFile]) -> list[str]:
    """Returns the languages with most files, most frequent first."""
    counts: dict[str, int] = {}
    for file in files:
        counts[file.language] = counts.get(file.language, 0) + 1
    enough = max(FILES_MIN, LANGUAGE_SHARE_MIN * len(files))
    ordered = sorted(counts, key=lambda language: (-counts[language], language))
    return [language for language in ordered if counts[language] >= enough][:LANGUAGES_MAX]
