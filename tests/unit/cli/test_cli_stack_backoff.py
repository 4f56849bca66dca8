from prism_cli.stack.backoff import HEALTHY_AFTER_S, PAUSE_MAX_S, Backoff


def test_pauses_double_to_their_limit():
    backoff = Backoff()
    assert [backoff.pause_after(0.1) for _ in range(7)] == [0.5, 1, 2, 4, 8, PAUSE_MAX_S, PAUSE_MAX_S]


def test_a_long_uptime_resets_the_pause():
    backoff = Backoff()
    for _ in range(5):
        backoff.pause_after(0)
    assert backoff.pause_after(HEALTHY_AFTER_S) == 0.5
    assert backoff.pause_after(HEALTHY_AFTER_S - 1) == 1.0
