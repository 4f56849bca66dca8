"""The points of a collection. A tenant has one collection a model, reached through the alias `prism_<tenant>`.

A *file point* stands for a file of a layer and is its commit record: a chunk point counts only if its
`generation` is the one that the file point names. Replacing a file therefore is: write the new chunks (nobody
counts them yet), write the file point (one point: the switch), delete the old chunks.

| field          | file | chunk | index                | meaning                                                  |
|----------------|------|-------|----------------------|----------------------------------------------------------|
| scope          | x    | x     | keyword              | `<repository id>/<layer>`; every read names it           |
| path           | x    | x     | keyword, prefix      | relative to the repository                               |
| version        | x    | x     | integer              | snapshot that wrote the point; the highest wins          |
| generation     | x    | x     | keyword              | content address; empty if the file has no chunks         |
| language       | x    | x     | keyword              | lower-case id                                            |
| prose          | x    | x     | bool                 | Markdown and other text for people                       |
| status         | x    |       | keyword              | indexed, skipped, failed, removed                        |
| reason         | x    |       | keyword              | why skipped or failed                                    |
| names          | x    |       | keyword              | names of the symbols defined here, also qualified        |
| path_text      | x    |       | text, BM25           | the path as words                                        |
| symbol_text    | x    |       | text, BM25           | names of symbols as words                                |
| parse          | x    |       | keyword              | how the chunker fared                                    |
| redactions     | x    |       | keyword              | secret rules that matched                                |
| starts         | x    |       |                      | first lines of the chunks, in order, with spaces         |
| chunk_symbols  | x    |       |                      | a line a chunk: kind, tab, name of what it is part of    |
| grams          | x    |       |                      | signature of the text for exact search, see `grams`     |
| blob, size, lines, flags, detail, definitions, symbols, references, bindings, decode_errors | x | | | not indexed |
| file           |      | x     | keyword              | id of the file point                                     |
| text           |      | x     | text, BM25           | the lines                                                |
| kind           |      | x     | keyword              | kind of the symbol that it is part of, if of any         |

Vectors, cosine: `fast` (256 dimensions, turbo8) on chunk points; `deep_<model>` (float16) on file points, where a deep model
runs.
"""

from qdrant_client import models

FAST_VECTOR = "fast"
# Part of a collection's name, so that one whose points cannot be read as they are now is refused. Raised when ids are
# made, or fields written, in another way.
LAYOUT = 3
_DEEP = "deep"


def alias(tenant: str) -> str:
    """The name by which a tenant's collection is reached."""
    return f"prism_{tenant}"


def collection(tenant: str, model: str) -> str:
    """The name of a tenant's collection for a model."""
    return f"prism_{tenant}_{model}_{LAYOUT}"


def deep_vector(model: str) -> str:
    """The name of a deep model's vectors."""
    return f"{_DEEP}_{model}"


def is_deep_vector(name: str) -> bool:
    """Whether vectors of this name are some deep model's."""
    return name.partition("_")[0] == _DEEP


def repo_of(scope: str) -> str:
    """The repository that a value of the field `scope` names."""
    return scope.partition("/")[0]


def vector_params(dimension: int) -> models.VectorParams:
    """How vectors are kept. A byte a value costs no rank, and is compared four times as fast as half precision."""
    return models.VectorParams(
        size=dimension, distance=models.Distance.COSINE, datatype=models.Datatype.TURBO8
    )


def _bm25(stem: bool) -> models.TextIndexParams:
    return models.TextIndexParams(
        type=models.TextIndexType.TEXT,
        tokenizer=models.TokenizerType.CODE,
        lowercase=True,
        stemmer=models.SnowballParams(type=models.Snowball.SNOWBALL, language=models.SnowballLanguage.ENGLISH)
        if stem
        else None,
        scoring=True,
    )


def _keyword(prefix: bool = False) -> models.KeywordIndexParams:
    return models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, prefix=prefix or None)


def payload_indexes() -> dict[str, models.PayloadSchemaType | models.PayloadSchemaParams]:
    """Every payload index of a collection."""
    return {
        "scope": _keyword(),
        "path": _keyword(prefix=True),
        "version": models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=True),
        "generation": _keyword(),
        "language": _keyword(),
        "prose": models.BoolIndexParams(type=models.BoolIndexType.BOOL),
        "status": _keyword(),
        "reason": _keyword(),
        "names": _keyword(),
        "path_text": _bm25(stem=True),
        "symbol_text": _bm25(stem=True),
        "parse": _keyword(),
        "redactions": _keyword(),
        "file": _keyword(),
        "text": _bm25(stem=True),
        "kind": _keyword(),
    }
