import ast
import importlib
from pathlib import Path

import pytest

from prism_contracts import names, topics
from prism_contracts.access import SERVICES, Do
from prism_contracts.all_rpcs import ALL_RPCS
from prism_contracts.registry import Rpc, Topic
from prism_runtime.nats_permissions import permissions_of

ROOT = Path(__file__).parents[3] / "services"
# One program with two logins.
PROGRAMS = {service: service.removesuffix("-deep") for service in SERVICES}


def named_in(program: str) -> tuple[set[Rpc], set[Topic]]:
    """Returns the requests and topics whose names the code of a service has."""
    rpcs: set[Rpc] = set()
    found: set[Topic] = set()
    for file in (ROOT / program).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("prism_contracts"):
                module = importlib.import_module(node.module)
                rpcs |= {
                    one for alias in node.names if isinstance(one := getattr(module, alias.name, None), Rpc)
                }
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "topics":
                one = getattr(topics, node.attr)
                found |= {one} if isinstance(one, Topic) else set()
    return rpcs, found


@pytest.mark.parametrize("program", sorted(set(PROGRAMS.values())))
def test_the_rights_to_ask_are_those_that_the_code_needs(program: str):
    of_program = {service: SERVICES[service] for service, name in PROGRAMS.items() if name == program}
    rpcs, named = named_in(program)
    served = {rpc for rpc in ALL_RPCS if rpc.service in of_program}
    asked = {rpc for access in of_program.values() for rpc in access.asks}
    assert {rpc.name for rpc in rpcs} == {rpc.name for rpc in asked | served}
    used = {topic for access in of_program.values() for topic in (*access.consumes, *access.publishes)}
    assert {topic.fact for topic in named} <= {topic.fact for topic in used}


def test_every_event_has_a_publisher_and_a_consumer():
    for topic in topics.ALL_TOPICS:
        consumers = [name for name, access in SERVICES.items() if topic in access.consumes]
        assert [name for name, access in SERVICES.items() if topic in access.publishes], topic.fact
        assert bool(consumers) is (topic not in topics.FOR_OTHERS), topic.fact


def test_only_two_services_can_have_nats_copy_a_stream():
    able = {
        service
        for service in SERVICES
        for subject in permissions_of(service).publish
        if ".STREAM.CREATE." in subject or ".STREAM.UPDATE." in subject
    }
    assert able == {"gateway", "ingest"}


# The services that read each bucket besides the gateway and ingest, and why.
FURTHER_READERS = {
    names.KV_TOKENS: set(),
    names.KV_TENANTS: {"scribe"},  # plans limit what a language model may cost
    names.KV_SECRETS: {"workspace"},  # the login of the remote to which it pushes documents
}


@pytest.mark.parametrize("bucket", FURTHER_READERS)
def test_few_services_know_tokens_tenants_and_secrets(bucket: str):
    writers, further = {"gateway", "ingest"}, FURTHER_READERS[bucket]
    assert {name for name, access in SERVICES.items() if bucket in access.records} == writers | further
    for service in SERVICES.keys() - writers:
        named = [one for one in permissions_of(service).publish if bucket in one]
        assert not named or service in further
        assert not [one for one in named if one.startswith("$KV.")]


def test_no_right_is_to_everything():
    for service in SERVICES:
        rights = permissions_of(service)
        for subject in (*rights.publish, *rights.subscribe):
            assert subject.split(".")[0] in {"prism", "$KV", "$O", "$JS", names.inbox_prefix(service)}
            assert subject not in {"$JS.>", "$JS.API.>", "$KV.>", "$O.>", "prism.>"}
        inboxes = [one for one in rights.subscribe if one.startswith("_INBOX")]
        assert inboxes == [f"{names.inbox_prefix(service)}.>"]


def test_every_bucket_is_written_by_someone():
    buckets = {value for name, value in vars(names).items() if name.startswith("KV_")}
    written = {
        bucket for access in SERVICES.values() for bucket, do in access.records.items() if Do.WRITE in do
    }
    assert not buckets - written
