"""What the graph resolves in Ruby: bare names wherever they are, attributes, delegates, symbols, RSpec."""

import pytest
from graph_files import edges_of, facts_of

from prism_contracts.code import ReferenceKind

DEPOT = """module Shop
  class Base
    attr_reader :width
    def self.build(n)
    end
  end
  class Depot < Base
    LIMIT = 3
    attr_accessor :gate, :size
    def_delegators :@gate, :open, :shut
    def_delegator :@gate, :open, :open_gate
    delegate :lock, :bolt, to: :gate
    BODY
    def check(n = 1)
    end
    def weigh
    end
  end
  Pair = Struct.new(:left, :right) do
    def both
      left + right
    end
  end
end
"""
SPEC = """RSpec.describe Shop::Depot do
  subject { described_class.new(1) }
  subject(:depot) { Shop::Depot.new }
  let(:big) { described_class.new(2) }
  it "weighs" do
    CODE
  end
end
"""


def uses(files: dict[str, str], path: str) -> set[str]:
    """Returns the edges of a file as `name -> symbol`, candidates with a question mark."""
    found = (one.split(" ") for one in edges_of(files) if one.startswith(f"{path}:"))
    return {
        f"{name} -> {target.rpartition(':')[2]}{'?' if strategy.endswith('?') else ''}"
        for _, name, _, target, strategy in found
    }


def own(code: str) -> set[str]:
    return uses({"a.rb": DEPOT.replace("BODY", code)}, "a.rb")


@pytest.mark.parametrize(
    "body",
    [
        "check if done", "check unless done", "open_all while check", "x = 1 while check", "until check do stop end", "case check\n when 1 then 2\n end",
        "a, b = check, 2", "check[1]", "(check)", "n += check", "begin\n 1\n ensure\n check\n end", "begin\n check\n end while more", "[*check]",
        "go(**check)", "(check..3)", "x rescue check", "while more do check end", "if more\n 1\n elsif check\n 2\n end",
    ],
)  # fmt: skip
def test_a_bare_name_is_a_call_wherever_it_is(body: str) -> None:
    assert "check -> Shop.Depot.check" in own(f"def f\n {body}\n end")


def test_a_local_variable_is_no_call() -> None:
    assert "check -> Shop.Depot.check" not in own(
        "def f(check)\n go if 1\n (check)\n case check\n when 1 then 2\n end\n end"
    )


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("def f\n @size = 1\n end", "size -> Shop.Depot.size"),
        ("def f\n @size ||= 1\n end", "size -> Shop.Depot.size"),
        ("def f\n go(@size)\n end", "size -> Shop.Depot.size"),
        ("def f\n @gate.close\n end", "gate -> Shop.Depot.gate"),
        ("def f\n self.class.build(1)\n end", "build -> Shop.Base.build"),
        ("def f\n self.class::LIMIT\n end", "LIMIT -> Shop.Depot.LIMIT"),
        ("def f\n open\n end", "open -> Shop.Depot.open"),
        ("def f\n shut\n end", "shut -> Shop.Depot.shut"),
        ("def f\n open_gate\n end", "open_gate -> Shop.Depot.open_gate"),
        ("def f\n lock || bolt\n end", "bolt -> Shop.Depot.bolt"),
        ("delegate :other, to: :gate", "gate -> Shop.Depot.gate"),
        ("private :check", "check -> Shop.Depot.check"),
        ("private_constant :LIMIT", "LIMIT -> Shop.Depot.LIMIT"),
        ("before_action :check", "check -> Shop.Depot.check"),
        ("def f\n respond_to?(:check)\n end", "check -> Shop.Depot.check"),
        ("", "left -> Shop.Pair.left"),
        ("def f(all)\n all.map(&:weigh)\n end", "weigh -> Shop.Depot.weigh?"),
        ("def f(all)\n all.width\n end", "width -> Shop.Base.width?"),
        ("def f(all)\n all.each(&:gate)\n end", "gate -> Shop.Depot.gate?"),
        ("def f\n Depot.new.stubs(:weigh)\n end", "weigh -> Shop.Depot.weigh"),
    ],
)
def test_attributes_delegates_and_symbols_are_uses(body: str, found: str) -> None:
    assert found in own(body)


def test_a_variable_is_no_use_of_a_method_that_is_no_attribute() -> None:
    assert "check -> Shop.Depot.check" not in own("def f\n @check = 1\n go(@check)\n end")


def test_a_module_names_its_own_functions() -> None:
    code = "module Shop\n  def open\n  end\n  private :open\nend\n"
    assert "open -> Shop.open" in uses({"a.rb": code}, "a.rb")


def test_a_bare_call_in_a_block_may_be_one_of_another_object() -> None:
    assert "weigh -> Shop.Depot.weigh?" in uses(
        {"a.rb": DEPOT, "b.rb": "build do\n  weigh { 1 }\nend\n"}, "b.rb"
    )


def test_a_constant_that_is_loaded_later_is_used() -> None:
    files = {"a.rb": DEPOT, "b.rb": 'module Shop\n  autoload :Depot, "shop/depot"\nend\n'}
    assert "Depot -> Shop.Depot" in uses(files, "b.rb")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("subject.weigh", "weigh -> Shop.Depot.weigh"),
        ("depot.weigh", "weigh -> Shop.Depot.weigh"),
        ("big.weigh", "weigh -> Shop.Depot.weigh"),
        ("described_class.build(1)", "build -> Shop.Base.build"),
        ("allow(other).to receive(:weigh)", "weigh -> Shop.Depot.weigh?"),
    ],
)
def test_rspec_names_the_class_and_its_objects(code: str, found: str) -> None:
    other = "class Weigher\n  def build(n)\n  end\nend\n"
    files = {"a.rb": DEPOT, "b.rb": other, "spec/depot_spec.rb": SPEC.replace("CODE", code)}
    assert found in uses(files, "spec/depot_spec.rb")


TOP = """module Rack
  class Base
    def call
    end
  end
  class Logger
  end
end
class Logger
  def log
  end
end
"""


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("use ::Logger", "Logger -> Logger"),
        ("go(::Logger, 1)", "Logger -> Logger"),
        ("::Logger.new.log", "log -> Logger.log"),
        ("::Logger.new.log", "Logger -> Logger"),
        ("class A < ::Logger\n def f\n log\n end\n end", "log -> Logger.log"),
        ("go(::Rack::Base)", "Base -> Rack.Base"),
        ("go(::Rack::Logger)", "Logger -> Rack.Logger"),
        ("class A < ::Rack::Base\n def f\n call\n end\n end", "call -> Rack.Base.call"),
    ],
)
def test_a_name_after_two_colons_is_in_no_module(code: str, found: str) -> None:
    edges = uses({"a.rb": TOP, "b.rb": f"module Rack\n {code}\nend\n"}, "b.rb")
    assert found in edges
    assert "Logger -> Rack.Logger" not in edges or "::Rack::Logger" in code


MADE = """class Depot
  def initialize(size)
  end

  def size=(value)
  end

  def reset
    self.size = 0
  end
end

class Base < Struct
  def merge
  end
end

Kind = Base.new(:a, :b) do
  def weigh
    merge
  end
end

def go
  depot = Depot.new(1)
  depot.size = 4
  depot.size ||= 5
  Kind.new(1).weigh
end
"""


def test_an_assignment_through_a_dot_calls_the_setter() -> None:
    found = edges_of({"a.rb": MADE})
    assert {edge for edge in found if "size=" in edge} == {
        "a.rb:9 size= -> a.rb:Depot.size= receiver",
        "a.rb:26 size= -> a.rb:Depot.size= receiver_type",
        "a.rb:27 size= -> a.rb:Depot.size= receiver_type",
    }


def test_a_class_made_by_a_call_may_have_only_methods_of_the_class() -> None:
    text = "Link = Base.new(:uri) do\n  extend Sized\n\n  def self.from(value)\n    super\n  end\nend\n"
    bases = [one for one in facts_of("b.rb", text).references if one.kind is ReferenceKind.EXTENDS]
    assert [(one.name, one.line) for one in bases] == [("Base", 1)]


def test_a_class_is_called_where_it_makes_an_object() -> None:
    found = [one for one in facts_of("a.rb", MADE).references if one.name in {"Depot", "Kind"}]
    assert [(one.name, one.kind, one.line) for one in found] == [
        ("Depot", ReferenceKind.CALL, 25),
        ("Kind", ReferenceKind.CALL, 28),
    ]


def test_a_constant_that_a_class_makes_with_methods_inherits_from_it() -> None:
    found = edges_of({"a.rb": MADE})
    assert "a.rb:20 merge -> a.rb:Base.merge inherited" in found
    assert "a.rb:28 weigh -> a.rb:Kind.weigh receiver_type" in found
    bases = [one for one in facts_of("a.rb", MADE).references if one.kind is ReferenceKind.EXTENDS]
    assert [(one.name, one.line) for one in bases] == [("Struct", 13), ("Base", 18)]
