import base64

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.code import Reference, ReferenceKind, Symbol, SymbolKind
from prism_runtime import packing
from prism_runtime.packing import (
    pack_lines,
    pack_references,
    pack_symbols,
    unpack_lines,
    unpack_references,
    unpack_symbol_facts,
    unpack_symbols,
)

lines = st.integers(1, 10**6)
symbols = st.builds(
    Symbol,
    name=st.text(max_size=20),
    qualified_name=st.text(max_size=20),
    kind=st.sampled_from(SymbolKind),
    start_line=lines,
    end_line=lines,
    name_line=lines,
    signature=st.text(max_size=20),
    parent=st.integers(-1, 100),
    exported=st.booleans(),
)
references = st.builds(
    Reference,
    name=st.text(max_size=20),
    kind=st.sampled_from(ReferenceKind),
    line=lines,
    symbol=st.integers(-1, 100),
    alias=st.text(max_size=5),
)


@given(st.lists(symbols, max_size=5))
def test_symbols_round_trip(given_symbols):
    assert unpack_symbols(pack_symbols(given_symbols)) == tuple(given_symbols)


@given(st.lists(references, max_size=5))
def test_references_round_trip(given_references):
    assert unpack_references(pack_references(given_references)) == tuple(given_references)


@given(st.lists(symbols, max_size=5))
def test_symbols_are_read_in_two_ways_alike(given_symbols):
    facts = unpack_symbol_facts(pack_symbols(given_symbols))
    assert [msgspec.structs.asdict(fact) for fact in facts] == [dict(symbol) for symbol in given_symbols]


def test_an_empty_string_is_an_empty_list():
    assert unpack_symbols("") == ()
    assert unpack_references("") == ()


def test_a_bomb_is_cut_at_the_limit_and_refused(monkeypatch):
    packed = pack_references([Reference(name="n" * 500, kind=ReferenceKind.CALL, line=1)])
    size = zstandard.get_frame_parameters(base64.b64decode(packed)).content_size
    monkeypatch.setattr(packing, "UNPACKED_BYTES_MAX", size)
    assert len(unpack_references(packed)) == 1
    monkeypatch.setattr(packing, "UNPACKED_BYTES_MAX", size - 1)
    with pytest.raises(ValueError, match="exceeds"):
        unpack_references(packed)


@given(st.dictionaries(st.text(max_size=10), st.lists(st.integers(1, 10**6), max_size=5), max_size=5))
def test_lines_round_trip(given_lines):
    assert unpack_lines(pack_lines(given_lines)) == given_lines
