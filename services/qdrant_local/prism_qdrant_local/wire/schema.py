"""Collections, named vectors and payload indexes: Qdrant's JSON to the engine's parameters.

Settings of clusters and background optimizers are accepted and ignored; a setting that would change answers
(sparse vectors, custom sharding, strict mode) is refused.
"""

from __future__ import annotations  # some of the engine's types exist in its stub only

from collections.abc import Callable
from typing import Any

import qdrant_edge as edge

from prism_qdrant_local.errors import bad_request
from prism_qdrant_local.limits import VECTOR_SIZE_MAX
from prism_qdrant_local.wire.fields import (
    optional_bool,
    optional_integer,
    read_bool,
    read_choice,
    read_integer,
    read_object,
    read_string,
    read_strings,
    require,
)

_NOT_USED_HERE = frozenset(
    {
        "shard_number",
        "replication_factor",
        "write_consistency_factor",
        "on_disk_payload",
        "payload",
        "id_tracker",
        "hnsw_config",
        "wal_config",
        "optimizers_config",
        "quantization_config",
    }
)
_COLLECTION = _NOT_USED_HERE | {"vectors", "sparse_vectors", "sharding_method", "metadata"}
_VECTOR = frozenset(
    {"size", "distance", "datatype", "on_disk", "memory", "hnsw_config", "quantization_config"}
)
_NEW_VECTOR = frozenset({"size", "distance", "datatype"})

_DISTANCES = {
    "Cosine": edge.Distance.Cosine,
    "Euclid": edge.Distance.Euclid,
    "Dot": edge.Distance.Dot,
    "Manhattan": edge.Distance.Manhattan,
}
_DATATYPES = {
    "float32": edge.VectorStorageDatatype.Float32,
    "float16": edge.VectorStorageDatatype.Float16,
    "uint8": edge.VectorStorageDatatype.Uint8,
    "turbo8": edge.VectorStorageDatatype.Turbo8,
}
_MEMORY = {"cold": edge.Memory.Cold, "cached": edge.Memory.Cached, "pinned": edge.Memory.Pinned}
_SIMPLE_INDEXES = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "integer": edge.PayloadSchemaType.Integer,
    "float": edge.PayloadSchemaType.Float,
    "bool": edge.PayloadSchemaType.Bool,
    "text": edge.PayloadSchemaType.Text,
}
_TOKENIZERS = {
    "prefix": edge.TokenizerType.Prefix,
    "whitespace": edge.TokenizerType.Whitespace,
    "word": edge.TokenizerType.Word,
    "multilingual": edge.TokenizerType.Multilingual,
    "code": edge.TokenizerType.Code,
}
_LANGUAGES = {name.lower(): getattr(edge.Language, name) for name in dir(edge.Language) if name[0].isupper()}
_STEMMERS = {
    name.lower(): getattr(edge.SnowballLanguage, name)
    for name in dir(edge.SnowballLanguage)
    if name[0].isupper()
}

VectorsJson = dict[str, dict[str, Any]]


def read_collection(body: object) -> tuple[VectorsJson, dict[str, Any] | None]:
    """Return the named vectors, as JSON that `vector_params` takes, and the metadata of a new collection."""
    fields = read_object(body, "collection", _COLLECTION)
    if fields.get("sparse_vectors"):
        raise bad_request("Wrong input: sparse vectors are not supported by this server")
    if fields.get("sharding_method", "auto") != "auto":
        raise bad_request("Wrong input: custom sharding is not supported by this server")
    vectors = fields.get("vectors", {})
    if not isinstance(vectors, dict) or not vectors or "size" in vectors:
        raise bad_request("Wrong input: a collection on this server needs one or more named vectors")
    return {name: _read_vector(vectors[name], f"vectors.{name}", _VECTOR) for name in vectors}, fields.get(
        "metadata"
    )


def read_new_vector(body: object) -> dict[str, Any]:
    """Return the parameters of a vector that is added to an existing collection."""
    fields = read_object(body, "vector", frozenset({"dense", "sparse"}))
    if "sparse" in fields:
        raise bad_request("Wrong input: sparse vectors are not supported by this server")
    return _read_vector(require(fields, "dense", "vector"), "dense", _NEW_VECTOR)


def _read_vector(body: object, where: str, allowed: frozenset[str]) -> dict[str, Any]:
    fields = read_object(body, where, allowed)
    read_integer(require(fields, "size", where), f"{where}.size", 1, VECTOR_SIZE_MAX)
    read_choice(require(fields, "distance", where), f"{where}.distance", _DISTANCES)
    if "datatype" in fields:
        read_choice(fields["datatype"], f"{where}.datatype", _DATATYPES)
    if "memory" in fields:
        read_choice(fields["memory"], f"{where}.memory", _MEMORY)
    optional_bool(fields, "on_disk", where)
    return fields


def vector_params(vector: dict[str, Any]) -> edge.EdgeVectorParams:
    """Build the engine's parameters of one vector from validated JSON."""
    return edge.EdgeVectorParams(
        size=vector["size"],
        distance=_DISTANCES[vector["distance"]],
        datatype=_DATATYPES.get(vector.get("datatype", "")),
        on_disk=vector.get("on_disk"),
        memory=_MEMORY.get(vector.get("memory", "")),
    )


def create_vector(name: str, vector: dict[str, Any]) -> edge.UpdateOperation:
    """Build the operation that adds a named vector."""
    return edge.UpdateOperation.create_dense_vector(
        name,
        vector["size"],
        _DISTANCES[vector["distance"]],
        datatype=_DATATYPES.get(vector.get("datatype", "")),
    )


def read_index(body: object) -> tuple[str, dict[str, Any], edge.UpdateOperation]:
    """Return the field, its schema as JSON and the operation that creates the index."""
    fields = read_object(body, "index", frozenset({"field_name", "field_schema"}))
    field_name = read_string(require(fields, "field_name", "index"), "field_name")
    schema = require(fields, "field_schema", "index")
    if isinstance(schema, str):
        schema = {"type": schema}
    if not isinstance(schema, dict):
        raise bad_request("Format error in JSON body: field_schema must be a string or an object")
    operation = edge.UpdateOperation.create_field_index(field_name, _index_params(schema))
    return field_name, schema, operation


def _index_params(schema: dict[str, Any]) -> edge.PayloadSchemaType | edge.PayloadSchemaParams:
    kind = read_choice(schema.get("type"), "field_schema.type", _SIMPLE_INDEXES)
    if schema.keys() == {"type"}:
        return _SIMPLE_INDEXES[kind]
    return _INDEX_BUILDERS[kind](schema)


_STORAGE = frozenset({"type", "on_disk", "memory", "enable_hnsw"})
_KEYWORD = _STORAGE | {"is_tenant", "prefix"}
_INTEGER = _STORAGE | {"lookup", "range", "is_principal"}
_FLOAT = _STORAGE | {"is_principal"}
_TEXT = _STORAGE | {
    "tokenizer",
    "min_token_len",
    "max_token_len",
    "lowercase",
    "ascii_folding",
    "phrase_matching",
    "stopwords",
    "stemmer",
    "scoring",
}


def _storage(fields: dict[str, Any], where: str) -> dict[str, Any]:
    memory = read_choice(fields["memory"], f"{where}.memory", _MEMORY) if "memory" in fields else ""
    return {
        "on_disk": optional_bool(fields, "on_disk", where),
        "enable_hnsw": optional_bool(fields, "enable_hnsw", where),
        "memory": _MEMORY.get(memory),
    }


def _keyword(schema: dict[str, Any]) -> edge.KeywordIndexParams:
    fields = read_object(schema, "keyword index", _KEYWORD)
    return edge.KeywordIndexParams(
        is_tenant=optional_bool(fields, "is_tenant", "keyword index"),
        prefix=optional_bool(fields, "prefix", "keyword index"),
        **_storage(fields, "keyword index"),
    )


def _integer(schema: dict[str, Any]) -> edge.IntegerIndexParams:
    fields = read_object(schema, "integer index", _INTEGER)
    return edge.IntegerIndexParams(
        lookup=optional_bool(fields, "lookup", "integer index"),
        range=optional_bool(fields, "range", "integer index"),
        is_principal=optional_bool(fields, "is_principal", "integer index"),
        **_storage(fields, "integer index"),
    )


def _float(schema: dict[str, Any]) -> edge.FloatIndexParams:
    fields = read_object(schema, "float index", _FLOAT)
    is_principal = optional_bool(fields, "is_principal", "float index")
    return edge.FloatIndexParams(is_principal=is_principal, **_storage(fields, "float index"))


def _bool(schema: dict[str, Any]) -> edge.BoolIndexParams:
    fields = read_object(schema, "bool index", _STORAGE)
    return edge.BoolIndexParams(**_storage(fields, "bool index"))


def _text(schema: dict[str, Any]) -> edge.TextIndexParams:
    where = "text index"
    fields = read_object(schema, where, _TEXT)
    tokenizer = read_choice(fields.get("tokenizer", "word"), f"{where}.tokenizer", _TOKENIZERS)
    return edge.TextIndexParams(
        tokenizer=_TOKENIZERS[tokenizer],
        min_token_len=optional_integer(fields, "min_token_len", where),
        max_token_len=optional_integer(fields, "max_token_len", where),
        lowercase=optional_bool(fields, "lowercase", where),
        ascii_folding=optional_bool(fields, "ascii_folding", where),
        phrase_matching=optional_bool(fields, "phrase_matching", where),
        stopwords=_stopwords(fields["stopwords"]) if "stopwords" in fields else None,
        stemmer=_stemmer(fields["stemmer"]) if "stemmer" in fields else None,
        scoring=_scoring(fields["scoring"]) if "scoring" in fields else None,
        **_storage(fields, where),
    )


_INDEX_BUILDERS: dict[str, Callable[[dict[str, Any]], edge.PayloadSchemaParams]] = {
    "keyword": _keyword,
    "integer": _integer,
    "float": _float,
    "bool": _bool,
    "text": _text,
}


def _stopwords(value: object) -> edge.Stopwords:
    if isinstance(value, str):
        language: edge.Language = _LANGUAGES[read_choice(value, "stopwords", _LANGUAGES)]
        return language
    fields = read_object(value, "stopwords", frozenset({"languages", "custom"}))
    languages = [read_choice(name, "stopwords", _LANGUAGES) for name in fields.get("languages", [])]
    custom = read_strings(fields.get("custom", []), "stopwords.custom")
    return edge.StopwordsSet({_LANGUAGES[name] for name in languages}, set(custom))


def _stemmer(value: object) -> edge.StemmingAlgorithm:
    fields = read_object(value, "stemmer", frozenset({"type", "language"}))
    kind = read_choice(require(fields, "type", "stemmer"), "stemmer.type", ("snowball", "none"))
    if kind == "none":
        return edge.DisabledStemmer()
    language = read_choice(require(fields, "language", "stemmer"), "stemmer.language", _STEMMERS)
    return edge.SnowballParams(_STEMMERS[language])


def _scoring(value: object) -> bool | edge.TextScoringParams:
    if isinstance(value, bool):
        return read_bool(value, "scoring")
    fields = read_object(value, "scoring", frozenset({"type"}))
    read_choice(require(fields, "type", "scoring"), "scoring.type", ("bm25",))
    return edge.TextScoringParams(edge.TextScoringType.Bm25)
