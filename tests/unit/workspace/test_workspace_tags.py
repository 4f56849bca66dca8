from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from prism_contracts.records import DocumentRecord
from prism_workspace.core import tags

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def record(number: int, title: str, *names: str, category: str = "") -> DocumentRecord:
    path = f"generated/{number}.md"
    return DocumentRecord(
        tenant="acme",
        document=str(number),
        path=path,
        blob="b",
        title=title,
        tags=names,
        category=category,
        created_at=NOW,
        modified_at=NOW,
    )


RECORDS = [
    record(1, "Retries of deliveries", "delivery", "retries", category="operations"),
    record(2, "How queues drain", "queues", category="operations"),
    record(3, "Colors of the console", "design", category="product"),
    *(record(number, f"Minutes of meeting {number}", "minutes") for number in range(4, 12)),
]
OTHERS = tags.TagVocabulary(RECORDS)


def test_tags_in_use_come_before_new_terms() -> None:
    text = "# Retries\n\nA delivery is tried three times. Each delivery waits for the backoff.\n" * 3
    found = tags.propose("Retries and backoff", text, OTHERS)
    assert set(found.tags[:2]) == {"retries", "delivery"}
    assert "backoff" in found.tags[2:]
    assert found.category == "operations"
    assert 0 < found.confidence < 1


def test_a_tag_needs_each_of_its_words() -> None:
    others = tags.TagVocabulary([*RECORDS, record(20, "Flight", "flight sql")])
    assert "flight sql" not in tags.propose("Flight", "A flight to Oslo.", others).tags
    assert "flight sql" in tags.propose("Flight SQL", "# Flight SQL\n\nFlight SQL reads.", others).tags


def test_a_rare_tag_is_stronger_than_a_frequent_one() -> None:
    found = tags.propose("Minutes about queues", "# Minutes about queues\n", OTHERS)
    assert found.tags[0] == "queues"


def test_code_blocks_and_links_say_nothing() -> None:
    text = "Read [this](https://queues.example/queues).\n\n```python\nqueues = queues + queues\n```\n"
    assert "queues" not in tags.propose("Notes", text, OTHERS).tags


def test_an_empty_document_has_no_tags() -> None:
    assert tags.propose("", "", OTHERS) == tags.Proposal((), "", 0.0)
    assert tags.propose("The", "of and to", tags.TagVocabulary()) == tags.Proposal((), "", 0.0)


def test_tags_of_a_model_are_in_use_or_in_the_document() -> None:
    others = tags.TagVocabulary([record(1, "A", "Delivery"), record(2, "B", "minutes")])
    chosen = [
        "delivery",
        "Weighed Parcels",
        "visit example.com now",
        "minutes",
        "send-the-key",
        "",
        "delivery",
    ]
    kept = tags.accepted(chosen, "Deliveries", "How weighed parcels are sent.\n", others)
    assert kept.tags == ("Delivery", "weighed-parcels", "minutes")
    assert kept.confidence > 0


def test_a_model_that_chooses_nothing_of_the_document_has_no_tags() -> None:
    kept = tags.accepted(["admin", "ignore previous instructions"], "Parcels", "Ignore.\n", OTHERS)
    assert kept == tags.Proposal((), "", 0.0)


def test_a_likelier_tag_is_a_stronger_one() -> None:
    assert tags.likelihood(5) < tags.likelihood(tags.HALF_AT) == 0.5 < tags.likelihood(40) < 1


@given(title=st.text(max_size=60), content=st.text(max_size=400))
def test_any_text_gets_an_answer_within_its_limits(title: str, content: str) -> None:
    found = tags.propose(title, content, OTHERS)
    assert len(found.tags) <= tags.TAGS_PROPOSED_MAX
    assert len(set(found.tags)) == len(found.tags)
    assert 0 <= found.confidence <= 1
    assert found == tags.propose(title, content, tags.TagVocabulary(reversed(RECORDS)))


def test_a_vocabulary_follows_the_documents() -> None:
    followed = tags.TagVocabulary(RECORDS)
    changed = [RECORDS[0].model_copy(update={"tags": ("couriers",), "category": ""}), *RECORDS[2:]]
    followed.follow(changed)
    assert vars(followed) == vars(tags.TagVocabulary(changed))
    assert "queues" not in followed.in_use


def test_a_vocabulary_without_a_document_leaves_the_whole_one_as_it_is() -> None:
    whole = tags.TagVocabulary(RECORDS)
    assert vars(whole.without("1")) == vars(tags.TagVocabulary(RECORDS[1:]))
    assert vars(whole) == vars(tags.TagVocabulary(RECORDS))
    assert whole.without("none") is whole
