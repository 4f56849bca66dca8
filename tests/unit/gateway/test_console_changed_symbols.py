"""The symbols that differ between two refs, from outlines of both and the graph of the second."""

from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.rpc.graph import ChangedSymbol, GraphNode
from prism_gateway.console.changed_symbols import FileOutlines, changed_symbols, removed_symbols


def symbol(name: str, signature: str = "", kind: SymbolKind = SymbolKind.FUNCTION, line: int = 1) -> Symbol:
    return Symbol(
        name=name.rpartition(".")[2],
        qualified_name=name,
        kind=kind,
        start_line=line,
        end_line=line,
        name_line=line,
        signature=signature,
    )


def outline(*symbols: Symbol) -> dict[str, Symbol]:
    return {one.qualified_name: one for one in symbols}


def touched(name: str, kind: SymbolKind = SymbolKind.FUNCTION) -> ChangedSymbol:
    """A symbol of which the diff touches the line of its name."""
    node = GraphNode(file_path="a.py", line=1, symbol=name, kind=kind)
    return ChangedSymbol(node=node, exported=True, signature=True, used_by=2)


def test_symbols_without_a_place_after_are_removed() -> None:
    outlines = {
        "b.py": FileOutlines(
            outline(symbol("gone", line=9), symbol("first", line=3), symbol("kept")), outline()
        ),
        "a.py": FileOutlines(outline(symbol("Depot.close")), outline(symbol("kept"))),
        "unread.py": FileOutlines(None, outline()),
        "unread_after.py": FileOutlines(outline(symbol("lost")), None),
    }
    assert [(one.symbol, one.path, one.line) for one in removed_symbols(outlines)] == [
        ("Depot.close", "a.py", 1),
        ("first", "b.py", 3),
        ("gone", "b.py", 9),
    ]


def test_a_removed_type_counts_its_members() -> None:
    names = ("Depot", "Depot.close", "Depot.Shelf", "Depot.Shelf.fill", "Depots")
    gone = outline(*(symbol(name, line=line) for line, name in enumerate(names, 1)))
    found = removed_symbols({"a.py": FileOutlines(gone, outline())})
    assert [(one.symbol, one.members) for one in found] == [("Depot", 3), ("Depots", 0)]


def test_a_signature_changed_only_where_that_of_a_function_differs() -> None:
    before = outline(
        symbol("same", "def same(a)"), symbol("other", "def other(a)"), symbol("Depot", "", SymbolKind.CLASS)
    )
    after = outline(
        symbol("same", "def same(a)"),
        symbol("other", "def other(a, b)"),
        symbol("Depot", "class Depot(Shed)", SymbolKind.CLASS),
        symbol("fresh", "def fresh()"),
    )
    changed = [touched("same"), touched("other"), touched("Depot", SymbolKind.CLASS), touched("fresh")]
    found = changed_symbols(changed, {"a.py": FileOutlines(before, after)})
    assert [(one.symbol, one.is_new, one.has_new_signature) for one in found] == [
        ("same", False, False),
        ("other", False, True),
        ("Depot", False, False),
        ("fresh", True, False),
    ]


def test_without_outlines_the_graph_says_whether_a_signature_changed() -> None:
    found = changed_symbols([touched("same"), touched("Depot", SymbolKind.CLASS)], {})
    assert [(one.symbol, one.has_new_signature, one.used_by) for one in found] == [
        ("same", True, 2),
        ("Depot", False, 2),
    ]
