"""The checks of /readyz of the legs without which search still answers."""

from types import SimpleNamespace

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_search.adapters.embedding import QueryEmbedding
from prism_search.adapters.leg_checks import LegChecks


@pytest.mark.parametrize(("version", "passes"), [("mine", True), ("", True), ("other", False)])
async def test_an_index_of_another_model_lacks_the_leg_of_vectors(version, passes):
    indexing = SimpleNamespace(version=version) if version else None
    versions = SimpleNamespace(get=lambda _: indexing)
    legs = LegChecks()
    await legs.checks["vector"]()  # before search is assembled
    legs.embedding = QueryEmbedding(
        SimpleNamespace(fingerprint="mine"), None, versions, 1.0, deep=False, metrics=None
    )
    await legs.checks["deep"]()  # the deep tier is off
    if passes:
        await legs.checks["vector"]()
        return
    with pytest.raises(PrismError) as caught:
        await legs.checks["vector"]()
    assert caught.value.code is ErrorCode.MODEL_MISMATCH
