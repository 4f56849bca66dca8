"""The tokens and dollars that a tenant may spend on language models in a day, UTC.

A call reserves what it may cost at most, so calls at once cannot spend more than the budget together.
"""

from typing import NamedTuple

from prism_contracts.accounting import ModelDay, ModelUse

MICRODOLLARS_PER_CENT = 10_000
# A token of code has about three characters. An estimate that is too low would spend more than the budget.
CHARS_PER_TOKEN = 3


class Cost(NamedTuple):
    """Tokens, of questions and answers together, and millionths of a US dollar."""

    tokens: int
    microdollars: int


class Caps(NamedTuple):
    """The most that a tenant may spend in a day; None: no limit."""

    tokens: int | None
    microdollars: int | None


def spent(day: ModelDay) -> Cost:
    """Returns what is spent or reserved."""
    return Cost(
        day.reserved_tokens + sum(use.tokens_in + use.tokens_out for use in day.uses),
        day.reserved_microdollars + sum(use.microdollars for use in day.uses),
    )


def fits(day: ModelDay, cost: Cost, caps: Caps) -> bool:
    """Whether a call may spend this much more."""
    so_far = spent(day)
    return (caps.tokens is None or so_far.tokens + cost.tokens <= caps.tokens) and (
        caps.microdollars is None or so_far.microdollars + cost.microdollars <= caps.microdollars
    )


def reserve(day: ModelDay, cost: Cost) -> ModelDay:
    """Returns a day with a reservation."""
    return day.model_copy(
        update={
            "reserved_tokens": day.reserved_tokens + cost.tokens,
            "reserved_microdollars": day.reserved_microdollars + cost.microdollars,
        }
    )


def settle(day: ModelDay, reserved: Cost, use: ModelUse) -> ModelDay:
    """Returns a day with what a call did cost in place of its reservation."""
    same = next((one for one in day.uses if (one.purpose, one.model) == (use.purpose, use.model)), None)
    total = use if same is None else _sum(same, use)
    return day.model_copy(
        update={
            "reserved_tokens": max(0, day.reserved_tokens - reserved.tokens),
            "reserved_microdollars": max(0, day.reserved_microdollars - reserved.microdollars),
            "uses": (*(one for one in day.uses if one is not same), total),
        }
    )


def _sum(one: ModelUse, other: ModelUse) -> ModelUse:
    return one.model_copy(
        update={
            name: getattr(one, name) + getattr(other, name)
            for name in ("calls", "failures", "tokens_in", "tokens_out", "microdollars")
        }
    )
