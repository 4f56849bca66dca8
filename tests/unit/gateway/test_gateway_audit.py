"""What the audit records of a call: every change, who made it, and no contents."""

from dataclasses import replace

import pytest
from fastapi.routing import iter_route_contexts

from prism_contracts.accounting import UNANSWERED, AuditAction
from prism_contracts.rpc.imports import CloneRequest, EditRequest, FileEdit
from prism_contracts.rpc.layers import OpenOverlayRequest
from prism_contracts.rpc.repositories import UpdateRepositoryRequest
from prism_gateway.accounting.audit import entry_of
from prism_gateway.accounting.changes import ACTIONS, DETAIL_CHARS_MAX, UNRECORDED
from prism_gateway.accounting.facts import CallFacts
from prism_gateway.accounting.pages import Wanted
from prism_gateway.app import rest_router
from prism_gateway.callers import Caller
from prism_gateway.mcp.tool import Effect
from prism_gateway.mcp.toolsets import TOOLS

CALLER = Caller(tenant="acme", scopes=frozenset(), id="token:0123456789ab", label="ci")
SOURCE = "https://me:hunter2@git.example/acme/app.git"


def changing_routes() -> set[str]:
    return {
        f"{method} {context.original_route.path}"
        for context in iter_route_contexts(rest_router().routes)
        for method in context.original_route.methods
        if method != "GET"
    }


def test_every_route_and_tool_that_changes_something_is_recorded() -> None:
    changing = changing_routes() | {tool.name for tool in TOOLS if tool.effect is not Effect.READS}
    assert changing == ACTIONS.keys() | UNRECORDED.keys()
    assert not ACTIONS.keys() & UNRECORDED.keys()


def call(request, *, code: str = "", is_answered: bool = True, call: str = "index_repository") -> CallFacts:
    facts = CallFacts(call=call)
    facts.note_request(request)
    facts.code, facts.is_answered = code, is_answered
    return facts


def clone() -> CloneRequest:
    return CloneRequest(tenant="acme", url=SOURCE, repo_name="acme/app", ref="main")


def test_an_entry_says_who_did_what_and_from_where() -> None:
    entry = entry_of(CALLER, call(clone()), "192.0.2.7")
    assert entry is not None
    assert (entry.tenant, entry.caller, entry.label, entry.address) == (
        "acme",
        "token:0123456789ab",
        "ci",
        "192.0.2.7",
    )
    assert (entry.action, entry.subject, entry.code) == (AuditAction.REPOSITORY_INDEXED, "acme/app", "")
    assert entry.details == {"ref": "main", "source": "git.example/acme/app"}


def test_contents_and_logins_are_not_recorded() -> None:
    edit = EditRequest(
        tenant="acme",
        repo_name="acme/app",
        files=(FileEdit(path="a.py", content=b"hunter2"),),
        diff="hunter2",
    )
    overlay = OpenOverlayRequest(tenant="acme", repo="acme/app", diff="hunter2")
    for request, name in ((edit, "POST /ingest/file"), (overlay, "open_overlay"), (clone(), "POST /repos")):
        entry = entry_of(CALLER, call(request, call=name), "")
        assert entry is not None
        assert "hunter2" not in entry.model_dump_json()
    assert entry_of(CALLER, call(edit, call="POST /ingest/file"), "").details == {"files": "1"}


def test_a_refused_call_has_its_code_and_stays_with_its_caller() -> None:
    facts = call(clone(), code="forbidden")
    facts.change.tenant = "globex"
    entry = entry_of(CALLER, facts, "")
    assert entry is not None
    assert (entry.code, entry.tenant, entry.caller_tenant) == ("forbidden", "acme", "")


def test_a_change_of_another_tenant_is_recorded_there() -> None:
    facts = call(clone())
    facts.change.tenant = "globex"
    entry = entry_of(CALLER, facts, "")
    assert entry is not None
    assert (entry.tenant, entry.caller_tenant) == ("globex", "acme")


def test_a_call_that_ended_before_its_answer_may_have_changed_something() -> None:
    entry = entry_of(CALLER, call(clone(), is_answered=False), "")
    assert entry is not None
    assert entry.code == UNANSWERED


@pytest.mark.parametrize(
    "facts",
    [CallFacts(call="search_code"), CallFacts(call="index_repository", code="rate_limited"), CallFacts()],
)
def test_questions_and_limited_calls_are_not_recorded(facts: CallFacts) -> None:
    assert entry_of(CALLER, facts, "") is None


def test_a_detail_has_a_maximum_and_an_empty_one_is_left_out() -> None:
    facts = CallFacts(call="POST /repos")
    facts.change.describe(ref="x" * 1_000, nothing="")
    facts.change.describe(is_active=False, files=0)
    assert facts.change.details == {"ref": "x" * DETAIL_CHARS_MAX, "is_active": "false"}


def test_an_actor_is_an_id_or_a_label() -> None:
    entry = entry_of(CALLER, call(clone()), "")
    assert entry is not None
    wanted = Wanted("", entry.at, entry.at.replace(year=2100))
    for actor in ("", "token:0123456789ab", "0123456789ab", "ci"):
        assert replace(wanted, actor=actor).takes(entry), actor
    for actor in ("0123", "c", "token"):
        assert not replace(wanted, actor=actor).takes(entry), actor
    other = entry_of(replace(CALLER, label=""), call(clone()), "")
    assert other is not None
    assert not replace(wanted, actor="ci").takes(other)


def test_a_rename_names_both() -> None:
    renamed = UpdateRepositoryRequest(tenant="acme", repo="acme/app", name="acme/shop", is_active=False)
    entry = entry_of(CALLER, call(renamed, call="update_repository"), "127.0.0.1")
    assert entry is not None
    assert (entry.action, entry.subject) == (AuditAction.REPOSITORY_CHANGED, "acme/app")
    assert entry.details == {"name": "acme/shop", "is_active": "false"}
