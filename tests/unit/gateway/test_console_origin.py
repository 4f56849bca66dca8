"""Where requests of browsers come from, and where they may go."""

import pytest

from prism_gateway.console.same_origin import HOME, cookie_name, is_same_origin, local_path, may_sign_in

HOST = {"host": "prism.acme.dev"}


@pytest.mark.parametrize(
    ("headers", "is_ours"),
    [
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "cross-site", "origin": "https://prism.acme.dev"}, False),
        ({"origin": "https://prism.acme.dev"}, True),
        ({"origin": "https://prism.acme.dev.evil.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": ""}, False),
        ({}, False),
    ],
)
def test_a_change_comes_from_the_console_itself(headers: dict[str, str], is_ours: bool) -> None:
    assert is_same_origin(HOST | headers) is is_ours


def test_behind_a_proxy_the_public_address_is_ours_too() -> None:
    headers = {"host": "gateway:8780", "origin": "https://prism.acme.dev"}
    assert is_same_origin(headers, "https://prism.acme.dev")
    assert not is_same_origin(headers)


@pytest.mark.parametrize("wanted", ["/repos", "/search?q=a&mode=exact", "/r/acme/app/-/blob/HEAD/a.py", "/"])
def test_a_local_path_is_where_a_sign_in_leads(wanted: str) -> None:
    assert local_path(wanted) == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        "",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https://evil.example",
        "javascript:alert(1)",
        "/a\nb",
        "/a\r\nset-cookie: a=b",
        "/\t/evil.example",
        "repos",
        "/" + "a" * 3_000,
    ],
)
def test_any_other_address_leads_to_the_first_page(wanted: str) -> None:
    assert local_path(wanted) == HOME


@pytest.mark.parametrize(
    ("scheme", "host", "public_url", "may"),
    [
        ("https", "prism.acme.dev", "", True),
        ("http", "127.0.0.1:8780", "", True),
        ("http", "localhost:8780", "", True),
        ("http", "[::1]:8780", "", True),
        ("http", "prism.acme.dev", "", False),
        ("http", "127.0.0.1.evil.example", "", False),
        ("http", "gateway:8780", "https://prism.acme.dev", True),
        ("http", "prism.acme.dev", "http://prism.acme.dev", True),
        ("http", "other.acme.dev", "http://prism.acme.dev", False),
    ],
)
def test_a_token_is_sent_encrypted_or_locally(scheme: str, host: str, public_url: str, may: bool) -> None:
    assert may_sign_in(scheme, host, public_url) is may


def test_the_cookie_of_https_is_bound_to_its_host() -> None:
    assert cookie_name(is_secure=True).startswith("__Host-")
    assert not cookie_name(is_secure=False).startswith("__")
