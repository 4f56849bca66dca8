"""Macros are blanked where C's syntax allows no name, and nowhere else."""

import pytest

from prism_chunker.core import chunk_file
from prism_chunker.core.preprocessor import blank_macros, blank_rare_macros


@pytest.mark.parametrize(
    ("source", "macro"),
    [
        ("namespace shop {\nSHOP_BEGIN\nclass Cart;\n", "SHOP_BEGIN"),
        ("int a;\nSHOP_END  // namespace\n}\n", "SHOP_END"),
        ("#include <a.h>\n\nSHOP_BEGIN\nint a;\n", "SHOP_BEGIN"),
        ("class Cart {\n  SHOP_OBJECT\n public:\n", "SHOP_OBJECT"),
        ("\nclass SHOP_API Cart {", "SHOP_API"),
        ("\nstruct SHOP_ALIGN(8) Cart : Base {", "SHOP_ALIGN(8)"),
        ("\nSHOP_API int add(int a);", "SHOP_API"),
        ("\nSHOP_API std::map<int, std::set<int>> all(int a);", "SHOP_API"),
        ("SHOP_BEGIN\nclass Cart;\n", "SHOP_BEGIN"),
        ("class SHOP_API Cart {", "SHOP_API"),
        ("SHOP_API int add(int a);", "SHOP_API"),
        ("int a;\nSHOP_END\n", "SHOP_END"),
        ("int a;\r\nSHOP_END\r\n", "SHOP_END"),
        ("int a;\nSHOP_END", "SHOP_END"),
        ("void put(char* nullable text);", "nullable"),
        ("  int size() const SHOP_LOCKED(mutex) {", "SHOP_LOCKED(mutex)"),
        ("SHOP_API int (*add)(int a);", "SHOP_API"),
        ("int (*add)(int a) SHOP_PURE;", "SHOP_PURE"),
        ("int add(int a,\n        int b) SHOP_PURE;", "SHOP_PURE"),
        ("int add(int a\n) SHOP_PURE;", "SHOP_PURE"),
        ("struct cart {\n  int size;  /* of all */\n  SHOP_FIELDS\n};\n", "SHOP_FIELDS"),
        ("#define SHOP_FIELDS \\\n  int a; /* one */ \\\n  int b;\n", "/* one */"),
        ("#define SHOP_ADD(a) add(/* one */ a)\n", "/* one */"),
        ("SHOP_INLINE Cart::Cart(int a)\n", "SHOP_INLINE"),
        ("SHOP_INLINE shop::Cart<Item>::~Cart() {\n", "SHOP_INLINE"),
        ("  SHOP_CONSTEXPR Cart(int a) : size(a) {}\n", "SHOP_CONSTEXPR"),
        ("SHOP_INLINE void Cart<Item>::add(int a) {\n", "SHOP_INLINE"),
        ("std::list<Item> SHOP_INLINE Cart<Item>::all() {\n", "SHOP_INLINE"),
        ("void SHOP_CALL\nadd(int a);\n", "SHOP_CALL"),
        ("static SHOP_INLINE int add(int a) {\n", "SHOP_INLINE"),
        ("[[noreturn]] SHOP_API void stop();\n", "SHOP_API"),
        ("Cart(int a) SHOP_NOEXCEPT : size(a) {}\n", "SHOP_NOEXCEPT"),
        ("const char* text() const SHOP_NOEXCEPT override;\n", "SHOP_NOEXCEPT"),
        ("Cart& operator=(Cart a) SHOP_NOEXCEPT;\n", "SHOP_NOEXCEPT"),
        ("int size()\n    SHOP_NOEXCEPT {\n", "SHOP_NOEXCEPT"),
        ("void add(Item a = {}, int b);\n", "= {}"),
        ("void f() {\n  SHOP_TRY {\n    g();\n", "SHOP_TRY"),
        ("void f() {\n  SHOP_TRY { g(); }\n}\n", "SHOP_TRY"),
        ("  try { f(); } SHOP_CATCH_ALL { g(); }\n", "SHOP_CATCH_ALL"),
        ("class SHOP_API Cart\n{\n", "SHOP_API"),
        ("SHOP_INLINE Cart *\nCart::copy(int a) {\n", "SHOP_INLINE"),
        ("SHOP_INLINE Cart Cart::operator|(const Cart& a) {\n", "SHOP_INLINE"),
        ("template <class T> SHOP_INLINE void Cart::add(T a) {\n", "SHOP_INLINE"),
        ('int a;\nSHOP_NO_WARNING("-Wshadow", 4)\nint b;\n', 'SHOP_NO_WARNING("-Wshadow", 4)'),
        ('log("cart " SHOP_VERSION " opens");\n', "SHOP_VERSION"),
        ("#if A\n#   // a comment\n#endif\n", "#   // a comment"),
    ],
)
def test_a_macro_where_no_name_is_allowed_is_blanked(source: str, macro: str) -> None:
    assert blank_macros(source.encode()).decode() == source.replace(macro, " " * len(macro))


@pytest.mark.parametrize(
    "source",
    [
        "enum Color {\n  COLOR_RED\n};\n",
        "enum Color {\n  A,\n  // the last one\n  COLOR_RED\n};\n",
        "int all[] = {\n  1,\n  COLOR_RED\n};\n",
        "x = a |\n  COLOR_RED\n  | b;\n",
        "#define OLD_NAME \\\n  NEW_NAME\nint a;\n",
        "int a;\nSIZE_T\n*find(int a);\n",
        "\nstruct NODE_T node;\n",
        "\nDWORD_T add(int a);\n",
        "  x = (int) LIMIT_MAX;\n",
        "  if (a) SHOP_CHECK(b);\n",
        '  SHOP_CHECK("b")\n  { c(); }\n',
        '#define SHOP_NAME "cart" SHOP_VERSION\n',
        "  if (a &&\n      b) SHOP_CHECK(b);\n",
        "  if (is(a) &&\n      b) SHOP_CHECK(b);\n",
        "typedef LIST_OF(int) INT_LIST;\n",
        "void* operator new(size_t n);\n",
        "int f(const int* const a);\n",
        "enum color {\n  A,  /* the last one */\n  COLOR_RED\n};\n",
        "#define SHOP_NOTHING /* empty */\nint a;\n",
        "int a; /* one */ int b;\n",
        "for_each(a, b)\n  DROP_ITEM(a);\n",
        "for_each(a, b)\n  DROP_ITEM;\n",
        "unsigned SIZE_T(add)(int a);\n",
        "const SIZE_T add(int a);\n",
        "return SIZE_T add(int a);\n",
        "Cart a = {};\n",
    ],
)
def test_names_where_they_are_allowed_are_kept(source: str) -> None:
    assert blank_macros(source.encode()).decode() == source


@pytest.mark.parametrize(
    ("source", "macro"),
    [
        ("struct cart { SHOP_FIELDS };", "SHOP_FIELDS"),
        ("typedef struct {\n  SHOP_FIELDS\n} cart;\n", "SHOP_FIELDS"),
        ("struct cart\n{\n  SHOP_FIELDS(cart)\n};\n", "SHOP_FIELDS(cart)"),
        ("union cart { Shop_HEAD };", "Shop_HEAD"),
        ("struct cart {\n  Shop_HEAD\n  int size;\n};\n", "Shop_HEAD"),
        ("enum color {\n  RED,\n  SHOP_COLORS(MAKE)\n  LAST\n};\n", "SHOP_COLORS(MAKE)"),
        ("enum color {\n#define MAKE(a) a,\n  LAST\n};\n", "#define MAKE(a) a,"),
        ("enum color {\n#undef MAKE\n  LAST\n};\n", "#undef MAKE"),
        ("typedef int (SHOPAPI *visitor)(int a);", "SHOPAPI"),
    ],
)
def test_rare_macros_are_blanked_only_in_unparsable_sources(source: str, macro: str) -> None:
    assert blank_rare_macros(source.encode()).decode() == source.replace(macro, " " * len(macro))
    assert blank_macros(source.encode()).decode() == source


def test_a_macro_around_a_function_keeps_the_function() -> None:
    source = "\nSHOP_UNUSED(static int add(int a)) {\n}\n"
    assert blank_rare_macros(source.encode()).decode() == "\n            static int add(int a)  {\n}\n"


@pytest.mark.parametrize(
    "source",
    [
        "enum class Color { RED };",
        "enum color { RED };",
        "struct cart all = { FIRST };",
        "struct cart { unsigned\n  int size; };",
        "struct cart { money_t\n  total; };",
        "enum color {\n  RED = SHOP_RED(1),\n  LAST\n};\n",
        "a = (LIMIT * b);",
        "SHOP_CHECK(add(a));",
    ],
)
def test_allowed_names_are_kept_in_unparsable_sources(source: str) -> None:
    assert blank_rare_macros(source.encode()).decode() == source


def test_struct_of_macros_does_not_swallow_later_definitions() -> None:
    text = "struct cart {\n  SHOP_FIELDS\n};\n\nenum color {\n  COLOR_RED\n};\nint add(int a);\n"
    parsed = chunk_file("a.h", text)
    assert [(one.qualified_name, one.start_line, one.end_line) for one in parsed.symbols] == [
        ("cart", 1, 3),
        ("color", 5, 7),
        ("color.COLOR_RED", 6, 6),
        ("add", 8, 8),
    ]
    assert parsed.parse == "ok"


def test_a_comment_in_a_macro_does_not_expose_its_rest() -> None:
    text = "#define SHOP_FIELDS \\\n  int a;  /* one */ \\\n  int b;\nint add(int a);\n"
    parsed = chunk_file("a.h", text)
    assert [(one.name, one.end_line) for one in parsed.symbols] == [("SHOP_FIELDS", 3), ("add", 4)]


def test_definitions_hidden_by_macros_keep_their_text() -> None:
    text = "namespace shop {\nSHOP_BEGIN\nclass SHOP_API Cart {\n SHOP_API int add(int a) SHOP_PURE;\n};\nSHOP_END\n}\n"
    parsed = chunk_file("a.cpp", text)
    assert [symbol.qualified_name for symbol in parsed.symbols] == ["shop", "shop.Cart", "shop.Cart.add"]
    assert parsed.symbols[1].signature == "class SHOP_API Cart"
    assert "".join(chunk.text for chunk in parsed.chunks) == text
    assert parsed.parse == "ok"


@pytest.mark.parametrize(
    "shape",
    [
        "A_B ",
        "A_B x<> ",
        "x< ",
        "x<y<> ",
        "struct A_B ",
        ") A_B",
        "* a ",
        "f() A_B(",
        "A_B(x) ",
        "A_B(a b(",
        "struct{",
        "enum{x ",
        "/* ",
        "/* */ ",
        "(A_B ",
    ],
)
@pytest.mark.parametrize("head", ["", "\n", "\nA_B ", "\nstruct A_B ", "\n#define A /**/ ", "\nstruct A {"])
def test_long_rows_take_linear_time(head: str, shape: str) -> None:
    source = (head + shape * 100_000).encode()
    assert len(blank_rare_macros(blank_macros(source))) == len(source)


def test_a_macro_before_a_constructor_hides_no_namespace() -> None:
    text = (
        "namespace shop {\nSHOP_INLINE Cart::Cart(int size) : size(size), n{1} {}\n"
        "template <typename T>\nvoid SHOP_INLINE Bin<T>::add() { n++; }\n}\n"
    )
    parsed = chunk_file("cart.h", text)
    names = [one.qualified_name for one in parsed.symbols]
    assert names == ["shop", "shop.Cart.Cart", "shop.Bin.add"]
    assert parsed.parse == "ok"


def test_a_field_in_the_list_before_a_constructor_is_assigned() -> None:
    text = "struct Cart {\n  int size;\n  Cart(int size)\n    : size(size) { if (ready) count++; }\n  int count; bool ready;\n};\n"
    found = [(one.line, one.kind, one.qualifier, one.name) for one in chunk_file("cart.hpp", text).references]
    assert set(found) == {
        (4, "assign", "this", "size"),
        (4, "value", "", "ready"),
        (4, "assign", "", "count"),
    }


@pytest.mark.parametrize(
    "source",
    ["Cart::~Cart() = default;\n", "Cart& Cart::operator=(const Cart& a) = default;\n", "Cart<T>::Cart() noexcept = default;\n"],
)  # fmt: skip
def test_a_defaulted_member_outside_of_its_class_gets_a_body(source: str) -> None:
    blanked = blank_macros(source.encode()).decode()
    assert blanked == source.replace("= default;", "{        }")


TESTS = """TEST(Depot, opens) { open(); }
TEST_F(Fixture, weighs)
{
  open();
}
TEST_CASE("a depot opens", "[depot]") { open(); }
TEMPLATE_TEST_CASE("any depot", "", int, (Box<int, 2>)) { open(); }
namespace shop {
TEST_CASE_METHOD(Fixture, "with a fixture",
                 "[depot]")
{
  open();
}
BOOST_AUTO_TEST_CASE(ships) { open(); }
BOOST_FIXTURE_TEST_CASE(loads, Fixture) { open(); }
}
"""


def test_tests_that_macros_of_cpp_define_are_symbols() -> None:
    parsed = chunk_file("test/depot.cpp", TESTS)
    assert parsed.parse == "ok"
    assert [(one.qualified_name, one.start_line, one.end_line) for one in parsed.symbols] == [
        ("Depot.opens", 1, 1),
        ("Fixture.weighs", 2, 5),
        ("a depot opens", 6, 6),
        ("any depot", 7, 7),
        ("shop", 8, 16),
        ("shop.Fixture.with a fixture", 9, 13),
        ("shop.ships", 14, 14),
        ("shop.Fixture.loads", 15, 15),
    ]
    inside = [parsed.symbols[one.symbol].name for one in parsed.references if one.name == "open"]
    assert inside == [one.name for one in parsed.symbols if one.name != "shop"]


def test_tests_that_macros_of_c_define_are_symbols() -> None:
    source = "START_TEST(opens)\n{\n  open();\n}\nEND_TEST\n\nTEST(depot, weighs) {\n  open();\n}\n"
    parsed = chunk_file("test/depot.c", source)
    assert [(one.qualified_name, one.start_line, one.end_line) for one in parsed.symbols] == [
        ("opens", 1, 4),
        ("depot.weighs", 7, 9),
    ]
    assert [one.symbol for one in parsed.references if one.name == "open"] == [0, 1]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('log("a \\\n  b\\n \\\nc");\n', 'log("a "\n" b\\n "\n"");\n'),
        ('#define SHOP_TEXT "a \\\n b"\n', '#define SHOP_TEXT "a \\\n b"\n'),
        ('log("a\\n");\n', 'log("a\\n");\n'),
    ],
)
def test_a_string_of_several_rows_becomes_one_for_each(source: str, expected: str) -> None:
    assert blank_macros(source.encode()).decode() == expected
