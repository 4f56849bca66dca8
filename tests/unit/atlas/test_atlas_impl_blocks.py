"""The header and the lines of an `impl` block."""

import pytest

from prism_atlas.core.impl_blocks import read_block


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("impl A for X {}\nimpl B for X {\n}\n", ("impl A for X", 1)),
        ("impl A for X {\n    fn a() {\n    }\n}\nfn b() {}\n", ("impl A for X", 4)),
        ("impl<T> A for T\nwhere\n    T: B,\n{\n    fn a() {}\n}\n", ("impl<T> A for T where T: B,", 6)),
        ("    unsafe impl A for X {\n    }\n", ("unsafe impl A for X", 2)),
        ("impl A for X { fn a() {} }\nfn b() {}\n", ("impl A for X", 1)),
        ("impl A for X {\n    fn a() {}\n", None),
        ("trait A: B {\n}\n", None),
    ],
)
def test_block_ends_below_its_header(text, expected):
    found = read_block(text)
    assert (found and tuple(found)) == expected
