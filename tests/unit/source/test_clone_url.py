"""Which URLs are cloned. No test here contacts a name server: the resolver is a stub."""

import ipaddress
import socket

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.clone_url import CloneRules, check_url, git_server, is_public, normalized_location

PUBLIC = "140.82.121.3"


@pytest.fixture(autouse=True)
def hosts(monkeypatch):
    known = {
        "github.com": [PUBLIC],
        "gitlab.example.com": ["203.0.112.1", "2606:4700::1111"],
        "inside.example.com": ["10.0.0.5"],
        "both.example.com": [PUBLIC, "127.0.0.1"],
        "metadata.example.com": ["169.254.169.254"],
    }

    def resolve(host, port, **_options):
        try:
            addresses = [str(ipaddress.ip_address(host))]
        except ValueError:
            addresses = known.get(host, [])
        if not addresses:
            raise socket.gaierror(-2, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return known


def refusal(url: str, rules: CloneRules | None = None) -> PrismError:
    with pytest.raises(PrismError) as caught:
        check_url(url, rules or CloneRules())
    assert caught.value.body.next_action
    return caught.value


@pytest.mark.parametrize(
    ("url", "shown", "name"),
    [
        ("https://github.com/pallets/flask", "https://github.com/pallets/flask", "pallets/flask"),
        ("https://github.com/pallets/flask.git/", "https://github.com/pallets/flask.git/", "pallets/flask"),
        ("HTTPS://GitHub.com:443/a/b.git", "https://github.com/a/b.git", "a/b"),
        ("http://github.com:8080/a/b", "http://github.com:8080/a/b", "a/b"),
        ("https://github.com./a/b", "https://github.com/a/b", "a/b"),
        ("git://github.com/a/b", "git://github.com/a/b", "a/b"),
        ("ssh://git@github.com:2222/a/b.git", "ssh://git@github.com:2222/a/b.git", "a/b"),
        ("git@github.com:a/b.git", "git@github.com:a/b.git", "a/b"),
        (
            "https://gitlab.example.com/group/sub/b.git",
            "https://gitlab.example.com/group/sub/b.git",
            "group/sub/b",
        ),
        ("https://github.com/b.git", "https://github.com/b.git", "github.com/b"),
        ("https://user:pa%40ss@github.com/a/b", "https://github.com/a/b", "a/b"),
        ("https://ghp_token@github.com/a/b", "https://github.com/a/b", "a/b"),
        ("ssh://git:secret@github.com/a/b", "ssh://git@github.com/a/b", "a/b"),
    ],
)
def test_urls_are_normalized_and_named(url, shown, name):
    checked = check_url(url, CloneRules())
    assert (checked.url, checked.name) == (shown, name)


def test_credentials_are_separated_and_never_shown():
    checked = check_url("https://user:pa%40ss@github.com/a/b", CloneRules())
    assert checked.credentials == "user:pa@ss"
    assert "pa@ss" not in repr(checked)
    assert checked.addresses == (PUBLIC,)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "-u",
        "--upload-pack=touch x",
        "ext::sh -c touch% x",
        "fd::7",
        "https::github.com/a/b",
        "/srv/repo",
        "C:/code/app",
        "f:x",
        "./repo",
        "repo",
        "file:///srv/repo",
        "ftp://github.com/a/b",
        "javascript://github.com/a/b",
        "https://",
        "https:///a/b",
        "https://github.com",
        "https://github.com/",
        "https://github.com/a/b?x=1",
        "https://github.com/a/b#main",
        "https://github.com:99999/a/b",
        "https://[::1/a/b",
        "https://git hub.com/a/b",
        "https://github.com/a/b\n-x",
        "https://github.com\\@inside.example.com/a/b",
        "ssh://-oProxyCommand=touch/a/b",
        "ssh://-x@github.com/a/b",
        "-x@github.com:a/b",
        "git@-x:a/b",
        "git@github.com:-x",
        "https://" + "a" * 2_050,
    ],
)
def test_invalid_urls_are_refused(url):
    assert refusal(url).code is ErrorCode.CLONE_REFUSED


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.100.100.200",
        "168.63.129.16",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "[::1]",
        "[::]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "inside.example.com",
        "both.example.com",
        "metadata.example.com",
    ],
)
def test_private_addresses_are_refused_unless_allowed(host):
    url = f"https://{host}/a/b"
    assert refusal(url).code is ErrorCode.CLONE_REFUSED
    assert refusal(f"ssh://git@{host}/a/b").code is ErrorCode.CLONE_REFUSED
    assert check_url(url, CloneRules(allow_private=True)).name == "a/b"


def test_public_addresses_are_public():
    for address in (PUBLIC, "2606:4700::1111", "::ffff:140.82.121.3", "64:ff9b::8c52:7903"):
        assert is_public(ipaddress.ip_address(address))


def test_ipv4_inside_ipv6_is_judged_as_ipv4():
    for address in (
        *("::127.0.0.1", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
        "2001:0:4136:e378:8000:63bf:80ff:fffe",  # Teredo, of 127.0.0.1
    ):
        assert not is_public(ipaddress.ip_address(address)), address


def test_ranges_that_were_withdrawn_are_not_public():
    for address in ("fec0::1", "64:ff9b:1::7f00:1", "2001:10::1", "3fff::1", "4000::1", "100::1", "fc00::1"):
        assert not is_public(ipaddress.ip_address(address)), address


def test_a_refusal_names_the_setting_that_allows_it():
    https = CloneRules(frozenset({"https"}))
    scheme = refusal(f"git://{PUBLIC}/a/b", https).body
    assert "PRISM_CLONE_SCHEMES" in scheme.message
    assert "prism config set clone_schemes git,https" in scheme.next_action
    private = refusal("https://127.0.0.1/a/b").body
    assert "PRISM_CLONE_ALLOW_PRIVATE" in private.message
    assert "prism config set clone_allow_private true" in private.next_action
    assert "clone_schemes" not in refusal("file:///srv/git", https).body.next_action


def test_the_server_of_a_url_has_the_port_and_no_user():
    assert git_server("https://ada:x@Git.Example.org:8443/a/b") == "git.example.org:8443"
    assert git_server("git@git.example.org:a/b.git") == "git.example.org"
    assert git_server("ssh://git@git.example.org:2222/a/b") == "git.example.org:2222"


def test_schemes_and_hosts_are_on_a_list():
    assert (
        refusal("git://github.com/a/b", CloneRules(schemes=frozenset({"https"}))).code
        is ErrorCode.CLONE_REFUSED
    )
    only = CloneRules(hosts=frozenset({"github.com"}))
    assert check_url("https://GitHub.com/a/b", only).host == "github.com"
    assert refusal("https://gitlab.example.com/a/b", only).code is ErrorCode.CLONE_REFUSED
    files = CloneRules(schemes=frozenset({"file"}))
    assert check_url("file:///srv/group/repo.git", files).name == "group/repo"
    assert refusal("file://github.com/srv/repo", files).code is ErrorCode.CLONE_REFUSED


def test_an_unknown_host_is_an_error_and_credentials_are_in_none():
    error = refusal("https://user:hunter2@unknown.example.com/a/b")
    assert error.code is ErrorCode.CLONE_FAILED
    for url in (
        "https://user:hunter2@unknown.example.com/a/b",
        "https://user:hunter2@10.0.0.1/a",
        "x://u:hunter2@h/a",
    ):
        assert "hunter2" not in refusal(url).body.model_dump_json()


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.org/Acme/App.git",
        "https://git.example.org/acme/app",
        "http://ada:secret@git.example.org:8080/acme/app/",
        "git@git.example.org:acme/app.git",
        "ssh://git@git.example.org:2222/acme/app.git",
    ],
)
def test_spellings_of_one_repository_are_equal(url):
    assert normalized_location(url) == "git.example.org/acme/app"


@pytest.mark.parametrize("url", ["", "upload", "https://", "https://host", "http://[::1/a", "/a/b"])
def test_an_invalid_url_names_no_repository(url):
    assert not normalized_location(url)
