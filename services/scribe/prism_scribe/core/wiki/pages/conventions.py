"""How code is written here: what most places do, with examples, and the rules that are written down."""

from collections.abc import Iterator
from itertools import groupby

from prism_contracts.records import WikiTocEntry
from prism_contracts.rpc.guidance import Convention, RulesDocument
from prism_scribe.core.wiki import markdown, prose
from prism_scribe.core.wiki.orientation import Evidence, Orientation, Prose

EXAMPLES_MAX = 3
RULES_MAX = 6
ITEMS_MAX = 12


def lines(orientation: Orientation, _: Evidence, __: tuple[WikiTocEntry, ...]) -> list[str]:
    """Returns the page."""
    found = ["# Conventions", ""]
    if orientation.rules:
        rules = [line for rule in orientation.rules[:RULES_MAX] for line in _rule(rule)]
        found += markdown.section("Written rules", rules)
    if orientation.conventions:
        found += [
            "What follows was counted in the code. A statement holds for most places, and names how many.",
            "",
        ]
    by_topic = sorted(orientation.conventions, key=lambda one: (one.topic, one.language))
    for topic, some in groupby(by_topic, key=lambda one: one.topic):
        found += markdown.section(topic.capitalize(), [_convention(one) for one in some])
    return found


def _rule(rule: RulesDocument) -> Iterator[str]:
    place = markdown.place(rule.file_path, rule.start_line, rule.end_line)
    yield f"- {place}: applies to {markdown.text(rule.applies)}"
    quoted = Prose(rule.file_path, None, tuple(rule.content.split("\n")))
    items = prose.list_items(quoted, 1, len(quoted.lines), ITEMS_MAX)
    first = prose.first_paragraph(quoted) if not items else None
    for quote in items or ([first] if first else []):
        line = rule.start_line + quote.line - 1
        yield f"  - {markdown.text(quote.text)} ({markdown.place(rule.file_path, line)})"


def _convention(one: Convention) -> str:
    language = f"{markdown.text(one.language)}: " if one.language else ""
    # The places tell more than the texts, and stay right when the text is long.
    examples = [markdown.place(example.file_path, example.line) for example in one.examples[:EXAMPLES_MAX]]
    seen = f", as in {markdown.joined(examples)}" if examples else ""
    return f"- {language}{markdown.text(one.statement)} ({one.count:,} of {one.total:,}){seen}."
