"""Puts passages of text before lists of links, which match every question about what they link to."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from prism_search.core.links import is_list_of_links
from prism_search.core.matching import Question
from prism_search.core.passages import further_ranges
from prism_search.core.retrieval.assemble import Passage
from prism_search.core.retrieval.candidates import Candidate

# More than the lead from having the words in a heading and in every link: the list itself answers nothing.
LINKS_WEIGHT = -1.0
FURTHER_MAX = 3

Read = Callable[[Sequence[Passage]], Awaitable[Sequence[str | None]]]


async def prefer_text(
    question: Question, shown: Sequence[Passage], contents: Sequence[str | None], read: Read
) -> tuple[list[Passage], list[str | None]]:
    """Returns the passages with their contents in a new order.

    Another passage of the file that has words of the question replaces a list of links. Without one, the
    list's score is lowered.
    """
    used = list(shown)
    chosen: list[tuple[Passage, str | None]] = []
    for passage, content in zip(shown, contents, strict=True):
        if content is None or not is_list_of_links(content):
            chosen.append((passage, content))
            continue
        file, _ = passage
        own = [found for other, found in used if other is file]
        further = [(file, found) for found in further_ranges(question, file, own)[:FURTHER_MAX]]
        texts = zip(further, await read(further), strict=True)
        better = next(((other, text) for other, text in texts if text and not is_list_of_links(text)), None)
        used += [better[0]] if better else []
        chosen.append(better or ((_lowered(file), passage[1]), content))
    chosen.sort(key=lambda item: -item[0][0].score)
    return [passage for passage, _ in chosen], [content for _, content in chosen]


def _lowered(file: Candidate) -> Candidate:
    return replace(
        file, score=file.score + LINKS_WEIGHT, signals={**file.signals, "list_of_links": LINKS_WEIGHT}
    )
