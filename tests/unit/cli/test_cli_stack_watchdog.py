import pytest

from prism_cli.stack.watchdog import PROBE_EVERY_S, Limits, ProcessWatch, Settings

LIMITS = Limits(silent_s_max=25.0, unready_s_max=180.0)


def ready_watch() -> ProcessWatch:
    watch = ProcessWatch(LIMITS, 0.0)
    watch.asked(0.0)
    watch.answered(0.0, is_ready=True)
    return watch


def test_a_silent_process_is_replaced_at_the_limit():
    watch = ready_watch()
    watch.asked(10.0)
    assert watch.complaint(34.9, has_needs=True) == ""
    assert watch.complaint(35.0, has_needs=True) == "no answer for 25 s"


def test_a_slow_answer_begins_a_new_silence():
    watch = ready_watch()
    for asked_at in (10.0, 40.0, 70.0):
        watch.asked(asked_at)
        assert watch.complaint(asked_at + 20.0, has_needs=True) == ""
        watch.answered(asked_at + 20.0, is_ready=True)
    assert watch.silent_s(1000.0) == 0.0


def test_asking_again_does_not_restart_the_silence():
    watch = ready_watch()
    for now in (10.0, 13.0, 16.0):
        watch.asked(now)
    assert watch.silent_s(20.0) == 10.0


def test_delays_of_the_supervisor_do_not_count_as_silence():
    watch = ready_watch()
    watch.asked(10.0)
    watch.excuse(3600.0)
    assert watch.complaint(3634.9, has_needs=True) == ""
    assert watch.complaint(3635.0, has_needs=True)


def test_a_process_that_remains_unready_is_replaced():
    watch = ready_watch()
    watch.answered(10.0, is_ready=False)
    watch.answered(100.0, is_ready=False)
    assert watch.complaint(189.9, has_needs=True) == ""
    assert watch.complaint(190.0, has_needs=True) == "not ready for 180 s"


def test_a_process_that_never_gets_ready_is_replaced():
    assert ProcessWatch(LIMITS, 0.0).complaint(180.0, has_needs=True) == "not ready for 180 s"


def test_waiting_for_another_process_is_not_blamed():
    watch = ready_watch()
    watch.answered(10.0, is_ready=False)
    assert watch.complaint(500.0, has_needs=False) == ""
    assert watch.complaint(679.9, has_needs=True) == ""
    assert watch.complaint(680.0, has_needs=True) == "not ready for 180 s"


def test_silent_process_is_replaced_whatever_its_dependencies():
    watch = ready_watch()
    watch.asked(10.0)
    assert watch.complaint(35.0, has_needs=False) == "no answer for 25 s"


def test_the_environment_overrides_the_limits():
    assert Settings.read({}) == Settings(PROBE_EVERY_S)
    assert Settings.read({}).limits("search", LIMITS) == LIMITS
    read = Settings.read({"PRISM_PROBE_EVERY_S": "0.5", "PRISM_SILENT_S_MAX": "2"})
    assert read.probe_every_s == 0.5
    assert read.limits("search", LIMITS) == Limits(2.0, 180.0)


def test_the_environment_may_name_a_process():
    read = Settings.read({"PRISM_SILENT_S_MAX": "60, qdrant=300", "PRISM_UNREADY_S_MAX": "qdrant=900"})
    assert read.limits("qdrant", LIMITS) == Limits(300.0, 900.0)
    assert read.limits("search", LIMITS) == Limits(60.0, 180.0)


def test_a_limit_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="soon"):
        Settings.read({"PRISM_SILENT_S_MAX": "search=soon"})
