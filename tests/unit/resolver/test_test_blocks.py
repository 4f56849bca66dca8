"""Tests that are calls with a title."""

from textwrap import dedent

import pytest

from prism_resolver.test_blocks import blocks_of, innermost_block

JAVASCRIPT = """
describe('depot', () => {
  const depot = make()

  it('weighs a parcel', async () => {
    assert(depot.weigh(1))
  })

  test.each([1, 2])("stores %s", (count) => {
    depot.store(count)
  })
  it.todo('refuses')
})
depot.close()
"""
RUBY = """
describe 'depot' do
  it "weighs a parcel" do
    assert depot.weigh(1)
  end
end
"""


@pytest.mark.parametrize(
    ("code", "blocks"),
    [
        (
            JAVASCRIPT,
            [
                "1-12 describe 'depot'",
                "4-6 it 'weighs a parcel'",
                "8-10 test 'stores %s'",
                "11-11 it 'refuses'",
            ],
        ),
        (RUBY, ["1-5 describe 'depot'", "2-4 it 'weighs a parcel'"]),
        ("it('weighs', function () {\n  weigh()", ["1-2 it 'weighs'"]),
        ("const it = 'weighs'\nsubmit('it')", []),
    ],
    ids=["javascript", "ruby", "unclosed", "none"],
)
def test_blocks_have_their_lines_and_titles(code: str, blocks: list[str]) -> None:
    found = blocks_of(dedent(code).strip("\n").split("\n"))
    assert [f"{one.start}-{one.end} {one.name}" for one in found] == blocks


def test_innermost_block_is_the_test() -> None:
    blocks = blocks_of(JAVASCRIPT.strip("\n").split("\n"))
    assert innermost_block(blocks, 5).name == "it 'weighs a parcel'"
    assert innermost_block(blocks, 2).name == "describe 'depot'"
    assert innermost_block(blocks, 13) is None
