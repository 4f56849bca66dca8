"""Metrics of language models."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from prism_contracts.accounting import ModelPurpose, ModelUse

SECONDS_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120)
ANSWERED = "answered"
MICRODOLLARS = 1_000_000


class ModelMetrics:
    """Counts calls to language models, and what they cost."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = Counter(
            "prism_llm_calls",
            "Calls to language models by model, purpose (context, wiki, descriptions, tags) and result: answered; late; "
            "unreachable; busy (status 429); broken (5xx); invalid (an answer of another type); rejected (4xx); "
            "not_allowed (the key, the name of the model, or the account's credit).",
            ["model", "purpose", "result"],
            registry=registry,
        )
        self._tokens = Counter(
            "prism_llm_tokens",
            "Tokens of calls to language models, by model and direction: in, out.",
            ["model", "direction"],
            registry=registry,
        )
        self._dollars = Counter(
            "prism_llm_dollars",
            "US dollars that calls to language models cost, by model, where the price is known.",
            ["model"],
            registry=registry,
        )
        self._seconds = Histogram(
            "prism_llm_call_seconds",
            "Seconds of a call to a language model, by model.",
            ["model"],
            registry=registry,
            buckets=SECONDS_BUCKETS,
        )
        self._declined = Counter(
            "prism_llm_declined",
            "Texts that no language model wrote, by purpose and reason: no_model, budget, late, failed, invalid, "
            "uncounted (NATS did not answer, so nothing may be spent).",
            ["purpose", "reason"],
            registry=registry,
        )

    def count(self, use: ModelUse, result: str, seconds: float) -> None:
        """Count a call."""
        self._calls.labels(use.model, use.purpose.value, result).inc()
        self._tokens.labels(use.model, "in").inc(use.tokens_in)
        self._tokens.labels(use.model, "out").inc(use.tokens_out)
        self._dollars.labels(use.model).inc(use.microdollars / MICRODOLLARS)
        self._seconds.labels(use.model).observe(seconds)

    def count_declined(self, purpose: ModelPurpose, reason: str) -> None:
        """Count a text that was not written."""
        self._declined.labels(purpose.value, reason).inc()
