from prism_search.core.matching import Question
from prism_search.core.outline import Outline, OutlineEntry
from prism_search.core.passages import OPENING_LINES, RANGE_LINES_MAX, Range, best_range, further_ranges
from prism_search.core.query import parse_query
from prism_search.core.retrieval.candidates import Candidate, ChunkHit


def ask(text: str) -> Question:
    query = parse_query(text)
    return Question(query, dict.fromkeys(query.stems, 1.0))


def file(path: str = "src/a.py", definitions: tuple[OutlineEntry, ...] = (), **fields) -> Candidate:
    lines = ("\t".join((d.group, d.kind, str(d.start), str(d.end), d.qualified_name)) for d in definitions)
    known = {"language": "python", "outline": Outline("\n".join(lines)), "touched": definitions}
    return Candidate(file=path, repo="r", path=path, generation="g", **known | fields)


def chunk(score: float, start: int, end: int, symbol: str = "", kind: str = "") -> ChunkHit:
    return ChunkHit(f"c{start}", score, start, end, symbol, kind)


def definition(name: str, group: str = "F", start: int = 1, end: int = 9) -> OutlineEntry:
    return OutlineEntry(group, "function", start, end, name)


def test_definition_of_a_named_symbol_is_shown_first():
    named = file(
        definitions=(definition("Other.find", start=1), definition("Store.find", start=20, end=30)),
        keyword_chunks=[chunk(9, 50, 60)],
    )
    assert best_range(ask("Store::find"), named) == Range(20, 30, "Store.find", "function")


def test_a_long_definition_is_cut():
    found = best_range(ask("find"), file(definitions=(definition("find", start=5, end=999),)))
    assert (found.start, found.end) == (5, 5 + RANGE_LINES_MAX - 1)


def test_fallbacks_are_chunk_then_name_then_beginning():
    question = ask("route parcels")
    by_words, by_vector = chunk(1, 10, 12, "a"), chunk(5, 20, 22, "b")
    name = definition("route_parcels", start=30, end=31)
    fields = {
        "keyword_chunks": [by_words],
        "vector_chunks": [by_vector],
        "definitions": (name,),
        "lines": 100,
    }
    starts = []
    for dropped in (None, "keyword_chunks", "vector_chunks", "definitions"):
        fields.pop(dropped, None)
        starts.append(best_range(question, file(**fields)))
    assert [found.start for found in starts] == [10, 20, 30, 1]
    assert starts[-1] == Range(1, OPENING_LINES)
    assert best_range(question, file(lines=0)) == Range(1, 1)
    assert best_range(question, file(lines=3)) == Range(1, 3)


def test_further_ranges_are_disjoint_and_best_first():
    chunks = [chunk(1, 1, 5), chunk(3, 5, 9), chunk(2, 10, 12), chunk(4, 20, 22)]
    shown = [Range(22, 30)]
    assert [(r.start, r.end) for r in further_ranges(ask("x"), file(keyword_chunks=chunks), shown)] == [
        (5, 9),
        (10, 12),
    ]


def test_chunk_good_by_words_and_vector_beats_best_of_one():
    chunks = {
        "keyword_chunks": [chunk(9, 1, 20), chunk(8, 21, 40)],
        "vector_chunks": [chunk(0.8, 41, 60), chunk(0.7, 21, 40)],
    }
    assert best_range(ask("route parcels"), file(**chunks)) == Range(21, 40)


def test_defining_chunk_beats_mentioning_chunk():
    found = best_range(
        ask("how are parcels routed"),
        file(
            definitions=(definition("Depot.route_parcels", start=25), definition("ROUTE", "V", start=3)),
            keyword_chunks=[chunk(9, 1, 20, "Depot"), chunk(5, 21, 40, "Depot")],
        ),
    )
    assert found == Range(21, 40, "Depot.route_parcels", "function")


def test_words_of_the_file_name_do_not_favor_a_definition():
    found = best_range(
        ask("how does the depot route"),
        file(
            "src/depot.py",
            definitions=(definition("Depot", "T", start=1), definition("route_all", start=25)),
            keyword_chunks=[chunk(9, 1, 20), chunk(8, 21, 40)],
        ),
    )
    assert found.symbol == "route_all"


def test_scores_of_two_models_are_not_added():
    near = [chunk(0.9, 1, 20), chunk(0.5, 21, 40), chunk(0.5, 21, 40)]
    assert best_range(ask("route"), file(vector_chunks=near)).start == 1


def test_further_chunks_of_a_function_support_it():
    head, parts = chunk(9, 1, 20), [chunk(n, 20 * n, 20 * n + 9, "Depot.run", "method") for n in (6, 7)]
    assert best_range(ask("route"), file(keyword_chunks=[head, *parts])).start == 140
    assert best_range(ask("route"), file(keyword_chunks=[head, *parts[:1]])).start == 1


def test_renamed_chunk_keeps_support_of_its_function():
    head, parts = chunk(9, 1, 20), [chunk(n, 20 * n, 20 * n + 9, "run", "function") for n in (6, 7, 8)]
    inner = definition("run.route", start=162)
    found = best_range(
        ask("how are parcels routed"),
        file(definitions=(inner, definition("route", start=5)), keyword_chunks=[head, *parts]),
    )
    assert (found.start, found.symbol) == (160, "run.route")


def test_prototypes_do_not_raise_a_chunk():
    found = best_range(
        ask("route parcels"),
        file(
            definitions=(definition("Depot.route_parcels", "P", start=3),),
            keyword_chunks=[chunk(8, 1, 20), chunk(9, 21, 40)],
        ),
    )
    assert found.start == 21
