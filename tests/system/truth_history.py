"""Random histories of a small repository: changes of its refs, and which of them Prism is notified of, and
when.

A history is a function of its seed. The content of a file is a function of its path and a small number, so
the same contents recur, in other branches and at other times.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

CONTENTS = 7  # contents of each path; the last two are empty and binary
EMPTY, BINARY = CONTENTS - 2, CONTENTS - 1
STEPS_MIN, STEPS_MAX = 5, 12
FILES_MIN = 3
BRANCHES_MAX = 3
MAIN = "main"
# Killed or suspended. The supervisor restarts each.
SERVICES = (
    "ingest",
    "ingest",
    "ingest",
    "indexer",
    "indexer",
    "chunker",
    "embedder",
    "search",
    "gateway",
    "nats",
    "qdrant",
)
# Share of histories with a kill or a suspension, which affects all histories that are played at the same
# time.
HARM_SHARE = 0.05

Tree = dict[str, int]  # path -> number of its content


def _python(number: int) -> str:
    functions = [
        f'def {name}_{number}(amount):\n    """Reckon the {name} of version {number}."""\n    return amount * {number} + {position}\n'
        for position, name in enumerate(("balance", "interest", "overdraft", "settle"))
    ]
    long = [f"    total += amounts[{line}]  # share {line} of {number}\n" for line in range(90)]
    shared = f"def shared_total(amounts):\n    total = {number}\n{''.join(long)}    return total\n"
    return "\n\n".join([*functions, *([shared] if number % 2 else [])])


def _typescript(number: int) -> str:
    return (
        f"export class Retry{number} {{\n  attempts = {number};\n  shared_pause(): number {{\n    return this.attempts * 250;\n  }}\n}}\n"
        f"export function backoff_{number}(attempt: number): number {{\n  return Math.min(attempt ** {number}, 30);\n}}\n"
    )


def _markdown(number: int) -> str:
    return (
        f"# Ledger {number}\n\n## Overdraft rules\n\nBelow zero by {number} hundred coins and no further.\n"
    )


def _yaml(number: int) -> str:
    return f"name: ledger\nreplicas: {number}\nbalance_limit: {number}00\n"


_TEXTS: dict[str, Callable[[int], str]] = {
    ".py": _python,
    ".ts": _typescript,
    ".md": _markdown,
    ".yaml": _yaml,
}
PATHS = (
    "bank/account.py", "bank/interest.py", "bank/deep/er/rules.py", "tools/report.py", "setup.py",
    "web/retry.ts", "web/client.ts", "docs/guide.md", "README.md", "deploy/a file.yaml", "deploy/größe.yaml",
)  # fmt: skip
SYMBOLS = (
    "shared_total",
    "shared_pause",
    *(f"balance_{number}" for number in range(EMPTY)),
    *(f"backoff_{number}" for number in range(EMPTY)),
)


def content(path: str, number: int) -> bytes:
    """Returns one of the possible contents of a path."""
    if number == EMPTY:
        return b""
    if number == BINARY:
        return b"\x89PNG\r\n\x1a\n\0\0\0" + path.encode()
    return _TEXTS[path[path.rindex(".") :]](number).encode()


class Delivery(StrEnum):
    """When the webhook of a push is delivered."""

    AT_ONCE = "announced"
    TWICE = "announced twice"
    LATE = "announced at the end"  # after all other steps, in random order
    LOST = "not announced"


@dataclass(frozen=True)
class Push:
    """A branch moves, by an edit, a merge, a revert or a forced push."""

    how: str
    branch: str
    tree: Tree
    parents: tuple[str, ...]  # current branches; none: an unrelated history
    delivery: Delivery


@dataclass(frozen=True)
class Delete:
    """A branch is deleted."""

    branch: str
    delivery: Delivery


@dataclass(frozen=True)
class Overlay:
    """Uncommitted edits on a branch; they replace those of an overlay of the same name."""

    name: str
    below: str
    edits: dict[str, int | None]  # None: the file is deleted


@dataclass(frozen=True)
class Close:
    """An overlay is closed."""

    name: str


@dataclass(frozen=True)
class Kill:
    """A service dies."""

    service: str


@dataclass(frozen=True)
class Hold:
    """A service is suspended during the next step."""

    service: str


@dataclass(frozen=True)
class Wait:
    """The play pauses until everything announced is served."""


Step = Push | Delete | Overlay | Close | Kill | Hold | Wait


@dataclass
class State:
    """The refs after some steps."""

    trees: dict[str, Tree] = field(default_factory=dict)  # by branch
    announced: set[str] = field(
        default_factory=set
    )  # branches that Prism was notified of since their creation
    overlays: dict[str, Overlay] = field(default_factory=dict)

    def apply(self, step: Step) -> None:
        """Applies a step."""
        match step:
            case Push():
                self.trees[step.branch] = step.tree
                if step.delivery in {Delivery.AT_ONCE, Delivery.TWICE}:
                    self.announced.add(step.branch)
            case Delete():
                del self.trees[step.branch]
                self.announced.discard(step.branch)
            case Overlay():
                self.overlays[step.name] = step
            case Close():
                del self.overlays[step.name]
            case _:
                pass

    def overlaid(self, overlay: Overlay) -> Tree:
        """Returns the visible files of an overlay."""
        both = self.trees[overlay.below] | overlay.edits
        return {path: number for path, number in both.items() if number is not None}


@dataclass(frozen=True)
class History:
    """The steps of a seed."""

    seed: int
    first: Tree
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, seed: int) -> "History":
        """Returns the history of a seed; the same seed gives the same history."""
        writer = _Writer(random.Random(seed))
        return cls(seed, writer.first, tuple(writer.steps()))

    def __str__(self) -> str:
        return "\n".join([f"seed {self.seed}, first {self.first}", *(f"  {step}" for step in self.steps)])


class _Writer:
    """Invents one step after another."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self.first = {path: dice.randrange(CONTENTS) for path in dice.sample(PATHS, 7)}
        self._state = State({MAIN: self.first}, {MAIN})
        self._before: dict[str, list[Tree]] = {MAIN: [self.first]}
        self._names = 0

    def steps(self) -> list[Step]:
        made = self._fork()
        self._state.apply(made[0])
        for _ in range(self._dice.randint(STEPS_MIN, STEPS_MAX)):
            kind = self._dice.choices(
                [
                    self._edit,
                    self._fork,
                    self._merge,
                    self._revert,
                    self._force,
                    self._delete,
                    self._overlay,
                    self._close,
                    self._wait,
                ],
                [9, 6, 3, 2, 3, 3, 4, 1, 2],
            )[0]
            for step in kind():
                self._state.apply(step)
                made.append(step)
        if self._dice.random() < HARM_SHARE:
            harm = self._dice.choice([Kill, Hold])
            made.insert(self._dice.randrange(len(made) or 1), harm(self._dice.choice(SERVICES)))
        return made

    def _edit(self) -> list[Step]:
        branch = self._branch()
        return [self._push("edit", branch, self._edited(self._state.trees[branch]), branch)]

    def _fork(self) -> list[Step]:
        if len(self._state.trees) > BRANCHES_MAX:
            return self._edit()
        below, name = self._branch(), self._new_branch()
        return [self._push("fork", name, self._edited(self._state.trees[below]), below)]

    def _merge(self) -> list[Step]:
        into, other = self._branch(), self._branch()
        ours, theirs = self._state.trees[into], self._state.trees[other]
        merged = {
            path: number
            for path in sorted(ours.keys() | theirs.keys())
            if (number := self._dice.choice([ours, theirs]).get(path)) is not None
        }
        return [self._push("merge", into, merged or ours, into, other)] if into != other else self._edit()

    def _revert(self) -> list[Step]:
        branch = self._branch()
        before = self._dice.choice(self._before[branch])
        return [self._push("revert", branch, before, branch)]

    def _force(self) -> list[Step]:
        branch, other = self._branch(), self._branch()
        tree = self._edited(self._state.trees[other])
        return [self._push("force", branch, tree, *self._dice.choice([(), (other,)]))]

    def _delete(self) -> list[Step]:
        branch = self._branch()
        if branch == MAIN:
            return self._edit()
        closed: list[Step] = [
            Close(name) for name, one in self._state.overlays.items() if one.below == branch
        ]
        deleted = Delete(branch, self._delivery())
        again = self._dice.random() < 0.3
        made = self._push("make again", branch, self._edited(self._state.trees[MAIN]), MAIN)
        return [*closed, deleted, *([made] if again else [])]

    def _overlay(self) -> list[Step]:
        below = self._dice.choice(sorted(self._state.announced))
        name = self._dice.choice(["first overlay", "second overlay"])
        known = self._state.overlays.get(name)
        if known:
            below = known.below
        paths = self._dice.sample(PATHS, self._dice.randint(1, 4))
        edits = {path: self._dice.choice([None, *range(CONTENTS)]) for path in paths}
        return [Overlay(name, below, edits)]

    def _close(self) -> list[Step]:
        return (
            [Close(self._dice.choice(sorted(self._state.overlays)))] if self._state.overlays else self._edit()
        )

    def _wait(self) -> list[Step]:
        return [Wait()]

    def _push(self, how: str, branch: str, tree: Tree, *parents: str) -> Push:
        self._before.setdefault(branch, []).append(tree)
        return Push(how, branch, tree, parents, self._delivery())

    def _delivery(self) -> Delivery:
        return self._dice.choices(list(Delivery), [10, 2, 3, 2])[0]

    def _branch(self) -> str:
        return self._dice.choice(sorted(self._state.trees))

    def _new_branch(self) -> str:
        self._names += 1
        return f"topic/{self._names}"

    def _edited(self, tree: Tree) -> Tree:
        """Returns the tree with some files changed, added, removed and renamed; at least `FILES_MIN` are
        kept.
        """
        made = dict(tree)
        for path in self._dice.sample(PATHS, self._dice.randint(1, 3)):
            kind = self._dice.choice(["write", "write", "remove", "rename"])
            if kind == "write" or path not in made:
                made[path] = self._dice.randrange(CONTENTS)
            elif len(made) > FILES_MIN:
                number = made.pop(path)
                if kind == "rename":
                    made[self._dice.choice([other for other in PATHS if _suffix(other) == _suffix(path)])] = (
                        number
                    )
        return made


def _suffix(path: str) -> str:
    return path[path.rindex(".") :]
