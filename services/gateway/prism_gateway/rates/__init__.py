"""Rate limits: exact over all copies of the gateway, decided in memory, counted in NATS.

docs/decisions/0035-rate-limits-on-a-log-of-counters.md has the reasons.
"""
