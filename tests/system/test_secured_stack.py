"""Every service logs in to NATS with a key of its own: it can do all of its work, and nothing else."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_server import git_server
from nats.aio.client import Client as NatsClient
from scip_files import FILES
from secured_stack import QDRANT_KEY, SECRETS_KEY, SERVICES, TOKEN, SecuredStack
from secured_walk import COMMITTED, SECRET, SOURCES, walk

from prism_cli.logins.accounts import new_seed
from prism_cli.logins.certificates import Authority
from prism_contracts import names, topics
from prism_contracts.token_secrets import CHECKSUM_CHARS, PREFIX, RANDOM_CHARS
from prism_runtime.bus import Bus
from prism_runtime.nats_permissions import permissions_of
from prism_runtime.patience import StartError
from prism_runtime.settings import ServiceSettings

# A shorter line of source, such as `else:`, may be in a log for other reasons.
LINE_CHARS_MIN = 12
DEVELOPER_TOKEN = rf"\b{PREFIX}[0-9A-Za-z]{{{RANDOM_CHARS + CHECKSUM_CHARS}}}\b"
# Rights that the walk does not use: a service, a subject, and when it is used.
UNSEEN = {
    r".* \$JS\.FC\.": "NATS asks for flow control while it sends a large bucket",
    r".* \$JS\.API\.STREAM\.(UPDATE\.|NAMES)": "a release changes a stream; an object is read",
    r".* .*(OBJ_|\$O\.)prism_claims": "some services send large messages only about large repositories",
    r"(ingest|gateway) .*\.MSG\.GET\.PRISM_": "messages wait in a queue; an operator lists dead letters",
    r"(ingest|gateway) .*\.PURGE\.(KV|PRISM)_": "a tenant is forgotten an hour after its removal",
    r"gateway .*workspace\.documents_announced": "somebody pushes to the remote of the documents",
    r"gateway .*\.DIRECT\.GET\.PRISM_LIMITS_": "two gateways share a limit",
    r"ingest .*(prism_condemned|files\.dropped)": "content is dropped minutes after its last use",
    r"ingest .*prism_groups": "a tenant has groups of repositories",
    r"ingest .*prism_(anchors|documents|document_remotes|git_objects|git_refs|large_git_objects|tasks)": "a tenant that has documents and tasks is removed",
    r"ingest .*(search\.count_chunks|file\.failed)": "a tenant reaches its limit of chunks",
    r"ingest .*search\.point_counts": "an import looks for files that the store lost",
    r"ingest .*CONSUMER.*KV_prism_scip": "occurrences are an hour old, and no record names them",
    r"ingest .*MSG\.GET\.KV_prism_leases": "two copies want a lease",
    r"ingest .*files\.settled": "a message about a file cannot be handled",
    r"ingest .*pull\.merged": "a pull request is merged",
    r"ingest .*push\.received": "a poll finds a push without a webhook",
    r"search .*prism_answers": "the machine is quiet: the cache is left out while NATS is slow",
    r"search .*commit_files?": "an agent reads a commit that is fetched and not indexed",
    r"search .*embedder-deep": "the deep tier answers questions",
    r"indexer .*MSG\.GET\.KV_prism_layers": "the deep tier fills a branch that is pushed",
    r"scribe .*prism_((written_)?descriptions|model_days|tenants)": "a language model is set",
    r"gateway .*(prism_model_days|scribe\.answer_context)": "a language model is asked, and what it cost is shown",
    r"ingest .*prism_((written_)?descriptions|model_days)": "what a language model used or wrote is removed",
    r"scribe .*CONSUMER.*KV_prism_wiki": "pages are an hour old, and no record names them",
    r"scribe .*search\.read_file": "a wiki quotes documents and manifests, which the walk's repositories lack",
    r"scribe .*PURGE\.OBJ_prism_wiki_pages": "a page is written again after an import",
    r"workspace .*scribe\.write_tags": "an agent asks for tags",
    r"workspace .*MSG\.GET\.KV_prism_git_objects": "another copy wrote the document",
    r"workspace .*prism_large_git_objects": "a document is larger than a message",
    r"atlas .*MSG\.GET\.KV_prism_repositories": "an event comes before its repository's record",
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredStack]:
    made = SecuredStack(tmp_path_factory.mktemp("secured") / "data")
    try:
        made.up()
        yield made
    finally:
        made.down()


@pytest.fixture(scope="module")
def broken(stack: SecuredStack, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The calls of a walk through everything that no service answered."""
    folder = tmp_path_factory.mktemp("walk")
    with git_server(folder / "served") as url:
        return asyncio.run(walk(stack, folder, url))


def test_every_service_may_do_all_that_it_does(stack: SecuredStack, broken: list[str]) -> None:
    refused = [line for line in stack.nats_log().splitlines() if "Violation" in line]
    assert not refused, "\n".join(refused)
    assert not broken, "\n".join(broken)


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("service", SERVICES)
def test_a_service_has_no_right_that_it_does_not_use(stack: SecuredStack, service: str) -> None:
    published, subscribed = stack.used()[service]
    rights = permissions_of(service)
    unused = [
        right
        for right in rights.publish
        if not any(re.match(pattern, f"{service} {right}") for pattern in UNSEEN)
        # An event travels on either lane.
        and not any(matches(re.sub(r"\b(live|bulk)\b", "*", right), subject) for subject in published)
    ]
    unused += [right for right in rights.subscribe if not any(matches(right, one) for one in subscribed)]
    assert not unused, "\n".join(unused)


@pytest.mark.usefixtures("broken")
def test_no_log_has_a_secret_a_token_or_a_line_of_source(stack: SecuredStack) -> None:
    lines = {
        line.strip()
        for content in (*FILES.values(), *SOURCES.values())
        if isinstance(content, str)
        for line in content.splitlines()
    }
    source = {line for line in lines if len(line) >= LINE_CHARS_MIN}
    seeds = {path.read_text().strip() for path in stack.logins.glob("*.nk")}
    planted = source | seeds | {SECRET, COMMITTED, TOKEN, QDRANT_KEY, SECRETS_KEY}
    for service in (*SERVICES, "qdrant"):
        log = (stack.data / "logs" / f"{service}.log").read_text(errors="replace")
        assert not {one for one in planted if one in log or json.dumps(one)[1:-1] in log}, service
        assert not re.findall(DEVELOPER_TOKEN, log), service
    assert '"event": "call"' in (stack.data / "logs" / "gateway.log").read_text()
    assert '"event": "import ended"' in (stack.data / "logs" / "ingest.log").read_text()


def matches(right: str, subject: str) -> bool:
    """Whether a subject is one of those of a pattern of NATS."""
    pattern = re.escape(right).replace(r"\*", "[^.]+").replace(">", ".+")
    return re.fullmatch(pattern, subject) is not None


@pytest.mark.parametrize(
    ("service", "subject"),
    [
        ("chunker", f"$JS.API.STREAM.MSG.GET.KV_{names.KV_TOKENS}"),
        ("chunker", f"$JS.API.DIRECT.GET.KV_{names.KV_TOKENS}.$KV.{names.KV_TOKENS}.x"),
        ("chunker", f"$JS.API.STREAM.MSG.GET.KV_{names.KV_SECRETS}"),
        ("chunker", f"$JS.API.CONSUMER.CREATE.KV_{names.KV_TOKENS}"),
        ("chunker", f"$JS.API.STREAM.SNAPSHOT.KV_{names.KV_TOKENS}"),
        ("chunker", f"$JS.API.STREAM.CREATE.COPY_OF_{names.KV_TOKENS}"),
        ("chunker", "$JS.API.STREAM.UPDATE.PRISM_FILES"),
        ("chunker", "$JS.API.STREAM.DELETE.PRISM_FILES"),
        ("chunker", "$JS.API.CONSUMER.CREATE.PRISM_UPLOADS.chunker-live-file-changed.prism.live.files.uploaded"),
        ("chunker", "$JS.API.CONSUMER.MSG.NEXT.PRISM_UPLOADS.ingest-live-files-uploaded"),
        ("chunker", f"$KV.{names.KV_TENANTS}.acme"),
        ("chunker", topics.FILES_SETTLED.subject(topics.Lane.LIVE)),
        ("chunker", "prism.rpc.ingest.remove_repository"),
        ("chunker", "_INBOX_gateway.x.y"),
        ("chunker", "$SYS.REQ.SERVER.PING"),
        ("search", f"$KV.{names.KV_REPOSITORIES}.x"),
        ("search", f"$O.{names.OBJECTS_LAYERS}.C.x"),
        ("atlas", f"$KV.{names.KV_REPOSITORIES}.x"),
        ("indexer", f"$JS.API.STREAM.MSG.GET.KV_{names.KV_SECRETS}"),
        ("embedder", f"$JS.API.STREAM.MSG.GET.KV_{names.KV_REPOSITORIES}"),
        ("gateway", f"$JS.API.STREAM.MSG.GET.KV_{names.KV_JOBS}"),
        ("gateway", "prism.rpc.indexer.drop_tenant"),
        ("gateway", topics.FILE_EMBEDDED.subject(topics.Lane.LIVE)),
        ("ingest", names.accounting_subject(names.AUDIT, "acme")),
        ("monitor", f"$JS.API.STREAM.MSG.GET.KV_{names.KV_TOKENS}"),
    ],
)  # fmt: skip
async def test_nats_refuses_what_a_service_must_not_send(
    stack: SecuredStack, service: str, subject: str
) -> None:
    async with stack.logged_in(service) as (connection, refused):
        await connection.publish(subject, b"{}")
        await connection.flush()
        await _heard(connection)
    assert refused == [f'nats: permissions violation for publish to "{subject.lower()}"']


@pytest.mark.parametrize(
    ("service", "subject"),
    [
        ("chunker", ">"),
        ("chunker", "_INBOX_gateway.>"),
        ("chunker", "_INBOX.>"),
        ("chunker", f"$KV.{names.KV_TOKENS}.>"),
        ("chunker", "prism.rpc.>"),
        ("chunker", "prism.live.file.changed"),
        ("search", "prism.rpc.ingest.edit"),
        ("gateway", "_INBOX_ingest.>"),
    ],
)
async def test_nats_refuses_what_a_service_must_not_hear(
    stack: SecuredStack, service: str, subject: str
) -> None:
    async with stack.logged_in(service) as (connection, refused):
        await connection.subscribe(subject)
        await connection.flush()
        await _heard(connection)
    assert refused == [f'nats: permissions violation for subscription to "{subject.lower()}"']


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("nats_tls_ca_file", "The certificate of NATS is not trusted"),
        ("nats_nkey", "NATS refuses the login"),
    ],
)
async def test_a_service_with_a_wrong_login_ends_and_says_why(
    stack: SecuredStack, tmp_path: Path, wrong: str, message: str
) -> None:
    other = {"nats_nkey": new_seed(), "nats_tls_ca_file": str(tmp_path / "ca.crt")}
    (tmp_path / "ca.crt").write_text(Authority().pair.certificate_pem)
    right = {
        "nats_url": stack.nats_url,
        "nats_nkey": (stack.logins / "chunker.nk").read_text().strip(),
        "nats_tls_ca_file": str(stack.logins / "ca.crt"),
        "nats_tls_cert_file": str(stack.logins / "chunker.crt"),
        "nats_tls_key_file": str(stack.logins / "chunker.key"),
        "nats_tls_first": True,
    }
    bus = Bus("chunker", ServiceSettings(**right | {wrong: other[wrong]}))
    async with asyncio.timeout(20):
        with pytest.raises(StartError, match=message):
            await bus.connect()


async def _heard(connection: NatsClient) -> None:
    """Returns when everything that the server sent before was processed: errors are tasks of the client."""
    await connection.flush()
    await asyncio.sleep(0)
