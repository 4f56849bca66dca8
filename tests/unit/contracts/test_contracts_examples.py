"""Stored examples pin the wire format: a changed name, order or form of a field fails here."""

import inspect
import json
from pathlib import Path

import pytest
from pydantic import ValidationError

import prism_contracts
from prism_contracts import accounting, all_rpcs, code, errors, events, records
from prism_contracts.base import Message
from prism_contracts.rpc.files import LIST_LIMIT_MAX, CoverageRequest, ListFilesRequest
from prism_contracts.rpc.search import (
    CONTEXT_LINES_MAX,
    GREP_LIMIT_MAX,
    SEARCH_LIMIT_MAX,
    GrepRequest,
    SearchRequest,
)
from prism_contracts.rpc.symbols import SYMBOLS_BATCH_MAX, DefinitionsRequest

FOLDER = Path(prism_contracts.__file__).with_name("examples")
TYPES = {
    name: found
    for module in (accounting, code, errors, events, records, *all_rpcs.MODULES)
    for name, found in inspect.getmembers(module, inspect.isclass)
    if issubclass(found, Message) and found.__module__ == module.__name__
}


def example(name: str) -> str:
    return (FOLDER / f"{name}.json").read_text(encoding="utf-8")


def test_messages_and_examples_correspond():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(TYPES)


@pytest.mark.parametrize("name", sorted(TYPES))
def test_an_example_round_trips_byte_for_byte(name):
    assert TYPES[name].model_validate_json(example(name)).model_dump_json(indent=2) + "\n" == example(name)


@pytest.mark.parametrize("name", sorted(TYPES))
def test_a_reader_ignores_unknown_fields(name):
    newer = json.loads(example(name)) | {"a_field_of_the_next_version": 1}
    assert TYPES[name].model_validate_json(json.dumps(newer)) == TYPES[name].model_validate_json(
        example(name)
    )


@pytest.mark.parametrize("name", sorted(TYPES))
def test_messages_are_frozen(name):
    message = TYPES[name].model_validate_json(example(name))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(message, next(iter(TYPES[name].model_fields)), None)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("FileChanged", "FileChanged:0c9a4d1e-57b3-5d0a-9a53-0d6f5b7b2c11:12"),
        ("RepoIndexed", "RepoIndexed:0c9a4d1e-57b3-5d0a-9a53-0d6f5b7b2c11"),
        ("CloneRequested", "CloneRequested:0c9a4d1e-57b3-5d0a-9a53-0d6f5b7b2c11"),
    ],
)
def test_the_idempotency_key_depends_on_the_event(name, key):
    assert TYPES[name].model_validate_json(example(name)).message_id == key


def test_the_same_settled_files_have_the_same_message_id():
    settled = events.FilesSettled.model_validate_json(example("FilesSettled"))
    again = settled.model_copy(update={"files": tuple(file.model_copy() for file in settled.files)})
    fewer = settled.model_copy(update={"files": settled.files[:1]})
    other_job = settled.model_copy(update={"job": "another"})
    assert again.message_id == settled.message_id
    assert len({settled.message_id, fewer.message_id, other_job.message_id}) == 3


@pytest.mark.parametrize("count", [0, SYMBOLS_BATCH_MAX + 1])
def test_a_batch_of_symbols_has_a_limit(count):
    with pytest.raises(ValidationError):
        DefinitionsRequest(tenant="t", symbols=("a",) * count)


@pytest.mark.parametrize(
    ("request_type", "field", "largest", "rest"),
    [
        (SearchRequest, "limit", SEARCH_LIMIT_MAX, {"query": "q"}),
        (GrepRequest, "limit", GREP_LIMIT_MAX, {"pattern": "q"}),
        (GrepRequest, "context_lines", CONTEXT_LINES_MAX, {"pattern": "q"}),
        (ListFilesRequest, "limit", LIST_LIMIT_MAX, {}),
        (CoverageRequest, "limit", LIST_LIMIT_MAX, {}),
    ],
)
def test_limits_hold_at_the_limit_and_just_past_it(request_type, field, largest, rest):
    assert getattr(request_type(tenant="t", **rest, **{field: largest}), field) == largest
    for wrong in (largest + 1, -1):
        with pytest.raises(ValidationError):
            request_type(tenant="t", **rest, **{field: wrong})
