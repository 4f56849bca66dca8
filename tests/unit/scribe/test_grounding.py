"""Which sentences their evidence holds: each is written from one of these texts, some of them wrongly."""

import pytest

from prism_scribe.core.grounding import holds

RETRY = '''async def deliver(self, message: Message) -> None:
    """Call the handler; a failing one is tried again with back-off, then buried in PRISM_DEAD_LETTERS."""
    for attempt in range(1, MAX_ATTEMPTS + 1):
        try:
            return await self._handler(message)
        except Exception as error:
            await asyncio.sleep(min(30.0, 0.5 * 2 ** attempt))
    await self._bury(message, error)
MAX_ATTEMPTS = 5
'''
CACHE = '''class WeightedCache(Generic[Key, Item]):
    """Items by key, up to a total weight; beyond it, the oldest are evicted. Heavier items are not stored."""
    def put(self, key: Key, item: Item, weight: int) -> None:
        self.drop(key)
        while self._weight > self._weight_max:
            self.drop(next(iter(self._items)))
'''
README = """# Acme
Acme Rates serves exchange rates over HTTP on port 8080. Rates are read from the ECB once a day at 16:00, and kept
in PostgreSQL for 90 days. `acme serve --workers 4` starts it. It needs Python 3.11.
"""
COMMIT = "fix: Close idle sockets after 15 seconds instead of 60 (#412), since proxies drop them after 20."

HELD = [
    (RETRY, "A failing handler is tried again with back-off."),
    (RETRY, "After MAX_ATTEMPTS attempts the message is buried in PRISM_DEAD_LETTERS."),
    (RETRY, "`deliver` calls the handler up to 5 times."),
    (RETRY, "The handler is attempted five times before the message is buried."),
    (RETRY, "It sleeps at most 30 seconds between attempts."),
    (RETRY, "Messages that keep failing end in `PRISM_DEAD_LETTERS`."),
    (RETRY, "`_bury` gets the message and the error."),
    (CACHE, "WeightedCache evicts its oldest items beyond a total weight."),
    (CACHE, "Items that are heavier than the maximum weight are not stored."),
    (CACHE, "`put` drops the key first, then the oldest items."),
    (CACHE, "`WeightedCache.put` takes a key, an item and a weight."),
    (CACHE, "The cache evicts while its weight exceeds _weight_max."),
    (README, "Acme Rates serves exchange rates over HTTP."),
    (README, "Rates are kept in PostgreSQL for 90 days."),
    (README, "It listens on port 8080."),
    (README, "The rates come from the ECB, read once a day at 16:00."),
    (README, "`acme serve --workers 4` starts it."),
    (README, "It needs Python 3.11."),
    (COMMIT, "Idle sockets are closed after 15 seconds."),
    (COMMIT, "Proxies drop idle sockets after 20 seconds."),
    (COMMIT, "Before the change, sockets were closed after 60 seconds."),
    (COMMIT, "Change #412 closes idle sockets sooner."),
]
NOT_HELD = [
    (RETRY, "A failing handler is tried again 7 times."),
    (RETRY, "The message is buried in PRISM_GRAVEYARD."),
    (RETRY, "`deliver_all` calls each handler."),
    (RETRY, "The handler is tried three times."),
    (RETRY, "It sleeps at most 60 seconds between attempts."),
    (RETRY, "Failing messages are published to RabbitMQ."),
    (RETRY, "Visitors pay by credit card at checkout."),
    (RETRY, "The retry policy is configured in config/retry.toml."),
    (CACHE, "LruCache evicts the oldest items."),
    (CACHE, "WeightedCache keeps at most 1,000 items."),
    (CACHE, "`WeightedCache.get` refreshes an item."),
    (CACHE, "Entries expire after an hour of the clock."),
    (CACHE, "Items are stored in Redis."),
    (README, "Rates are kept in MySQL for 90 days."),
    (README, "Rates are kept in PostgreSQL for 30 days."),
    (README, "It listens on port 8081."),
    (README, "It needs Python 3.12."),
    (README, "`acme start` runs the server."),
    (README, "The admin password is hunter2."),
    (README, "Send the token prism_abc123 to the maintainers."),
    (COMMIT, "Idle sockets are closed after 45 seconds."),
    (COMMIT, "Change #413 closes idle sockets."),
    (COMMIT, "HAProxy drops idle sockets after 20 seconds."),
    (COMMIT, "The database schema was migrated."),
]
# What the rules cannot see: the words are those of the evidence, the sentence is not.
UNSEEN = [
    (CACHE, "The newest items are not evicted, and heavier items are stored."),
    (COMMIT, "Idle sockets are closed after 60 seconds instead of 15."),
]


@pytest.mark.parametrize(("evidence", "sentence"), NOT_HELD)
def test_a_sentence_with_another_name_number_or_subject_is_not_held(evidence: str, sentence: str) -> None:
    assert not holds(sentence, [evidence])


def test_nearly_all_true_sentences_are_held() -> None:
    lost = [sentence for evidence, sentence in HELD if not holds(sentence, [evidence])]
    assert len(lost) <= len(HELD) // 10, lost


def test_a_sentence_may_draw_on_several_texts() -> None:
    sentence = "WeightedCache evicts old items, and messages are buried in PRISM_DEAD_LETTERS."
    assert holds(sentence, [RETRY, CACHE])
    assert not holds(sentence, [CACHE])


@pytest.mark.parametrize("sentence", ["", "It is so.", "Yes.", "!!!"])
def test_a_sentence_that_says_nothing_is_not_held(sentence: str) -> None:
    assert not holds(sentence, [RETRY])


@pytest.mark.parametrize(("evidence", "sentence"), UNSEEN)
def test_the_rules_know_no_grammar(evidence: str, sentence: str) -> None:
    """A limit that the guide states: a change here is a change there."""
    assert holds(sentence, [evidence])
