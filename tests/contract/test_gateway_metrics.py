"""What the gateway counts of requests and calls of tools, read from its /metrics."""

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families

pytest_plugins = ["gateway_stack"]


@pytest.fixture
def count(stack):
    def value(name: str, **labels: str) -> float | None:
        return stack.metrics.get_sample_value(name, labels)

    return value


async def test_requests_are_counted_by_template_method_and_status(stack, count) -> None:
    async with stack.rest() as http:
        await http.post("/api/v1/search", json={"query": "main"})
        await http.get("/api/v1/repos/acme/app/status")
        await http.get("/api/v1/jobs/nowhere")
        await http.get("/api/v1/jobs/elsewhere")
        await http.request("PURGE", "/api/v1/search")
        await http.get("/no/such/path")

    def requests(route: str, method: str, status: str) -> float | None:
        return count("prism_http_requests_total", route=route, method=method, status=status)

    assert requests("/api/v1/search", "POST", "200") == 1
    assert requests("/api/v1/repos/{name}/status", "GET", "200") == 1
    assert requests("/api/v1/jobs/{job}", "GET", "404") == 2
    assert requests("/api/v1/search", "other", "405") == 1
    assert requests("other", "GET", "404") == 1
    assert count("prism_http_request_seconds_count", route="/api/v1/search", method="POST") == 1
    assert count("prism_http_requests_in_flight") == 0


async def test_refused_requests_are_counted_too(stack, count) -> None:
    async with stack.rest(Authorization="Bearer prism_wrong") as http:
        await http.post("/api/v1/search", json={"query": "main"})
        await http.post("/mcp", json={})
        await http.get("/api/v1/jobs/secret-of-a-tenant")
    for route, method in (("/api/v1/search", "POST"), ("/mcp", "POST"), ("other", "GET")):
        labels = {"route": route, "method": method, "status": "401"}
        assert count("prism_http_requests_total", **labels) == 1, route


async def test_bytes_of_bodies_are_counted(stack, count) -> None:
    async with stack.rest() as http:
        answer = await http.post("/api/v1/search", json={"query": "x" * 500})
    assert count("prism_http_bytes_total", direction="in") == len(answer.request.content)
    assert count("prism_http_bytes_total", direction="out") == len(answer.content)


async def test_calls_of_tools_are_counted_by_outcome(stack, count) -> None:
    def calls(tool: str, outcome: str) -> float | None:
        return count("prism_mcp_calls_total", tool=tool, outcome=outcome)

    assert (calls("search_code", "ok"), calls("search_code", "internal")) == (0, 0)
    async with stack.mcp() as client:
        await client.call_tool("search_code", {"query": "main"})
        await client.call_tool("search_code", {"query": "main", "repo": "no/such"})
        for name in ("no_such_tool", "another"):
            await client.call_tool(name, {})
    assert calls("search_code", "ok") == 1
    assert calls("search_code", "repo_not_found") == 1
    assert calls("other", "invalid_argument") == 2
    assert count("prism_mcp_call_seconds_count", tool="search_code") == 2


async def test_metrics_come_in_both_formats(stack) -> None:
    async with stack.rest(Authorization="") as http:
        plain = await http.get("/metrics")
        asked = await http.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert plain.headers["content-type"].startswith("text/plain")
    assert asked.headers["content-type"].startswith("application/openmetrics-text")
    families = {family.name for family in openmetrics_families(asked.text)}
    assert "prism_http_requests" in families
    assert families <= {family.name for family in text_string_to_metric_families(plain.text)}


async def test_a_scrape_shows_which_checks_pass(stack) -> None:
    async def fail() -> None:
        raise ConnectionError

    stack.search.checks = {"qdrant": fail}
    async with stack.rest(Authorization="") as http:
        await http.get("/metrics")
    checks = ("nats", "tokens", "search")
    shown = {check: stack.metrics.get_sample_value("prism_ready", {"check": check}) for check in checks}
    assert shown == {"nats": 1, "tokens": 1, "search": 0}
