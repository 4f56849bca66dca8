"""Finds the majority among several ways to do something."""

from collections import defaultdict

from prism_contracts.rpc.guidance import Convention, ConventionExample

MAJORITY = 0.6
THINGS_MIN = 5
EXAMPLES_MAX = 3
EXAMPLE_CHARS_MAX = 160


class Tally:
    """Counts things of one kind by the way they are done, and keeps examples of different files."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, int] = defaultdict(int)
        self._examples: defaultdict[str, list[ConventionExample]] = defaultdict(list)

    def add(self, way: str, path: str, line: int, text: str) -> None:
        """Counts a thing at a place."""
        self._counts[way] += 1
        examples = self._examples[way]
        if len(examples) < EXAMPLES_MAX and all(example.file_path != path for example in examples):
            examples.append(
                ConventionExample(file_path=path, line=line, text=text.strip()[:EXAMPLE_CHARS_MAX])
            )

    def most(
        self, topic: str, language: str, statement: str, *, things_min: int = THINGS_MIN
    ) -> Convention | None:
        """Returns the convention of the majority, with its way for `{}`; None without a majority."""
        total = sum(self._counts.values())
        if total < things_min:
            return None
        way = min(self._counts, key=lambda way: (-self._counts[way], way))
        if self._counts[way] < MAJORITY * total or not way:
            return None
        return Convention(
            topic=topic,
            language=language,
            statement=statement.format(way),
            count=self._counts[way],
            total=total,
            examples=tuple(self._examples[way]),
        )
