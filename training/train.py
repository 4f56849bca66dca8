"""prep.npz -> model.npz, tokenizer.json, config.json: contrastive training of token vectors and weights on
one thread.

A text is the sum of its tokens' vectors, each times count^tf_power and a learned weight (a second weight for
questions). Loss: symmetric InfoNCE with a learned temperature, in batches of one language that contain blocks
of one package, also on the first `nested` dimensions.
"""

import argparse
import json
import shutil
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from init_vectors import INIT_FILE
from numpy.typing import NDArray
from prepare import PREP_FILE, SIDES
from torch.nn import functional
from vocabulary import TOKENIZER_FILE

# Typical beginnings of questions; a share of the descriptions gets one as a prefix.
PREFIXES = (
    *(
        "how",
        "how does",
        "how are",
        "how is",
        "where is",
        "how to",
        "what",
        "how the",
        "find",
        "code that",
        "for",
    ),
    *("class for", "and", "with"),
)
WARM_UP_STEPS = 30
LAST_RATE = 0.02
TEMPERATURE_RATE = 1e-3
NESTED_LOSS_WEIGHT = 0.4

Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Settings:
    """Hyperparameters; the defaults produced the shipped model."""

    epochs: int = 3
    batch: int = 2_048
    block: int = 64  # rows of one package that stay together in a batch
    rate: float = 2e-3
    weight_rate_factor: float = 5.0
    temperature: float = 0.05
    tf_power: float = 0.5
    path_drop: float = 0.3  # share of rows whose path is not counted a second time
    token_drop: float = 0.1
    prefix_share: float = 0.2
    dimension: int = 256
    nested: int = 128  # 0 for none
    random_init: bool = False
    threads: int = 1


# Chosen after training, on the development half of the benchmark.
PATH_WEIGHT = 0.5
STEM_WEIGHT = 0.5


@dataclass
class Bag:
    """Tokens of many rows, flat: the row, the id and the weighted count of each."""

    rows: Ints
    tokens: Ints
    counts: NDArray[np.float32]


class Corpus:
    """The prepared pairs."""

    def __init__(self, work: Path, tf_power: float) -> None:
        with np.load(work / PREP_FILE) as archive:
            self._arrays = dict(archive)
        self._starts = {
            side: np.concatenate([[0], np.cumsum(self._arrays[side + "n"], dtype=np.int64)]) for side in SIDES
        }
        self._tf_power = tf_power
        self.languages = self._arrays["lang"]
        self.size = len(self.languages)

    def frequencies(self, vocabulary: int) -> Ints:
        """Returns in how many codes and descriptions each token occurs."""
        tokens = np.concatenate([self._arrays["ct"], self._arrays["qt"]])
        return np.bincount(tokens, minlength=vocabulary)

    def bag(self, at: Ints, side: str) -> Bag:
        """Returns one side of the pairs at these positions."""
        low, sizes = self._starts[side][at], self._arrays[side + "n"][at].astype(np.int64)
        begins = np.concatenate([[0], np.cumsum(sizes)])
        where = np.arange(begins[-1]) - np.repeat(begins[:-1], sizes) + np.repeat(low, sizes)
        counts = self._arrays[side + "c"][where].astype(np.float32) ** self._tf_power
        return Bag(np.repeat(np.arange(len(at)), sizes), self._arrays[side + "t"][where], counts)

    def batches(self, settings: Settings, rng: np.random.Generator) -> list[Ints]:
        """Returns the batches of an epoch: one language each, in random order, of blocks of one package."""
        blocks = defaultdict(list)
        for group in self._by_package(rng):
            mixed = rng.permutation(group)
            for low in range(0, len(mixed), settings.block):
                blocks[int(self.languages[group[0]])].append(mixed[low : low + settings.block])
        found = []
        for parts in blocks.values():
            flat = np.concatenate([parts[at] for at in rng.permutation(len(parts))])
            lows = range(0, len(flat), settings.batch)
            found += [
                flat[low : low + settings.batch] for low in lows if len(flat) - low >= settings.batch // 4
            ]
        return [found[at] for at in rng.permutation(len(found))]

    def _by_package(self, rng: np.random.Generator) -> list[Ints]:
        packages = self._arrays["pkg"].astype(np.int64)
        order = rng.permutation(self.size)
        order = order[np.argsort(packages[order], kind="stable")]
        keys = packages[order] * 64 + self.languages[order]
        by_key = np.argsort(keys, kind="stable")
        return np.split(order[by_key], np.flatnonzero(np.diff(keys[by_key])) + 1)


class Model(torch.nn.Module):
    """Token vectors, the logarithms of their weights, and the temperature."""

    def __init__(
        self, vectors: NDArray[np.float32], weights: NDArray[np.float32], temperature: float
    ) -> None:
        super().__init__()
        self.vectors = torch.nn.Parameter(torch.tensor(vectors))
        self.weights = torch.nn.Parameter(torch.tensor(weights))
        self.query_extra = torch.nn.Parameter(torch.zeros(len(weights)))
        self.scale = torch.nn.Parameter(torch.tensor(float(np.log(1 / temperature))))

    def embed(self, bag: Bag, rows: int, *, query: bool) -> torch.Tensor:
        """Returns the weighted sums, one row per text."""
        order = np.argsort(bag.rows, kind="stable")
        tokens = torch.from_numpy(bag.tokens[order].astype(np.int64))
        counts = torch.from_numpy(bag.counts[order])
        starts = torch.from_numpy(np.searchsorted(bag.rows[order], np.arange(rows)))
        weights = (self.weights + self.query_extra)[tokens] if query else self.weights[tokens]
        return functional.embedding_bag(
            tokens, self.vectors, starts, mode="sum", per_sample_weights=counts * weights.exp()
        )

    def loss(self, queries: torch.Tensor, chunks: torch.Tensor, dimension: int) -> torch.Tensor:
        """Returns the loss of each query against all chunks of the batch and of each chunk against all
        queries.
        """
        left = functional.normalize(queries[:, :dimension], dim=1)
        right = functional.normalize(chunks[:, :dimension], dim=1)
        scores = left @ right.T * self.scale.exp()
        truth = torch.arange(len(scores))
        return (functional.cross_entropy(scores, truth) + functional.cross_entropy(scores.T, truth)) / 2


class Trainer:
    """Runs the epochs. One generator draws everything, so a run is reproducible."""

    def __init__(self, work: Path, settings: Settings) -> None:
        torch.set_num_threads(settings.threads)
        torch.manual_seed(0)
        self._settings = settings
        self._rng = np.random.default_rng(0)
        self._corpus = Corpus(work, settings.tf_power)
        self._entries = json.loads((work / TOKENIZER_FILE).read_text())["model"]["vocab"]
        self.model = self._first_model(work)
        self._optimizer = self._make_optimizer()
        self._prefixes = [
            [self._entries[word] for word in prefix.split() if word in self._entries] for prefix in PREFIXES
        ]

    def run(self) -> None:
        """Trains, and prints one line per epoch."""
        plan = [self._corpus.batches(self._settings, self._rng) for _ in range(self._settings.epochs)]
        steps, step, start = sum(map(len, plan)), 0, time.monotonic()
        for epoch, batches in enumerate(plan):
            losses = []
            for batch in batches:
                self._set_rate(step, steps)
                losses.append(self._step(batch))
                step += 1
            scale = self.model.scale.exp().item()
            seconds = time.monotonic() - start
            print(
                f"epoch {epoch} loss {np.mean(losses):.4f} scale {scale:.1f} {step}/{steps} {seconds:.0f} s",
                flush=True,
            )

    def save(self, work: Path, out: Path) -> None:
        """Writes the three files of the model."""
        out.mkdir(parents=True, exist_ok=True)
        with torch.no_grad():
            arrays = {
                "vectors": self.model.vectors,
                "weights": self.model.weights.exp(),
                "query_weights": (self.model.weights + self.model.query_extra).exp(),
            }
            np.savez(
                out / "model.npz",
                **{name: value.numpy().astype(np.float16) for name, value in arrays.items()},
            )
        shutil.copy(work / TOKENIZER_FILE, out / TOKENIZER_FILE)
        (out / "config.json").write_text(json.dumps(self._config(), indent=2) + "\n")

    def _config(self) -> dict[str, Any]:
        return {
            "dim": self._settings.dimension,
            "matryoshka": [self._settings.nested] if self._settings.nested else [],
            "vocabulary": len(self._entries),
            "tf_power": self._settings.tf_power,
            "path_weight": PATH_WEIGHT,
            "stem_weight": STEM_WEIGHT,
            "train": asdict(self._settings) | {"pairs": self._corpus.size},
        }

    def _first_model(self, work: Path) -> Model:
        size, dimension = len(self._entries), self._settings.dimension
        if self._settings.random_init:
            vectors = self._rng.standard_normal((size, dimension)) / dimension**0.5
        else:
            vectors = np.load(work / INIT_FILE)[:, :dimension]
        rarity = np.log(1 + self._corpus.size / (self._corpus.frequencies(size) + 1.0))
        weights = np.log(rarity / 5 + 0.02)  # start from a damped IDF
        return Model(vectors.astype(np.float32), weights.astype(np.float32), self._settings.temperature)

    def _make_optimizer(self) -> torch.optim.Optimizer:
        model, rate = self.model, self._settings.rate
        groups = [
            {"params": [model.vectors], "lr": rate},
            {"params": [model.weights, model.query_extra], "lr": rate * self._settings.weight_rate_factor},
            {"params": [model.scale], "lr": TEMPERATURE_RATE},
        ]
        for group in groups:
            group["initial_lr"] = group["lr"]
        return torch.optim.Adam(groups, betas=(0.9, 0.98), fused=True)

    def _set_rate(self, step: int, steps: int) -> None:
        share = min(1, (step + 1) / WARM_UP_STEPS) * max(LAST_RATE, 1 - step / steps)
        for group in self._optimizer.param_groups:
            group["lr"] = group["initial_lr"] * share

    def _step(self, batch: Ints) -> float:
        queries = self.model.embed(self._questions(batch), len(batch), query=True)
        chunks = self.model.embed(self._chunks(batch), len(batch), query=False)
        full = self.model.loss(queries, chunks, self._settings.dimension)
        loss = full
        if self._settings.nested:
            loss = full + self.model.loss(queries, chunks, self._settings.nested) * NESTED_LOSS_WEIGHT
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        return float(full.item())

    def _questions(self, batch: Ints) -> Bag:
        bag = self._corpus.bag(batch, "q")
        chosen = np.flatnonzero(self._rng.random(len(batch)) < self._settings.prefix_share)
        added = [
            (row, token)
            for row in chosen
            for token in self._prefixes[self._rng.integers(len(self._prefixes))]
        ]
        if not added:
            return bag
        rows, tokens = zip(*added, strict=True)
        return Bag(
            np.concatenate([bag.rows, rows]),
            np.concatenate([bag.tokens, tokens]),
            np.concatenate([bag.counts, np.ones(len(added), np.float32)]),
        )

    def _chunks(self, batch: Ints) -> Bag:
        """Returns the code, for most rows with the path counted a second time, minus some tokens."""
        code, path = self._corpus.bag(batch, "c"), self._corpus.bag(batch, "p")
        keep = (self._rng.random(len(batch)) > self._settings.path_drop)[path.rows]
        rows = np.concatenate([code.rows, path.rows[keep]])
        tokens = np.concatenate([code.tokens, path.tokens[keep]])
        counts = np.concatenate([code.counts, path.counts[keep]])
        keep = self._rng.random(len(rows)) > self._settings.token_drop
        return Bag(rows[keep], tokens[keep], counts[keep])


def _settings() -> tuple[Path, Path, Settings]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="folder of vocabulary.py and prepare.py")
    parser.add_argument("out", type=Path, help="output folder")
    for name, default in asdict(Settings()).items():
        option = "--" + name.replace("_", "-")
        if isinstance(default, bool):
            parser.add_argument(option, action="store_true")
        else:
            parser.add_argument(option, type=type(default), default=default)
    values = vars(parser.parse_args())
    return values.pop("work"), values.pop("out"), Settings(**values)


def main() -> None:
    """Entry point."""
    work, out, settings = _settings()
    trainer = Trainer(work, settings)
    trainer.run()
    trainer.save(work, out)


if __name__ == "__main__":
    main()
