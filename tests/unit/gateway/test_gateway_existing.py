"""Existing definitions: the verdict, the nearest definition, and the proof of a miss."""

from gateway_receipts import RECEIPT

from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.rpc.common import SEVERAL_REPOSITORIES
from prism_contracts.rpc.guidance import ExistingDefinition, ExistingReply, Verdict, WordPlace, WordRole
from prism_contracts.rpc.symbols import Definition
from prism_gateway.mcp.answers import existing


def text_of(verdict: Verdict, count: int = 1, **fields: object) -> str:
    symbol = Symbol(
        name="weigh",
        qualified_name="Depot.weigh",
        kind=SymbolKind.METHOD,
        start_line=3,
        end_line=9,
        name_line=3,
        signature="def weigh(self,\n    parcel)",
        docstring="Weighs a parcel.",
    )
    definition = Definition(repo="acme/app", file_path="depot.py", language="python", symbol=symbol)
    one = ExistingDefinition(definition=definition, verdict=verdict, score=0.3, reasons=("name: weigh",))
    reply = ExistingReply(verdict=verdict, existing=(one,) * count, **{"receipt": RECEIPT, **fields})
    return existing.answer(reply, 1_000).text


def test_the_nearest_definition_follows_the_verdict() -> None:
    first, nearest, docstring, why, *_ = text_of(Verdict.LIKELY).split("\n")
    assert first == "This probably exists already: check the nearest before you write it."
    assert nearest == "nearest: depot.py:3-9 Depot.weigh — def weigh(self, parcel)"
    assert (docstring, why) == ("Weighs a parcel.", "why: name: weigh")


def test_a_miss_names_the_words_that_occur_nowhere() -> None:
    text = text_of(Verdict.NONE, words=("debounce", "calls"), absent_words=("debounce",))
    assert "No file says: `debounce`; 1 of 2 words occur: calls." in text


def test_a_miss_shows_where_the_other_words_occur() -> None:
    call = WordPlace(
        word="calls", repo="acme/app", file_path="a.py", line=3, text="count(calls)", role=WordRole.CODE
    )
    comment = call.model_copy(update={"line": 9, "text": "# calls a day", "role": WordRole.COMMENT})
    text = text_of(
        Verdict.NONE, words=("debounce", "calls"), absent_words=("debounce",), places=(call, comment)
    )
    assert (
        "occur: calls.\n`calls` occurs in:\n  a.py:3 count(calls)\n  a.py:9 (comment) # calls a day\n" in text
    )


def test_places_name_their_repository_where_several_are_asked() -> None:
    place = WordPlace(
        word="calls", repo="acme/app", file_path="a.py", line=3, text="count(calls)", role=WordRole.CODE
    )
    asked = {
        "words": ("calls",),
        "places": (place,),
        "receipt": RECEIPT.model_copy(update={"repo": SEVERAL_REPOSITORIES}),
    }
    text = text_of(Verdict.NONE, **asked)
    assert "acme/app depot.py:3-9 Depot.weigh" in text
    assert "  acme/app a.py:3 count(calls)" in text
    assert "acme/app" not in text_of(Verdict.NONE, words=("calls",), places=(place,)).partition("index")[0]


def test_a_miss_with_a_near_definition_does_not_say_that_nothing_does_it() -> None:
    assert text_of(Verdict.NONE).startswith("No definition clearly does this. Read the nearest")
    assert "Weighs a parcel.\nwhy: name: weigh" in text_of(Verdict.NONE)
    assert text_of(Verdict.NONE, 0).startswith("Nothing was found that does this.")


def test_a_miss_of_known_words_says_so() -> None:
    assert "but no definition has enough of them." in text_of(Verdict.NONE, words=("calls",))
    assert "some file" not in text_of(Verdict.MAYBE, words=("calls",))


def test_a_clear_verdict_is_short() -> None:
    for verdict in Verdict:
        assert len(text_of(verdict, 5, words=("weigh",) * 8)) < 150 * 4
