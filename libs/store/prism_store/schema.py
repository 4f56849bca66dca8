"""The points of a collection. A tenant has one per model, reached through the alias `prism_<tenant>`.

A *file point* represents a file of a layer and is its commit record: a chunk point is valid only if its
`generation` is the one that the file point names. So replacing a file has three steps: write the new chunks
(not valid yet), write the file point (a single point, which is the atomic switch), delete the old chunks.

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
| parse          | x    |       | keyword              | result of the chunker's parser                           |
| redactions     | x    |       | keyword              | secret rules that matched                                |
| starts         | x    |       |                      | first lines of the chunks, in order, with spaces         |
| chunk_symbols  | x    |       |                      | a line per chunk: kind, tab, name of enclosing symbol    |
| grams          | x    |       |                      | signature of the text for exact search, see `grams`      |
| blob, size, lines, flags, detail, definitions, symbols, references, bindings, decode_errors | x | | | not indexed |
| file           |      | x     | keyword              | id of the file point                                     |
| text           |      | x     | text, BM25           | the lines                                                |
| kind           |      | x     | keyword              | kind of the enclosing symbol, if any                     |

Vectors, cosine: `fast` (256 dimensions, turbo8) on chunk points; `deep_<model>` (float16) on file points, if
a deep model runs.
"""

from qdrant_client import models

FAST_VECTOR = "fast"
# Part of a collection's name, so that a collection with another layout is refused. Raise it when ids or
# fields change.
LAYOUT = 3
_DEEP = "deep"


def alias(tenant: str) -> str:
    """Returns the alias of a tenant's collection."""
    return f"prism_{tenant}"


def collection(tenant: str, model: str) -> str:
    """Returns the name of a tenant's collection for a model."""
    return f"prism_{tenant}_{model}_{LAYOUT}"


def deep_vector(model: str) -> str:
    """Returns the name of a deep model's vectors."""
    return f"{_DEEP}_{model}"


def is_deep_vector(name: str) -> bool:
    """Returns whether vectors with this name belong to a deep model."""
    return name.partition("_")[0] == _DEEP


def repo_of(scope: str) -> str:
    """Returns the repository in a value of the field `scope`."""
    return scope.partition("/")[0]


def vector_params(dimension: int) -> models.VectorParams:
    """Returns the vector settings.

    One byte per value costs no ranking quality, and compares 4 times as fast as float16.
    """
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
    """Returns the payload indexes of a collection."""
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
