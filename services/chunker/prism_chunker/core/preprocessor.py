"""C and its kin as a grammar can read them: macros that stand where the syntax has no place for a name are blanked.

A grammar sees the text before the preprocessor does. `NAMESPACE_BEGIN` on a row of its own, `class EXPORT_API Cart` and
`EXPORT_API int add(...)` are errors to it, and what follows is lost. Blanks keep every other byte at its place.
"""

import re

# How far back and ahead of a macro the text is looked at.
CONTEXT_BYTES_MAX = 500

# A name in capitals with an underscore: by convention a macro.
_MACRO = rb"[A-Z][A-Z\d]*+_[A-Z\d_]*+"
_CALLED = _MACRO + rb"(?:\([^()\n]*+\))?"
# No text may make these patterns try without end: repetitions are possessive, or few, or end with the row.
_TEMPLATE_ARGUMENTS = rb"<(?:[^\n;{}()<>]|<[^\n;{}()<>]*+>)*+>"

_ON_ITS_OWN_ROW = re.compile(rb"(?m)^[ \t]*+(" + _MACRO + rb")[ \t]*+(?://.*)?\r?$")
# `EXPORT_API int add(`, `EXPORT_API const Cart* cart =`
_BEFORE_A_DECLARATION = re.compile(
    rb"(?m)^[ \t]*+((?:" + _CALLED + rb"[ \t]++){1,4})"
    rb"(?=(?:[\w:]++(?:" + _TEMPLATE_ARGUMENTS + rb")?+[&* \t]++){1,8}[\w:~]++[ \t]*+[(;={\[])"
)
# `class EXPORT_API Cart {`
_BEFORE_THE_NAME_OF_A_TYPE = re.compile(
    rb"(?m)^[ \t]*+(?:typedef[ \t]++)?(?:class|struct|union|enum)[ \t]++"
    rb"((?:" + _CALLED + rb"\s++){1,4})(?=[\w:<>, \t]+(?:\{|:[^:]))"
)
# `char* nullable text)`, in capitals or not
_BEHIND_AN_ASTERISK = re.compile(
    rb"\*[ \t]++((?!(?:operator|new|const|sizeof|co_await)\b)[A-Za-z_]\w*+)[ \t]++"
    rb"(?=[A-Za-z_~][\w:~]*+[ \t]*+[,;)(=\[{])"
)
# `int size() const REQUIRES_LOCK(mutex) {`
_BEHIND_PARAMETERS = re.compile(
    rb"\)[ \t]*+(?:const[ \t]++)?(?:noexcept[ \t]++)?((?:" + _CALLED + rb"\s*+){1,4})(?=[;{])"
)
_PARAMETERS = re.compile(rb"(?:|.*\b(?!if\b|for\b|while\b|switch\b|[A-Z][A-Z\d_]*\()\w+\([^()]*)\Z")


def blank_macros(source: bytes) -> bytes:
    """The source, as long as before, with blanks where such macros stand."""
    source = _ON_ITS_OWN_ROW.sub(_without_statement, source)
    source = _BEFORE_A_DECLARATION.sub(_without_group, source)
    source = _BEFORE_THE_NAME_OF_A_TYPE.sub(_without_group, source)
    source = _BEHIND_AN_ASTERISK.sub(_without_group, source)
    return _BEHIND_PARAMETERS.sub(_without_attribute, source)


def _without_statement(found: re.Match[bytes]) -> bytes:
    """Without a name that begins a statement, and is no operand and no enumerator."""
    before = found.string[max(0, found.start() - CONTEXT_BYTES_MAX) : found.start()].rstrip()
    row = before.rpartition(b"\n")[2].partition(b"//")[0].strip()
    follows = found.string[found.end() : found.end() + CONTEXT_BYTES_MAX].lstrip()[:1]
    is_first = not row or row.endswith((b"{", b":", b">", b"*/")) or (row[:1] == b"#" and row[-1:] != b"\\")
    begins = row.endswith((b";", b"}")) or (is_first and follows != b"}")
    return _without_group(found) if begins and (not follows or follows not in b",=*&(") else found.group()


def _without_attribute(found: re.Match[bytes]) -> bytes:
    """Without what follows parameters, and does not follow a condition or a cast."""
    row = found.string[max(0, found.start() - CONTEXT_BYTES_MAX) : found.start()].rpartition(b"\n")[2]
    return _without_group(found) if _PARAMETERS.match(row) else found.group()


def _without_group(found: re.Match[bytes]) -> bytes:
    start, end = (at - found.start() for at in found.span(1))
    text = found.group()
    return text[:start] + re.sub(rb"\S", b" ", text[start:end]) + text[end:]
