"""Tests the cache keys of answers."""

import subprocess
import sys

import pytest

from prism_contracts.code import SymbolKind
from prism_contracts.rpc.search import Corpus, SearchRequest
from prism_search.adapters.answers import PACKAGES
from prism_search.core.answer_key import answer_key
from prism_search.core.query import parse_query

ASKED = {"tenant": "acme", "repo": "acme/parcel-tracker", "query": "next stop", "language": "python"}
STATE = ("a.2.3", "b.6.7")


def key(*, state=STATE, versions=("code", "model"), **asked: object) -> str:
    request = SearchRequest(**(ASKED | asked))
    return answer_key(request, parse_query(request.query), state, versions)


def test_key_is_tenant_and_digest():
    tenant, _, digest = key().partition(".")
    assert (tenant, len(digest), set(digest) <= set("0123456789abcdef")) == ("acme", 64, True)


@pytest.mark.parametrize(
    "asked",
    [{"query": " next\n stop "}, {"repo": "ACME/Parcel-Tracker"}, {"language": "Python"}, {"ref": "main"}],
)
def test_equivalent_requests_have_one_key(asked):
    assert key(**asked) == key()


@pytest.mark.parametrize(
    "asked",
    [
        {"query": "Next stop"},
        {"limit": 11},
        {"corpus": Corpus.DOCS},
        {"path_filter": "src/**"},
        {"paths": ("src/one.py",)},
        {"language": "go"},
        {"kind": SymbolKind.CLASS},
        {"source_only": True},
        {"explain": True},
        {"tenant": "acme2"},
        {"state": ("a.2.3",)},
        {"state": (*STATE, "acme.a.topic.7")},
        {"state": ("a.6.7", "b.2.3")},
        {"state": ("a.2.3b.6.7",)},
        {"versions": ("code", "other")},
        {"versions": ("code",)},
    ],
)
def test_key_differs_if_the_answer_may_differ(asked):
    assert key(**asked) != key()


def test_key_covers_all_packages_that_make_answers():
    loaded = "import sys, prism_search.handlers.search; print(*{m.split('.')[0] for m in sys.modules if m.startswith('prism_')})"
    found = subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True, text=True)
    # The record of the model has its version, see FAST_MODEL_KEY.
    assert set(found.stdout.split()) - {"prism_model"} == set(PACKAGES)
