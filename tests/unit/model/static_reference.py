"""The fast model written plainly, one token at a time, as a reference for the fast implementation."""

import json
import re
from collections import Counter
from itertools import pairwise

import numpy as np
from tokenizers import Tokenizer

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class Reference:
    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.vocabulary = self.tokenizer.get_vocab()
        with np.load(folder / "model.npz") as weights:
            self.vectors = weights["vectors"].astype(np.float64)
            self.weights = weights["weights"].astype(np.float64)
            self.query_weights = weights["query_weights"].astype(np.float64)

    def tokens(self, text):
        words = [word.lower() for word in WORD.findall(text)]
        pieces = [
            token for word in words for token in self.tokenizer.encode(word, add_special_tokens=False).ids
        ]
        joined = [self.vocabulary.get("=" + left + right) for left, right in pairwise(words)]
        return Counter(pieces + [token for token in joined if token is not None])

    def embed(self, text, weights):
        total = np.zeros(self.config["dim"])
        for token, count in self.tokens(text).items():
            total += self.vectors[token] * weights[token] * count ** self.config["tf_power"]
        return unit(total)

    def chunk(self, path, text):
        stem = re.split(r"[/\\]", path)[-1].split(".")[0]
        return unit(
            self.embed(text, self.weights)
            + self.config["path_weight"] * self.embed(path, self.weights)
            + self.config["stem_weight"] * self.embed(stem, self.weights)
        )

    def query(self, text):
        return self.embed(text, self.query_weights)


def unit(vector):
    length = np.linalg.norm(vector)
    return vector / length if length else vector
