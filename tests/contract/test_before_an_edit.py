"""The context of an edit, over a real store and real records: small repositories, read by the real chunker."""

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from indexed_texts import file_point, open_index

from prism_catalog.histories import HistoryStore
from prism_contracts.base import repo_id
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import History, HistoryCommit, HistoryFile
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.files import ReadFileRequest
from prism_contracts.rpc.graph import (
    IMPACT,
    AffectedNode,
    GraphEdge,
    GraphNode,
    ImpactReply,
    ImpactRequest,
    RunCommand,
)
from prism_contracts.rpc.guidance import (
    ContextSection,
    ConventionsRequest,
    EditContextReply,
    EditContextRequest,
    EditRisk,
    ExistingRequest,
    RepoContextRequest,
    SiblingKind,
    Verdict,
    WordRole,
)
from prism_runtime.bus import Bus
from prism_runtime.settings import ServiceSettings
from prism_search.main import SearchApp

TRACKER, BILLING, BARE, CLAIMS, REPORTS = (
    f"acme/{name}" for name in ("parcel-tracker", "billing", "bare", "claims", "reports")
)
REPORTS_COUNT = 13  # more than are searched
RULES_BYTES = 1_000_000
FILES = {
    TRACKER: {
        "parcels/depot.py": (
            "class Depot:\n    def __init__(self):\n        self.parcels = []\n\n"
            "    def weigh(self, parcel):\n        return 1\n"
        ),
        "parcels/ferry.py": (
            "from parcels.depot import Depot\n\n\nclass Ferry(Depot):\n    def weigh(self, parcel):\n        return 2\n"
        ),
        "parcels/truck.py": (
            "from parcels.depot import Depot\n\n\nclass Truck(Depot):\n    def weigh(self, parcel):\n        return 3\n"
        ),
        "parcels/tug.py": (
            "from parcels.depot import Depot\nfrom parcels.ferry import Ferry\n\n\nclass Tug(Ferry, Depot):\n"
            "    def weigh(self, parcel):\n        return 4\n"
        ),
        "parcels/day.py": (
            "from parcels.depot import Depot\n\n\ndef run_day():\n    depot = Depot()\n    return depot.weigh(1)\n"
        ),
        "parcels/labels.py": "def print_label(text):\n    '''Print the label of a parcel.'''\n    return text\n",
        "native/scale.h": "int weigh_grams(int parcel);\n",
        "native/scale.c": '#include "scale.h"\n\nint weigh_grams(int parcel) {\n  return parcel;\n}\n',
        "native/main.c": '#include "scale.h"\n\nint main(void) {\n  return weigh_grams(1);\n}\n',
        "parcels/_private.py": "def _hidden():\n    return 1\n",
        "tests/test_day.py": "from parcels.day import run_day\n\n\ndef test_a_day():\n    assert run_day() == 1\n",
        "tests/test_depot.py": (
            "from parcels.depot import Depot\n\n\ndef test_weigh():\n    assert Depot().weigh(1) == 1\n"
        ),
        "AGENTS.md": "# Rules\n\n" + "Weigh every parcel twice.\n" * (RULES_BYTES // 26),
        "parcels/CLAUDE.md": "Say depot, never warehouse.\n",
        ".cursor/rules/tests.mdc": "---\nglobs: tests/**\n---\nTests are short.\n",
        ".cursor/rules/broken.mdc": "---\nglobs: parcels/{a\n---\nBraces.\n",
        "README.md": "# Parcel tracker\n\nSays where a parcel is.\n\n## Install\n\nDo.\n",
        "docs/decisions/0001-weigh-twice.md": "# Weigh twice\n\nOnce is not enough.\n",
    },
    BILLING: {
        "billing/invoice.py": "from parcels.depot import Depot\n\n\ndef weigh_all():\n    return Depot().weigh(1)\n",
    },
    BARE: {"a.py": "def weigh_bare():\n    return 1\n"},
    # Says the words of an import, and uses a function of the same name.
    CLAIMS: {
        "claims/forms.py": (
            "# Labels come from parcels, import parcels to see.\nfrom claims.paper import print_label\n\n\n"
            "def write():\n    return print_label('claim')\n"
        ),
    },
    REPORTS: {
        f"reports/r{number}.py": "from parcels.day import run_day\n\nrun_day()\n"
        for number in range(REPORTS_COUNT)
    },
}  # fmt: skip
LAST = HistoryCommit(commit="4f7c2b9", at=datetime(2026, 1, 1, tzinfo=UTC), message="Weigh twice")
HISTORY = History(
    version=1,
    commits=(LAST,),
    files=(HistoryFile(path="parcels/depot.py", last=0, commits_90_days=1, commits_12_months=4),),
    is_shallow=True,
)


@pytest.fixture(scope="module")
def tenant() -> str:
    """One index for all tests, which only read."""
    return f"t{uuid.uuid4().hex}"


@pytest.fixture
async def search(nats_server, qdrant_url, tenant) -> AsyncIterator[SearchApp]:
    """Search over all repositories."""
    points = [file_point(tenant, repo, *file) for repo, files in FILES.items() for file in files.items()]
    async with open_index(nats_server.url, qdrant_url, tenant, FILES, points) as index:
        histories = await HistoryStore.open(index.bus.js, 1)
        await histories.put(tenant, repo_id(TRACKER), HISTORY)
        yield index.search


@pytest.fixture
def prepare(search, tenant):
    async def prepare(repo: str = TRACKER, **asked: object) -> EditContextReply:
        return await search.edit_context.edit_context(EditContextRequest(tenant=tenant, repo=repo, **asked))

    return prepare


def risks(reply: EditContextReply) -> dict[EditRisk, tuple[str, ...]]:
    return {warning.risk: warning.places for warning in reply.warnings}


async def test_a_symbol_has_source_callers_tests_and_risks(prepare) -> None:
    reply = await prepare(symbol="Depot.weigh")
    assert (reply.file_path, reply.start_line, reply.end_line) == ("parcels/depot.py", 5, 6)
    assert reply.content == "    def weigh(self, parcel):\n        return 1"
    callers = [f"{e.file_path}:{e.line} {e.status}" for e in reply.references.entries if e.group == "callers"]
    assert callers == ["parcels/day.py:6 resolved"]
    assert reply.references.reconciliation.text_lines
    assert [(test.file_path, test.symbol, test.via) for test in reply.tests] == [
        ("tests/test_depot.py", "test_weigh", ""),
        ("tests/test_day.py", "test_a_day", "run_day"),
    ]
    assert reply.test_counts == {EdgeStatus.RESOLVED: 2}
    assert reply.test_files == ("tests/test_depot.py",)
    assert risks(reply)[EditRisk.OVERRIDDEN] == (
        "parcels/ferry.py:5 Ferry.weigh",
        "parcels/truck.py:5 Truck.weigh",
        "parcels/tug.py:6 Tug.weigh",
    )
    assert EditRisk.EXPORTED in risks(reply)
    assert not reply.notes


async def test_a_method_lists_overridden_and_sibling_methods(prepare) -> None:
    reply = await prepare(symbol="Ferry.weigh")
    assert risks(reply)[EditRisk.IMPLEMENTS] == ("parcels/depot.py:5 Depot.weigh",)
    assert risks(reply)[EditRisk.OVERRIDDEN] == ("parcels/tug.py:6 Tug.weigh",)
    assert [(one.kind, one.definition.symbol.qualified_name) for one in reply.siblings] == [
        (SiblingKind.SAME_METHOD, "Truck.weigh")
    ]


async def test_a_separate_declaration_belongs_to_the_symbol(prepare) -> None:
    reply = await prepare(symbol="weigh_grams")
    assert reply.file_path == "native/scale.c"
    assert reply.total_others == 0
    assert [(one.kind, one.definition.file_path) for one in reply.siblings] == [
        (SiblingKind.COUNTERPART, "native/scale.h")
    ]
    entries = [(entry.file_path, entry.status) for entry in reply.references.entries]
    assert entries == [("native/main.c", EdgeStatus.RESOLVED)]


async def test_users_of_a_constructor_are_users_of_its_class(prepare) -> None:
    reply = await prepare(symbol="Depot.__init__")
    assert reply.references.symbol == "Depot"
    assert "parcels/day.py" in {entry.file_path for entry in reply.references.entries}


async def test_uses_in_other_repositories_are_a_risk(prepare) -> None:
    reply = await prepare(symbol="Depot.weigh")
    (first, *_) = risks(reply)[EditRisk.OTHER_REPOSITORIES]
    assert first.startswith(f"{BILLING} billing/invoice.py:")
    assert all(entry.repo == TRACKER for entry in reply.references.entries)
    assert all(BILLING in place for place in risks(reply)[EditRisk.OTHER_REPOSITORIES])
    assert not any("Other repositories" in note for note in reply.notes)


async def test_a_use_in_another_repository_needs_an_import(prepare) -> None:
    reply = await prepare(symbol="print_label")
    assert EditRisk.OTHER_REPOSITORIES not in risks(reply)
    assert not any("Other repositories" in note for note in reply.notes)


async def test_too_many_importing_files_are_named_and_not_read(prepare) -> None:
    reply = await prepare(symbol="run_day")
    assert EditRisk.OTHER_REPOSITORIES not in risks(reply)
    assert (
        f"Other repositories were not searched: {REPORTS_COUNT} files of {REPORTS} may import run_day. "
        "grep_code with their repo lists the lines."
    ) in reply.notes


async def test_a_private_symbol_is_not_marked_exported(prepare) -> None:
    assert (await prepare(symbol="_hidden")).warnings == ()


async def test_lines_select_the_enclosing_symbol(prepare) -> None:
    reply = await prepare(path="parcels/depot.py", start_line=6)
    assert reply.symbol.qualified_name == "Depot.weigh"
    outside = await prepare(path="parcels/ferry.py", start_line=1, end_line=2)
    assert (outside.symbol, outside.references) == (None, None)
    assert outside.content == "from parcels.depot import Depot\n"
    assert outside.rules


NODE = GraphNode(file_path="tests/test_far.py", line=3, symbol="test_far", test=True)
VIA = GraphEdge(edge=EdgeKind.CALLS, status=EdgeStatus.RESOLVED, strategy=Strategy.IMPORT, lines=(4,))
COMMAND = RunCommand(runner="pytest", command="pytest tests/test_far.py::test_far", tests=1)


@pytest.fixture
async def atlas(nats_server) -> AsyncIterator[None]:
    """A graph that knows more tests than the callers show."""

    async def impact(request: ImpactRequest) -> ImpactReply:
        assert (request.symbol, request.path) == ("Depot.weigh", "parcels/depot.py")
        return ImpactReply(
            changed=(),
            total_changed=1,
            affected=(),
            total_affected=0,
            resolved_affected=0,
            depth=3,
            tests=(AffectedNode(node=NODE, distance=4, status=EdgeStatus.CANDIDATE, via=VIA, uses=NODE),),
            total_tests=218,
            resolved_tests=200,
            test_depth=20,
            test_commands=(COMMAND,),
            receipt=graph_receipt(),
        )

    bus = Bus("atlas", ServiceSettings(nats_url=nats_server.url))
    bus.serve(IMPACT, impact)
    await bus.start()
    yield
    await bus.stop()


def graph_receipt() -> GraphReceipt:
    return GraphReceipt(
        repo=TRACKER, indexed_commit="c", head_commit="c", lag_seconds=0, indexed_at=None, corpus_version=1, files_indexed=1,
        files_skipped=0, files_failed=0, graph_commit="c", graph_version=1, graph_built_at=LAST.at, graph_lag_seconds=0,
    )  # fmt: skip


async def test_the_graph_names_the_tests_and_the_command(prepare, atlas) -> None:
    reply = await prepare(symbol="Depot.weigh")
    assert [(test.symbol, test.via) for test in reply.tests] == [("test_far", "test_far")]
    assert reply.test_counts == {EdgeStatus.RESOLVED: 200, EdgeStatus.CANDIDATE: 18}
    assert (reply.test_commands, reply.test_depth) == ((COMMAND,), 20)
    assert (reply.graph_tests, reply.graph_test_depth) == (218, 20)


async def test_without_a_graph_farther_tests_are_omitted(prepare) -> None:
    assert (await prepare(symbol="Depot.weigh")).graph_tests is None


async def test_notes_mention_missing_lines_and_other_symbols(prepare) -> None:
    path = "parcels/depot.py"
    (past, beside) = (await prepare(path=path, start_line=1, end_line=90)).notes
    assert past == "Lines 1 to 90 were requested; the file ends with line 6."
    assert beside.startswith("Lines 1 to 90 hold several symbols; only the first is shown, Depot.")
    assert (await prepare(path=path, start_line=5, end_line=6)).notes == ()
    assert (await prepare(path="parcels/ferry.py", start_line=2, end_line=3)).notes == ()


async def test_a_note_names_the_last_line_of_a_shorter_file(search, tenant) -> None:
    asked = ReadFileRequest(tenant=tenant, repo=TRACKER, path="parcels/depot.py", start_line=5, end_line=90)
    reply = await search.files.read_file(asked)
    assert (reply.start_line, reply.end_line) == (5, 6)
    assert reply.note == "Lines 5 to 90 were requested; the file ends with line 6."
    whole = await search.files.read_file(asked.model_copy(update={"end_line": 6}))
    assert whole.note == ""


async def test_a_line_is_read_with_its_symbol(search, tenant) -> None:
    asked = ReadFileRequest(tenant=tenant, repo=TRACKER, path="parcels/depot.py", start_line=6, around=True)
    reply = await search.files.read_file(asked)
    assert reply.enclosing is not None
    assert reply.enclosing.name == "Depot.weigh"
    assert (reply.start_line, reply.end_line) == (reply.enclosing.start_line, reply.enclosing.end_line)
    top = await search.files.read_file(asked.model_copy(update={"start_line": 1}))
    assert (top.start_line, top.end_line, top.note) == (1, 6, "")
    plain = await search.files.read_file(asked.model_copy(update={"around": False}))
    assert (plain.start_line, plain.enclosing) == (6, reply.enclosing)
    with pytest.raises(PrismError, match="has 6 lines"):
        await search.files.read_file(asked.model_copy(update={"start_line": 7}))


async def test_an_ambiguous_name_shows_the_first_and_lists_the_others(prepare) -> None:
    reply = await prepare(symbol="weigh")
    assert reply.total_others == 3
    assert reply.symbol.qualified_name == "Depot.weigh"
    assert (await prepare(symbol="weigh", path="parcels/truck.py")).symbol.qualified_name == "Truck.weigh"


@pytest.mark.parametrize(
    ("asked", "code", "stated"),
    [
        ({"symbol": "print_all_labels"}, ErrorCode.SYMBOL_NOT_FOUND, "print_label"),
        ({"symbol": "  "}, ErrorCode.INVALID_ARGUMENT, ""),
        ({}, ErrorCode.INVALID_ARGUMENT, ""),
        ({"path": "parcels/depot.py"}, ErrorCode.INVALID_ARGUMENT, ""),
        ({"path": "parcels/depo.py", "start_line": 1}, ErrorCode.FILE_NOT_FOUND, "parcels/depot.py"),
        ({"path": "parcels/depot.py", "start_line": 900}, ErrorCode.INVALID_ARGUMENT, "6 lines"),
        ({"path": "parcels/depot.py", "start_line": 4, "end_line": 2}, ErrorCode.INVALID_ARGUMENT, ""),
        ({"symbol": "weigh", "repo": "acme/nothing"}, ErrorCode.REPO_NOT_FOUND, TRACKER),
    ],
)
async def test_unresolvable_requests_are_errors_with_help(prepare, asked, code, stated) -> None:
    with pytest.raises(PrismError) as error:
        await prepare(**asked)
    assert error.value.code is code
    assert stated in f"{error.value} {error.value.body.details}"


async def test_rules_apply_by_folder_and_glob_and_are_cut(prepare) -> None:
    rules = (await prepare(symbol="Depot.weigh")).rules
    assert [(rule.file_path, rule.applies) for rule in rules] == [
        ("parcels/CLAUDE.md", "folder parcels/"),
        ("AGENTS.md", "repository"),
        (".cursor/rules/broken.mdc", "perhaps: its glob parcels/{a is not valid"),
    ]
    large = rules[1]
    assert large.content.startswith("# Rules\n\nWeigh every parcel twice.")
    assert len(large.content) < 7_000
    assert large.end_line < large.line_count
    assert large.headings == ("1 # Rules",)
    in_tests = (await prepare(path="tests/test_day.py", start_line=4)).rules
    assert (".cursor/rules/tests.mdc", "glob tests/**") in {
        (rule.file_path, rule.applies) for rule in in_tests
    }


async def test_recent_changes_are_listed_if_known(prepare) -> None:
    changes = (await prepare(symbol="Depot.weigh")).changes
    assert (changes.commits_90_days, changes.commits_12_months, changes.last) == (1, 4, LAST)
    assert "shallow" in changes.note
    assert (await prepare(symbol="print_label")).changes is None


async def test_an_existing_helper_is_found_by_its_words(search, tenant) -> None:
    request = ExistingRequest(tenant=tenant, repo=TRACKER, intent="print the label of a parcel")
    reply = await search.existing.existing(request)
    assert reply.verdict is Verdict.LIKELY
    best = reply.existing[0]
    assert (best.definition.file_path, best.definition.symbol.name) == ("parcels/labels.py", "print_label")
    assert not reply.receipt.missing_legs


async def test_a_missing_helper_gets_no_verdict(search, tenant) -> None:
    request = ExistingRequest(tenant=tenant, repo=TRACKER, intent="def shuffle_deck(cards: list) -> list")
    assert (await search.existing.existing(request)).verdict is Verdict.NONE
    with pytest.raises(PrismError) as error:
        await search.existing.existing(request.model_copy(update={"intent": " "}))
    assert error.value.code is ErrorCode.EMPTY_QUERY


async def test_a_miss_shows_where_its_known_words_occur(search, tenant) -> None:
    request = ExistingRequest(tenant=tenant, repo=TRACKER, intent="debounce labels with a quantile")
    reply = await search.existing.existing(request)
    assert "debounce" in reply.absent_words
    first = reply.places[0]
    assert (first.word, first.file_path, first.role) == ("labels", "parcels/labels.py", WordRole.NAME)
    assert "label" in first.text
    sure = request.model_copy(update={"intent": "print the label of a parcel"})
    assert (await search.existing.existing(sure)).places == ()


async def test_conventions_come_with_all_written_rules(search, tenant) -> None:
    reply = await search.conventions.conventions(ConventionsRequest(tenant=tenant, repo=TRACKER))
    stated = {one.statement: (one.count, one.total) for one in reply.conventions}
    assert stated["source files are in parcels/"] == (7, 10)
    assert reply.files_read == reply.files == 12
    assert [rule.file_path for rule in reply.rules][:2] == ["AGENTS.md", ".cursor/rules/broken.mdc"]
    bare = await search.conventions.conventions(ConventionsRequest(tenant=tenant, repo=BARE))
    assert (bare.conventions, bare.rules) == ((), ())


async def test_repo_context_quotes_the_readme(search, tenant) -> None:
    reply = await search.repo_context.repo_context(RepoContextRequest(tenant=tenant, repo=TRACKER))
    assert [(document.section, document.file_path) for document in reply.documents] == [
        (ContextSection.README, "README.md"),
        (ContextSection.DECISIONS, "docs/decisions/0001-weigh-twice.md"),
    ]
    assert reply.missing == (
        ContextSection.ARCHITECTURE,
        ContextSection.CONTRIBUTING,
        ContextSection.CHANGELOG,
    )
    vision = await search.repo_context.repo_context(
        RepoContextRequest(tenant=tenant, repo=TRACKER, section=ContextSection.VISION)
    )
    assert [document.content for document in vision.documents] == [
        "# Parcel tracker\n\nSays where a parcel is."
    ]


async def test_repo_context_lists_missing_documents(search, tenant) -> None:
    reply = await search.repo_context.repo_context(RepoContextRequest(tenant=tenant, repo=BARE))
    assert (reply.documents, reply.missing) == ((), tuple(ContextSection))
