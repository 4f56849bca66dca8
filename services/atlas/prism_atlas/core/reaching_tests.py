"""The tests that reach changed symbols, and those of a type or a file whose set-up reaches them.

users of the changed symbols, and the users of those ▶ what they are to a test runner ▶ tests, each in every type
that runs it

A use by name is a guess, and a guess about a guess is seldom right: ways with few of them are followed, those without
any first. Helpers and fixtures lead to the tests that use them and are no tests. What runs for every test of a class, a file or
a folder leads to all of them. In a language whose tests are no symbols, calls such as `it("…")`, the top level of
the file represents them.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from prism_atlas.core.fixtures import CONFTEST
from prism_atlas.core.graph import EDGE_STATUSES, NONE, REFERENCE_KINDS, SYMBOL_KINDS, Graph, Mask, Numbers
from prism_atlas.core.hierarchy import CALLABLE, INHERITANCE, IS_TYPE, constructed
from prism_atlas.core.roles import RULED, Role
from prism_atlas.core.traversal import Neighbors, Traversal, TraversalStep, follow, step, traverse, within
from prism_contracts.code import VALUE_KINDS, EdgeKind, EdgeStatus, Flag, ReferenceKind

# Further away, nearly everything reaches everything.
DEPTH_MAX = 20
# Uses by name on the way to a test, and to what runs for the tests of a class or a file; none to what runs for those of
# a folder. More only where fewer lead to no test.
GUESSES_MAX = 2
GUESSES_OF_SEVERAL_MAX = 1
GUESSES_AT_ALL_MAX = 5
SUBTYPES_DEPTH_MAX = 10
NESTING_MAX = 3
# Tests of Ruby that are calls.
SPECS = "_spec.rb"
IS_VALUE = np.isin(SYMBOL_KINDS, list(VALUE_KINDS))
VALUE = REFERENCE_KINDS.index(ReferenceKind.VALUE)
RESOLVED = EDGE_STATUSES.index(EdgeStatus.RESOLVED)

USES = (
    EdgeKind.CALLS,
    EdgeKind.REFERENCES,
    EdgeKind.ASSIGNS,
    EdgeKind.ALIAS,
    EdgeKind.EXTENDS,
    EdgeKind.IMPLEMENTS,
)
# A type that is passed or kept is made elsewhere.
MAKING = (EdgeKind.CALLS, EdgeKind.REFERENCES, EdgeKind.ALIAS, EdgeKind.ASSIGNS)


class Run(NamedTuple):
    """What runs a test, beside its own place: a subtype of its type, a file that imports the type. NONE for neither."""

    type: int = NONE
    file: int = NONE


OWN = Run()


class ReachedTest(NamedTuple):
    """A test, with the type that runs it if it inherits it. `edge` is the last one on the way, NONE for a change of it."""

    node: int
    run: Run
    distance: int
    edge: int
    guesses: int  # uses by name on the way
    every: bool  # only what runs for every test of its scope reaches it
    folder: bool = False  # and that scope is a folder
    # If the node represents tests that are no symbols: its lines that use something on the way.
    lines: tuple[int, ...] = ()

    @property
    def resolved(self) -> bool:
        """Whether it is reached without a guess."""
        return self.guesses == 0


def reaching_tests(graph: Graph, changed: Numbers, *, candidates: bool) -> list[ReachedTest]:
    """Returns the tests that reach the changed nodes: the certain ones first, then by distance and place."""
    found = _reaching(graph, changed, GUESSES_MAX if candidates else 0)
    owner = _owner(graph, changed)
    if candidates and owner != NONE:
        # A member runs only where its object is made: what a name connects without it is another member.
        cases = _Cases(graph)
        made = np.array([owner, *cases.subtypes(owner)], np.int32)
        where = {(one.node, one.run) for one in _reaching(graph, made, GUESSES_AT_ALL_MAX)}
        kept = [one for one in found if one.resolved or (one.node, one.run) in where]
        found = kept or found
    return sorted(found, key=lambda one: (one.guesses, one.every, one.distance, one.node))


def _reaching(graph: Graph, changed: Numbers, guesses_max: int) -> list[ReachedTest]:
    """Returns the tests that are reached with at most so many guesses; without any, those with the fewest."""
    cases = _Cases(graph)
    found: dict[tuple[int, Run], ReachedTest] = {}
    limits = {False: GUESSES_OF_SEVERAL_MAX, True: 0}
    if guesses_max > GUESSES_MAX:
        limits = dict.fromkeys(limits, guesses_max)
    for level in _levels(graph, changed, GUESSES_AT_ALL_MAX if guesses_max else 0):
        if level.guesses > guesses_max and found:
            break
        reached = list(cases.of(level))
        own = [one for one in reached if not one.every]
        several = [one for one in reached if one.every and level.guesses <= limits[one.folder]]
        for one in (*own, *several) if found or own or several else reached:
            found.setdefault((one.node, one.run), one)
    return list(found.values())


class _Level(NamedTuple):
    """What is reached with a number of guesses, and not with fewer."""

    guesses: int
    nodes: Numbers
    walk: Traversal  # everything that was reached so far


def _levels(graph: Graph, changed: Numbers, guesses_max: int) -> Iterator[_Level]:
    """Yields what is reached without a guess, then with one, and so on, as long as there is more."""
    walk = Traversal(np.full(graph.nodes, NONE, np.int32), np.full(graph.nodes, NONE, np.int32))
    fresh = np.unique(changed).astype(np.int32)
    walk.distance[fresh] = 0
    for guesses in range(guesses_max + 1):
        nodes = _without_guesses(graph, walk, fresh)
        yield _Level(guesses, nodes, walk)
        if guesses < guesses_max:
            fresh = _guessed(graph, walk, nodes)
            if not fresh.size:
                return


def _without_guesses(graph: Graph, walk: Traversal, starts: Numbers) -> Numbers:
    """Adds what sure uses reach from nodes to a walk. Returns these, and the nodes."""
    if not starts.size:
        return starts
    steps, found = _users(candidates=False), [starts]
    distances = walk.distance[starts]
    frontier = starts[:0]
    for depth in range(int(distances.min()), DEPTH_MAX):
        frontier = np.append(frontier, starts[distances == depth]).astype(np.int32)
        reached = _neighbors(graph, frontier, steps, candidates=False) if frontier.size else None
        frontier = _add(graph, walk, reached, depth + 1) if reached is not None else frontier
        found.append(frontier)
    return np.concatenate(found)


def _guessed(graph: Graph, walk: Traversal, nodes: Numbers) -> Numbers:
    """Adds what one use by name reaches from nodes to a walk, and returns it."""
    found = []
    for depth in np.unique(walk.distance[nodes]).tolist():
        frontier = nodes[walk.distance[nodes] == depth]
        reached = _neighbors(graph, frontier, _users(candidates=True), candidates=True)
        found.append(_add(graph, walk, reached, depth + 1))
    return np.concatenate(found) if found else nodes[:0]


def _neighbors(
    graph: Graph, nodes: Numbers, steps: Sequence[TraversalStep], *, candidates: bool
) -> Neighbors:
    near, more = follow(graph, nodes, steps), _users_of_objects(graph, nodes, candidates=candidates)
    return Neighbors(np.append(near.edges, more.edges), np.append(near.nodes, more.nodes))


def _add(graph: Graph, walk: Traversal, reached: Neighbors, distance: int) -> Numbers:
    """Adds neighbors to a walk that it does not have, and returns them; resolved edges win, then the first."""
    fresh = walk.distance[reached.nodes] == NONE
    edges, nodes = reached.edges[fresh], reached.nodes[fresh]
    order = np.lexsort((edges, graph.edges.status[edges], nodes))
    added, first = np.unique(nodes[order], return_index=True)
    walk.distance[added], walk.edge[added] = distance, edges[order[first]]
    return added.astype(np.int32)


def _owner(graph: Graph, changed: Numbers) -> int:
    """Returns the type of which all the nodes are members, or NONE."""
    if not changed.size or (changed >= len(graph.symbols)).any():
        return NONE
    owners = set(graph.symbols.parent[changed].tolist()) - set(changed.tolist())
    owner = owners.pop() if len(owners) == 1 else NONE
    return owner if owner != NONE and IS_TYPE[graph.symbols.kind[owner]] else NONE


def _users(*, candidates: bool) -> tuple[TraversalStep, ...]:
    sure = int(candidates)
    return (
        step(USES, forward=False, candidate_cost=sure),
        step([EdgeKind.OVERRIDES], forward=True, candidate_cost=sure),
    )


def _users_of_objects(graph: Graph, nodes: Numbers, *, candidates: bool) -> Neighbors:
    """Returns who makes an object, for members that no call names: constructors, and maybe operators and properties.

    An object is one of the type, or of a subtype that inherits the member.
    """
    kinds = MAKING if candidates else (EdgeKind.CALLS,)
    making = step(kinds, forward=False, candidate_cost=int(candidates))
    types = constructed(graph, nodes)
    if candidates:
        types = np.append(types, _types_of_unnamed(graph, nodes))
    below = traverse(graph, types, [step(INHERITANCE, forward=False)], SUBTYPES_DEPTH_MAX).distance
    made = np.flatnonzero(below != NONE).astype(np.int32)
    made = made[made < len(graph.symbols)]  # a file that gives a type another name is no object
    if candidates:
        made = _with_places_of_unused(graph, made)
    found = follow(graph, made, [making._replace(by_name=False)])
    if not candidates:
        return found
    registered = follow(graph, _registrars(graph, nodes), [step(USES, forward=False, candidate_cost=1)])
    return Neighbors(np.append(found.edges, registered.edges), np.append(found.nodes, registered.nodes))


def _registrars(graph: Graph, nodes: Numbers) -> Numbers:
    """Returns the objects on which decorators of functions are called: `@cli.command()` may let `cli` run them."""
    symbols, references = graph.symbols, graph.references
    found = []
    for node in nodes[nodes < len(symbols)].tolist():
        first, name_line = int(symbols.start_line[node]), int(symbols.name_line[node])
        if first == name_line or not CALLABLE[symbols.kind[node]]:
            continue
        around = int(symbols.parent[node])
        source = graph.file_node(graph.file_of(node)) if around == NONE else around
        rows = np.flatnonzero(references.source == source)
        lines = references.line[rows]
        rows = rows[(lines >= first) & (lines < name_line) & (references.kind[rows] == VALUE)]
        if rows.size:
            found.append(graph.meanings.target[np.isin(graph.meanings.reference, rows)])
    return np.unique(np.concatenate(found)).astype(np.int32) if found else nodes[:0]


def _with_places_of_unused(graph: Graph, types: Numbers) -> Numbers:
    """Returns the types, with what is around those that nothing makes: a nested class, one that a function returns."""
    symbols = graph.symbols
    found = fresh = types
    for _ in range(NESTING_MAX):
        using = follow(graph, fresh, [step(MAKING, forward=False, candidate_cost=1)])
        fresh = symbols.parent[np.setdiff1d(fresh, graph.edges.target[using.edges])]
        fresh = np.setdiff1d(fresh[fresh != NONE], found).astype(np.int32)
        found = np.append(found, fresh)
    return found


def _types_of_unnamed(graph: Graph, nodes: Numbers) -> Numbers:
    """Returns the types of the members that run without being named: `__len__`, and what has no use at all."""
    symbols = graph.symbols
    members = nodes[nodes < len(symbols)]
    members = members[symbols.parent[members] != NONE]
    using = follow(graph, members, [step(USES, forward=False, candidate_cost=1)])
    is_unused = ~np.isin(members, graph.edges.target[using.edges])
    is_operator = np.array(
        [graph.strings[name].startswith("__") for name in symbols.name[members].tolist()], np.bool_
    )
    parents = symbols.parent[members[is_unused | is_operator]]
    return np.unique(parents[IS_TYPE[symbols.kind[parents]]])


class _Cases:
    """The tests of a graph, and what represents several of them."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._tests = graph.with_role(Role.TEST)
        self._is_test = np.zeros(graph.nodes, np.bool_)
        self._is_test[self._tests] = True
        self._every = np.zeros(graph.nodes, np.bool_)
        self._every[graph.with_role(Role.EVERY)] = True
        self._files_with_tests = np.zeros(len(graph.files), np.bool_)
        owners = graph.symbols.parent[self._tests]
        below = traverse(
            graph, np.unique(owners[owners != NONE]), [step(INHERITANCE, forward=False)], SUBTYPES_DEPTH_MAX
        )
        types = np.flatnonzero(below.distance != NONE).astype(np.int32)
        # What a base class sets up runs for their tests.
        around = traverse(graph, types, [step(INHERITANCE, forward=True)], SUBTYPES_DEPTH_MAX)
        running = np.append(self._tests, np.flatnonzero(around.distance != NONE).astype(np.int32))
        self._files_with_tests[graph.files_of(running)] = True
        self._in_test_file: Mask = graph.flagged(Flag.TEST)[graph.node_files()]

    def of(self, level: _Level) -> Iterator[ReachedTest]:
        """Yields the tests that are reached, and those for which something is that runs before them."""
        (distance, edge), guesses = level.walk, level.guesses
        nodes = level.nodes[self._is_test[level.nodes] | self._in_test_file[level.nodes]]
        for node in nodes[np.argsort(distance[nodes], kind="stable")].tolist():
            at, by = int(distance[node]), int(edge[node])
            if self._is_test[node]:
                yield from (ReachedTest(node, run, at, by, guesses, every=False) for run in self._runs(node))
            elif self._represents_several(node):
                is_folder = self._path(node).rpartition("/")[2] == CONFTEST
                for test, run in self._scope(node):
                    yield ReachedTest(test, run, at + 1, by, guesses, every=True, folder=is_folder)
            elif not self._is_ruled(node) and self._is_last(node):
                yield ReachedTest(
                    node, OWN, at, by, guesses, every=False, lines=self._using_lines(node, distance)
                )

    def _represents_several(self, node: int) -> bool:
        """Whether a node runs for every test of a scope: a set-up, the body of a class, the top level of a file."""
        graph = self._graph
        if not self._is_ruled(node):
            return False
        if self._every[node] or graph.is_file(node):
            return True
        # What a field of a class holds may be used through `self` by whatever runs in the class.
        kind = graph.symbols.kind[node]
        return bool(IS_TYPE[kind]) or (bool(IS_VALUE[kind]) and graph.symbols.parent[node] != NONE)

    def _scope(self, node: int) -> Iterator[tuple[int, Run]]:
        """Yields the tests for which a node runs, each with the type or file that runs it."""
        graph = self._graph
        if not graph.is_file(node):
            parent = node if IS_TYPE[graph.symbols.kind[node]] else int(graph.symbols.parent[node])
            if parent != NONE and IS_TYPE[graph.symbols.kind[parent]]:
                yield from self._of_type(parent)
                return
        folder, _, name = graph.path(graph.file_of(node)).rpartition("/")
        if name == CONFTEST:
            tests = [
                test
                for test in self._tests.tolist()
                if not folder or self._path(test).startswith(f"{folder}/")
            ]
        else:
            tests = self._inside(graph.file_node(graph.file_of(node)))
        for test in tests:
            yield from ((test, run) for run in self._runs(test))

    def subtypes(self, type_: int) -> list[int]:
        """Returns all subtypes of a type."""
        return self._related(type_, forward=False)

    def _inside(self, node: int) -> list[int]:
        inside = within(self._graph, node)
        found: list[int] = inside[self._is_test[inside]].tolist()
        return found

    def _of_type(self, type_: int) -> Iterator[tuple[int, Run]]:
        """Yields the tests that run in a type and in its subtypes, also those that these inherit."""
        types = {type_, *self._related(type_, forward=False)}
        for owner in {above for one in types for above in (one, *self._related(one, forward=True))}:
            for test in self._own_tests.get(owner, ()):
                for run in self._runs(test):
                    if (owner if run.type == NONE else run.type) in types:
                        yield test, run

    @cached_property
    def _own_tests(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for test in self._tests.tolist():
            found.setdefault(self._type_of(test), []).append(test)
        return found

    def _type_of(self, test: int) -> int:
        """Returns the type around a test, or in C++ the fixture that it names: `TEST_F(Depot, opens)`."""
        graph = self._graph
        parent = int(graph.symbols.parent[test])
        if self._language(test) != "cpp" or (parent != NONE and IS_TYPE[graph.symbols.kind[parent]]):
            return parent
        owner = graph.strings[graph.symbols.qualified_name[test]].rpartition(".")[0]
        types = [one for one in graph.qualified(owner).tolist() if IS_TYPE[graph.symbols.kind[one]]]
        return types[0] if owner and types else parent

    def _related(self, type_: int, *, forward: bool) -> list[int]:
        """Returns the supertypes, or the subtypes, of a type."""
        key = type_, forward
        if key not in self._known_relations:
            steps = [step(INHERITANCE, forward=forward)]
            found = traverse(self._graph, np.array([type_], np.int32), steps, SUBTYPES_DEPTH_MAX).distance
            self._known_relations[key] = np.flatnonzero(found > 0).tolist()
        return self._known_relations[key]

    @cached_property
    def _known_relations(self) -> dict[tuple[int, bool], list[int]]:
        return {}

    def _runs(self, test: int) -> list[Run]:
        """Returns what runs a test: its own type, subtypes that do not override it, files that import one of these."""
        graph = self._graph
        parent = int(graph.symbols.parent[test])
        if parent == NONE or not IS_TYPE[graph.symbols.kind[parent]]:
            return [OWN]
        if parent not in self._runs_of_types:
            self._runs_of_types[parent] = [
                Run(NONE if one == parent else one, file)
                for one in (parent, *self._related(parent, forward=False))
                if self._is_collected(one)
                for file in (NONE, *self._importing(one))
            ]
        name = graph.strings[graph.symbols.name[test]]
        return [
            run
            for run in self._runs_of_types[parent]
            if run.type == NONE or name not in self._members(run.type)
        ]

    def _importing(self, type_: int) -> list[int]:
        """Returns the test files of Python that import a type: pytest collects it there once more."""
        if self._language(type_) != "python":
            return []
        _, files = follow(self._graph, np.array([type_], np.int32), [step([EdgeKind.IMPORTS], forward=False)])
        return [
            file
            for file in np.unique(files).tolist()
            if self._graph.is_file(file) and self._in_test_file[file]
        ]

    @cached_property
    def _runs_of_types(self) -> dict[int, list[Run]]:
        return {}

    def _members(self, type_: int) -> frozenset[str]:
        graph = self._graph
        inside = [
            node for node in graph.symbols_of(graph.file_of(type_)) if graph.symbols.parent[node] == type_
        ]
        return frozenset(graph.strings[graph.symbols.name[node]] for node in inside)

    def _is_collected(self, type_: int) -> bool:
        """Whether a runner collects the tests of a type."""
        graph = self._graph
        if self._language(type_) != "python":
            return type_ not in self._of_role[Role.ABSTRACT]
        types = [type_, *self._related(type_, forward=True)]
        if graph.strings[graph.symbols.name[type_]].startswith("Test"):
            return True
        # A base that is named `Test…` makes no cases of what extends it; `unittest.TestCase` does.
        return any(one in self._of_role[Role.CASES] and not self._is_named_test(one) for one in types)

    def _is_named_test(self, node: int) -> bool:
        return self._graph.strings[self._graph.symbols.name[node]].startswith("Test")

    @cached_property
    def _of_role(self) -> Mapping[Role, frozenset[int]]:
        return {role: frozenset(self._graph.with_role(role).tolist()) for role in (Role.CASES, Role.ABSTRACT)}

    def _is_ruled(self, node: int) -> bool:
        if self._language(node) not in RULED or self._path(node).endswith(SPECS):
            return False
        # Without a test that the rules know, a file may have tests of another kind.
        return bool(self._files_with_tests[self._graph.file_of(node)]) or self._path(node).endswith(CONFTEST)

    def _is_last(self, node: int) -> bool:
        """Whether nothing else uses a node, nor makes its type, so that it is a test rather than a helper."""
        graph = self._graph
        if not graph.is_file(node) and not CALLABLE[graph.symbols.kind[node]]:
            return False
        _, users = follow(graph, np.array([node], np.int32), [step(USES, forward=False, candidate_cost=1)])
        if (users != node).any():
            return False
        owner = NONE if graph.is_file(node) else int(graph.symbols.parent[node])
        if owner == NONE or not IS_TYPE[graph.symbols.kind[owner]]:
            return True
        making = step(MAKING, forward=False, candidate_cost=1)
        _, makers = follow(graph, np.array([owner], np.int32), [making])
        return bool(np.isin(makers, within(graph, owner)).all())

    def _using_lines(self, node: int, distance: Numbers) -> tuple[int, ...]:
        """Returns the lines of a node that use what was reached."""
        edges, used = follow(
            self._graph, np.array([node], np.int32), [step(USES, forward=True, candidate_cost=1)]
        )
        return tuple(np.unique(self._graph.edges.line[edges[distance[used] != NONE]]).tolist())

    def _language(self, node: int) -> str:
        return self._graph.strings[self._graph.files.language[self._graph.file_of(node)]]

    def _path(self, node: int) -> str:
        return self._graph.path(self._graph.file_of(node))
