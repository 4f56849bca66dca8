"""Secrets are redacted, and nothing else is. The samples are invented: none of them opens anything."""

import random
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_source.secrets import redact

DICE = random.Random(7)
LETTERS = string.ascii_letters + string.digits


def some(count: int, alphabet: str = LETTERS) -> str:
    return "".join(DICE.choice(alphabet) for _ in range(count))


def key_block(kind: str = "RSA ", *, lines: int = 20, end: str = "\n") -> str:
    body = end.join(some(64, LETTERS + "+/") for _ in range(lines))
    return f"-----BEGIN {kind}PRIVATE KEY-----{end}{body}{end}-----END {kind}PRIVATE KEY-----{end}"


HEX = "0123456789abcdef"
SAMPLES = [
    ("aws-access-key-id", "AKIA" + some(16, "ABCDEFGHIJKLMNPQRSTUVWXYZ234567")),
    ("aws-secret-access-key", 'aws_secret_access_key = "{}"', some(40, LETTERS + "/+")),
    ("aws-secret-access-key", "AWS_SECRET_ACCESS_KEY={}\n", some(40, LETTERS + "/+")),
    ("github-token", "ghp_" + some(36)),
    ("github-token", "ghs_" + some(36)),
    ("prism-token", "prism_" + some(38)),
    ("github-token", "github_pat_" + some(22) + "_" + some(59)),
    ("gitlab-token", "glpat-" + some(20)),
    ("slack-token", "xoxb-" + some(12, "123456789") + "-" + some(24)),
    (
        "slack-webhook",
        "https://hooks.slack.com/services/{}",
        "T" + some(8, "ABCDEF12") + "/B" + some(8, "ABCDEF12") + "/" + some(24),
    ),
    ("stripe-key", "sk_live_" + some(24)),
    ("stripe-key", "rk_live_" + some(40)),
    ("google-api-key", "AIza" + some(35)),
    ("google-oauth-secret", "GOCSPX-" + some(28)),
    ("npm-token", "npm_" + some(36)),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc" + some(80)),
    ("sendgrid-key", "SG." + some(22) + "." + some(43)),
    ("twilio-key", "SK" + some(32, HEX)),
    ("twilio-token", "TWILIO_AUTH_TOKEN = '{}'", some(32, HEX)),
    ("anthropic-key", "sk-ant-api03-" + some(93)),
    ("openai-key", "sk-proj-" + some(40) + "T3BlbkFJ" + some(40)),
    ("openai-key", "sk-" + some(48)),
    ("jwt", "eyJ" + some(20) + ".eyJ" + some(60) + "." + some(43)),
    ("azure-storage-key", "DefaultEndpointsProtocol=https;AccountKey={};x", some(86, LETTERS + "+/") + "=="),
    ("basic-auth-url", "postgres://app:{}@db.internal:5432/x", "s3cr3t-" + some(6)),
    ("basic-auth-url", "https://{}@example.org/", "deploy:p%40ss" + some(8)),
    ("secret-value", 'password = "{}"', some(20) + "aB12"),
    ("secret-value", '"client_secret": "{}",', some(24) + "aB12"),
    ("secret-value", "apiKey: '{}'", some(32, HEX)),
    ("secret-value", "config['api_token'] => \"{}\"", some(24) + "aB12"),
    ("secret-value", "export DB_PASSWORD={}\n", some(24) + "aB12"),
]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample[0])
def test_secrets_are_redacted_and_their_surroundings_kept(sample):
    rule, template, secret = sample if len(sample) == 3 else (sample[0], 'x = f("{}")', sample[1])
    user = secret.partition(":")[0] + ":" if ":" in secret else ""
    text = "import os\r\n" + template.replace("{}", secret) + "\nend"
    expected = "import os\r\n" + template.replace("{}", f"{user}[REDACTED:{rule}]") + "\nend"
    assert redact(text) == (expected, (rule,))
    assert redact(expected) == (expected, ())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("kind", ["", "RSA ", "OPENSSH ", "EC ", "ENCRYPTED "])
def test_a_private_key_is_redacted_and_its_lines_kept(kind, end):
    text = f"before{end}{key_block(kind, end=end)}after{end}"
    redacted, rules = redact(text)
    assert rules == ("private-key",)
    lines = redacted.split(end)
    assert lines[:3] == ["before", f"-----BEGIN {kind}PRIVATE KEY-----", "[REDACTED:private-key]"]
    assert set(lines[3:-3]) == {""}
    assert lines[-3:] == [f"-----END {kind}PRIVATE KEY-----", "after", ""]
    assert len(lines) == len(text.split(end))


def test_a_key_of_a_service_account_is_redacted_in_its_line():
    text = '{"private_key": "' + key_block("", end="\\n") + '", "client_email": "x@y"}'
    begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----\\n"
    assert (
        redact(text).text
        == '{"private_key": "' + begin + "[REDACTED:private-key]" + end + '", "client_email": "x@y"}'
    )


def test_a_truncated_private_key_is_redacted_too():
    text = "".join(key_block().splitlines(keepends=True)[:10])
    redacted, rules = redact(text)
    assert rules == ("private-key",)
    assert not re.search(r"[A-Za-z0-9+/]{40}", redacted)
    assert redacted.count("\n") == text.count("\n")


def test_a_key_after_a_mention_of_its_header_is_redacted():
    mention = 'if line == "-----BEGIN PRIVATE KEY-----":\n    start()\n'
    redacted, rules = redact(mention + key_block())
    assert rules == ("private-key",)
    assert redacted.startswith(mention)


@pytest.mark.parametrize(
    "text",
    [
        'TOKEN = re.compile(r"ghp_[A-Za-z0-9]{36}")',
        'if token.startswith(("ghp_", "glpat-", "xoxb-", "sk_live_", "AIza")):',
        'begin = "-----BEGIN RSA PRIVATE KEY-----"\nend = "-----END RSA PRIVATE KEY-----"\n',
        'def find(a):\n    return a\nx = "-----BEGIN PRIVATE KEY-----" + body() + other(1, 2) + "-----END PRIVATE KEY-----"',
        "-----BEGIN CERTIFICATE-----\nMIIBhTCCASugAwIBAgIQIRi6zePL6mKjOipn+dNuaTAKBggqhkjOPQQDAjAS\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIBhTCCASugAwIBAgIQIRi6zePL6mKjOipn+dNuaTAKBggqhkjOPQQDAjAS\n-----END PUBLIC KEY-----",
        "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "https://user:password@example.com/",
        "https://user:pass%20pass@example.com/",
        "postgres://postgres:postgres@localhost/db",
        "https://{user}:{password}@{host}/",
        "https://abc:xyz@example.com/",
        '"AutoNamingFullAccess": "arn:aws:iam::aws:policy/AmazonRoute53AutoNamingFullAccess"',
        "https://$USER:$PASS@host/",
        "http://localhost:8080/@scope/package",
        "ssh://git@github.com/a/b",
        'password = "correct horse battery staple"',
        'password = os.environ["DATABASE_PASSWORD"]',
        'password = "${DATABASE_PASSWORD_FROM_ENV}"',
        'SECRET_KEY = "change-me-in-production-please"',
        'token_url = "https://example.com/oauth/Token2/Get1"',
        'secret_name = "my-application-database-secret"',
        "auth_token = getAuthTokenFromSession123(request)",
        "API_KEY=$(cat /run/secrets/api_key)",
        "PASSWORD_HASHERS = ['django.contrib.auth.hashers.PBKDF2PasswordHasher']",
        'tokenizer = "BertTokenizerFast"',
        'commit = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"',
        "integrity: sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        "sk-learn-contrib-package-name-that-is-long",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        " * Get the default password broker name.",
        'object-keys: "npm:^1.1.1"\njs-tokens: "npm:^4.0.0"',
    ],
)
def test_code_that_mentions_secrets_is_kept(text):
    assert redact(text) == (text, ())


def test_every_rule_that_matched_is_named_once():
    text = f"a = 'ghp_{some(36)}'\nb = 'ghp_{some(36)}'\nc = 'glpat-{some(20)}'\n"
    redacted, rules = redact(text)
    assert rules == ("github-token", "gitlab-token")
    assert redacted.count("[REDACTED:github-token]") == 2


FRAGMENTS = st.sampled_from(
    [
        *(sample[1].replace("{}", sample[2]) if len(sample) == 3 else sample[1] for sample in SAMPLES),
        key_block(),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "password = ",
            '"',
            "'",
            "://",
            "@",
            ":",
            "=",
            "\n",
        ),
        *("\r\n", " ", "\\n", "token", "AccountKey=", "[REDACTED:jwt]", "x", "eyJ", "aws_secret"),
    ]
)


@given(st.lists(st.one_of(FRAGMENTS, st.text(max_size=20)), max_size=12).map("".join))
def test_redaction_is_idempotent_and_loses_no_line(text):
    redacted, _ = redact(text)
    assert redact(redacted) == (redacted, ())
    for end in ("\n", "\r"):
        assert redacted.count(end) == text.count(end)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_any_text_is_accepted(text):
    redact(text).text.encode()


@pytest.mark.parametrize(
    "hostile",
    [
        "password = '",
        "eyJaaaaaaaaaaa.",
        "a://b:",
        "-----BEGIN PRIVATE KEY-----\n",
        "aws" * 3,
        "A" * 50,
        "sk-",
    ],
)
def test_hostile_text_costs_linear_time(hostile):
    text = hostile * (1_000_000 // len(hostile))
    assert len(redact(text).text) == len(text)
