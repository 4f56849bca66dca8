from pathlib import Path

import pytest

from prism_model.static_model import SHIPPED_WEIGHTS, StaticModel


@pytest.fixture(scope="session")
def fast_folder() -> Path:
    return SHIPPED_WEIGHTS


@pytest.fixture(scope="session")
def model() -> StaticModel:
    return StaticModel.load(SHIPPED_WEIGHTS)
