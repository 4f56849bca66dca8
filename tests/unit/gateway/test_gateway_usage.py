"""Sums of calls: each counts once, in its hour, and reports add them up."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from prometheus_client import CollectorRegistry

from prism_contracts.accounting import NO_ONE, ModelDay, ModelPurpose, ModelUse
from prism_contracts.rpc.search import SearchReply, SearchRequest
from prism_gateway.accounting.facts import TOKENS_PER_LINE, CallFacts
from prism_gateway.accounting.usage import TENANTS_SHOWN_MAX, UsageMetrics
from prism_gateway.accounting.usage_report import UsageBy, UsageOf, report
from prism_gateway.accounting.usage_sums import OTHERS, ROWS_MAX, UsageSums
from prism_gateway.callers import Caller

NOW = datetime(2026, 11, 25, 10, 59, tzinfo=UTC)
CALLER = Caller(tenant="acme", scopes=frozenset(), id="token:1", label="ci")


def facts(**values) -> CallFacts:
    return CallFacts(**{"call": "search_code", "repo": "acme/app"} | values)


def hours_of(sums: UsageSums):
    return [hour for hour, _ in sums.unstored()]


def test_calls_are_summed_by_caller_tool_repository_and_code() -> None:
    sums = UsageSums("g")
    for code in ("", "", "rate_limited"):
        sums.add(CALLER, facts(code=code, chars_in=40, chars_out=400), 2.0, NOW)
    [hour] = hours_of(sums)
    assert [(row.code, row.calls, row.tokens_in, row.tokens_out, row.milliseconds) for row in hour.rows] == [
        ("", 2, 20, 200, 4.0),
        ("rate_limited", 1, 10, 100, 2.0),
    ]


def test_an_hour_is_stored_again_only_after_a_change() -> None:
    sums = UsageSums("g")
    sums.add(CALLER, facts(), 1.0, NOW)
    assert len(hours_of(sums)) == 1
    assert not hours_of(sums)
    sums.add(CALLER, facts(), 1.0, NOW)
    [hour] = hours_of(sums)
    assert hour.rows[0].calls == 2


def test_an_hour_that_could_not_be_stored_is_kept() -> None:
    sums = UsageSums("g")
    sums.add(CALLER, facts(), 1.0, NOW)
    for _, unstored in sums.unstored():
        unstored.is_stored = False
    sums.forget_stored(NOW + timedelta(hours=2))
    assert len(hours_of(sums)) == 1
    sums.forget_stored(NOW + timedelta(hours=2))
    sums.add(CALLER, facts(), 1.0, NOW + timedelta(minutes=2))
    [hour] = hours_of(sums)
    assert (hour.hour.hour, hour.rows[0].calls) == (11, 1)


def test_rows_are_bounded_and_no_call_is_lost() -> None:
    sums = UsageSums("g")
    for number in range(ROWS_MAX + 50):
        sums.add(CALLER, facts(repo=f"acme/{number}"), 1.0, NOW)
    [hour] = hours_of(sums)
    assert len(hour.rows) <= ROWS_MAX + 1
    assert sum(row.calls for row in hour.rows) == ROWS_MAX + 50
    assert hour.rows[-1].caller == OTHERS


def test_calls_that_identified_no_one_have_a_tenant_of_their_own() -> None:
    sums = UsageSums("g")
    sums.add(None, CallFacts(call="/mcp", code="unauthenticated"), 1.0, NOW)
    [hour] = hours_of(sums)
    assert (hour.tenant, hour.rows[0].caller) == (NO_ONE, NO_ONE)


def test_a_report_adds_up_gateways_and_respects_the_range() -> None:
    hours = []
    for gateway in ("g", "h"):
        sums = UsageSums(gateway)
        for ago_h in (0, 1, 30):
            sums.add(CALLER, facts(cached=ago_h == 1), 3.0, NOW - timedelta(hours=ago_h))
        hours += hours_of(sums)
    begin = NOW.replace(minute=0) - timedelta(hours=1)
    found = report(hours, "acme", begin, NOW, UsageBy.CALLER)
    assert (found.total.calls, found.total.cached, found.total.milliseconds_mean) == (4, 2, 3.0)
    assert [(group.key, group.label) for group in found.groups] == [("token:1", "ci")]
    by_hour = report(hours, "acme", begin, NOW, UsageBy.HOUR)
    assert [group.key[11:13] for group in by_hour.groups] == ["09", "10"]


def test_answers_save_the_files_that_they_show_less_themselves() -> None:
    sums = UsageSums("g")
    sums.add(CALLER, facts(file_lines=500, chars_out=4_000), 1.0, NOW)
    sums.add(CALLER, facts(call="grep_code", chars_out=4_000), 1.0, NOW)
    found = report(hours_of(sums), "acme", NOW.replace(minute=0), NOW, UsageBy.CALL)
    assert found.total.tokens_of_files == 500 * TOKENS_PER_LINE
    assert found.total.tokens_saved == 500 * TOKENS_PER_LINE - 1_000


def test_a_search_stands_for_the_files_whose_code_it_shows() -> None:
    hit = {
        "repo": "acme/app",
        "file_path": "a.py",
        "start_line": 1,
        "end_line": 2,
        "score": 1,
        "file_lines": 80,
    }
    receipt = {
        "repo": "acme/app",
        "indexed_commit": "",
        "head_commit": "",
        "lag_seconds": 0,
        "indexed_at": None,
        "corpus_version": 1,
        "files_indexed": 1,
        "files_skipped": 0,
        "files_failed": 0,
        "cached": True,
    }
    reply = SearchReply.model_validate(
        {
            "results": [
                hit | {"content": "x"},
                hit | {"content": "y", "start_line": 9},
                hit | {"content": "", "file_path": "b.py"},
            ],
            "confidence": "high",
            "query_intent": "general",
            "receipt": receipt,
        }
    )
    found = facts(repo="")
    found.note(SearchRequest(tenant="acme", query="q"), reply)
    assert (found.repo, found.cached, found.file_lines, found.query) == ("acme/app", True, 80, "q")


def test_the_tenants_with_the_most_calls_are_shown_and_the_others_as_one() -> None:
    sums, registry = UsageSums("g"), CollectorRegistry()
    metrics = UsageMetrics(registry)
    for number in range(TENANTS_SHOWN_MAX + 2):
        caller = replace(CALLER, tenant=f"t{number}")
        for _ in range(number + 1):
            sums.add(caller, facts(code="internal", chars_in=40), 500.0, NOW)
    metrics.show_use(sums.by_tenant(NOW))

    def shown(tenant: str, kind: str) -> float | None:
        return registry.get_sample_value("prism_tenant_use", {"tenant": tenant, "kind": kind})

    most = TENANTS_SHOWN_MAX + 2
    assert [shown(f"t{most - 1}", kind) for kind in ("calls", "errors", "tokens", "seconds")] == [
        most,
        most,
        10 * most,
        most / 2,
    ]
    assert (shown("t2", "calls"), shown("t1", "calls"), shown("other", "calls")) == (3, None, 2 + 1)
    metrics.show_use(sums.by_tenant(NOW + timedelta(hours=1)))
    assert (shown("t2", "calls"), shown("other", "calls")) == (None, 0)


def test_a_tenant_named_like_the_others_is_one_of_them() -> None:
    sums, registry = UsageSums("g"), CollectorRegistry()
    for tenant in ("other", "acme"):
        sums.add(replace(CALLER, tenant=tenant), facts(), 1.0, NOW)
    UsageMetrics(registry).show_use(sums.by_tenant(NOW))
    labels = {"tenant": "other", "kind": "calls"}
    assert registry.get_sample_value("prism_tenant_use", labels) == 1


def test_the_days_of_language_models_are_added_up_by_model_and_purpose() -> None:
    def use(model: str, purpose: ModelPurpose, calls: int) -> ModelUse:
        return ModelUse(
            purpose=purpose,
            model=model,
            calls=calls,
            failures=1,
            tokens_in=10,
            tokens_out=2,
            microdollars=1_500_000,
        )

    days = [
        ModelDay(
            tenant="acme",
            day=NOW.date(),
            uses=(use("a", ModelPurpose.WIKI, 1), use("b", ModelPurpose.WIKI, 2)),
        ),
        ModelDay(
            tenant="acme",
            day=NOW.date(),
            uses=(use("a", ModelPurpose.WIKI, 4), use("a", ModelPurpose.TAGS, 1)),
        ),
    ]
    found = report((), "acme", NOW, NOW, UsageBy.CALL, days=days).models
    assert [(one.model, one.purpose, one.calls, one.dollars) for one in found] == [
        ("a", ModelPurpose.WIKI, 5, 3.0),
        ("b", ModelPurpose.WIKI, 2, 1.5),
        ("a", ModelPurpose.TAGS, 1, 1.5),
    ]
    assert (found[0].failures, found[0].tokens_in, found[0].tokens_out) == (2, 20, 4)


def test_a_report_is_narrowed_to_a_repository_a_caller_and_a_call() -> None:
    sums = UsageSums("g")
    other = replace(CALLER, id="token:2", label="reviewer")
    for caller, repo, call in (
        (CALLER, "acme/app", "search_code"), (other, "acme/app", "grep_code"), (other, "acme/app", "grep_code"),
        (other, "acme/till", "grep_code"),
    ):  # fmt: skip
        sums.add(caller, facts(repo=repo, call=call), 1.0, NOW)
    hours = hours_of(sums)

    def groups(by: UsageBy, **of: str) -> dict[str, int]:
        told = report(hours, "acme", NOW - timedelta(hours=2), NOW, by, of=UsageOf(**of))
        assert told.total.calls == sum(group.calls for group in told.groups)
        return {group.label or group.key: group.calls for group in told.groups}

    assert groups(UsageBy.CALLER, repository="acme/app") == {"reviewer": 2, "ci": 1}
    assert groups(UsageBy.REPOSITORY, caller="reviewer") == {"acme/app": 2, "acme/till": 1}
    assert groups(UsageBy.REPOSITORY, caller="token:2", call="search_code") == {}
