from bench.quality.ablation import Answer, Candidate
from bench.quality.page import page
from bench.quality.questions import Corpus, Question, Target
from bench.quality.score import Place

SHOP = Corpus(name="shop", language="python")


def answer(text: str, *served: str) -> Answer:
    question = Question(SHOP, text, "semantic", (Target("right.py"),))
    places = tuple(Place(path, 1, 9) for path in served)
    candidates = tuple(Candidate(place, {"body": 1.0}, {"keyword": 1}) for place in places)
    return Answer(question, places, "high", candidates)


def test_page_compares_both_tiers_by_question() -> None:
    default = [answer("one", "wrong.py", "right.py"), answer("two", "right.py")]
    deep = [answer("one", "right.py", "wrong.py"), answer("two", "wrong.py", "right.py")]
    assert "deep" not in page(default)
    rows = page(default, [deep[0], default[1]]).split("## The deep tier")[1].split("## Legs")[0]
    assert "| all | 2 | 0.815 | 1.000 | +0.185 | +0.000 to +0.369 | 1 | 0 |" in rows
    assert "| python | 2 | 0.815 | 1.000 | +0.185 |" in rows
    assert "| all | 2 | 0.815 | 0.815 | +0.000 | -0.369 to +0.369 | 1 | 1 |" in page(default, deep)
