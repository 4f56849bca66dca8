"""What a language model describes, which of its sentences are kept, and how a run goes on."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import (
    DescriptionsRecord,
    DescriptionsState,
    LayerState,
    Repository,
    WrittenDescription,
)
from prism_contracts.rpc.files import OutlineReply
from prism_contracts.rpc.maps import ComponentSummary
from prism_scribe.core.describing import (
    OUTLINE_CHARS_MAX,
    PAUSED_S,
    SILENT_S,
    ModelSentence,
    Subject,
    evidence_of,
    is_due,
    kept,
)
from prism_scribe.core.writing import (
    Declined,
    DeclineReason,
    EvidenceText,
    NoWriter,
    Written,
    require_bounded,
)
from prism_scribe.operations.description_runs import DescriptionRuns

START = datetime(2026, 11, 25, tzinfo=UTC)
EVIDENCE = (
    EvidenceText("outline", "def parse_rate(text)\nclass ParcelBox"),
    EvidenceText("subject", "src/rates.py"),
)
REPOSITORY = Repository(
    tenant="t", repo="r", name="a/b", source="upload", created_at=START, next_version=2,
    served=LayerState(commit="c", version=1, job="j", indexed_at=START),
)  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Reads rates with parse_rate for a ParcelBox.", "Reads rates with parse_rate for a ParcelBox."),
        ("Reads `parse_rate` in src/rates.py, e.g. for tours.", "Reads parse_rate in src/rates.py, e.g. for tours."),
        ("Reads [rates](https://depot.example) of parcels.", "Reads rates of parcels."),
        ("Reads rates with load_rate for others.", ""),
        ("Reads rates for a ParcelVan of others.", ""),
        ("Reads rates with `Depot` for others.", ""),
        ("Reads rates from depot/tours.py for others.", ""),
        ("Calls open() on each of them.", ""),
        ("Reads rates.", ""),
        ("rate " * 61, ""),
    ],
)  # fmt: skip
def test_sentences_that_name_what_no_evidence_names_are_not_kept(sentence, text):
    assert kept(sentence, EVIDENCE) == text


def test_what_a_model_returns_is_bounded():
    require_bounded(ModelSentence)


def test_evidence_of_a_large_file_is_bounded():
    symbols = [
        Symbol(
            name="load", qualified_name="load", kind=SymbolKind.FUNCTION, start_line=1, end_line=1, name_line=1,
            signature="def load(number)", docstring="Loads parcels of one customer.",
        )
    ] * 5_000  # fmt: skip
    outline = OutlineReply.model_construct(symbols=tuple(symbols))
    found = evidence_of(Subject("a.py", "c", "Where parcels wait."), outline, "")
    assert [one.id for one in found] == ["subject", "rules", "outline"]
    assert len(found[2].text) <= OUTLINE_CHARS_MAX
    assert found[2].text.startswith("def load(number): Loads parcels of one customer.\n")


def test_component_is_described_again_if_its_main_files_changed():
    depot = ComponentSummary(
        id=0, name="depot", files=2, lines=9, rank=0.5, main_files=("a.py",), main_symbols=()
    )
    other = depot.model_copy(update={"main_files": ("b.py",)})
    assert Subject.of_component(depot).content == Subject.of_component(depot.model_copy()).content
    assert Subject.of_component(depot).content != Subject.of_component(other).content


def record(state: DescriptionsState = DescriptionsState.RUNNING, version: int = 1) -> DescriptionsRecord:
    return DescriptionsRecord(
        tenant="t",
        repo="r",
        state=state,
        version=version,
        owner="other",
        model="m",
        started_at=START,
        alive_at=START,
    )


@pytest.mark.parametrize(
    ("state", "version", "seconds", "due"),
    [
        (DescriptionsState.RUNNING, 1, SILENT_S, False),
        (DescriptionsState.RUNNING, 1, SILENT_S + 1, True),
        (DescriptionsState.PAUSED, 1, PAUSED_S, False),
        (DescriptionsState.PAUSED, 1, PAUSED_S + 1, True),
        (DescriptionsState.COMPLETE, 1, PAUSED_S + 1, False),
        (DescriptionsState.COMPLETE, 0, SILENT_S + 1, True),
    ],
)
def test_runs_that_were_stopped_or_are_outdated_are_due(state, version, seconds, due):
    assert is_due(record(state, version), 1, START + timedelta(seconds=seconds)) is due


@dataclass
class Store:
    """What NATS would hold."""

    run: DescriptionsRecord | None = None
    texts: dict[str, WrittenDescription] = field(default_factory=dict)

    async def modify(
        self, _tenant: str, _repo: str, change: Callable[[DescriptionsRecord | None], DescriptionsRecord]
    ) -> DescriptionsRecord:
        self.run = change(self.run)
        return self.run

    async def written(
        self, _tenant: str, _repo: str, contents: Sequence[str]
    ) -> dict[str, WrittenDescription]:
        return {content: self.texts[content] for content in contents if content in self.texts}

    async def put(self, _tenant: str, _repo: str, content: str, written: WrittenDescription) -> None:
        self.texts[content] = written

    async def drop(self, _tenant: str, _repo: str, content: str) -> None:
        del self.texts[content]


@dataclass
class Writer:
    """A model that says one thing of everything, and is out of budget after some calls."""

    says: str = "Reads the rates of parcels."
    calls_max: int = 99
    asked: int = 0
    models: tuple[str, ...] = ("m",)

    async def write(self, *_: object) -> Written[ModelSentence] | Declined:
        if self.asked >= self.calls_max:
            return Declined(DeclineReason.BUDGET, "The budget is used.")
        self.asked += 1
        return Written(ModelSentence(description=self.says), "m")

    async def close(self) -> None: ...


class Sources:
    """Three files."""

    async def subjects(self, files_max: int) -> list[Subject]:
        return [Subject(f"{name}.py", name, "By rules.") for name in "abc"][:files_max]

    async def evidence(self, subject: Subject) -> tuple[EvidenceText, ...]:
        return (EvidenceText("subject", subject.name),)


async def described(
    store: Store, writer: Writer | NoWriter, now: datetime = START
) -> DescriptionsRecord | None:
    runs = DescriptionRuns(store, writer, lambda _: Sources(), files_max=10)
    begun = await runs.begin(REPOSITORY, now)
    await asyncio.gather(*runs._tasks.values())
    return begun


async def test_a_run_describes_each_file_once():
    store, writer = Store(), Writer()
    await described(store, writer)
    assert (store.run.state, store.run.total, store.run.done) == (DescriptionsState.COMPLETE, 3, 3)
    assert {one.text for one in store.texts.values()} == {"Reads the rates of parcels."}
    store.run = store.run.model_copy(update={"version": 0})
    await described(store, writer)
    assert (writer.asked, store.run.done) == (3, 3)


async def test_a_run_without_budget_pauses_and_goes_on_where_it_stopped():
    store, writer = Store(), Writer(calls_max=2)
    await described(store, writer)
    assert (store.run.state, store.run.done, store.run.message) == (
        DescriptionsState.PAUSED, 2, "The budget is used.",
    )  # fmt: skip
    writer.calls_max = 99
    await described(store, writer)
    assert (store.run.state, store.run.done, writer.asked) == (DescriptionsState.COMPLETE, 3, 3)


async def test_sentences_that_are_not_kept_leave_those_of_rules():
    store = Store()
    await described(store, Writer(says="Reads rates with load_rate for others."))
    assert (store.run.state, store.run.done, store.run.failed) == (DescriptionsState.COMPLETE, 0, 3)
    assert {one.text for one in store.texts.values()} == {""}


async def test_a_run_that_reports_elsewhere_is_left_alone():
    store, writer = Store(record()), Writer()
    assert (await described(store, writer)).owner == "other"
    assert writer.asked == 0
    await described(store, writer, START + timedelta(seconds=SILENT_S + 1))
    assert writer.asked == 3


async def test_a_run_stops_when_another_copy_has_taken_it_over():
    store = Store()

    class Rival(Writer):
        async def write(self, *_: object) -> Written[ModelSentence] | Declined:
            store.run = record()
            return await super().write()

    await described(store, rival := Rival())
    assert rival.asked == 1
    assert (store.run.owner, store.texts) == ("other", {})


async def test_nothing_runs_without_a_model_or_an_import():
    assert await described(Store(), NoWriter()) is None
    runs = DescriptionRuns(Store(), Writer(), lambda _: Sources(), files_max=10)
    with pytest.raises(PrismError) as error:
        await runs.begin(REPOSITORY.model_copy(update={"served": None}), START)
    assert error.value.code is ErrorCode.REPO_NOT_INDEXED
