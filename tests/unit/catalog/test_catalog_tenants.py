"""Plans: their table, and what is in effect for a tenant."""

import pytest

from prism_catalog.tenants import PLANS, PlanSettings, Tenants
from prism_contracts.records import Limit
from prism_runtime.settings import InvalidSettingsError


def test_plans_are_added_and_replaced_by_name(monkeypatch) -> None:
    monkeypatch.setenv("PRISM_PLANS", '{"free": {"overlays": 1}, "gold": {"chunks": null}}')
    plans = PlanSettings().all_plans
    assert plans["free"] == {Limit.OVERLAYS: 1}
    assert plans["gold"] == {Limit.CHUNKS: None}
    assert plans["team"] == PLANS["team"]


@pytest.mark.parametrize("plans", ['{"free": {"overlay": 1}}', '{"free": {"overlays": -1}}', '{"free": 1}'])
def test_a_plan_with_an_unknown_limit_is_refused(monkeypatch, plans) -> None:
    monkeypatch.setenv("PRISM_PLANS", plans)
    with pytest.raises(InvalidSettingsError):
        PlanSettings()


def test_the_default_plan_must_exist() -> None:
    with pytest.raises(InvalidSettingsError, match="PRISM_PLAN_DEFAULT"):
        PlanSettings(plan_default="gold")


def test_a_tenant_without_a_record_has_the_default_plan() -> None:
    assert Tenants(PlanSettings()).limits_of("acme") == {}
    assert Tenants(PlanSettings(plan_default="free")).limits_of("acme") == PLANS["free"]
