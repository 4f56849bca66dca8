"""C and its relatives in a form that a grammar can parse: blanks replace macros where the syntax allows no
name.

A grammar sees the text before the preprocessor. `NAMESPACE_BEGIN` on a row of its own, `class EXPORT_API
Cart` and `EXPORT_API int add(...)` are errors to it, and the code after them is lost. Blanks keep every other
byte at its offset.
"""

import re

# How far before and after a macro the text is examined.
CONTEXT_BYTES_MAX = 500

# All alternatives are possessive, so that an open comment or quote is not scanned again from each of its
# bytes.
COMMENT = rb"/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
COMMENT_OR_LITERAL = COMMENT + rb"|//[^\n]*+|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?"

_BLANKS = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))
# A name in capitals with an underscore: by convention a macro.
MACRO = rb"[A-Z][A-Z\d]*+_[A-Z\d_]*+"
_CALLED = MACRO + rb"(?:\([^()\n]*+\))?"
# No text makes these patterns backtrack without end: repetitions are possessive, or few, or end with the row.
_TEMPLATE_ARGUMENTS = rb"<(?:[^\n;{}()<>]|<[^\n;{}()<>]*+>)*+>"

# `__has_include(<shop/depot.h>)` in a condition
_QUESTION = re.compile(rb"\b__has_\w++[ \t]*+\([^()\n]*+\)")

# also `SHOP_TRY {`
_ON_ITS_OWN_ROW = re.compile(rb"(?m)^[ \t]*+(" + MACRO + rb")[ \t]*+(?:\{[ \t]*+)?(?://.*)?\r?$")
# `Cart<Item>::` of `void Cart<Item>::add(`
_SCOPES = rb"(?:\w++(?:" + _TEMPLATE_ARGUMENTS + rb")?+::)*+"
# `SHOP_NO_WARNING("-Wshadow")` on a row of its own: what it is given names nothing
_WITH_LITERALS = re.compile(
    rb"(?m)^[ \t]*+(" + MACRO + rb"\([ \t]*+(?:\"(?:[^\"\\\n]|\\.)*+\"|\d++)"
    rb"(?:[ \t]*+,[ \t]*+(?:\"(?:[^\"\\\n]|\\.)*+\"|\d++))*+[ \t]*+\))[ \t]*+(?://.*)?\r?$(?!\s*+[;{])"
)
# `"depot " SHOP_VERSION " opens"`
_BESIDE_A_LITERAL = re.compile(rb"\"[ \t]*+(" + MACRO + rb")(?=\s*+[\"),;<])")
# A string over several rows, of which each ends with a backslash
_STRING_OF_ROWS = re.compile(rb"\"(?:[^\"\\\n]|\\[^\r\n])*+(?:\\\r?\n(?:[^\"\\\n]|\\[^\r\n])*+)++\"")
_NEXT_ROW = re.compile(rb"\\(\r?\n)[^\"\n]")
# `#`, `# // a comment`
_NULL_DIRECTIVE = re.compile(rb"(?m)^[ \t]*+#[ \t]*+(?://[^\n]*+)?\r?$")
# What may come before a macro: `[[noreturn]] EXPORT_API void stop();`, `static EXPORT_INLINE int add(`
_PREFIXES = (
    rb"^[ \t]*+(?:template[ \t]*+" + _TEMPLATE_ARGUMENTS + rb"[ \t]++)?+"
    rb"(?:(?:static|inline|extern|virtual|friend|constexpr|\[\[[^\]\n]*+\]\])[ \t]++){0,3}+"
)
# `operator==`, `operator[]`, `operator()`
_OPERATOR = rb"operator[ \t]*+(?:\(\)|\[\]|[^\w\s()\[\]]{1,3})"
# `EXPORT_API int add(`, `EXPORT_API const Cart* cart =`, `EXPORT_API int (*add)(`, `EXPORT_API Cart Cart::operator+(`
_BEFORE_A_DECLARATION = re.compile(
    rb"(?m)" + _PREFIXES + rb"((?:" + _CALLED + rb"[ \t]++){1,4})"
    rb"(?=(?:[\w:]++(?:" + _TEMPLATE_ARGUMENTS + rb")?+[&*\s]++){1,8}"
    rb"(?:" + _SCOPES + rb"(?:" + _OPERATOR + rb"|[\w:~]++)[ \t]*+[(;={\[]|\([ \t]*+\*))"
)
# `EXPORT_INLINE Cart::Cart(`, `EXPORT_INLINE Cart<Item>::~Cart(`, `EXPORT_API Cart(int size) : size(size) {`
_BEFORE_A_CONSTRUCTOR = re.compile(
    rb"(?m)" + _PREFIXES + rb"((?:" + _CALLED + rb"[ \t]++){1,4}+)"
    rb"(?=(?:\w++(?:"
    + _TEMPLATE_ARGUMENTS
    + rb")?+::){0,8}?(?P<owner>\w++)(?:"
    + _TEMPLATE_ARGUMENTS
    + rb")?+::~?(?P=owner)[ \t]*+\("
    rb"|\w++\([^()\n]*+\)\s*+(?:(?:noexcept|" + MACRO + rb")\s*+){0,2}+:\s*+\w)"
)
# `std::string EXPORT_INLINE name(`, `void EXPORT_CALL Cart::add(`
_AFTER_A_TYPE = re.compile(
    rb"(?m)"
    + _PREFIXES
    + rb"(?!(?:return|else|case|new|delete|throw|goto|const|struct|class|union|enum|unsigned|signed|typedef"
    rb"|typename|using|explicit|operator|volatile|register|template)\b)[a-z][\w:]*+(?:"
    + _TEMPLATE_ARGUMENTS
    + rb")?+[&* \t]++("
    + MACRO
    + rb")\s++"
    rb"(?=" + _SCOPES + rb"~?\w++[ \t]*+\()"
)
# `Cart::~Cart() = default;`: a grammar takes it for an assignment
_DEFAULTED = re.compile(
    rb"(?m)^[ \t]*+(?:\w++(?:" + _TEMPLATE_ARGUMENTS + rb")?+[&* \t]++){0,4}+"
    rb"(?:\w++(?:"
    + _TEMPLATE_ARGUMENTS
    + rb")?+::)++(?:"
    + _OPERATOR
    + rb"|~?\w++)[ \t]*+\([^(){};]*+\)[\w\s]*+"
    rb"(=[ \t]*+default[ \t]*+;)"
)
# `SHOP_TRY { add(1); }`
_BEFORE_A_BLOCK = re.compile(rb"(?m)^[ \t]*+(" + MACRO + rb")[ \t]*+(?=\{[^\n]*;)")
# `} SHOP_CATCH_ALL {`
_BETWEEN_BLOCKS = re.compile(rb"\}[ \t]*+(" + MACRO + rb")\s*+(?=\{)")
# `int add(Item item = {});`
_EMPTY_DEFAULT = re.compile(rb"(=[ \t]*+\{[ \t]*+\})(?=[ \t]*+[,)])")
# `class EXPORT_API Cart {`
_BEFORE_THE_NAME_OF_A_TYPE = re.compile(
    rb"(?m)^[ \t]*+(?:typedef[ \t]++)?(?:class|struct|union|enum)[ \t]++"
    rb"((?:" + _CALLED + rb"\s++){1,4})(?=[\w:<>, \t]+\s*+(?:\{|:[^:]))"
)
# `char* nullable text)`, in capitals or not
_BEHIND_AN_ASTERISK = re.compile(
    rb"\*[ \t]++((?!(?:operator|new|const|sizeof|co_await)\b)[A-Za-z_]\w*+)[ \t]++"
    rb"(?=[A-Za-z_~][\w:~]*+[ \t]*+[,;)(=\[{])"
)
# `int size() const REQUIRES_LOCK(mutex) {`
_BEHIND_PARAMETERS = re.compile(
    rb"\)[ \t]*+(?:const[ \t]++)?(?:noexcept[ \t]++)?((?:" + _CALLED + rb"\s*+){1,4})"
    rb"(?=[;{]|:[^:]|(?:override|final)\b|=\s*+(?:0|default|delete)\b)"
)
# The same on the next row, where a macro with arguments may be a statement: `for_each(a, b)\n  DROP_ITEM(a);`
_BELOW_PARAMETERS = re.compile(
    rb"\)[ \t]*+\r?\n[ \t]*+(?:const[ \t]++)?(?:noexcept[ \t]++)?((?:" + MACRO + rb"\s++){1,4})(?=\{|:[^:])"
)
_PARAMETERS = re.compile(
    rb".*(?:\b(?!if\b|for\b|while\b|switch\b|[A-Z][A-Z\d_]*\()\w+|\boperator[^\w\s()]{1,3}|\(\*\w+\))\([^()]*\Z"
)
# `struct cart { SHOP_FIELDS }`, `struct cart {\n  Shop_HEAD\n  int size;`: by position, in capitals or not
_IN_THE_PLACE_OF_FIELDS = re.compile(
    rb"\{\s*+(?:((?:\w++(?:\([^()\n]*+\))?+\s*+){1,4}+)(?=\})"
    rb"|((?!(?:un)?signed\b|const\b|volatile\b|struct\b|union\b|enum\b|class\b|static\b|typedef\b|friend\b)\w++)"
    rb"[ \t]*+\r?\n(?=[ \t]*+\w++[&* \t]++\w))"
)
_HEAD_OF_FIELDS = re.compile(rb"(?<!enum )\b(?:struct|union|class)\b[^;{}()=#]*\Z")
# `int (SHOPAPI *visit)(int a)`
_BEFORE_A_POINTER_TO_A_FUNCTION = re.compile(rb"\(([A-Z][A-Z\d_]++)\s*+(?=\*[ \t]*+\w++[ \t]*+\)\s*+\()")
# `SHOP_UNUSED(static int add(int a)) {`
_AROUND_A_FUNCTION = re.compile(
    rb"\n(" + MACRO + rb"\()(?:\w++[* \t]++){1,6}\w++\([^()]{0,1000}+\)(\))(?=\s*+[;{])"
)
# A list of enumerators, and its entries that are none: macros that generate some, and their definitions
_ENUMERATORS = re.compile(rb"\benum\b[^;{}()=#]{0,200}+\{[^{}]*+\}")
_DIRECTIVE = rb"#[ \t]*+(?:%b)\b(?:[^\n\\]|\\\r?\n|\\.)*+"
_NO_ENUMERATOR = re.compile(
    rb"(?m)^[ \t]*+(?:" + _DIRECTIVE % b"define|undef" + rb"|\w++\([^()\n]*+\)[ \t]*+\r?$)"
)
_CONDITION = re.compile(rb"(?m)^[ \t]*+#[ \t]*+(?:el)?if\b(?:[^\n\\]|\\\r?\n|\\)*+")
# `TEST_CASE("opens a depot", "[depot]") {`, `TEST_CASE_METHOD(Town, "opens a depot") {`: a title, and what follows it
_TITLED_TEST = re.compile(
    rb"(?m)^([ \t]*+[A-Z][A-Z\d_]*+\([ \t]*+(?:[A-Za-z_][\w:]*+[ \t]*+,\s*+)?)"
    rb"(\"(?:[^\"\\\n]|\\.)*+\")([^;{}]{0,400}?)(?=\)\s*+\{)"
)
_TESTS = re.compile(rb"(?:\b|_)(?:TEST|SCENARIO)(?:_|\()")
# A comment inside a definition: a grammar ends the definition there.
_COMMENT = re.compile(COMMENT)
_COMMENT_AMID = re.compile(rb"\*/[ \t]*+\S")
_DEFINITION = re.compile(_DIRECTIVE % b"define")
_MORE = re.compile(rb"[ \t]*+\S")


def blank_macros(source: bytes) -> bytes:
    """Returns the source with blanks for macros that a grammar cannot parse, at unchanged length."""
    if _COMMENT_AMID.search(source):
        source = _DEFINITION.sub(_without_comments, source)
    if b"__has_" in source:
        source = _CONDITION.sub(_with_answers, source)
    source = _NULL_DIRECTIVE.sub(_without_all, source)
    if b"\\\n" in source or b"\\\r\n" in source:
        source = _STRING_OF_ROWS.sub(_with_strings, source)
    source = _ON_ITS_OWN_ROW.sub(_without_statement, source)
    source = _WITH_LITERALS.sub(_without_group, source)
    source = _BESIDE_A_LITERAL.sub(_without_part, source)
    source = _BEFORE_A_DECLARATION.sub(_without_group, source)
    source = _BEFORE_A_CONSTRUCTOR.sub(_without_group, source)
    source = _AFTER_A_TYPE.sub(_without_group, source)
    source = _BEFORE_THE_NAME_OF_A_TYPE.sub(_without_group, source)
    source = _BEFORE_A_BLOCK.sub(_without_statement, source)
    source = _BETWEEN_BLOCKS.sub(_without_group, source)
    if b"default" in source:
        source = _DEFAULTED.sub(_with_body, source)
    if b"= {}" in source or b"={}" in source:
        source = _EMPTY_DEFAULT.sub(_without_group, source)
    source = _BEHIND_AN_ASTERISK.sub(_without_group, source)
    if b'("' in source or b', "' in source:
        source = _TITLED_TEST.sub(_with_named_test, source)
    source = _BELOW_PARAMETERS.sub(_without_attribute, source)
    return _BEHIND_PARAMETERS.sub(_without_attribute, source)


def blank_rare_macros(source: bytes) -> bytes:
    """Returns the source with rarer forms of macros blanked, at unchanged length. For a first parse that failed."""
    source = _IN_THE_PLACE_OF_FIELDS.sub(_without_fields, source)
    source = _ENUMERATORS.sub(_without_others, source)
    source = _BEFORE_A_POINTER_TO_A_FUNCTION.sub(_without_group, source)
    return _AROUND_A_FUNCTION.sub(_without_groups, source)


def blanked(text: bytes) -> bytes:
    """Returns blanks for a text, row for row."""
    return text.translate(_BLANKS)


def _without_comments(found: re.Match[bytes]) -> bytes:
    return _COMMENT.sub(_without_comment, found.group())


def _with_answers(condition: re.Match[bytes]) -> bytes:
    """Write numbers for the questions of a condition."""
    return _QUESTION.sub(lambda asked: b"1".ljust(len(asked.group())), condition.group())


def _with_body(found: re.Match[bytes]) -> bytes:
    """Write an empty body for the last group."""
    start, text = found.start(1) - found.start(), found.group()
    return text[:start] + b"{" + blanked(text[start + 1 : -1]) + b"}"


def _with_named_test(found: re.Match[bytes]) -> bytes:
    """Write a name for the title of a test: the whole is the head of a function then."""
    before, title, rest = found.groups()
    return before + b"x" * len(title) + blanked(rest) if _TESTS.search(before) else found.group()


def _without_fields(found: re.Match[bytes]) -> bytes:
    """Remove macros that represent fields, if they are those of a struct."""
    before = found.string[max(0, found.start() - CONTEXT_BYTES_MAX) : found.start()]
    return _without_groups(found) if _HEAD_OF_FIELDS.search(before) else found.group()


def _without_others(found: re.Match[bytes]) -> bytes:
    return _NO_ENUMERATOR.sub(_without_all, found.group())


def _without_all(found: re.Match[bytes]) -> bytes:
    return blanked(found.group())


def _without_comment(found: re.Match[bytes]) -> bytes:
    # Without its backslash the definition would end at its row; and a grammar does not end it at blanks.
    text = found.group()
    return re.sub(rb"[^\s\\]", b" ", text) if _MORE.match(found.string, found.end()) else text


def _without_statement(found: re.Match[bytes]) -> bytes:
    """Remove a name that begins a statement, and is neither an operand nor an enumerator."""
    before = found.string[max(0, found.start() - CONTEXT_BYTES_MAX) : found.start()].rstrip()
    while before.endswith(b"*/") and (comment := before.rfind(b"/*")) >= 0:
        before = before[:comment].rstrip()
    row = before.rpartition(b"\n")[2].partition(b"//")[0].strip()
    follows = found.string[found.end() : found.end() + CONTEXT_BYTES_MAX].lstrip()[:1]
    is_first = not row or row.endswith((b"{", b":", b">", b"*/")) or (row[:1] == b"#" and row[-1:] != b"\\")
    begins = row.endswith((b";", b"}")) or (is_first and follows != b"}")
    return _without_group(found) if begins and (not follows or follows not in b",=*&(") else found.group()


def _without_part(found: re.Match[bytes]) -> bytes:
    """Remove a macro between literals, but not in the definition of another."""
    return found.group() if _is_defining(found) else _without_group(found)


def _with_strings(found: re.Match[bytes]) -> bytes:
    """Write a string for each row of one, but not in the definition of a macro."""
    return found.group() if _is_defining(found) else _NEXT_ROW.sub(rb'"\1"', found.group())


def _is_defining(found: re.Match[bytes]) -> bool:
    """Whether what is found begins in a row of a directive."""
    row = found.string.rfind(b"\n", 0, found.start()) + 1
    before = found.string[max(0, row - 3) : row].rstrip(b"\r\n")
    return found.string[row : found.start()].lstrip().startswith(b"#") or before.endswith(b"\\")


def _without_attribute(found: re.Match[bytes]) -> bytes:
    """Remove a name after parameters, but not after a condition or a cast."""
    before = found.string[max(0, found.start() - CONTEXT_BYTES_MAX) : found.start()]
    # Parameters of several rows begin at their bracket.
    row = before.rfind(b"\n", 0, max(0, before.rfind(b"("))) + 1
    is_attribute = before.endswith(b"\n") or _PARAMETERS.match(before, row)
    return _without_group(found) if is_attribute else found.group()


def _without_group(found: re.Match[bytes]) -> bytes:
    return _with_blanks(found.group(), found.start(), found.span(1))


def _without_groups(found: re.Match[bytes]) -> bytes:
    return _with_blanks(
        _with_blanks(found.group(), found.start(), found.span(1)), found.start(), found.span(2)
    )


def _with_blanks(text: bytes, offset: int, span: tuple[int, int]) -> bytes:
    """Returns a piece of a source that begins at `offset`, with blanks over `part` where they overlap."""
    start, end = (at - offset for at in span)
    return text[:start] + blanked(text[start:end]) + text[end:] if span[0] >= 0 else text
