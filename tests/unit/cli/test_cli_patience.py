from prism_cli.patience import PAUSE_MAX_S, Patience


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_no_budget_is_one_attempt():
    assert Patience(0.0).next_pause() is None


def test_pauses_double_up_to_their_limit():
    patience = Patience(1000.0, Clock())
    pauses = [patience.next_pause() for _ in range(8)]
    assert all(pause is not None and pause <= PAUSE_MAX_S for pause in pauses)
    assert pauses[0] is not None
    assert pauses[0] <= 0.2
    assert pauses[-1] is not None
    assert pauses[-1] >= PAUSE_MAX_S / 2


def test_retries_end_at_the_budget():
    clock = Clock()
    patience = Patience(10.0, clock)
    clock.now = 9.95
    assert patience.next_pause(0.04) == 0.04
    assert patience.next_pause(0.06) is None


def test_retry_after_of_the_server_is_respected():
    assert Patience(10.0, Clock()).next_pause(7.0) == 7.0
