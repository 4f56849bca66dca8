"""Files that hold secrets by their nature, and rules that an operator may add."""

import pytest

from prism_contracts.code import SkipReason
from prism_contracts.errors import PrismError
from prism_source.limits import SourceLimits
from prism_source.secret_files import is_env_file, is_withheld
from prism_source.secret_policy import DEFAULT_POLICY, OwnRule, SecretPolicy, read_policy
from prism_source.secrets import redact
from prism_source.text import skip_reason

KEY = b"-----BEGIN " + b"PRIVATE KEY-----\nabc\n"
CERTIFICATE = b"-----BEGIN CERTIFICATE-----\nabc\n"


def test_secret_files_are_withheld_by_name():
    paths = (
        "id_rsa .ssh/id_ed25519 a/store.p12 a.pfx a.jks release.keystore k.ppk prod.tfstate x/terraform.tfstate.backup .netrc"
        " _netrc .pgpass .pypirc .git-credentials web/.htpasswd .dockercfg .docker/config.json .aws/credentials kubeconfig"
        " .kube/config prod.kubeconfig config/master.key ID_RSA .vault-token"
    )
    assert [path for path in paths.split() if not is_withheld(path, b"x", DEFAULT_POLICY)] == []


def test_files_that_only_sound_secret_are_not_withheld():
    paths = "id_rsa.pub src/netrc.py docs/credentials.md keystore.go .env .env.example config.json tfstate.go credentials"
    assert [path for path in paths.split() if is_withheld(path, b"{}", DEFAULT_POLICY)] == []


@pytest.mark.parametrize(
    ("path", "secret", "public"),
    [
        ("tls/server.pem", KEY, CERTIFICATE),
        ("tls/server.key", KEY, b"kbd layout"),
        (".npmrc", b"//r/:_authToken=x", b"save-exact=true"),
        ("credentials", b"aws_secret_access_key = x", b"text"),
        ("app.json", b'{"type": "service_account"}', b'{"type": "module"}'),
        ("ci/config.json", b'{"auths": {}}', b'{"a": 1}'),
    ],
)
def test_some_files_are_withheld_by_content(path, secret, public):
    assert skip_reason(len(secret), secret, SourceLimits(), path) is SkipReason.SECRET_FILE
    assert skip_reason(len(public), public, SourceLimits(), path) is None


def test_withholding_can_be_switched_off_and_extended():
    assert not is_withheld("id_rsa", KEY, SecretPolicy(withhold=False))
    assert is_withheld("ops/passwords.txt", b"x", SecretPolicy(file_patterns=("^ops/",)))


def test_an_env_file_keeps_its_names_and_loses_its_values():
    text = (
        'DEBUG=true\nPORT=8000\n# about\nNAME="my house" # why\nexport GREETING=hello there\nEMPTY=\nA=$B\n'
    )
    hidden = "[REDACTED:env-file]"
    expected = text.replace("my house", hidden).replace("hello there", hidden)
    redacted = redact(text, path="app/.env.production")
    assert redacted == (expected, ("env-file",))
    assert redact(redacted.text, path="app/.env.production").text == expected
    assert redact(text, path=".env.example") == (text, ())


def test_env_files_are_known_by_name():
    assert all(map(is_env_file, (".env", "a/.env.local", "prod.env", ".envrc", "x/.ENV")))
    assert not any(map(is_env_file, (".env.example", ".env.sample", ".env.dist", "env.py", "environment")))


def test_own_rules_redact_and_change_the_version():
    policy = read_policy("badge=BADGE-[0-9]{6}\n pin = pin:([0-9]+)\n", withhold=True, file_patterns="")
    assert policy.rules == (OwnRule("badge", "BADGE-[0-9]{6}"), OwnRule("pin", "pin:([0-9]+)"))
    assert redact("BADGE-123456 pin:77", policy.rules).text == "[REDACTED:badge] pin:[REDACTED:pin]"
    assert policy.version != DEFAULT_POLICY.version


@pytest.mark.parametrize("rules", ["a=(", "A b=x", "a=x*", "a=", "a=" + "x" * 501, "a=x\n" * 51, r"a=(?=x)"])
def test_own_rules_that_cannot_work_are_refused(rules):
    with pytest.raises(PrismError, match=r"pattern|rule name"):
        read_policy(rules, withhold=True, file_patterns="")
