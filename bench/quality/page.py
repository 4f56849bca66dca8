"""The page of figures: the questions, the quality of the answers, the value of each leg and
signal. Markdown.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from bench.quality.ablation import (
    Answer,
    by_leg,
    finders,
    is_first_right,
    is_reproduced,
    legs_of,
    ranked,
    signals_of,
)
from bench.quality.questions import Question
from bench.quality.score import CUTOFF, ROUNDS, Mean, Place, Scores, differences, mean, ndcg

CONFIDENCES = ("high", "medium", "low", "none")

HEAD = """<!-- Written by `make quality`. -->

# Quality

How well `search_code` finds what a question is about, measured on the questions of a code-search benchmark:
{questions} questions about {corpora} corpora in {languages} languages. Every corpus is indexed through a
whole stack as a repository of its own; all share one tenant. Every question is asked over MCP with `limit`
{cutoff} and its repository as scope, and the returned list is scored.

**NDCG@10**: the targets of a question weigh the same, each credits the first result that covers it, and two
on one result are one gain; several results of one file are not merged. A result covers a target if their
paths are equal or one ends with the other, and their lines overlap where the target names lines. *By corpus*
is the mean over corpora of each one's mean, *by question* the mean over questions. *95 %* bounds the mean by
corpus: a bootstrap of {rounds:,} rounds in two levels, corpora and of each its questions. A language with one
corpus has that of its questions only.

"""

ALL_NOTE = """
The row `gap` has the questions that share no word with the path of any target, so that names of files cannot
answer them. Words are the same if they are equal or differ in their endings only.
"""

CONFIDENCE_HEAD = """
## Confidence

An answer reports how reliable its first result is: a probability from its lead, its words and whether the
words alone rank it first too ([0018](decisions/0018-confidence.md), which measures harder questions as well).
*First right* is the share of the questions answered so whose first result covers a target. Each of these
questions has an answer in its corpus.
"""

LEGS_HEAD = """
## Legs

The answer of each leg alone: its candidates, in its own order, with the shown lines. A question in which a
leg takes no part counts as 0. *Found* is the share of targets among a leg's candidates, at any rank; *by it
alone* the share that no other leg found.
"""

SIGNALS_HEAD = """
## Signals

The order is the sum of the signals and nothing comes after the sum, so each is taken out of the sum of all
candidates, and the new order is scored. Summing again gives the served order for {reproduced} of {questions}
questions. *Worth* is the paired difference that the signal makes, positive if it helps; *in the gap* the same
over the questions of that row (mean over questions). The other weights are unchanged, so this is the cost of
switching a signal off, not the result of a ranking tuned without it. *Better* and *worse* count the questions
that the signal makes so.
"""

TRIED = """
Measured as well, and not used as signals because their gain is zero or within chance: other names, places and
sums ([0003](decisions/0003-ranking.md#tried-and-not-shipped)); the graph of references, as popularity, as
neighbours of the first files, as components ([0032](decisions/0032-the-graph-and-the-ranking.md)).
"""


DEEP_HEAD = """
## The deep tier

The same questions on the same index, after a deep model was turned on and has added a vector per file.
*Gained* is the paired difference. The tables above and below are those of the default, without it.
"""


def page(answers: Sequence[Answer], deep: Sequence[Answer] = ()) -> str:
    """Returns the page; `deep` are the answers with the deep tier, if it was asked as well."""
    scores = scores_of(answers)
    head = HEAD.format(
        questions=len(scores),
        corpora=len({question.corpus.name for question in scores}),
        languages=len({question.corpus.language for question in scores}),
        cutoff=CUTOFF,
        rounds=ROUNDS,
    )
    signals_head = SIGNALS_HEAD.format(
        reproduced=sum(map(is_reproduced, answers)),
        questions=len(answers),
    )
    parts = [
        head,
        _table("questions", _kinds(scores)),
        ALL_NOTE,
        "\n## By language\n\n",
        _table("language", _grouped(scores, lambda question: question.corpus.language)),
        *_deep_part(scores, deep),
        CONFIDENCE_HEAD,
        "\n",
        _confidence_table(answers),
        LEGS_HEAD,
        "\n",
        _legs_table(answers),
        signals_head,
        "\n",
        _signals_table(answers),
        TRIED,
    ]
    return "".join(parts)


def scores_of(answers: Sequence[Answer]) -> Scores:
    """Returns the scores of the served answers."""
    return _scored(answers, lambda answer: answer.served)


def comparison(scores: Scores, others: Scores) -> str:
    """Returns the gain over another run, for common questions: the same rows as the first table."""
    return _table("gained", _kinds(differences(scores, others)), "{:+z.3f}")


def _deep_part(scores: Scores, deep: Sequence[Answer]) -> Iterator[str]:
    """Returns both tiers side by side."""
    if not deep:
        return
    with_deep = scores_of(deep)
    kinds, languages = _kinds, lambda these: _grouped(these, lambda question: question.corpus.language)
    for name, grouping in (("questions", kinds), ("language", languages)):
        rows = (
            _both(
                group,
                mean(these),
                mean({one: with_deep[one] for one in these}),
                differences(with_deep, these),
            )
            for group, these in grouping(scores).items()
            if these
        )
        yield f"{DEEP_HEAD if name == 'questions' else ''}\n"
        yield _markdown((name, "asked", "default", "with deep", "gained", "95 %", "better", "worse"), rows)


def _both(group: str, default: Mean, deep: Mean, gained: Scores) -> tuple[str, ...]:
    difference = mean(gained)
    return (
        group,
        f"{default.questions}",
        f"{default.by_corpus:.3f}",
        f"{deep.by_corpus:.3f}",
        f"{difference.by_corpus:+z.3f}",
        _interval(difference, "{:+z.3f}"),
        f"{sum(value > 0 for value in gained.values())}",
        f"{sum(value < 0 for value in gained.values())}",
    )


def _table(name: str, groups: Mapping[str, Scores], form: str = "{:.3f}") -> str:
    """Returns a row per group with questions."""
    rows = ((group, *_figures(mean(scores), form)) for group, scores in groups.items() if scores)
    return _markdown((name, "asked", "corpora", "by corpus", "95 %", "by question"), rows)


def _figures(of: Mean, form: str) -> Iterator[str]:
    yield from (f"{of.questions}", f"{of.corpora}")
    yield from (form.format(of.by_corpus), _interval(of, form), form.format(of.by_question))


def _kinds(scores: Scores) -> dict[str, Scores]:
    """Groups all questions, by category, and by gap."""
    gap = {question: value for question, value in scores.items() if question.is_gap}
    return {"all": scores, **_grouped(scores, lambda question: question.category), "gap": gap}


def _grouped(scores: Scores, name_of: Callable[[Question], str]) -> dict[str, Scores]:
    groups: dict[str, dict[Question, float]] = {}
    for question, value in sorted(scores.items(), key=lambda item: name_of(item[0])):
        groups.setdefault(name_of(question), {})[question] = value
    return dict(groups)


def _confidence_table(answers: Sequence[Answer]) -> str:
    levels = ((level, [one for one in answers if one.confidence == level]) for level in CONFIDENCES)
    rows = (
        (
            level,
            f"{len(asked)}",
            _percent(one in asked for one in answers),
            _percent(map(is_first_right, asked)),
        )
        for level, asked in levels
        if asked
    )
    return _markdown(("confidence", "asked", "of all", "first right"), rows)


def _legs_table(answers: Sequence[Answer]) -> str:
    targets = [legs for answer in answers for legs in finders(answer)]
    served = mean(scores_of(answers))
    rows = [_leg_row(answers, targets, leg) for leg in legs_of(answers)]
    rows.append(("all", f"{len(answers)}", f"{served.by_corpus:.3f}", _percent(map(bool, targets)), ""))
    return _markdown(("leg", "takes part", "NDCG@10", "found", "by it alone"), rows)


def _leg_row(answers: Sequence[Answer], targets: Sequence[frozenset[str]], leg: str) -> tuple[str, ...]:
    alone = _scored(answers, lambda answer: by_leg(answer.candidates, leg))
    return (
        leg,
        f"{sum(any(leg in one.legs for one in answer.candidates) for answer in answers)}",
        f"{mean(alone).by_corpus:.3f}",
        _percent(leg in legs for legs in targets),
        _percent(legs == {leg} for legs in targets),
    )


def _signals_table(answers: Sequence[Answer]) -> str:
    whole = _scored(answers, lambda answer: ranked(answer.candidates))
    worth = {name: differences(whole, _without(answers, name)) for name in signals_of(answers)}
    means = {name: mean(gained) for name, gained in worth.items()}
    rows = (
        (name, f"{means[name].by_corpus:+z.4f}", _interval(means[name], "{:+z.4f}"), *_changes(worth[name]))
        for name in sorted(worth, key=lambda name: -means[name].by_corpus)
    )
    return _markdown(("signal", "worth", "95 %", "in the gap", "better", "worse"), rows)


def _without(answers: Sequence[Answer], signal: str) -> Scores:
    return _scored(answers, lambda answer: ranked(answer.candidates, signal))


def _scored(answers: Sequence[Answer], places: Callable[[Answer], Sequence[Place]]) -> dict[Question, float]:
    return {answer.question: ndcg(places(answer), answer.question.targets) for answer in answers}


def _changes(worth: Scores) -> Iterator[str]:
    """Returns the mean over the gap, and the numbers of better and worse questions."""
    gap = [value for question, value in worth.items() if question.is_gap]
    yield f"{sum(gap) / len(gap):+z.4f}" if gap else ""
    yield f"{sum(value > 0 for value in worth.values())}"
    yield f"{sum(value < 0 for value in worth.values())}"


def _interval(of: Mean, form: str) -> str:
    return f"{form.format(of.low)} to {form.format(of.high)}"


def _percent(flags: Iterable[bool]) -> str:
    counted = list(flags)
    return f"{100 * sum(counted) / len(counted):.1f} %"


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    ruler = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ruler, *rows))
