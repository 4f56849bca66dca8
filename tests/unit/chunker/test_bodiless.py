"""Declarations of definitions elsewhere: overloads, and declared or abstract members."""

import pytest

from prism_chunker.core import chunk_file

TYPESCRIPT = """\
export function open(key: string): void;
export function open(key: number): void;
export function open(key: unknown): void { go(key); }
declare function far(): void;
class Depot {
  get(key: string): void;
  get(key: unknown): void {}
}
abstract class Store { abstract put(): void; }
interface Shop { close(): void }
"""
PYTHON = """\
import typing
from typing import overload
@overload
def open(key: int) -> None: ...
@typing.overload
async def open(key: str) -> None: ...
def open(key): return go(key)
class Depot:
    @overload
    def get(self, key: int) -> None: ...
    @cached
    def get(self, key): return go(key)
"""
C = "int open(int key);\nint open(int key) { return key; }\n"


@pytest.mark.parametrize(
    ("path", "text", "announced"),
    [
        ("depot.ts", TYPESCRIPT, ["open:1", "open:2", "far:4", "Depot.get:6", "Store.put:9"]),
        ("depot.tsx", TYPESCRIPT, ["open:1", "open:2", "far:4", "Depot.get:6", "Store.put:9"]),
        ("depot.py", PYTHON, ["open:4", "open:6", "Depot.get:10"]),
        ("depot.c", C, ["open:1"]),
    ],
)
def test_declaration_without_a_body_is_a_definition(path, text, announced) -> None:
    symbols = chunk_file(path, text).symbols
    assert [f"{one.qualified_name}:{one.name_line}" for one in symbols if one.bodiless] == announced
    assert sum(one.name in {"open", "get"} for one in symbols) == text.count("open(") + text.count("get(")
