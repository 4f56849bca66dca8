"""Signatures: the whole header on one line, however many lines it has."""

import pytest

from prism_chunker.core import chunk_file
from prism_chunker.core.signatures import HEADER_BYTES_MAX, SIGNATURE_CHARS_MAX


@pytest.mark.parametrize(
    ("path", "text", "signature"),
    [
        ("a.ts", "export function open(\n  key: string,\n  far = 1,\n): Promise<\n  Depot\n> {\n  go();\n}\n", "export function open( key: string, far = 1, ): Promise< Depot >"),
        ("a.ts", "declare function open(\n  key: string,\n): Promise<\n  Map<string, () => Depot>\n>;\n", "declare function open( key: string, ): Promise< Map<string, () => Depot> >"),
        ("a.ts", "interface Shop {\n  open<\n    Key extends string,\n  >(\n    key: Key,\n  ): void;\n}\n", "open< Key extends string, >( key: Key, ): void"),
        ("a.ts", "export type Shelf<\n  Key,\n  Of = Depot<Key>,\n> =\n  | Key\n  | Of;\n", "export type Shelf< Key, Of = Depot<Key>, >"),
        ("a.ts", "export type Shelf = Depot<\n  Key\n>;\n", "export type Shelf = Depot< Key >"),
        ("a.ts", "export const less = far <\n  near;\n", "export const less = far <"),
        ("a.py", "def open(\n    key,  # which\n    far=1,\n) -> None:\n    # Slowly.\n    go()\n", "def open( key, far=1, ) -> None"),
        ("a.rb", "module Depot\n  # Opens it.\n  # Slowly.\n  def open(key) # now\n    go\n  end\nend\n", "module Depot"),
        ("A.java", "interface A {\n  @Deprecated // since 3\n  void open(\n    String key /* which */\n  );\n}\n", "void open( String key )"),
        ("a.c", 'int open(const char *key); // "a"\n', "int open(const char *key)"),
    ],
)  # fmt: skip
def test_a_signature_is_the_text_before_a_body(path, text, signature) -> None:
    assert signature in [symbol.signature for symbol in chunk_file(path, text).symbols]


def test_signature_is_cut_past_the_limit() -> None:
    bare = "def open()"
    for chars in (SIGNATURE_CHARS_MAX, SIGNATURE_CHARS_MAX + 1):
        whole = f"def open({'k' * (chars - len(bare))})"
        (symbol,) = chunk_file("a.py", f"{whole}:\n    go()\n").symbols
        assert len(symbol.signature) == SIGNATURE_CHARS_MAX
        assert (symbol.signature == whole) is (chars == SIGNATURE_CHARS_MAX)
        assert symbol.signature.endswith("…") is (chars > SIGNATURE_CHARS_MAX)


def test_comments_between_parameters_take_no_room() -> None:
    parameters = [f"  p{number}: number, // {'which it is, and why ' * 4}\n" for number in range(15)]
    text = f"export function make(\n{''.join(parameters)}): Depot {{\n  go();\n}}\n"
    (symbol,) = chunk_file("a.ts", text).symbols
    assert symbol.signature.endswith("p14: number, ): Depot")


def test_a_header_longer_than_the_limit_ends_in_an_ellipsis() -> None:
    text = (
        f"declare function open(\n  key: string, // {'why ' * HEADER_BYTES_MAX}\n  far: number,\n): void;\n"
    )
    (symbol,) = chunk_file("a.ts", text).symbols
    assert symbol.signature == "declare function open( key: string…"
