"""Tests the classification of documents by their paths."""

import pytest

from prism_contracts.rpc.guidance import ContextSection
from prism_search.core.repo_documents import choose, section_of


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ("README", ContextSection.README),
        ("tracker/readme.rst", ContextSection.README),
        ("VISION.md", ContextSection.VISION),
        ("ARCHITECTURE.md", ContextSection.ARCHITECTURE),
        ("docs/architecture/queues.md", ContextSection.ARCHITECTURE),
        ("docs/adr/0001-queues.md", ContextSection.DECISIONS),
        ("docs/decisions/README.md", ContextSection.DECISIONS),
        ("docs/dev/contributing.rst", ContextSection.CONTRIBUTING),
        ("CHANGES", ContextSection.CHANGELOG),
        ("docs/release-notes.md", ContextSection.CHANGELOG),
        ("docs/guide.md", None),
        ("node_modules/left/README.md", None),
        ("tests/fixtures/CHANGELOG.md", None),
    ],
)
def test_path_determines_the_section(path, section) -> None:
    assert section_of(path, "markdown") is section


def test_code_is_not_a_document() -> None:
    assert section_of("architecture/queue.py", "python") is None


def test_documents_of_top_folders_come_first() -> None:
    files = [("b/c/README.md", "markdown"), ("a/README.md", "markdown"), ("README.md", "markdown")]
    chosen = choose(files)
    assert chosen[ContextSection.README] == ["README.md", "a/README.md", "b/c/README.md"]
    assert chosen[ContextSection.CHANGELOG] == []
