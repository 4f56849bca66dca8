"""Tests that clauses make exact search faster and never wrong: they hold for every match of a pattern."""

import re

import pytest
from hypothesis import assume, example, given, reject, settings
from hypothesis import strategies as st

from prism_contracts.errors import ErrorCode, PrismError
from prism_search.core.patterns import (
    PATTERN_CHARS_MAX,
    PATTERN_SIZE_MAX,
    Pattern,
    compile_pattern,
    regex_meant,
)
from prism_store.grams import Signatures, lower, read_signature, write_signature

# Letters that fold to ASCII, grow when lowered, or have a final form; and characters between words.
LETTERS = "abkKsS_09ſ\u212aİıéÉßΣσς中"  # noqa: RUF001 - look-alikes are the point
BREAKS = " .-(\u0307\u2028"
CASES = {"regex": True, "case_sensitive": True, "word": False}

# Each strategy generates (pattern, a text that it matches).
Pair = tuple[str, str]


def literals(alphabet: str) -> st.SearchStrategy[Pair]:
    return st.text(alphabet, min_size=1, max_size=6).map(lambda text: (re.escape(text), text))


def classes(alphabet: str) -> st.SearchStrategy[Pair]:
    word = st.sampled_from([char for char in alphabet if char.isalnum() or char == "_"])
    return st.one_of(
        word.map(lambda char: (f"[{char}x-z]", char)),
        word.map(lambda char: (f"[^{char}]", "x")),
        st.sampled_from(
            [(".", "k"), (r"\w", "s"), (r"\d", "7"), (r"\s", " "), ("[a-cX]", "b"), ("[0-9]+", "42")]
        ),
    )


REPEATS = [
    ("?", 0),
    ("?", 1),
    ("*", 0),
    ("*", 2),
    ("+", 1),
    ("+?", 2),
    ("{2}", 2),
    ("{0,2}", 0),
    ("{1,2}?", 1),
]
GROUPS = ["({})", "(?:{})", "(?P<name>{})", "(?<name>{})", "(?i:{})", "(?s:{})"]


def patterns(alphabet: str, groups: list[str]) -> st.SearchStrategy[Pair]:
    def larger(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
        several = st.lists(inner, min_size=1, max_size=4)
        group = st.sampled_from([form for form in groups if "name" not in form])
        return st.one_of(
            several.map(lambda pairs: ("".join(p for p, _ in pairs), "".join(text for _, text in pairs))),
            st.tuples(several, st.integers(0, 3), group).map(
                lambda drawn: (
                    drawn[2].format("|".join(p for p, _ in drawn[0])),
                    drawn[0][drawn[1] % len(drawn[0])][1],
                )
            ),
            st.tuples(inner, st.sampled_from(REPEATS)).map(
                lambda drawn: (f"(?:{drawn[0][0]}){drawn[1][0]}", drawn[0][1] * drawn[1][1])
            ),
        )

    pairs = st.recursive(st.one_of(literals(alphabet), classes(alphabet)), larger, max_leaves=12)
    anchored = st.sampled_from(["{}", "{}", "^{}", "{}$", r"\b{}", r"{}\b", *groups])
    return st.tuples(anchored, pairs).map(lambda drawn: (drawn[0].format(drawn[1][0]), drawn[1][1]))


texts = st.text(LETTERS + BREAKS, max_size=8)
flags = st.fixed_dictionaries({"case_sensitive": st.booleans(), "word": st.booleans()})
other_cases = st.sampled_from([str, str.upper, str.lower, str.swapcase])


def holds(pattern: Pattern, line: str) -> bool:
    signatures = Signatures([read_signature(write_signature(line))])
    return all(signatures.may_hold(clause).all() for clause in pattern.clauses)


@settings(max_examples=500)
@given(patterns(LETTERS + BREAKS, GROUPS), texts, texts, other_cases, flags)
def test_clauses_hold_for_every_match_of_a_regex(pair, before, after, other_case, options):
    pattern = compile_pattern(pair[0], **CASES | options)
    for line in (before + other_case(pair[1]) + after, other_case(pair[1]), before + after):
        assert not pattern.matches(line) or holds(pattern, line), line


@given(st.text(LETTERS + BREAKS, min_size=1, max_size=12), texts, texts, other_cases, flags)
@example("mask", "", "", lambda _: "MAſK", {"case_sensitive": False, "word": False})  # noqa: RUF001
@example("mask", "", "", lambda _: "mas\u212a", {"case_sensitive": False, "word": False})
@example("ΟΔΟΣ", "", "", str, {"case_sensitive": True, "word": False})
def test_clauses_hold_for_every_match_of_plain_text(text, before, after, other_case, options):
    pattern = compile_pattern(text, regex=False, **options)
    line = before + other_case(text) + after
    assert not pattern.matches(line) or holds(pattern, line)
    if options["case_sensitive"] and not options["word"]:
        assert pattern.matches(before + text + after)


def test_case_folds_to_ascii_only_as_lowering_does():
    """The engine folds case by Unicode's simple rules; `lower` must fold the same letters to ASCII."""
    ascii_word = compile_pattern("^[a-z0-9_]$", regex=True, case_sensitive=False, word=False)
    foreign = [char for char in map(chr, range(128, 0x20000)) if not "\ud800" <= char <= "\udfff"]
    folded = [char for char in foreign if ascii_word.matches(char)]
    assert folded == ["\u017f", "\u212a"]
    assert [lower(char) for char in folded] == ["s", "k"]


ASCII = "abkS_09 .-("


@given(patterns(ASCII, GROUPS), st.text(ASCII, max_size=6), st.text(ASCII, max_size=6), flags)
def test_common_syntax_matches_as_in_python(pair, before, after, options):
    pattern = compile_pattern(pair[0], **CASES | options)
    flags = re.ASCII | (0 if options["case_sensitive"] else re.IGNORECASE)
    try:
        python = re.compile(rf"(?<!\w)(?:{pair[0]})(?!\w)" if options["word"] else pair[0], flags)
    except re.error:
        assume("(?<" not in pair[0])  # Python has no such groups
        raise
    for line in (before + pair[1] + after, pair[1], before + after):
        assert pattern.matches(line) == bool(python.search(line)), line


@pytest.mark.parametrize(
    ("pattern", "clauses"),
    [
        (r"def \w+_handler\(", [{"_handler("}, {"def "}]),
        ("foo|bar", [{"foo", "bar"}]),
        ("foo|b", []),
        ("(get|set)Name", [{"Name"}, {"get", "set"}]),
        ("abc.defg.hij", [{"defg"}, {"abc"}, {"hij"}]),
        ("(?:abc)?def", [{"def"}]),
        ("(?:abc)+def", [{"abc"}, {"def"}]),
        ("colou?r", [{"colo"}]),
        ("ab", []),
        ("é-", [{"é-"}]),
        ("[a]bc", []),
        ("[]abc]def", [{"def"}]),
        ("[^]abc]def", [{"def"}]),
        ("[x[abc]&&[^def]]ghi", [{"ghi"}]),
        (r"[\]abc]def", [{"def"}]),
        (r"\x61bc\u{64}ef", [{"abcdef"}]),
        (r"abc\.def", [{"abc.def"}]),
        (r"\babc\b{end}def", [{"abc"}, {"def"}]),
        (r"\p{Greek}abc\pLdef", [{"abc"}, {"def"}]),
        ("abc{2}{3}def", [{"abc"}, {"def"}]),
        ("abc{2}{0}def", [{"def"}]),
        ("(?<name>abc)|(?:def|ghi)", [{"abc", "def", "ghi"}]),
        ("(?i)abc(?-i:DEF)", [{"abc"}, {"DEF"}]),
        ("|".join(f"abc{n}" for n in range(100)), []),
        ("[[:alpha:]]abc", [{"abc"}]),
        ("(?i)Straße", []),
        ("(?i)MASK", [{"MASK"}]),
    ],
)
def test_clauses_of_a_pattern(pattern, clauses):
    assert sorted(map(sorted, compile_pattern(pattern, **CASES).clauses)) == sorted(map(sorted, clauses))


TOKENS = [
    "abc", "bcd", "c", "-", " ", "(", "(?:", "(?P<n>", "(?<m>", "(?i)", "(?i:", "(?-i:", "(?s-m:", ")", ")", "|", "^", "$",
    ".", "[", "[^", "]", "]", "[[:alpha:]]", "[[:^digit:]b]", "&&", "--", "*", "+", "?", "+?", "{2}", "{1,}", "{0,1}", r"\b",
    r"\B", r"\b{start}", r"\<", r"\w", r"\W", r"\s", r"\pL", r"\P{L}", r"\x61", r"\x{62}", r"\u0063", r"\U00000064",
    r"\[", r"\]", r"\\", r"\-", r"\t", r"\A", r"\z",
]  # fmt: skip
PIECES = st.lists(
    st.sampled_from(["abc", "bcd", "ABC", "a", "b", "c", "d", "-", " ", "]", "[", "\\", "\t", "\r"]),
    max_size=8,
)


@settings(max_examples=2_000)
@given(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=9), PIECES, PIECES, st.booleans())
def test_clauses_and_slices_hold_for_every_valid_pattern(tokens, pieces, others, word):
    try:
        pattern = compile_pattern("".join(tokens), **CASES | {"word": word})
    except PrismError:
        reject()
    line, other = "".join(pieces), "".join(others)
    if pattern.matches(line):
        assert holds(pattern, line)
        assert all(
            map(pattern.may_match, (f"{line}\n{other}", f"{other}\n{line}", f"{other}\n{line}\n{other}"))
        )


@pytest.mark.parametrize("pattern", [r"\Ax", r"x\z", r"x\s(?R:$)", "(?-m)^x", "(?-m:x$)"])
def test_text_end_is_never_tried_on_several_lines(pattern):
    assert compile_pattern(pattern, **CASES).may_match("a\nx\r\nx\nb")


@pytest.mark.parametrize(
    ("pattern", "line", "matches"),
    [
        (r"^\w+$", "größe_中", True),
        (r"^\d+$", "٣", True),
        (r"a\sb", "a\u2028b", True),
        (r"\bgr\b", "größe", False),
        (r"[a&&[^b]]x", "ax", True),
        (r"\p{Greek}", "Σ", True),
        ("(?U)^a+$", "aa", True),
        ("a$", "a\r", False),
        ("(?R)a$", "a\r", True),
        (r"a\z", "a", True),
        (r"\Ab", "b", True),
        (r"[^a]", "a", False),
        (r"\ufeffa", "a", False),
    ],
)
def test_a_pattern_means_what_it_means_to_ripgrep(pattern, line, matches):
    assert compile_pattern(pattern, **CASES).matches(line) is matches


@pytest.mark.parametrize(
    ("text", "line", "matches"),
    [
        ("foo", "x foo y", True), ("foo", "foo_", False), ("foo", "éfoo", False), ("-foo", "a-foo", False),
        ("-foo", " -foo", True), ("foo-", "foo-bar", False), ("foo-", "foo- bar", True), ("foo", "foofoo foo", True),
    ],
)  # fmt: skip
def test_whole_word_has_no_word_character_next_to_it(text, line, matches):
    assert compile_pattern(text, regex=False, case_sensitive=True, word=True).matches(line) is matches


@pytest.mark.parametrize("case_sensitive", [True, False])
@pytest.mark.parametrize("word", [True, False])
def test_plain_text_has_no_syntax(case_sensitive, word):
    text = "".join(map(chr, range(33, 127)))
    pattern = compile_pattern(text, regex=False, case_sensitive=case_sensitive, word=False)
    assert pattern.matches(f"x {text} y")
    assert not pattern.matches(text[1:])
    spaced = compile_pattern("a b\tc", regex=False, case_sensitive=case_sensitive, word=word)
    assert spaced.matches("-a b\tc-")
    assert spaced.matches("xa b\tcx") is not word


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("", ErrorCode.EMPTY_QUERY),
        ("a\nb", ErrorCode.INVALID_REGEX),
        ("a\0", ErrorCode.INVALID_REGEX),
        ("(", ErrorCode.INVALID_REGEX),
        ("a)(b", ErrorCode.INVALID_REGEX),
        (r"(a)\1", ErrorCode.INVALID_REGEX),
        ("(?=a)", ErrorCode.INVALID_REGEX),
        ("a{", ErrorCode.INVALID_REGEX),
        ("*", ErrorCode.INVALID_REGEX),
        ("[b-a]", ErrorCode.INVALID_REGEX),
        (r"a\nb", ErrorCode.INVALID_REGEX),
        (r"a\x0ab", ErrorCode.INVALID_REGEX),
        ("(?x)a b", ErrorCode.INVALID_REGEX),
        (r"\w{1000}", ErrorCode.INVALID_REGEX),
        ("((a{100}){100}){100}", ErrorCode.INVALID_REGEX),
        ("(" * 300 + ")" * 300, ErrorCode.INVALID_REGEX),
        ("x" * (PATTERN_CHARS_MAX + 1), ErrorCode.QUERY_TOO_LONG),
    ],
)
@pytest.mark.parametrize("word", [True, False])
def test_invalid_pattern_is_refused_with_a_code(pattern, code, word):
    with pytest.raises(PrismError) as caught:
        compile_pattern(pattern, **CASES | {"word": word})
    assert caught.value.code is code


def test_pattern_of_the_largest_size_is_accepted():
    assert compile_pattern("x" * PATTERN_CHARS_MAX, **CASES).matches("x" * PATTERN_CHARS_MAX)


@pytest.mark.parametrize("depth", [1, 60, 120])
def test_a_nested_pattern_is_read_to_its_depth(depth):
    pattern = compile_pattern("(aaa|" * depth + "bbb" + ")" * depth, **CASES)
    assert pattern.matches("aaa")
    assert holds(pattern, "aaa")
    assert pattern.clauses == (frozenset({"aaa", "bbb"}),)


@pytest.mark.parametrize("form", ["a{%d}", "(?:a?){%d}", "a{1,%d}", "a{%d,}", "(?:[ab]{2}){%d}"])
def test_repetitions_have_a_largest_size(form):
    fits = PATTERN_SIZE_MAX // (2 if "{2}" in form else 1)
    assert compile_pattern(form % fits, **CASES)
    with pytest.raises(PrismError, match="allowed") as caught:
        compile_pattern(form % (fits + 1), **CASES)
    assert caught.value.code is ErrorCode.INVALID_REGEX


def test_a_hostile_pattern_takes_linear_time():
    assert not compile_pattern("(a+)+$", **CASES).matches("a" * 50_000 + "!")


@pytest.mark.parametrize(
    ("pattern", "regex"),
    [
        (r"def \w+_rate", r"def \w+_rate"), ("a|b", "a|b"), (r"a\|b", "a|b"), ("get.*rate", "get.*rate"), ("[ab]c", "[ab]c"),
        ("^import", "^import"), (r"\.get\(", r"\.get\("), ("colou?r", "colou?r"), ("x+ y", ""),
        ("get(rate)", ""), ("a.b.c", ""), ("x == y", ""), ("*args", ""), ("(a|", ""), ("a|", ""), ("if (a && b) {", ""),
        ("C++", ""), ("a || b", ""),
    ],
)  # fmt: skip
def test_a_literal_that_looks_like_a_regex_is_one(pattern, regex) -> None:
    assert regex_meant(pattern) == regex
