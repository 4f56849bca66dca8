"""Rate limits: exact over all copies of the gateway, decided in memory, counted in NATS.

docs/decisions/0036-rate-limits-on-a-log-of-reservations.md has the reasons.
"""
