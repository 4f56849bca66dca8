import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.search import Hit, Intent, ShownLine
from prism_contracts.types import QUERY_CHARS_MAX
from prism_search.core.advice import next_actions
from prism_search.core.query import SYMBOLS_MAX, TERMS_MAX, dotted, last_name, parse_query
from prism_search.core.words import EQUAL, KIN, PREFIX, likeness, parts, stem, stems_of

words = st.text("abcdeginrsty", max_size=12)
anything = st.text(max_size=60)


# Words


@pytest.mark.parametrize(
    "kin",
    [
        ["parcel", "parcels"],
        ["index", "indexing", "indexed"],
        ["stop", "stopping", "stopped", "stops"],
        ["query", "queries"],
        ["cache", "caches", "caching", "cached"],
        ["class", "classes"],
        ["try", "tries"],
    ],
    ids=lambda kin: kin[0],
)
def test_forms_of_a_word_have_one_stem(kin):
    assert len({stem(word) for word in kin}) == 1


@pytest.mark.parametrize("word", ["", "a", "bus", "is", "id", "http2", "status", "string", "red"])
def test_short_and_odd_words_are_their_own_stem(word):
    assert stem(word) == word


@given(words)
def test_stem_is_never_empty_or_much_longer(word):
    assert len(stem(word)) <= len(word) + 1
    assert bool(stem(word)) == bool(word)


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("getUserNames", ("get", "user", "name")),
        ("HTTPConnectionPool", ("http", "connection", "pool")),
        ("parse_json2", ("pars", "json", "2")),
        ("__init__", ("init",)),
        ("___", ()),
    ],
)
def test_identifiers_are_split_into_stems(identifier, expected):
    assert parts(identifier) == expected


def test_stems_of_a_name_are_those_of_all_its_identifiers():
    assert stems_of("user-names.test") == {"user", "name", "test"}


@pytest.mark.parametrize(
    ("one", "other", "degree"),
    [
        ("route", "route", EQUAL),
        ("auth", "authentication", PREFIX),
        ("au", "authentication", 0.0),  # too short
        ("aut", "authentications", 0.0),  # too small a share
        ("connect", "connexion", 0.0),
        ("serializ", "serialis", KIN),
        ("route", "router", PREFIX),
        ("h2", "h2x", 0.0),
    ],
)
def test_likeness_has_three_degrees(one, other, degree):
    assert likeness(one, other) == likeness(other, one) == degree


@given(words, words)
def test_likeness_is_symmetrical(one, other):
    assert likeness(one, other) == likeness(other, one)
    assert likeness(one, other) in {0.0, KIN, PREFIX, EQUAL}


# Questions


def test_stop_words_are_dropped():
    query = parse_query("  How are the parcels\n routed? ")
    assert query.text == "How are the parcels routed?"
    assert query.terms == ("parcels", "routed")
    assert query.stems == ("parcel", stem("routed"))
    assert query.first_half == ("parcel",)


def test_question_of_stop_words_only_keeps_them():
    assert parse_query("what is it").terms == ("what", "is", "it")


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\0"])
def test_empty_question_is_refused(text):
    with pytest.raises(PrismError) as caught:
        parse_query(text)
    assert caught.value.code is ErrorCode.EMPTY_QUERY


def test_question_has_a_length_limit():
    assert parse_query("x" * QUERY_CHARS_MAX)
    with pytest.raises(PrismError) as caught:
        parse_query("x" * (QUERY_CHARS_MAX + 1))
    assert caught.value.code is ErrorCode.QUERY_TOO_LONG


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("Session.get", ("Session.get",)),
        ("Session::get()", ("Session::get",)),
        ("parcel", ("parcel",)),
        ("empty?", ("empty?",)),
        ("how does findRoute work", ("findRoute",)),
        ("where is find_route called by Store.find", ("find_route", "Store.find")),
        ("HTTPPool and XMLReader", ("HTTPPool", "XMLReader")),
        ("how are parcels routed", ()),
        ("find_route or find_route", ("find_route",)),
    ],
)
def test_symbols_are_names_that_prose_does_not_have(text, symbols):
    assert parse_query(text).symbols == symbols


def test_terms_and_symbols_have_limits():
    query = parse_query(" ".join(f"nameOf{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(100)))
    assert (len(query.terms), len(query.stems), len(query.symbols)) == (TERMS_MAX, TERMS_MAX, SYMBOLS_MAX)


def test_neighbors_join_to_one_word_and_to_initials():
    query = parse_query("bind action creators of server-sent events")
    assert {"bindaction", "bindactioncreators", "serversent", "sentevents"} <= query.joined
    assert "actionserver" not in query.joined
    assert {"bac", "sse", "se"} <= query.initials


def test_words_of_the_question_are_not_initials():
    assert "se" not in parse_query("se server events").initials


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("findRoute", Intent.DEFINITION),
        ("class Route", Intent.DEFINITION),
        ("where is Route defined", Intent.DEFINITION),
        ("who calls find_route", Intent.CALLERS),
        ("callers of find_route", Intent.CALLERS),
        ("usages of Route", Intent.USAGE),
        ("where is Route used", Intent.USAGE),
        ("tests for the router", Intent.TEST),
        ("database tables of parcels", Intent.SCHEMA),
        ("overview of the router", Intent.ARCHITECTURE),
        ("how does routing work", Intent.ARCHITECTURE),
        ("retry failed parcels", Intent.GENERAL),
    ],
)
def test_intents(text, intent):
    query = parse_query(text)
    assert query.intent is intent
    assert query.about_tests == (intent is Intent.TEST)


@pytest.mark.parametrize("text", ["verify login", "checks that parcels arrive", "Ensure that vans stop"])
def test_verbs_of_tests_are_asked_as_tests_and_lift_none(text):
    query = parse_query(text)
    assert query.intent is Intent.TEST
    assert not query.about_tests


@pytest.mark.parametrize("text", ["SSL certificate verification", "verify", "check the rate of a parcel"])
def test_words_about_verification_are_not_about_tests(text):
    assert parse_query(text).intent is not Intent.TEST


@pytest.mark.parametrize(
    ("symbol", "last", "with_dots"),
    [
        ("a::b::c", "c", "a.b.c"),
        ("A#b!", "b", "A.b!"),
        ("p->q", "q", "p.q"),
        ("x", "x", "x"),
        ("N\\C", "C", "N.C"),
    ],
)
def test_qualified_names_in_any_language(symbol, last, with_dots):
    assert (last_name(symbol), dotted(symbol)) == (last, with_dots)


@given(anything)
def test_any_text_is_parsed(text):
    if not text.replace("\0", " ").strip():
        return
    query = parse_query(text)
    assert len(set(query.stems)) == len(query.stems) <= TERMS_MAX
    assert set(query.first_half) <= set(query.stems)


# Advice


def hit(symbol: str = "", score: float = 1, path: str = "a.py", kind: str = "method") -> Hit:
    return Hit(
        repo="acme/parcel-tracker",
        file_path=path,
        start_line=3,
        end_line=9,
        content="",
        symbol=symbol,
        kind=kind if symbol else "",
        score=score,
    )


def test_undefined_symbol_is_searched_as_text():
    actions = next_actions(parse_query("Route.next()"), [hit("Route.next_stop", 9)])
    assert actions[0] == 'grep_code pattern="next", as no hit defines it'


def test_definition_is_read_next_even_below_a_test():
    hits = [hit("test_next", 3, "test_a.py"), hit("Route.next", 2)]
    assert '"a.py:3-9"' in next_actions(parse_query("Route.next"), hits)[0]
    assert '"test_a.py:3-9"' in next_actions(parse_query("next of a route"), hits)[0]


def test_actions_name_the_repository_if_several():
    assert all(
        action.endswith(' repo="acme/parcel-tracker"')
        for action in next_actions(parse_query("retry parcels"), [hit("Route.next")], with_repo=True)
    )


def test_advice_without_hits_is_another_search():
    assert any("grep_code" in action for action in next_actions(parse_query("x"), []))


def test_the_best_hit_is_read_next_unless_it_is_shown():
    actions = next_actions(parse_query("retry parcels"), [hit("Route.next"), hit()])
    assert actions == ('read_file places=["a.py:3-9"]',)
    lines = tuple(ShownLine(number=number, text="x") for number in (3, 4, 5, 7, 9))
    shown = hit("Route.next").model_copy(update={"lines": lines})
    assert next_actions(parse_query("retry parcels"), [shown]) == ()


@pytest.mark.parametrize(
    ("question", "action"),
    [
        ("who calls find_route", 'find_references symbols=["find_route"]'),
        ("who calls find_route", 'get_call_hierarchy symbol="find_route"'),
        ("where is find_route used", 'find_references symbols=["find_route"]'),
        ("tests of find_route", 'impact_of_change symbol="find_route"'),
        ("architecture of the project", "get_architecture"),
    ],
)
def test_questions_about_the_graph_lead_to_its_tools(question, action):
    assert action in next_actions(parse_query(question), [hit()])
