"""Writes small SCIP indexes, as an indexer would for a few files."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from prism_contracts.rpc.files import ManifestEntry
from prism_ingest.core.occurrences import read_index
from prism_resolver.occurrences import Columns
from prism_scip.scip_pb2 import (
    Document,
    Index,
    Metadata,
    Occurrence,
    PositionEncoding,
    Relationship,
    SymbolInformation,
    SymbolRole,
    ToolInfo,
)

PACKAGE = "scip-python python parcels 1.0 "
STANDARD = "scip-python python python-stdlib 3.11 "


class At(NamedTuple):
    """A symbol at a position: line and column from 0, as in SCIP."""

    symbol: str
    line: int
    begin: int
    end: int
    roles: int = 0


def own(name: str) -> str:
    """Returns a symbol of the indexed package: `depot/Depot#weigh().`."""
    return PACKAGE + name


def define(symbol: str, line: int, begin: int, end: int) -> At:
    return At(symbol, line, begin, end, SymbolRole.Definition)


def document(
    path: str,
    places: Iterable[At],
    implements: Iterable[tuple[str, str]] = (),
    encoding: int = PositionEncoding.UTF32CodeUnitOffsetFromLineStart,
) -> Document:
    return Document(
        relative_path=path,
        position_encoding=encoding,
        occurrences=[
            Occurrence(range=[at.line, at.begin, at.end], symbol=at.symbol, symbol_roles=at.roles)
            for at in places
        ],
        symbols=[
            SymbolInformation(
                symbol=symbol, relationships=[Relationship(symbol=base, is_implementation=True)]
            )
            for symbol, base in implements
        ],
    )


def index(*documents: Document, indexer: str = "scip-python") -> bytes:
    return Index(
        metadata=Metadata(tool_info=ToolInfo(name=indexer, version="1")), documents=documents
    ).SerializeToString()


def columns_of(documents: Sequence[Document], blobs: Mapping[str, str]) -> Columns:
    """Returns the columns that ingest extracts from documents about files with these contents."""
    entries = [
        ManifestEntry(path=path, blob=blob, generation="g", status="indexed") for path, blob in blobs.items()
    ]
    return read_index(lambda: iter(documents), entries, 1, "").columns


# Two files that no rule connects: nothing declares the type of `book`.
RATES = "class Zone:\n    def rate(self):\n        return 1\n"
OTHER = "class Fee:\n    def rate(self):\n        return 2\n"
DEPOT = "def price(book):\n    return book.rate()\n"
FILES = {"parcels/rates.py": RATES, "parcels/fees.py": OTHER, "parcels/depot.py": DEPOT}
ZONE, ZONE_RATE = own("`parcels.rates`/Zone#"), own("`parcels.rates`/Zone#rate().")
FEE_RATE = own("`parcels.fees`/Fee#rate().")


def parcels(root: str = "") -> Sequence[Document]:
    """Returns an indexer's documents for FILES, or for those below a folder, with paths relative to it."""
    return [
        document(
            "parcels/rates.py".removeprefix(root), [define(ZONE, 0, 6, 10), define(ZONE_RATE, 1, 8, 12)]
        ),
        document("parcels/fees.py".removeprefix(root), [define(FEE_RATE, 1, 8, 12)]),
        document("parcels/depot.py".removeprefix(root), [At(ZONE_RATE, 1, 16, 20)]),
    ]
