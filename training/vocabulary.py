"""Pairs -> tokenizer.json: whole words, pieces for the rest, and pairs of words that often occur together.

A joined pair ("=statuscode") is one that occurs as two consecutive words in descriptions and in code, and
whose parts are not so common that they meet by chance.
"""

import argparse
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from corpus import read_pairs, words
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

WORD_CHARS_MAX = 24
WORD_COUNT_MIN = 3
WORD_DIGITS_MAX = 3
JOINED_CHARS_MAX = 30
UNKNOWN_CHARS_MAX = 40  # a longer word is [UNK]
CODE_CHARS_READ = 1_500
DESCRIPTION_WEIGHT = 2
UNKNOWN, PIECE_MARK = "[UNK]", "##"
JOINED_FILE, TOKENIZER_FILE = "joined.json", "tokenizer.json"
# The same splitting as in the model's code, for the tokenizers library alone.
SPLIT = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])|[^A-Za-z0-9]+"
_STOP_WORDS = """
    a an the of to in on for and or is are be by with as at from this that it its if not no we you can will was were has have
    do does which when then than so but into all any i s t d
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

Joint = tuple[str, str]


@dataclass
class Counts:
    """Frequencies of words and neighbours."""

    pairs: int = 0
    words: Counter[str] = field(default_factory=Counter)
    in_descriptions: Counter[Joint] = field(default_factory=Counter)
    in_code: Counter[Joint] = field(default_factory=Counter)


def count(pairs: Path, sample: float) -> Counts:
    """Counts over a share of the pairs; each code side counts a word or a joint once.

    In order of the text and not of a set, so equal counts have the same order in every run.
    """
    counts, rng = Counts(), random.Random(0)
    for row in read_pairs(pairs):
        if rng.random() > sample:
            continue
        counts.pairs += 1
        description = words(row["q"])
        code = words(row["path"] + "\n" + row["code"][:CODE_CHARS_READ])
        counts.words.update(description * DESCRIPTION_WEIGHT)
        counts.words.update(list(dict.fromkeys(code)))
        counts.in_descriptions.update(list(dict.fromkeys(pairwise(description))))
        counts.in_code.update(list(dict.fromkeys(pairwise(code))))
    return counts


def word_pieces(counts: Counts, pieces: int, size: int) -> dict[str, int]:
    """Returns the vocabulary without joined pairs: `pieces` learnt entries, then the most frequent words up
    to `size`.
    """
    tokenizer = _word_piece({})
    trainer = trainers.WordPieceTrainer(
        vocab_size=pieces, special_tokens=[UNKNOWN], continuing_subword_prefix=PIECE_MARK, show_progress=False
    )
    tokenizer.train_from_iterator(
        ([word] * min(20, 1 + counts.words[word] // 50) for word in _usable(counts)), trainer
    )
    learnt = tokenizer.get_vocab()
    entries = {name: token for token, name in enumerate(sorted(learnt, key=lambda name: learnt[name]))}
    for word, _ in counts.words.most_common():
        if len(entries) >= size:
            break
        if word not in entries and len(word) <= WORD_CHARS_MAX and not word.isdigit():
            entries[word] = len(entries)
    return entries


def joined_pairs(counts: Counts, most: int) -> tuple[list[str], list[Joint]]:
    """Returns the spellings worth an entry of their own, best first; and the joints with that spelling."""
    scores = {
        joint: _score(joint, counts)
        for joint in counts.in_descriptions
        if joint in counts.in_code and _can_join(joint)
    }
    best = sorted(scores, key=lambda joint: -scores[joint])
    spellings = list(dict.fromkeys("".join(joint) for joint in best))[:most]
    taken = set(spellings)
    return spellings, [joint for joint in scores if "".join(joint) in taken]


def write(folder: Path, entries: dict[str, int], spellings: list[str], joints: list[Joint]) -> None:
    """Returns tokenizer.json, and the joined pairs with their two words for the first vectors."""
    described: dict[str, Any] = json.loads(_word_piece(entries).to_str())
    vocabulary = described["model"]["vocab"]
    for spelling in spellings:
        vocabulary["=" + spelling] = len(vocabulary)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TOKENIZER_FILE).write_text(json.dumps(described))
    (folder / JOINED_FILE).write_text(json.dumps([" ".join(joint) for joint in joints]))


def _word_piece(entries: dict[str, int]) -> Tokenizer:
    model = models.WordPiece(entries, unk_token=UNKNOWN, max_input_chars_per_word=UNKNOWN_CHARS_MAX)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Replace(Regex(SPLIT), " "), normalizers.Lowercase()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def _usable(counts: Counts) -> list[str]:
    return [
        word
        for word, times in counts.words.items()
        if times >= WORD_COUNT_MIN
        and len(word) <= WORD_CHARS_MAX
        and not (word.isdigit() and len(word) > WORD_DIGITS_MAX)
    ]


def _can_join(joint: Joint) -> bool:
    plain = all(part not in STOP_WORDS and not part.isdigit() and len(part) > 1 for part in joint)
    return plain and len(joint[0] + joint[1]) <= JOINED_CHARS_MAX


def _score(joint: Joint, counts: Counts) -> float:
    rarer = min(counts.words[part] for part in joint)
    telling = 1 if rarer < counts.pairs / 20 else 0.3
    return min(counts.in_descriptions[joint], counts.in_code[joint] / 4) * telling


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path, help=".jsonl.gz of build_pairs.py")
    parser.add_argument("work", type=Path, help="output folder")
    parser.add_argument("--size", type=int, default=28_000, help="words and pieces")
    parser.add_argument("--pieces", type=int, default=9_000, help="of these, learnt as pieces")
    parser.add_argument("--joined", type=int, default=9_000, help="joined pairs beside them")
    parser.add_argument("--sample", type=float, default=0.5, help="share of the pairs that is counted")
    options = parser.parse_args()
    counts = count(options.pairs, options.sample)
    entries = word_pieces(counts, options.pieces, options.size)
    spellings, joints = joined_pairs(counts, options.joined)
    write(options.work, entries, spellings, joints)
    print("pairs read", counts.pairs, "words and pieces", len(entries), "joined", len(spellings))


if __name__ == "__main__":
    main()
