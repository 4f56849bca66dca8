"""Trees, paths and reachability, on graphs by hand and on random graphs."""

import itertools

import numpy as np
from graph_sketch import CALLS, EXTENDS, Sketch, node, spelled
from hypothesis import given
from hypothesis import strategies as st

from prism_atlas.core import hierarchy, impact, paths
from prism_atlas.core.graph import NONE
from prism_atlas.core.traversal import other_end, step, traverse, within
from prism_contracts.code import EdgeKind, Strategy

FORWARD = (step([CALLS], forward=True, candidate_cost=1),)
BACK = (step([CALLS], forward=False, candidate_cost=1),)


def one_file(*calls: str, unsure: str = "") -> Sketch:
    """Functions a to h, and calls such as `ab`."""
    sketch = Sketch().file("f", *"abcdefgh")
    for line, (source, target) in enumerate(calls, 1):
        sketch.edge(f"f:{source}", f"f:{target}", line=line, sure=source + target not in unsure)
    return sketch


def drawn(graph, tree):
    """`depth node`, with the flags of the branch."""
    return [
        f"{branch.depth} {spelled(graph, branch.link.node)}"
        + (" recursive" if branch.recursive else f" as {branch.same}" if branch.same != NONE else "")
        + (f" and {branch.left_out}" if branch.left_out else "")
        for branch in tree.branches
    ]


def grown(graph, root, expansion, depth=3, *, width=10, start=0):
    return hierarchy.grow(
        graph, expansion.origins(graph, node(graph, root)), expansion, depth, width=width, start=start
    )


def test_within_returns_a_symbol_and_what_it_encloses():
    inside = ("Depot", "Depot.ship", "close", "Depot.Dock", "Depot.Dock.load")
    graph = Sketch().file("a", "ship", "load").file("b", *inside).graph()
    assert [spelled(graph, one)[2:] for one in within(graph, node(graph, "b:Depot"))] == [
        name for name in inside if name != "close"
    ]
    assert [spelled(graph, one) for one in within(graph, node(graph, "b:close"))] == ["b:close"]
    assert [spelled(graph, one) for one in within(graph, node(graph, "a"))] == ["a:ship", "a:load", "a"]


# Trees


def test_transitive_callers_come_breadth_first():
    graph = one_file("ba", "ca", "db").graph()
    assert drawn(graph, grown(graph, "f:a", hierarchy.callers(candidates=True))) == [
        "1 f:b",
        "1 f:c",
        "2 f:d",
    ]


def test_recursion_is_marked_and_not_followed():
    graph = one_file("aa", "ba", "ab").graph()
    assert drawn(graph, grown(graph, "f:a", hierarchy.callees(candidates=True))) == [
        "1 f:a recursive",
        "1 f:b",
        "2 f:a recursive",
    ]


def test_node_is_expanded_once():
    graph = one_file("ab", "ac", "bd", "cd", "de").graph()
    tree = grown(graph, "f:a", hierarchy.callees(candidates=True), 4)
    assert drawn(graph, tree) == ["1 f:b", "1 f:c", "2 f:d", "2 f:d as 2", "3 f:e"]


def test_candidates_come_last_and_only_on_request():
    graph = one_file("ba", "ca", unsure="ba").graph()
    assert drawn(graph, grown(graph, "f:a", hierarchy.callers(candidates=True))) == ["1 f:c", "1 f:b"]
    assert drawn(graph, grown(graph, "f:a", hierarchy.callers(candidates=False))) == ["1 f:c"]


def test_ambiguous_callee_is_shown_but_not_expanded():
    sketch = one_file("cb", "da", "ed").edge("f:b", "f:a", sure=False, strategy=Strategy.NAME)
    graph = sketch.graph()
    assert drawn(graph, grown(graph, "f:a", hierarchy.callers(candidates=True))) == [
        "1 f:d",
        "1 f:b",
        "2 f:e",
    ]


def test_tests_come_after_other_callers():
    sketch = Sketch().file("a", "ship").file("b_test", "check", flags="t").file("c", "load")
    sketch.edge("b_test:check", "a:ship").edge("c:load", "a:ship").edge("c", "a:ship", line=7)
    graph = sketch.graph()
    tree = grown(graph, "a:ship", hierarchy.callers(candidates=True))
    assert drawn(graph, tree) == ["1 c:load", "1 c", "1 b_test:check"]


def test_lines_of_one_caller_share_a_branch():
    sketch = Sketch().file("a", "ship", "load")
    for line in (9, 3, 5, 3, 11, 12, 13):
        sketch.edge("a:load", "a:ship", line=line)
    graph = sketch.graph()
    (branch,) = grown(graph, "a:ship", hierarchy.callers(candidates=True)).branches
    assert branch.link.lines == (3, 5, 9, 11, 12, 13)


def test_caller_of_a_constructor_is_who_makes_the_object():
    sketch = Sketch().file("a", "Depot", "Depot.__init__", "rate", "make")
    graph = sketch.edge("a:Depot.__init__", "a:rate").edge("a:make", "a:Depot").graph()
    tree = grown(graph, "a:rate", hierarchy.callers(candidates=True), 2)
    assert drawn(graph, tree) == ["1 a:Depot.__init__", "2 a:make"]


def test_tree_names_the_branches_that_it_does_not_expand():
    sketch = one_file("ba", "cb", "ed").edge("f:d", "f:a", sure=False, strategy=Strategy.NAME)
    graph = sketch.graph()
    tree = grown(graph, "f:a", hierarchy.callers(candidates=True), 1)
    named = [
        [spelled(graph, tree.branches[one].link.node) for one in found]
        for found in (tree.too_deep, tree.by_name)
    ]
    assert named == [["f:b"], ["f:d"]]


def test_class_is_called_through_its_constructor():
    sketch = Sketch().file("a", "Depot", "Depot.__init__", "Depot.ship", "load", "rate", "make", "again")
    sketch.edge("a:make", "a:Depot").edge("a:again", "a:Depot.__init__")
    sketch.edge("a:Depot.ship", "a:rate").edge("a:Depot.__init__", "a:load").edge(
        "a:Depot.ship", "a:Depot.__init__"
    )
    graph = sketch.graph()
    callers = grown(graph, "a:Depot", hierarchy.callers(candidates=True), 1)
    assert drawn(graph, callers) == ["1 a:Depot.ship", "1 a:make", "1 a:again"]
    everything = within(graph, node(graph, "a:Depot"))
    callees = hierarchy.grow(graph, everything, hierarchy.callees(candidates=True), 1, width=10)
    assert drawn(graph, callees) == ["1 a:load", "1 a:rate"]
    assert drawn(graph, grown(graph, "a:make", hierarchy.callees(candidates=True), 2)) == [
        "1 a:Depot",
        "2 a:load",
    ]


def test_caller_of_an_overridden_member_may_call_the_override():
    sketch = Sketch().file("a", "Top", "Top.ship", "Low", "Low.ship", "load").edge("a:Low", "a:Top", EXTENDS)
    graph = sketch.edge("a:load", "a:Top.ship").graph()
    assert drawn(graph, grown(graph, "a:Low.ship", hierarchy.callers(candidates=True))) == [
        "1 a:Top.ship",
        "2 a:load",
    ]
    assert drawn(graph, grown(graph, "a:load", hierarchy.callees(candidates=True))) == [
        "1 a:Top.ship",
        "2 a:Low.ship",
    ]


def test_hub_is_paged_and_counted():
    callers = 50_000
    sketch = Sketch().file("hub", "ship").file("far", *(f"f{n}" for n in range(3)))
    for number in range(callers // 1_000):
        sketch.file(f"c{number:02}", *(f"f{n}" for n in range(1_000)))
        for caller in range(1_000):
            sketch.edge(f"c{number:02}:f{caller}", "hub:ship")
    graph = sketch.edge("hub:ship", "far:f0").graph()
    expansion = hierarchy.callers(candidates=True)
    first = grown(graph, "hub:ship", expansion, 5, width=20)
    assert first.total == callers
    assert len(first.branches) == 20
    assert drawn(graph, grown(graph, "hub:ship", expansion, 5, width=2, start=callers - 1)) == ["1 c49:f999"]
    below = grown(graph, "far:f0", expansion, 5, width=20)
    assert drawn(graph, below)[0] == f"1 hub:ship and {callers - 20}"
    assert len(below.branches) == 21


def test_tree_is_bounded_at_any_depth():
    sketch = Sketch().file("f", *(f"n{number}" for number in range(1_111)))
    for parent in range(111):
        for child in range(10):
            sketch.edge(f"f:n{parent}", f"f:n{10 * parent + child + 1}")
    graph = sketch.graph()
    tree = grown(graph, "f:n0", hierarchy.callees(candidates=True), 5)
    assert len(tree.branches) == hierarchy.BRANCHES_MAX
    assert sum(branch.left_out for branch in tree.branches) == 1_110 - hierarchy.BRANCHES_MAX


# Paths


def found(graph, start, goal, steps=None, depth=paths.DEPTH_MAX):
    starts, goals = (within(graph, node(graph, name)) for name in (start, goal))
    search = paths.find_paths(graph, starts, goals, steps or paths.calls(candidates=True), depth)
    return ["".join(spelled(graph, one)[2:] for one in path.nodes) for path in search.paths]


def test_three_shortest_paths_come_in_order():
    graph = one_file("ab", "bh", "ac", "cd", "dh", "ae", "eh", "af", "fg", "gb").graph()
    assert found(graph, "f:a", "f:h") == ["abh", "aeh", "acdh"]


def test_detour_is_bounded():
    graph = one_file("ab", "bh", "ac", "cd", "de", "ef", "fg", "gh").graph()
    assert paths.DETOUR_MAX == 4
    assert found(graph, "f:a", "f:h") == ["abh", "acdefgh"]
    assert found(one_file("ah", "ac", "cd", "de", "ef", "fg", "gh").graph(), "f:a", "f:h") == ["ah"]


def test_resolved_detour_is_preferred_to_a_candidate():
    graph = one_file("ab", "bc", "cd", "ad", unsure="ad").graph()
    assert found(graph, "f:a", "f:d") == ["abcd"]
    long = one_file("ab", "bc", "cd", "de", "ef", "fg", "gh", "ah", unsure="ah").graph()
    assert found(long, "f:a", "f:h") == ["abcdefgh"]
    assert found(graph, "f:a", "f:d", paths.calls(candidates=False)) == ["abcd"]


def test_path_passes_the_constructor_of_a_made_object():
    sketch = Sketch().file("f", "Depot", "Depot.__init__", "rate", "make")
    graph = sketch.edge("f:make", "f:Depot").edge("f:Depot.__init__", "f:rate", line=12).graph()
    ends = [np.array([node(graph, name)], np.int32) for name in ("f:make", "f:rate")]
    (path,) = paths.find_paths(graph, *ends, paths.calls(candidates=False), 12).paths
    assert [spelled(graph, one) for one in path.nodes] == ["f:make", "f:Depot", "f:rate"]
    goal = np.array([node(graph, "f:Depot.__init__")], np.int32)
    assert len(paths.find_paths(graph, ends[0], goal, paths.calls(candidates=False), 12).paths) == 1


def test_no_path_from_source_passes_examples():
    sketch = Sketch().file("f", "a", "b").file("examples/e", "show", flags="d")
    graph = sketch.edge("f:a", "examples/e:show").edge("examples/e:show", "f:b").graph()
    assert found(graph, "f:a", "f:b") == []


def test_length_of_a_path_is_bounded():
    graph = one_file("ab", "bc", "cd").graph()
    assert found(graph, "f:a", "f:d", depth=3) == ["abcd"]
    assert found(graph, "f:a", "f:d", depth=2) == []


def test_failed_search_reports_the_visited_nodes():
    graph = one_file("ab", "cd", "de").graph()
    starts, goals = (within(graph, node(graph, f"f:{name}")) for name in "ae")
    search = paths.find_paths(graph, starts, goals, paths.calls(candidates=True), paths.DEPTH_MAX)
    assert search.paths == ()
    assert search.visited == 3


def test_path_passes_overrides_of_a_called_member():
    sketch = (
        Sketch()
        .file("a", "Top", "Top.ship", "Low", "Low.ship", "load", "rate")
        .edge("a:Low", "a:Top", EXTENDS)
    )
    graph = sketch.edge("a:load", "a:Top.ship").edge("a:Low.ship", "a:rate").graph()
    assert found(graph, "a:load", "a:rate") == ["loadTop.shipLow.shiprate"]


def test_path_passes_tests_only_if_it_starts_in_one():
    sketch = Sketch().file("a", "ship", "rate").file("t", "check", flags="t")
    sketch.edge("a:ship", "t:check", sure=False).edge("t:check", "a:rate")
    graph = sketch.graph()
    assert found(graph, "a:ship", "a:rate") == []
    assert found(graph, "a:ship", "t:check") == ["shipcheck"]
    assert found(graph, "t:check", "a:rate") == ["checkrate"]


def test_other_uses_are_followed_only_on_request():
    sketch = one_file("ab").edge("f:b", "f:c", EdgeKind.REFERENCES)
    graph = sketch.graph()
    assert found(graph, "f:a", "f:c") == []
    assert found(graph, "f:a", "f:c", paths.uses(candidates=True)) == ["abc"]


def test_start_that_is_the_goal_is_a_path():
    graph = one_file("ab").graph()
    assert found(graph, "f:a", "f:a") == ["a"]


# Properties

pairs = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=24)


def by_hand(calls, start, *, back=False):
    """Returns distances by node, by brute force."""
    distance = {start: 0}
    for depth in range(1, 9):
        for source, target in calls:
            here, there = (target, source) if back else (source, target)
            if distance.get(here) == depth - 1:
                distance.setdefault(there, depth)
    return distance


@given(pairs, st.integers(0, 4))
def test_traversal_returns_distances(calls, depth):
    graph = one_file(*map("".join, calls)).graph()
    reached = traverse(graph, np.array([node(graph, "f:a")], np.int32), FORWARD, depth)
    expected = {n: d for n, d in by_hand(calls, "a").items() if d <= depth}
    assert {
        spelled(graph, n)[2:]: reached.distance[n] for n in np.flatnonzero(reached.distance != NONE)
    } == expected
    for number in np.flatnonzero(reached.distance > 0):
        before = other_end(graph, reached.edge[number], number)
        assert reached.distance[before] == reached.distance[number] - 1


@given(pairs, st.sets(st.integers(0, 23)))
def test_paths_are_valid_and_cheapest(calls, unsure):
    sketch = Sketch().file("f", *"abcdefgh")
    cost = {}
    for position, (source, target) in enumerate(calls):
        sure = position not in unsure
        sketch.edge(f"f:{source}", f"f:{target}", sure=sure)
        price = paths.CALL if sure else paths.CANDIDATE_CALL
        cost[source, target] = min(cost.get((source, target), price), price)
    graph = sketch.graph()
    starts, goals = (np.array([node(graph, f"f:{name}")], np.int32) for name in "ah")
    search = paths.find_paths(graph, starts, goals, paths.calls(candidates=True), paths.DEPTH_MAX)
    for path in search.paths:
        names = [spelled(graph, one)[2:] for one in path.nodes]
        steps = list(itertools.pairwise(names))
        ends = [
            (spelled(graph, graph.edges.source[edge])[2:], spelled(graph, graph.edges.target[edge])[2:])
            for edge in path.edges
        ]
        assert steps == ends
        assert (names[0], names[-1]) == ("a", "h")
        assert len(set(names)) == len(names)
        assert path.cost == sum(cost[pair] for pair in steps)
    assert [path.cost for path in search.paths] == cheapest(cost)


def cheapest(cost):
    """Returns the costs of the simple paths from a to h that must be found, by brute force."""
    known = []
    waiting = [(0, "a")]
    while waiting:
        total, names = waiting.pop()
        if names[-1] == "h":
            known.append(total)
            continue
        waiting += [
            (total + price, names + target)
            for (source, target), price in cost.items()
            if source == names[-1] and target not in names
        ]
    known.sort()
    return [total for total in known if total <= known[0] + paths.DETOUR_MAX][: paths.PATHS_MAX]


@given(pairs, st.integers(1, 4))
def test_affected_nodes_reach_the_change_within_the_depth(calls, depth):
    graph = one_file(*map("".join, calls)).graph()
    found = impact.affected(
        graph,
        np.zeros(graph.nodes, np.float32),
        np.array([node(graph, "f:a")], np.int32),
        depth,
        candidates=True,
    )
    expected = {n: d for n, d in by_hand(calls, "a", back=True).items() if 0 < d <= depth}
    names = [spelled(graph, one)[2:] for one in found.nodes]
    assert dict(zip(names, found.distance.tolist(), strict=True)) == expected
    assert found.distance.tolist() == sorted(found.distance.tolist())
