"""Decides which URLs may be cloned: a user's URL must not reach private hosts or run a command.

See https://owasp.org/www-community/attacks/Server_Side_Request_Forgery. Known attacks on git itself are
CVE-2017-1000117 (a host that starts with a dash) and the `ext::` transport, which runs a command.
"""

import ipaddress
import os
import re
import socket
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.limits import (
    CLONE_BYTES_MAX,
    CLONE_SECONDS_MAX,
    CLONE_SILENCE_SECONDS_MAX,
    GIT_MEMORY_BYTES_MAX,
)

URL_CHARS_MAX = 2_048
PORTS = {"https": 443, "http": 80, "ssh": 22, "git": 9418, "file": 0}

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# Metadata and control plane inside Azure, at a public address.
_METADATA = frozenset({ipaddress.ip_address("168.63.129.16")})
# IPv6 networks whose last 32 bits are the IPv4 address that packets go to: NAT64 (RFC 6052),
# IPv4-compatible (RFC 4291) and IPv4-translated (RFC 2765).
_ENDS_IN_IPV4 = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")))
# Some versions of Python call these global: local-use NAT64 (RFC 8215), site-local (RFC 3879), ORCHID
# (RFC 4843), and everything outside 2000::/3, the range of public addresses
# (https://www.iana.org/assignments/ipv6-unicast-address-assignments).
_PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC_IPV6 = tuple(map(ipaddress.IPv6Network, ("2001:10::/28", "2001:db8::/32", "3fff::/20")))

OTHER_SOURCE = "Give a URL such as https://github.com/owner/name, or index a folder: prism index PATH"

_UNSAFE = re.compile(r"[\s\x00-\x20\x7f-\xa0\\\"'<>`|;]")
_HELPER = re.compile(r"[A-Za-z0-9+.-]*::")
# Bounded parts: the time is linear in the text.
_SCP = re.compile(r"(?:(?P<user>[\w.+-]{1,100})@)?(?P<host>[\w.-]{1,253}):(?P<path>(?!//).+)", re.ASCII)
_HOST = re.compile(r"(?!-)[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]+")
_NAME_CHARS = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class CloneRules:
    """What may be cloned, and how much. `schemes` may include `file`, for tests and air-gapped machines."""

    schemes: frozenset[str] = frozenset({"https", "http", "ssh", "git"})
    # Allowed hosts, in lower case. Empty: every host.
    hosts: frozenset[str] = frozenset()
    # Allow addresses that are not public: loopback, private networks, link-local, metadata.
    allow_private: bool = False
    bytes_max: int = CLONE_BYTES_MAX
    seconds_max: float = CLONE_SECONDS_MAX
    depth: int = 1  # commits of a branch
    # How long the server may send nothing.
    silence_s_max: int = CLONE_SILENCE_SECONDS_MAX
    # Memory of each git process.
    memory_bytes_max: int = GIT_MEMORY_BYTES_MAX
    # File of ssh host keys: the key of an unknown server is accepted, a changed key refused.
    known_hosts: str = os.devnull


@dataclass(frozen=True, slots=True)
class CloneUrl:
    """A URL that may be cloned."""

    url: str  # without credentials: may be stored and shown
    scheme: str
    host: str
    port: int
    name: str  # owner/name, from the path
    # The checked addresses, the only ones to connect to. Empty for `file`.
    addresses: tuple[str, ...]
    # `user:password` of an HTTP URL; for ssh, the password is a private key. Never shown.
    credentials: str = field(default="", repr=False)


def check_url(url: str, rules: CloneRules) -> CloneUrl:
    """Parses a URL, resolves its host and checks both.

    Raises PrismError CLONE_REFUSED, CLONE_FAILED (unknown host).
    """
    if len(url) > URL_CHARS_MAX:
        raise _refused("it is too long")
    if not url or url.startswith("-") or _HELPER.match(url) or _UNSAFE.search(url):
        raise _refused("it is not a URL")
    found = _SCP.fullmatch(url) if "://" not in url else None
    parsed = _parse_scp(url, found) if found else _parse(url)
    if parsed.scheme not in rules.schemes:
        more = _allowing("clone_schemes", ",".join(sorted(rules.schemes | {parsed.scheme})))
        raise _refused(
            f"the scheme {parsed.scheme} is not in PRISM_CLONE_SCHEMES ({','.join(sorted(rules.schemes))})",
            # A file of the host is never offered.
            OTHER_SOURCE if parsed.scheme == "file" else more,
            schemes=sorted(rules.schemes),
        )
    if rules.hosts and parsed.host not in rules.hosts:
        raise _refused(
            f"the host {parsed.host} is not on the list of allowed hosts", hosts=sorted(rules.hosts)
        )
    if parsed.scheme == "file":
        return parsed
    addresses = _resolve(parsed.host, parsed.port)
    if not rules.allow_private:
        _refuse_private(parsed.host, addresses)
    return CloneUrl(
        url=parsed.url,
        scheme=parsed.scheme,
        host=parsed.host,
        port=parsed.port,
        name=parsed.name,
        addresses=tuple(map(str, addresses)),
        credentials=parsed.credentials,
    )


def normalized_location(url: str) -> str:
    """Returns `host/owner/name` in lower case, equal for all spellings of a location; empty if not a URL."""
    found = _SCP.fullmatch(url) if "://" not in url else None
    try:
        host, path = (found["host"], found["path"]) if found else urlsplit(url)[1:3]
    except ValueError:
        return ""
    host = host.rpartition("@")[2]
    host = host if host.endswith("]") else host.partition(":")[0]
    path = path.strip("/").removesuffix(".git")
    return f"{host}/{path}".lower() if host and path else ""


def git_server(url: str) -> str:
    """Returns the host of a URL in lower case, with its port if any; empty if it is not a URL."""
    found = _SCP.fullmatch(url) if "://" not in url else None
    if found:
        return found["host"].lower()
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def is_public(address: IpAddress) -> bool:
    """Returns whether an address is publicly reachable. IPv4 inside IPv6 is checked as IPv4."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = _embedded(address)
        if inner is not None:
            return is_public(inner)
        if address not in _PUBLIC_IPV6 or any(address in network for network in _NOT_PUBLIC_IPV6):
            return False
    return address.is_global and not address.is_multicast and address not in _METADATA


def _parse_scp(url: str, found: re.Match[str]) -> CloneUrl:
    """Parses `git@host:owner/name.git`.

    The URL keeps the user, which names the service and is not a secret.
    """
    host, path = found["host"].lower(), found["path"]
    if found["host"].startswith("-") or path.startswith("-") or (found["user"] or "").startswith("-"):
        raise _refused("a part of it looks like an option")
    if len(host) == 1 and not found["user"]:
        raise _refused("it is a path with a drive letter, on a machine that Prism does not see")
    return CloneUrl(url=url, scheme="ssh", host=host, port=22, name=_name(host, path), addresses=())


def _parse(url: str) -> CloneUrl:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _refused("it is not a URL") from None
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise _refused("git cannot clone from its scheme" if scheme else "it has no scheme such as https://")
    if parts.query or parts.fragment:
        raise _refused("it has a query or a fragment")
    host = _host(parts, scheme)
    user = unquote(parts.username or "")
    if user.startswith("-"):
        raise _refused("a part of it looks like an option")
    shown_user = f"{parts.username}@" if scheme == "ssh" and parts.username else ""
    shown_host = f"[{host}]" if ":" in host else host
    shown_port = f":{port}" if port not in (None, PORTS[scheme]) else ""
    password = unquote(parts.password or "")
    return CloneUrl(
        url=f"{scheme}://{shown_user}{shown_host}{shown_port}{parts.path}",
        scheme=scheme,
        host=host,
        port=port or PORTS[scheme],
        name=_name(host, unquote(parts.path)),
        addresses=(),
        credentials=f"{user}:{password}" if scheme in ("https", "http") and (user or password) else "",
    )


def _host(parts: SplitResult, scheme: str) -> str:
    host = (parts.hostname or "").rstrip(".")
    if scheme == "file":
        if host not in ("", "localhost"):
            raise _refused("a file URL has no host")
        return ""
    if not _HOST.fullmatch(host):
        raise _refused("it has no valid host")
    return host


def _name(host: str, path: str) -> str:
    """Returns owner/name, with all folders to keep nested groups distinct.

    A lone name gets the host first.
    """
    segments = [
        segment for segment in path.removesuffix("/").removesuffix(".git").split("/") if segment.strip(".~")
    ]
    if not segments:
        raise _refused("it has no path")
    if not host:
        segments = segments[-2:]
    elif len(segments) == 1:
        segments = [host, *segments]
    return "/".join(_NAME_CHARS.sub("-", segment).strip("-") or "-" for segment in segments)


def _resolve(host: str, port: int) -> list[IpAddress]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise PrismError(
            ErrorCode.CLONE_FAILED,
            f"The host {host} cannot be resolved.",
            "Check the host name, and the DNS of this machine.",
        ) from None
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    return list(dict.fromkeys(addresses))


def _refuse_private(host: str, addresses: list[IpAddress]) -> None:
    # One private address is enough to refuse, because any of them might be used.
    if not addresses or not all(map(is_public, addresses)):
        raise _refused(
            f"the host {host} is in a private network, and PRISM_CLONE_ALLOW_PRIVATE is not set",
            _allowing("clone_allow_private", "true"),
        )


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if any(address in network for network in _ENDS_IN_IPV4):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)


def _refused(problem: str, next_action: str = OTHER_SOURCE, **details: object) -> PrismError:
    """Returns the error. Its text omits the URL, which may contain a password."""
    return PrismError(
        ErrorCode.CLONE_REFUSED, f"The URL cannot be cloned: {problem}.", next_action, **details
    )


def _allowing(key: str, value: str) -> str:
    """Returns how the operator allows what was refused."""
    return (
        f"To allow it, set PRISM_{key.upper()}={value} for ingest; with prism up: `prism config set {key} {value}`, then "
        "`prism down` and `prism up`. Or index a folder: prism index PATH"
    )
