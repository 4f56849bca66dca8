"""Macros are blanked where C has no place for a name, and nowhere else."""

import pytest

from prism_chunker.core import chunk_file
from prism_chunker.core.preprocessor import blank_macros


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
    ],
)
def test_a_macro_without_a_place_in_the_syntax_is_blanked(source: str, macro: str) -> None:
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
        "typedef LIST_OF(int) INT_LIST;\n",
        "void* operator new(size_t n);\n",
        "int f(const int* const a);\n",
    ],
)
def test_names_with_a_place_stay(source: str) -> None:
    assert blank_macros(source.encode()).decode() == source


def test_what_a_macro_hid_is_found_and_shown_as_written() -> None:
    text = "namespace shop {\nSHOP_BEGIN\nclass SHOP_API Cart {\n SHOP_API int add(int a) SHOP_PURE;\n};\nSHOP_END\n}\n"
    parsed = chunk_file("a.cpp", text)
    assert [symbol.qualified_name for symbol in parsed.symbols] == ["shop", "shop.Cart", "shop.Cart.add"]
    assert parsed.symbols[1].signature == "class SHOP_API Cart"
    assert "".join(chunk.text for chunk in parsed.chunks) == text
    assert parsed.parse == "ok"


@pytest.mark.parametrize(
    "shape", ["A_B ", "A_B x<> ", "x< ", "x<y<> ", "struct A_B ", ") A_B", "* a ", "f() A_B(", "A_B(x) "]
)
@pytest.mark.parametrize("head", ["", "\n", "\nA_B ", "\nstruct A_B "])
def test_long_rows_end(head: str, shape: str) -> None:
    source = (head + shape * 100_000).encode()
    assert len(blank_macros(source)) == len(source)
