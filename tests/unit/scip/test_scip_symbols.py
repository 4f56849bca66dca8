"""Names in symbols, as indexers write them."""

import pytest

from prism_scip.symbols import read_name


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("scip-python python parcels 1.0 `parcels.depot`/Depot#weigh().", ("Depot", "weigh")),
        ("scip-python python parcels 1.0 `parcels.depot`/rate().(zone)", ("rate", "zone")),
        ("scip-go gomod example.org/parcels v1 `example.org/parcels/depot`/Depot#Weigh(+1).", ("Depot", "Weigh")),
        ("rust-analyzer cargo parcels 0.1.0 depot/impl#[Depot]weigh().", ("Depot", "weigh")),
        ("scip-typescript npm parcels 1.0.0 src/`depot.ts`/Depot#`<constructor>`().", ("Depot", "<constructor>")),
        ("scip-typescript npm parcels 1.0.0 src/`depot.ts`/Depot#[T]", ("Depot", "T")),
        ("semanticdb maven . . acme/LIMIT.", ("acme", "LIMIT")),
        ("scip-ruby gem my  parcels 1.0 `a``b`#", ("", "a`b")),
        ("cxx . . $ parcels/RATE!", ("parcels", "RATE")),
    ],
)  # fmt: skip
def test_the_name_of_a_symbol_is_its_last_part(symbol, found) -> None:
    name = read_name(symbol)
    assert name
    assert (name.owner, name.name) == found


@pytest.mark.parametrize(
    "symbol",
    ["local 3", "", "x", "a b c d ", "a b c d e", "a b c d `e", "scip-python python parcels 1.0 `parcels.depot`/", "scip-python python parcels 1.0 parcels/__init__:"],
)  # fmt: skip
def test_local_namespace_and_invalid_symbols_have_no_name(symbol) -> None:
    assert read_name(symbol) is None


def test_a_package_is_the_same_in_any_version() -> None:
    names = [read_name(f"scip-python python parcels {version} Depot#") for version in ("1.0", "2.0")]
    assert names[0] == names[1]
