"""Token states become a vector. The encoder with a real model: tests/models."""

import numpy as np
import pytest

from prism_embedder.adapters.onnx_encoder import _pooling, onnx_file

STATES = np.array([[[1, 2], [3, 4], [9, 9]]], np.float32)
MASK = np.array([[1, 1, 0]], np.int64)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False, "include_prompt": True}, [1, 2]),
        ({"pooling_mode_mean_tokens": True}, [2, 3]),
        ({"pooling_mode": "cls"}, [1, 2]),
        ({"pooling_mode": "mean"}, [2, 3]),
    ],
)
def test_pooling_is_the_first_state_or_the_mean_without_padding(config, expected):
    np.testing.assert_array_equal(_pooling(config)(STATES, MASK), [expected])


@pytest.mark.parametrize(
    "config",
    [{}, {"pooling_mode": "max"}, {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}],
)
def test_another_pooling_is_refused(config):
    with pytest.raises(ValueError, match="cls and mean are known"):
        _pooling(config)


def test_a_model_is_one_onnx_file_in_its_folder_or_below_onnx(tmp_path):
    assert onnx_file(tmp_path) is None
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").touch()
    assert onnx_file(tmp_path) == tmp_path / "onnx" / "model.onnx"
    (tmp_path / "model.onnx").touch()
    with pytest.raises(ValueError, match=r"2 \.onnx files"):
        onnx_file(tmp_path)
