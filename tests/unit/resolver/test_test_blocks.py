"""Tests that are calls with a title."""

from textwrap import dedent

import pytest

from prism_resolver.test_blocks import blocks_of, innermost_block, marks_above
from prism_resolver.test_blocks import tests_around as around

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


def _shown(code: str) -> list[str]:
    return [
        " > ".join(filter(None, [one.outer.name if one.outer else "", f"{one.name} {one.start}-{one.end}"]))
        + "".join(f" {mark}" for mark in (*one.marks, "hook" if one.is_hook else "") if mark)
        for one in blocks_of(dedent(code).strip("\n").split("\n"))
    ]


def test_blocks_know_their_group_and_the_hooks_beside_them() -> None:
    code = """
    describe('depot', () => {
      beforeEach(async () => {
        await depot.open()
      })
      context('when it is full', () => {
        it('refuses', () => {})
      })
      it(
        'weighs',
        () => {
          depot.weigh()
        },
      )
    })
    """
    assert _shown(code) == [
        "describe 'depot' 1-14",
        "describe 'depot' > beforeEach 2-4 hook",
        "describe 'depot' > context 'when it is full' 5-7",
        "context 'when it is full' > it 'refuses' 6-6",
        "describe 'depot' > it 'weighs' 8-13",
    ]


def test_groups_of_rspec_may_name_a_class_and_tests_have_no_title() -> None:
    code = """
    RSpec.describe Shop::Depot do
      subject(:depot) { described_class.new }
      let(:gate) do
        depot.gate
      end
      it { expect(depot.weigh).to eq 1 }
      before { depot.open }
    end
    """
    assert _shown(code) == [
        "describe 'Shop::Depot' 1-8",
        "describe 'Shop::Depot' > subject(:depot) 2-2 hook",
        "describe 'Shop::Depot' > let(:gate) 3-5 hook",
        "describe 'Shop::Depot' > it 6-6",
        "describe 'Shop::Depot' > before 7-7 hook",
    ]


@pytest.mark.parametrize(
    ("line", "marks"),
    [
        ("it.skip('weighs', () => {})", ["skip"]),
        ("xit('weighs', () => {})", ["skip"]),
        ("fdescribe('depot', function () {})", ["only"]),
        ("test.only.each([1])('weighs', () => {})", ["only"]),
        ("it.todo('weighs')", ["todo"]),
        ("test('weighs', { skip: true }, () => {})", ["skip"]),
        ("it 'weighs', skip: 'slow' do", ["skip"]),
        ("it 'weighs', :pending do", ["skip"]),
        ("it('weighs', () => {})", []),
        ("it('weighs', { skip: !docker }, () => {})", ["skip in some cases"]),
        ("it('weighs', { skip: false }, () => {})", []),
        ("it 'weighs', skip: nil do", []),
        ("it('weighs', () => query({ skip: 10, only: 'a' }))", []),
    ],
)
def test_marks_are_what_the_call_says(line: str, marks: list[str]) -> None:
    (block,) = blocks_of([line])
    assert list(block.marks) == marks


def test_a_function_that_is_called_like_a_focused_test_is_none() -> None:
    lines = [
        "fit('linear', data)",
        "setup(app)",
        "before(gate, 1)",
        "let { x } = load()",
        "await test.step('a', f)",
    ]
    assert blocks_of(lines) == []


def test_groups_and_hooks_of_playwright() -> None:
    code = """
    test.describe.skip('depot', () => {
      test.beforeEach(async () => {
        open()
      })
      test.describe('full', () => {
        test('refuses', () => {})
      })
    })
    """
    assert _shown(code) == [
        "describe 'depot' 1-8 skip",
        "describe 'depot' > beforeEach 2-4 hook",
        "describe 'depot' > describe 'full' 5-7 skip",
        "describe 'full' > test 'refuses' 6-6 skip",
    ]


@pytest.mark.parametrize(
    ("head", "marks"),
    [
        (["@pytest.mark.skip(", '    reason="slow",', ")", "def test_weigh():"], ("skip",)),
        (["@pytest.mark.parametrize('skip', [1])", "def test_weigh():"], ()),
        (
            ["@unittest.skipIf(SLOW, 'slow')", "@patch('depot.skip')", "def test_a(self):"],
            ("skip in some cases",),
        ),
        (["@Test", '@Disabled("slow")', "void weighs() {"], ("skip",)),
        (["#[test]", "#[ignore]", "fn weighs() {"], ("skip",)),
        (['[Fact(Skip = "slow")]', "public void Weighs() {"], ("skip",)),
        (["[Fact(Skip = null)]", "public void Weighs() {"], ()),
        (['[Theory(DisplayName = "a Skip = b")]', "public void Weighs() {"], ()),
        (["def test_weigh():", "    skip(depot)"], ()),
    ],
)
def test_marks_are_what_stands_above_a_test(head: list[str], marks: tuple[str, ...]) -> None:
    assert marks_above(["", *head], 2) == marks


def test_a_hook_runs_for_the_tests_of_its_group() -> None:
    code = """
    describe('depot', () => {
      beforeEach(() => {
        open()
      })
      it('weighs', () => {})
    })
    it('is elsewhere', () => {})
    """
    blocks = blocks_of(dedent(code).strip("\n").split("\n"))
    assert [one.title for one in around(blocks, 3)] == ["weighs"]
