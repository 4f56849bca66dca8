import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.code import Symbol, SymbolKind
from prism_resolver.symbol_names import RepoPath, SymbolName, flat

NOWHERE = RepoPath("", "")


def defined(qualified_name: str, name: str = "") -> Symbol:
    return Symbol(
        name=name or qualified_name.rpartition(".")[2],
        qualified_name=qualified_name,
        kind=SymbolKind.METHOD,
        start_line=1,
        end_line=2,
        name_line=1,
    )


@pytest.mark.parametrize(
    ("spelled", "dotted"),
    [
        ("route", "route"),
        (" route() ", "route"),
        ("route(parcel, to)", "route"),
        ("Depot.route", "Depot.route"),
        ("Depot.route<T>(Parcel)", "Depot.route"),
        ("Depot.route[T](parcel)", "Depot.route"),
        ("Depot::route", "Depot.route"),
        ("Depot#route", "Depot.route"),
        ("$depot->route", "$depot.route"),
        ("Depot->route()", "Depot.route"),
        ("(*Depot).route", "Depot.route"),
        ("(*parcels.Depot).route", "parcels.Depot.route"),
        ("*parcels.Depot", "parcels.Depot"),
        ("Depot[T].route", "Depot.route"),
        ("example.org/shop/parcels.Depot", "example.org.shop.parcels.Depot"),
        ("crate::parcels::Depot", "crate.parcels.Depot"),
        ("Vec::<u8>::route", "Vec.route"),
        ("Map<String, List<Parcel>>.route", "Map.route"),
        ("<T as Routed>::route", "Routed.route"),
        ("&Depot", "Depot"),
        ("org.example.parcels.Depot#route(java.lang.String)", "org.example.parcels.Depot.route"),
        ("route/2", "route"),
        ("Parcels.Depot.route/2", "Parcels.Depot.route"),
        ("&route/2", "route"),
        ("depot:route/2", "depot.route"),
        (":route", "route"),
        ("routed?", "routed?"),
        ("route!/1", "route!"),
        ("@routed", "routed"),
        ("\\Shop\\Depot", "Shop.Depot"),
        ("parcels/depot.py:Depot", "parcels.depot.py.Depot"),
        ("How to route", "How to route"),
        ("::", "::"),
    ],
)
def test_a_name_is_the_same_in_every_languages_spelling(spelled, dotted):
    assert SymbolName.read(spelled).dotted == dotted


@given(st.text(min_size=1).filter(str.strip))
def test_any_text_is_a_name(spelled):
    name = SymbolName.read(spelled)
    assert name.last in name.parts


@given(st.text(min_size=1).filter(str.strip))
def test_a_definition_with_the_exact_name_matches(spelled):
    assert SymbolName.read(spelled).fit(defined(spelled.strip(), spelled.strip()), NOWHERE)


@pytest.mark.parametrize(
    ("spelled", "qualified_name"),
    [("a.Depot.route", "Depot.route"), ("Depot.operator()", "Depot.operator()"), ("a.b", "a.b")],
)
def test_every_possible_spelling_is_looked_up(spelled, qualified_name):
    name = SymbolName.read(spelled)
    assert qualified_name in name.longer
    assert name.last not in name.longer


def fits(spelled: str, *qualified_names: str, location: RepoPath = NOWHERE) -> list[str]:
    """Returns the matching names, best first."""
    name = SymbolName.read(spelled)
    found = [(name.fit(defined(known), location), known) for known in qualified_names]
    return [known for fit, known in sorted(((f, k) for f, k in found if f), reverse=True)]


def test_a_longer_match_ranks_higher_and_a_whole_name_first():
    assert fits("shop.Depot.route", "route", "shop.Depot.route", "Depot.route", "x.shop.Depot.route") == [
        "shop.Depot.route",
        "x.shop.Depot.route",
        "Depot.route",
    ]
    assert fits("route", "Depot.route", "route", "router") == ["route", "Depot.route"]


def test_another_owner_means_another_symbol():
    assert fits("Depot.route", "Harbour.route", "route") == []
    assert fits("Depot.route", "Harbour.route", location=RepoPath("acme/shop", "src/depot.py")) == [
        "Harbour.route"
    ]


@pytest.mark.parametrize("spelled", ["self.route", "d.route", "crate::route"])
def test_a_variable_or_module_may_precede_any_symbol(spelled):
    name = SymbolName.read(spelled)
    fit = name.fit(defined("Depot.route"), NOWHERE)
    assert fit
    assert name.matched_suffix(fit) == "route"


def test_a_location_confirms_the_words_before_the_owner():
    name = SymbolName.read("org.example.parcels.Depot")
    near = name.fit(defined("Depot"), RepoPath("acme/shop", "src/org/example/parcels/Depot.java"))
    far = name.fit(defined("Depot"), RepoPath("acme/shop", "src/harbour/Depot.java"))
    assert near
    assert far
    assert near.degree > far.degree
    assert (name.matched_suffix(near), name.matched_suffix(far)) == ("", "Depot")


def test_a_location_has_words_of_repository_folders_and_file():
    assert {
        "acme",
        "parceltracker",
        "parcel",
        "tracker",
        "src",
        "depotlist",
        "depot",
        "list",
        "py",
    } <= RepoPath("acme/parcel-tracker", "src/depot_list.py").words


def test_flat_unifies_spellings_of_a_name():
    assert flat("flat_hash_map") == flat("FlatHashMap") == flat("flat-hash.map") == "flathashmap"
