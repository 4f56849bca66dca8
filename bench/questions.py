"""Questions about the corpus, each asked once: names, names as words, and first lines of docstrings."""

import ast
import random
import re
from collections.abc import Iterator

from bench.corpus import Corpus

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
NAME_CHARS_MIN = 6
LINE_CHARS = range(20, 120)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def make_questions(corpus: Corpus, count: int, seed: int) -> list[str]:
    """So many distinct questions, a third of each form, in an order that the seed decides."""
    questions: dict[str, None] = {}
    for number, (definition, line) in enumerate(_documented(corpus, seed)):
        words = " ".join(part.lower() for part in WORD.findall(definition.name))
        questions[(definition.name, f"where is {words} done", line)[number % 3]] = None
        if len(questions) == count:
            break
    return list(questions)


def make_names(
    corpus: Corpus, count: int, seed: int, kinds: tuple[type[Definition], ...] = DEFINITIONS
) -> list[str]:
    """So many distinct names of functions and classes, or of one of these."""
    names: dict[str, None] = {}
    for definition, _ in _documented(corpus, seed):
        if isinstance(definition, kinds):
            names[definition.name] = None
        if len(names) == count:
            break
    return list(names)


def _documented(corpus: Corpus, seed: int) -> Iterator[tuple[Definition, str]]:
    """At most two definitions with a docstring of each file, files in random order."""
    random_ = random.Random(seed)
    paths = corpus.paths()
    random_.shuffle(paths)
    for path in paths:
        found = list(_definitions((corpus.folder / path).read_bytes()))
        yield from random_.sample(found, min(2, len(found)))


def _definitions(data: bytes) -> Iterator[tuple[Definition, str]]:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, DEFINITIONS) and len(node.name) >= NAME_CHARS_MIN:
            line = (ast.get_docstring(node) or "").split("\n", 1)[0].strip()
            if len(line) in LINE_CHARS:
                yield node, line
