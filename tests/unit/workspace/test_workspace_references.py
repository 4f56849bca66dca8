"""What a planning reference names."""

import pytest

from prism_workspace.core.references import Named, named


@pytest.mark.parametrize(
    ("reference", "repo", "path", "symbol"),
    [
        ("docs/specs/retries.md", "", "docs/specs/retries.md", ""),
        ("acme/parcels: depot.py:5-6", "acme/parcels", "depot.py", ""),
        ("src/depot.py::Depot.close", "", "src/depot.py", "Depot.close"),
        ("Depot::close()", "", "Depot::close()", "Depot.close"),
        ("notes.adoc", "", "notes.adoc", "notes.adoc"),
        ("a folder/a file", "", "a folder/a file", ""),
        ("https://github.com/Acme/Parcels/blob/main/depot.py#L5", "acme/parcels", "depot.py", ""),
    ],
)
def test_a_reference_names_a_file_or_a_symbol(reference, repo, path, symbol) -> None:
    assert named(reference) == Named(reference, repo, path, symbol)


@pytest.mark.parametrize(
    "reference", ["https://example.com/plan", "HTTP://x", "https://[", "http://a/" + "b" * 4000]
)
def test_an_address_of_something_else_names_nothing(reference) -> None:
    assert named(reference) is None
