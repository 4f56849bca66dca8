from pathlib import Path

import pytest

import prism_embedder
from prism_embedder.core.static_model import StaticModel

FAST = Path(prism_embedder.__file__).parent / "weights" / "fast"


@pytest.fixture(scope="session")
def fast_folder() -> Path:
    return FAST


@pytest.fixture(scope="session")
def model() -> StaticModel:
    return StaticModel.load(FAST)
