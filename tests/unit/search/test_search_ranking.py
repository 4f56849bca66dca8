import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_search.core import signals
from prism_search.core.matching import Question
from prism_search.core.outline import Outline, OutlineEntry, parse_definitions
from prism_search.core.query import parse_query
from prism_search.core.retrieval.candidates import Candidate, ChunkHit
from prism_search.core.retrieval.fuse import LEG_WEIGHTS, RRF_K, fuse
from prism_search.core.retrieval.rank import rank, rarity_of
from prism_search.core.signals import NAME_WEIGHTS, WEIGHTS, names_score_max, score

LIMIT = 10


def ask(text: str, **rarity: float) -> Question:
    query = parse_query(text)
    return Question(query, dict.fromkeys(query.stems, 1.0) | rarity)


def file(path: str = "src/a.py", definitions: tuple[OutlineEntry, ...] = (), **fields) -> Candidate:
    lines = ("\t".join((d.group, d.kind, str(d.start), str(d.end), d.qualified_name)) for d in definitions)
    known = {"language": "python", "outline": Outline("\n".join(lines)), "touched": definitions}
    return Candidate(file=path, repo="r", path=path, generation="g", **known | fields)


def chunk(score_: float, start: int = 1, end: int = 2, symbol: str = "") -> ChunkHit:
    return ChunkHit(f"c{start}", score_, start, end, symbol, "")


def definition(name: str, group: str = "F", start: int = 1, end: int = 9) -> OutlineEntry:
    return OutlineEntry(group, "function", start, end, name)


# Fusion


def test_fusion_is_the_sum_of_reciprocal_ranks_by_leg():
    fused = fuse({"keyword": ["a", "b"], "vector": ["b", "c"]}, LIMIT)
    assert fused == {"a": {"keyword": 1}, "b": {"keyword": 2, "vector": 1}, "c": {"vector": 2}}
    assert list(fused) == ["b", "a", "c"]
    assert LEG_WEIGHTS["keyword"] / (RRF_K + 2) + LEG_WEIGHTS["vector"] / (RRF_K + 1) > 1 / (RRF_K + 1)


def test_file_counts_once_per_leg_by_its_best_rank():
    assert fuse({"keyword": ["a", "a", "b", "a"]}, LIMIT) == {"a": {"keyword": 1}, "b": {"keyword": 2}}


def test_fusion_has_a_limit_and_breaks_ties_by_name():
    assert list(fuse({"path": ["b"], "keyword": ["a"]}, limit=5)) == ["a", "b"]
    assert list(fuse({"keyword": list("abcdef")}, limit=3)) == ["a", "b", "c"]
    assert fuse({}, LIMIT) == {}


legs = st.dictionaries(st.sampled_from(sorted(LEG_WEIGHTS)), st.lists(st.sampled_from("abcdef"), max_size=6))


@given(legs, st.randoms())
def test_the_order_of_the_legs_does_not_matter(ranked, chance):
    shuffled = list(ranked.items())
    chance.shuffle(shuffled)
    assert list(fuse(dict(shuffled), LIMIT)) == list(fuse(ranked, LIMIT))


def test_unreadable_definitions_are_skipped():
    assert parse_definitions([""]) == ()
    assert [d.name for d in parse_definitions(["F\tfunction\t1\t2\tA.b", "broken", "T\tclass"])] == ["b"]


# Signals, one by one


def test_body_is_a_decaying_share_of_the_best_score():
    question = ask("retry parcels")
    perfect = question.total * (signals.BM25_K1 + 1)
    assert signals.body(question, file()) == 0
    one = signals.body(question, file(keyword_chunks=[chunk(perfect)]))
    assert one == pytest.approx(1 - signals.CHUNK_DECAY)
    assert one < signals.body(question, file(keyword_chunks=[chunk(perfect)] * 3)) < 1
    assert signals.body(ask("retry", retri=0.0), file(keyword_chunks=[chunk(5)])) == 0


def test_path_words_match_names_of_file_and_folder():
    question = ask("parcel route store")
    assert signals.path_words(question, file("x/other.py")) == 0
    assert signals.path_words(question, file("x/parcel.py")) == pytest.approx(1 / 3)
    assert signals.path_words(question, file("route/parcel_store.py")) == pytest.approx(1)
    assert signals.path_words(question, file("route/x/parcel.py")) == pytest.approx(1 / 3)


def test_named_first_uses_first_half_and_skips_generic_names():
    question = ask("parcel route of some shop")
    assert signals.named_first(question, file("x/parcel.py")) == 1
    assert signals.named_first(question, file("x/parcel_other.py")) == 0
    assert signals.named_first(question, file("x/shop.py")) == 0
    assert signals.named_first(question, file("parcel/__init__.py")) == 1
    assert signals.named_first(question, file("parcel/index.ts")) == 1


def test_covered_weighs_words_by_rarity():
    question = ask("parcel route", parcel=3.0)
    assert signals.covered(question, file("x/parcel.py")) == pytest.approx(
        0.75 if "rout" in question.query.stems else 1
    )
    with_names = file("x/parcel.py", definitions=(definition("find_route"),))
    assert signals.covered(question, with_names) == pytest.approx(1)


def test_defines_needs_mutual_coverage():
    question = ask("find route")
    whole = signals.defines(question, file(definitions=(definition("find_route"),)))
    assert whole == pytest.approx(1)
    assert 0 < signals.defines(question, file(definitions=(definition("find_route_of_any_ship"),))) < whole
    assert signals.defines(question, file(definitions=(definition("find_route", "V"),))) == 0
    assert signals.defines(question, file()) == 0


def test_defines_type_needs_equal_words():
    question = ask("parcel route")
    assert signals.defines_type(
        question, file(definitions=(definition("ParcelRoute", "T"),))
    ) == pytest.approx(1)
    assert signals.defines_type(question, file(definitions=(definition("ParcelRoute", "F"),))) == 0
    assert signals.defines_type(question, file(definitions=(definition("ParcelRouter", "T"),))) < 0.5


def test_folder_words_are_those_of_the_nearest_folder():
    question = ask("parcel route")
    assert signals.folder_words(question, file("parcel/x.py")) == pytest.approx(0.5)
    assert signals.folder_words(question, file("parcel/y/x.py")) == 0
    assert signals.folder_words(question, file("x.py")) == 0


def test_joined_name_is_neighboring_words_in_one():
    assert signals.joined_name(ask("bind action creators"), file("x/bindActionCreators.ts")) == 1
    assert signals.joined_name(ask("bind action creators"), file("x/bind.ts")) == 0


def test_initials_name_is_a_file_named_by_initials():
    assert signals.initials_name(ask("server-sent events"), file("x/sse.py")) == 1
    assert signals.initials_name(ask("server-sent events"), file("x/events.py")) == 0


def test_defines_symbol_counts_requested_symbols():
    question = ask("find_route and Store.find")
    assert (
        signals.defines_symbol(question, file(definitions=(definition("A.find_route"), definition("find"))))
        == 2
    )
    assert signals.defines_symbol(question, file(definitions=(definition("findRoute"),))) == 0
    assert (
        signals.defines_symbol(ask("how are parcels routed"), file(definitions=(definition("parcels"),))) == 0
    )


@pytest.mark.parametrize(("nearness", "expected"), [(-1, 0), (0, 0), (2, 0.5), (6, 1.5), (60, 1.5)])
def test_near_is_cut_at_both_ends(nearness, expected):
    assert signals.near(ask("x"), file(nearness=nearness)) == expected


@pytest.mark.parametrize(("path", "expected"), [("a", 0), ("a/b", 1), ("a/b/c/d", 3), ("a/b/c/d/e/f", 3)])
def test_depth_is_at_most_three(path, expected):
    assert signals.depth(ask("x"), file(path)) == expected


def test_tests_rank_low_unless_requested():
    assert signals.in_tests(ask("route parcels"), file(flags="t")) == 1
    assert signals.in_tests(ask("tests of routes"), file(flags="t")) == 0
    assert signals.in_tests(ask("route parcels"), file()) == 0


@pytest.mark.parametrize(
    ("fields", "expected"),
    [({}, 0), ({"language": ""}, 1), ({"language": "json"}, 1), ({"language": "markdown", "prose": True}, 1)],
)
def test_prose_and_data_are_not_code(fields, expected):
    assert signals.not_code(ask("x"), file(**fields)) == expected


@pytest.mark.parametrize(
    ("flags", "expected"), [("", 0), ("t", 0), ("d", 0), ("g", 1), ("v", 1), ("m", 1), ("gvm", 1)]
)
def test_generated_and_vendored_code_is_not_written_here(flags, expected):
    assert signals.not_written_here(ask("x"), file(flags=flags)) == expected


def test_every_signal_counts_with_its_weight():
    assert set(score(ask("route parcels"), file(), WEIGHTS)) == set(WEIGHTS)
    strange = ask("¿…?")
    assert strange.query.stems == ()
    rank(strange, [file(keyword_chunks=[chunk(1)], definitions=(definition("a"),))], 10)


# Order

candidates = st.lists(
    st.builds(
        file,
        st.sampled_from(["parcel/a.py", "b.py", "parcel.py", "x/y/route.py"]),
        flags=st.sampled_from(["", "t", "g"]),
        nearness=st.floats(0, 3),
    ),
    max_size=6,
)


@given(candidates, st.integers())
def test_order_does_not_depend_on_candidate_order(files, seed):
    question = ask("parcel route")
    ranked = [(f.path, f.flags, f.score) for f in rank(question, files, 10)]
    random.Random(seed).shuffle(files)
    again = [(f.path, f.flags, f.score) for f in rank(question, files, 10)]
    assert [(path, score_) for path, _, score_ in ranked] == [(path, score_) for path, _, score_ in again]
    assert [score_ for _, _, score_ in ranked] == sorted((score_ for _, _, score_ in ranked), reverse=True)


@given(
    st.lists(
        st.builds(
            lambda path, names, near: file(path, tuple(definition(*name) for name in names), nearness=near),
            st.sampled_from(["parcel/a.py", "b.py", "parcel.py", "x/y/route.py", "lib/c.json"]),
            st.lists(
                st.tuples(
                    st.sampled_from(["Parcel", "route_parcel", "parcels", "other", "route"]),
                    st.sampled_from(["T", "F", "V"]),
                ),
                max_size=3,
            ),
            st.floats(0, 3),
        ),
        max_size=8,
    ),
    st.integers(1, 8),
)
def test_early_stop_gives_the_same_best_files(files, limit):
    question = ask("parcel route")
    every = [(f.path, f.score) for f in rank(question, files, len(files) + 1)]
    assert [(f.path, f.score) for f in rank(question, files, limit)] == every[:limit]


@given(
    st.lists(
        st.tuples(st.sampled_from(["Parcel", "routes", "parcelling", "x"]), st.sampled_from("TFV")),
        max_size=4,
    )
)
def test_names_score_at_most_the_computed_bound(names):
    question = ask("parcel route")
    (one,) = rank(question, [file("x/route.py", tuple(definition(*name) for name in names))], 1)
    assert 0 <= sum(one.signals[name] for name in NAME_WEIGHTS) <= names_score_max(question, one) + 1e-9


def test_equal_scores_are_ordered_by_path_and_repository():
    files = [file("b.py"), file("a.py")]
    files.append(Candidate(file="z", repo="a", path="b.py", generation="g", language="python"))
    assert [(f.path, f.repo) for f in rank(ask("zzz"), files, 10)] == [
        ("a.py", "r"),
        ("b.py", "a"),
        ("b.py", "r"),
    ]


def test_a_score_is_the_sum_of_its_signals():
    (one,) = rank(ask("parcel route"), [file("parcel/route.py")], 10)
    assert one.score == pytest.approx(sum(one.signals.values()))


def test_rarity_falls_with_frequency_and_is_never_negative():
    rarity = rarity_of({"a": 0, "b": 5, "c": 10, "d": 12}, 10)
    assert rarity["a"] > rarity["b"] > rarity["c"] > 0
    assert rarity["d"] > 0  # counted later than the documents
