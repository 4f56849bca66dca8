"""The behaviour of Qdrant on which Prism relies, through the ordinary client.

Runs on the local server, or on the Qdrant server that PRISM_TEST_QDRANT_URL names.
"""

import asyncio
import operator
import random
import uuid
from collections.abc import AsyncIterator, Iterator
from itertools import permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_client import AsyncQdrantClient, QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

VECTORS = {"fast": models.VectorParams(size=4, distance=models.Distance.COSINE)}
UUID = "6f8b7f4c-3c57-4c55-9f1b-0f3b9d5a6a10"


@pytest.fixture
async def client(qdrant_server_url) -> AsyncIterator[AsyncQdrantClient]:
    client = AsyncQdrantClient(url=qdrant_server_url, check_compatibility=False, timeout=30)
    yield client
    await client.close()


@pytest.fixture
async def name(client) -> AsyncIterator[str]:
    """An empty collection with one named vector."""
    name = f"test_{uuid.uuid4().hex}"
    await client.create_collection(name, vectors_config=VECTORS)
    yield name
    await client.delete_collection(name)


def point(point_id: int | str, vector: list[float] | None = None, **payload: Any) -> models.PointStruct:
    return models.PointStruct(id=point_id, vector={} if vector is None else {"fast": vector}, payload=payload)


def where(key: str, **match: Any) -> models.Filter:
    return models.Filter(must=[field(key, **match)])


MATCHES = {
    "value": models.MatchValue,
    "any": models.MatchAny,
    "text": models.MatchText,
    "text_any": models.MatchTextAny,
    "phrase": models.MatchPhrase,
    "prefix": models.MatchPrefix,
}


def field(key: str, **match: Any) -> models.FieldCondition:
    ((kind, wanted),) = match.items()
    if kind == "except_":
        return models.FieldCondition(key=key, match=models.MatchExcept(**{"except": wanted}))
    return models.FieldCondition(key=key, match=MATCHES[kind](**{kind: wanted}))


async def ids(client: AsyncQdrantClient, name: str, scroll_filter: models.Filter | None = None) -> list[Any]:
    records, _ = await client.scroll(name, scroll_filter=scroll_filter, limit=10_000, with_payload=False)
    return [record.id for record in records]


def status_of(raised: pytest.ExceptionInfo[UnexpectedResponse]) -> int | None:
    return raised.value.status_code


# Collections


async def test_the_client_supports_the_version_of_the_server(client) -> None:
    assert (await client.info()).version.startswith("1.")


async def test_a_collection_exists_from_creation_to_deletion(client) -> None:
    name = f"test_{uuid.uuid4().hex}"
    assert not await client.collection_exists(name)
    assert await client.create_collection(
        name,
        vectors_config={
            "fast": models.VectorParams(size=256, distance="Cosine", datatype="turbo8"),
            "deep": models.VectorParams(size=768, distance="Dot"),
        },
        shard_number=1,
        replication_factor=1,
        on_disk_payload=True,
        hnsw_config=models.HnswConfigDiff(m=16),
        optimizers_config=models.OptimizersConfigDiff(indexing_threshold=10_000),
    )
    assert await client.collection_exists(name)
    assert name in [collection.name for collection in (await client.get_collections()).collections]
    info = await client.get_collection(name)
    assert info.status == models.CollectionStatus.GREEN
    assert (info.points_count, info.config.params.vectors["fast"].size) == (0, 256)
    assert info.config.params.vectors["fast"].datatype == models.Datatype.TURBO8
    with pytest.raises(UnexpectedResponse) as raised:
        await client.create_collection(name, vectors_config=VECTORS)
    assert status_of(raised) == 409
    assert await client.delete_collection(name)
    assert not await client.collection_exists(name)
    with pytest.raises(UnexpectedResponse) as raised:
        await client.get_collection(name)
    assert status_of(raised) == 404


async def test_indexes_are_listed_and_deleted(client, name) -> None:
    text = models.TextIndexParams(
        type="text",
        tokenizer="code",
        lowercase=True,
        phrase_matching=True,
        scoring=True,
        min_token_len=1,
        max_token_len=40,
        stemmer=models.SnowballParams(type="snowball", language="english"),
        stopwords=models.StopwordsSet(languages=[models.Language.ENGLISH], custom=["self"]),
    )
    await client.create_payload_index(
        name, "path", models.KeywordIndexParams(type="keyword", prefix=True, is_tenant=True)
    )
    await client.create_payload_index(name, "version", models.PayloadSchemaType.INTEGER)
    await client.create_payload_index(name, "flag", "bool")
    await client.create_payload_index(name, "text", text)
    await client.create_payload_index(name, "text", text)
    schema = (await client.get_collection(name)).payload_schema
    assert {key: index.data_type.value for key, index in schema.items()} == {
        "path": "keyword",
        "version": "integer",
        "flag": "bool",
        "text": "text",
    }
    assert schema["path"].params.prefix
    assert schema["text"].params.tokenizer == models.TokenizerType.CODE
    await client.delete_payload_index(name, "flag")
    assert "flag" not in (await client.get_collection(name)).payload_schema


async def test_a_named_vector_is_added_filled_and_removed(client, name) -> None:
    await client.upsert(name, [point(1, [1, 0, 0, 0]), point(2, [0, 1, 0, 0])])
    dense = models.DenseVectorNameConfig(dense=models.DenseVectorConfig(size=2, distance="Dot"))
    await client.create_vector_name(name, "deep", dense)
    await client.update_vectors(name, [models.PointVectors(id=2, vector={"deep": [3, 4]})])
    hits = (await client.query_points(name, query=[1, 1], using="deep")).points
    assert [(hit.id, hit.score) for hit in hits] == [(2, 7)]
    has_deep = models.Filter(must=[models.HasVectorCondition(has_vector="deep")])
    assert await ids(client, name, has_deep) == [2]
    await client.delete_vectors(name, ["deep"], points=[2])
    assert await ids(client, name, has_deep) == []
    await client.delete_vector_name(name, "deep")
    assert (await client.get_collection(name)).config.params.vectors.keys() == {"fast"}


# Writing points


async def test_both_forms_of_upsert_store_the_same(client, name) -> None:
    await client.upsert(name, [point(1, [1, 0, 0, 0], path="a"), point(UUID, [0, 2, 0, 0], path="b")])
    listed = await client.retrieve(name, [1, UUID], with_vectors=True)
    await client.delete(name, [1, UUID])
    await client.upsert(
        name,
        models.Batch(
            ids=[1, UUID],
            vectors={"fast": [[1, 0, 0, 0], [0, 2, 0, 0]]},
            payloads=[{"path": "a"}, {"path": "b"}],
        ),
    )
    assert await client.retrieve(name, [1, UUID], with_vectors=True) == listed
    assert [(record.id, record.payload, record.vector) for record in listed] == [
        (1, {"path": "a"}, {"fast": [1, 0, 0, 0]}),
        (UUID, {"path": "b"}, {"fast": [0, 1, 0, 0]}),
    ]


async def test_an_upsert_replaces_the_whole_point(client, name) -> None:
    await client.upsert(name, [point(1, [1, 0, 0, 0], old=1)])
    await client.upsert(name, [point(1, None, new=2)])
    assert (await client.retrieve(name, [1], with_vectors=True))[0].payload == {"new": 2}
    assert (await client.retrieve(name, [1], with_vectors=True))[0].vector == {}
    assert (await client.count(name)).count == 1


async def test_payloads_are_returned_unchanged(client, name) -> None:
    payload = {
        "text": 'def f():\n\treturn "ü \U0001f600 \\ \x00"',
        "big": 2**63 - 1,
        "negative": -5,
        "float": 0.1,
        "flags": [True, False, None],
        "nested": {"a": [{"b": {}}], "": "empty key"},
        "empty": [],
    }
    await client.upsert(name, [models.PointStruct(id=1, vector={}, payload=payload)])
    assert (await client.retrieve(name, [1]))[0].payload == payload


@pytest.mark.parametrize("order", list(permutations([1, 2, 3])))
async def test_the_newest_version_wins_in_any_order_of_writes(client, name, order) -> None:
    """`update_filter` guards existing points; new points are inserted."""
    for version in order:
        older = models.Filter(must=[models.FieldCondition(key="version", range=models.Range(lt=version))])
        await client.upsert(
            name,
            [point(number, [version, 0, 0, 1], version=version) for number in (1, 2)],
            update_filter=older,
        )
    records = await client.retrieve(name, [1, 2])
    assert [record.payload["version"] for record in records] == [3, 3]


async def test_update_modes(client, name) -> None:
    await client.upsert(name, [point(1, version=1)])
    await client.upsert(
        name, [point(1, version=2), point(2, version=2)], update_mode=models.UpdateMode.INSERT_ONLY
    )
    await client.upsert(
        name, [point(1, version=3), point(3, version=3)], update_mode=models.UpdateMode.UPDATE_ONLY
    )
    records, _ = await client.scroll(name)
    assert {record.id: record.payload["version"] for record in records} == {1: 3, 2: 2}


@pytest.mark.parametrize("vector", [{"fast": [1, 0, 0]}, {"nope": [1, 0, 0, 0]}])
async def test_one_bad_point_refuses_its_whole_upsert(client, name, vector) -> None:
    bad = models.PointStruct(id=2, vector=vector)
    with pytest.raises(UnexpectedResponse) as raised:
        await client.upsert(name, [point(1, [1, 0, 0, 0]), bad, point(3, [1, 0, 0, 0])])
    assert status_of(raised) == 400
    assert await ids(client, name) == []


async def test_vectors_of_a_missing_point_are_refused(client, name) -> None:
    with pytest.raises(UnexpectedResponse) as raised:
        await client.update_vectors(name, [models.PointVectors(id=77, vector={"fast": [0, 1, 0, 0]})])
    assert status_of(raised) == 404
    assert await ids(client, name) == []


async def test_deleting_by_id_and_by_filter(client, name) -> None:
    await client.create_payload_index(name, "layer", "keyword")
    await client.upsert(
        name, [point(number, layer="old" if number % 2 else "base") for number in range(1_000)]
    )
    await client.delete(name, [0, 2, 999_999])
    assert (await client.count(name)).count == 998
    await client.delete(name, models.FilterSelector(filter=where("layer", value="old")))
    assert await ids(client, name) == list(range(4, 1_000, 2))


async def test_payloads_are_set_overwritten_cut_and_cleared(client, name) -> None:
    await client.create_payload_index(name, "layer", "keyword")
    await client.upsert(name, [point(number, [1, 0, 0, 0], layer="a", number=number) for number in (1, 2, 3)])

    async def payloads() -> list[dict[str, Any] | None]:
        return [record.payload for record in await client.retrieve(name, [1, 2, 3])]

    await client.set_payload(name, {"layer": "b"}, points=[1])
    await client.set_payload(name, {"hidden": True}, points=where("layer", value="a"))
    assert await payloads() == [
        {"layer": "b", "number": 1},
        {"layer": "a", "number": 2, "hidden": True},
        {"layer": "a", "number": 3, "hidden": True},
    ]
    await client.delete_payload(name, ["hidden", "never"], points=[2])
    await client.overwrite_payload(name, {"only": 1}, points=[3])
    assert await payloads() == [{"layer": "b", "number": 1}, {"layer": "a", "number": 2}, {"only": 1}]
    await client.clear_payload(name, models.PointIdsList(points=[1]))
    assert (await payloads())[0] == {}
    assert (await client.count(name, count_filter=where("layer", value="a"))).count == 1
    assert (await client.query_points(name, query=[1, 0, 0, 0], using="fast")).points[
        0
    ].score == pytest.approx(1)


async def test_a_batch_of_operations_runs_in_order(client, name) -> None:
    results = await client.batch_update_points(
        name,
        [
            models.UpsertOperation(upsert=models.PointsList(points=[point(1, a=1), point(2, a=1)])),
            models.SetPayloadOperation(set_payload=models.SetPayload(payload={"b": 2}, points=[1])),
            models.DeleteOperation(delete=models.PointIdsList(points=[2])),
            models.UpdateVectorsOperation(
                update_vectors=models.UpdateVectors(
                    points=[models.PointVectors(id=1, vector={"fast": [1, 0, 0, 0]})]
                )
            ),
        ],
    )
    assert [result.status for result in results] == [models.UpdateStatus.COMPLETED] * 4
    (record,) = (await client.scroll(name, with_vectors=True))[0]
    assert (record.id, record.payload, record.vector) == (1, {"a": 1, "b": 2}, {"fast": [1, 0, 0, 0]})


# Reading points


async def test_scrolling_page_by_page_gives_each_point_once(client, name) -> None:
    uuids = [str(uuid.UUID(int=number << 64)) for number in range(1, 6)]
    await client.upsert(name, [point(point_id) for point_id in [*range(20), *uuids]])
    seen: list[Any] = []
    offset = None
    while True:
        records, offset = await client.scroll(name, limit=7, offset=offset)
        seen += [record.id for record in records]
        if offset is None:
            break
    assert seen == [*range(20), *uuids]


async def test_scrolling_in_the_order_of_a_field(client, name) -> None:
    await client.create_payload_index(name, "line", "integer")
    await client.upsert(name, [point(number, line=(number * 7) % 10) for number in range(10)])
    newest = models.OrderBy(key="line", direction=models.Direction.DESC, start_from=5)
    records, _ = await client.scroll(name, order_by=newest, limit=3)
    assert [record.payload["line"] for record in records] == [5, 4, 3]


async def test_counting_and_facets(client, name) -> None:
    await client.create_payload_index(name, "lang", "keyword")
    await client.upsert(name, [point(number, lang=["py", "go", "py"][number % 3]) for number in range(9)])
    await client.upsert(name, [point(100, lang="rust")])
    await client.delete(name, [100])
    assert (await client.count(name)).count == 9
    assert (await client.count(name, count_filter=where("lang", value="go"))).count == 3
    assert [(hit.value, hit.count) for hit in (await client.facet(name, "lang")).hits] == [
        ("py", 6),
        ("go", 3),
    ]
    only = await client.facet(name, "lang", facet_filter=where("lang", value="go"), limit=1)
    assert [(hit.value, hit.count) for hit in only.hits] == [("go", 3)]


async def test_retrieve_returns_requested_fields_only(client, name) -> None:
    await client.upsert(name, [point(1, [1, 0, 0, 0], path="a", text="long")])
    (record,) = await client.retrieve(name, [1, 2], with_payload=["path"])
    assert (record.id, record.payload, record.vector) == (1, {"path": "a"}, None)
    (record,) = await client.retrieve(name, [1], with_payload=models.PayloadSelectorExclude(exclude=["text"]))
    assert record.payload == {"path": "a"}
    (record,) = await client.retrieve(name, [1], with_payload=False, with_vectors=["fast"])
    assert (record.payload, record.vector) == (None, {"fast": [1, 0, 0, 0]})


async def test_nearest_vectors(client, name) -> None:
    rng = random.Random(7)
    vectors = {number: [rng.gauss(0, 1) for _ in range(4)] for number in range(50)}
    await client.upsert(
        name, [point(number, vector, even=number % 2 == 0) for number, vector in vectors.items()]
    )
    await client.upsert(name, [point(99, None, even=True)])
    wanted = [rng.gauss(0, 1) for _ in range(4)]

    def cosine(vector: list[float]) -> float:
        dot = sum(a * b for a, b in zip(wanted, vector, strict=True))
        return dot / (sum(a * a for a in wanted) * sum(b * b for b in vector)) ** 0.5

    ranked = sorted(
        (number for number in vectors if number % 2 == 0), key=lambda number: -cosine(vectors[number])
    )
    found = await client.query_points(
        name,
        query=wanted,
        using="fast",
        query_filter=where("even", value=True),
        limit=5,
        offset=2,
        with_payload=False,
        search_params=models.SearchParams(exact=True),
    )
    assert [hit.id for hit in found.points] == ranked[2:7]
    assert [hit.score for hit in found.points] == pytest.approx(
        [cosine(vectors[number]) for number in ranked[2:7]], abs=1e-5
    )
    above = await client.query_points(name, query=wanted, using="fast", score_threshold=0.5, limit=100)
    assert {hit.id for hit in above.points} == {
        number for number in vectors if cosine(vectors[number]) >= 0.5
    }


@pytest.mark.parametrize(
    ("query", "using"),
    [([1, 0, 0], "fast"), ([1, 0, 0, 0], "nope"), (models.TextQuery(text="a"), "path")],
    ids=["wrong size", "unknown vector", "field without scoring"],
)
async def test_queries_that_cannot_be_answered_are_refused(client, name, query, using) -> None:
    with pytest.raises(UnexpectedResponse) as raised:
        await client.query_points(name, query=query, using=using)
    assert status_of(raised) == 400


CODE = {
    1: "def getUserName(pool): return pool.HTTPConnection",
    2: "class UserRepository: pass",
    3: "parse_json(name) # the names of users",
    4: "unrelated words only",
}


async def index_code(client: AsyncQdrantClient, name: str, **params: Any) -> None:
    index = models.TextIndexParams(
        type="text", tokenizer="code", lowercase=True, phrase_matching=True, scoring=True, **params
    )
    await client.create_payload_index(name, "text", index)
    await client.upsert(name, [point(number, text=text) for number, text in CODE.items()])


async def test_bm25_over_the_words_of_identifiers(client, name) -> None:
    await index_code(client, name)
    found = await client.query_points(name, query=models.TextQuery(text="user name"), using="text")
    assert [hit.id for hit in found.points] == [1, 3, 2] or [hit.id for hit in found.points] == [1, 2, 3]
    tuned = models.TextQuery(
        text=models.TextQueryInput(
            query="user", scoring=models.Bm25Scoring(bm25=models.Bm25Params(k=1.5, b=0.1))
        )
    )
    found = await client.query_points(
        name, query=tuned, using="text", query_filter=where("text", text="repository")
    )
    assert [hit.id for hit in found.points] == [2]
    found = await client.query_points(name, query=models.TextQuery(text="zebra"), using="text")
    assert found.points == []


async def test_text_filters_on_code(client, name) -> None:
    await index_code(client, name)
    assert await ids(client, name, where("text", text="connection http")) == [1]
    assert await ids(client, name, where("text", text_any="json repository")) == [2, 3]
    assert await ids(client, name, where("text", phrase="user name")) == [1]
    assert await ids(client, name, where("text", phrase="name user")) == []


async def test_stemming_and_stopwords(client, name) -> None:
    stemmer = models.SnowballParams(type="snowball", language="english")
    await index_code(
        client, name, stemmer=stemmer, stopwords=models.StopwordsSet(languages=["english"], custom=["pass"])
    )
    assert await ids(client, name, where("text", text="the users")) == [1, 2, 3]
    found = await client.query_points(name, query=models.TextQuery(text="the pass of"), using="text")
    assert found.points == []


async def test_identifiers_by_prefix(client, name) -> None:
    await client.create_payload_index(
        name, "identifiers", models.KeywordIndexParams(type="keyword", prefix=True)
    )
    await client.upsert(
        name,
        [
            point(1, identifiers=["get_default_encoder", "x"]),
            point(2, identifiers=["Default"]),
            point(3, identifiers=[]),
        ],
    )
    assert await ids(client, name, where("identifiers", prefix="get_")) == [1]
    assert await ids(client, name, where("identifiers", prefix="default")) == []


async def test_prefixes_also_match_without_an_index_of_prefixes(client, name) -> None:
    await client.create_payload_index(name, "scope", models.KeywordIndexParams(type="keyword"))
    await client.upsert(
        name, [point(1, scope="r1/base"), point(2, scope="r1/~v"), point(3, scope="r11/base")]
    )
    assert await ids(client, name, where("scope", prefix="r1/")) == [1, 2]


async def test_all_legs_of_a_question_in_one_request(client, name) -> None:
    await index_code(client, name)
    await client.update_vectors(
        name, [models.PointVectors(id=number, vector={"fast": [number, 1, 0, 0]}) for number in CODE]
    )
    vector, text = await client.query_batch_points(
        name,
        [
            models.QueryRequest(query=[1, 0, 0, 0], using="fast", limit=2, with_payload=["text"]),
            models.QueryRequest(query=models.TextQuery(text="repository"), using="text", limit=2),
        ],
    )
    assert [hit.id for hit in vector.points] == [4, 3]
    assert vector.points[0].payload == {"text": CODE[4]}
    assert [(hit.id, hit.payload) for hit in text.points] == [(2, None)]


async def test_fusion_of_prefetched_legs(client, name) -> None:
    await index_code(client, name)
    await client.update_vectors(
        name, [models.PointVectors(id=number, vector={"fast": [number, 1, 0, 0]}) for number in CODE]
    )
    legs = [
        models.Prefetch(query=[1, 0, 0, 0], using="fast", limit=3),
        models.Prefetch(query=models.TextQuery(text="repository"), using="text", limit=3),
    ]
    for fusion in (
        models.FusionQuery(fusion=models.Fusion.RRF),
        models.RrfQuery(rrf=models.Rrf(k=2, weights=[1, 3])),
    ):
        found = await client.query_points(name, prefetch=legs, query=fusion, limit=10)
        assert found.points[0].id == 2
        assert {hit.id for hit in found.points} == {2, 3, 4}


# Aliases


def create_alias(collection: str, alias: str) -> models.CreateAliasOperation:
    return models.CreateAliasOperation(
        create_alias=models.CreateAlias(collection_name=collection, alias_name=alias)
    )


def delete_alias(alias: str) -> models.DeleteAliasOperation:
    return models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))


async def test_an_alias_serves_reads_and_writes(client, name) -> None:
    alias = f"{name}_alias"
    await client.update_collection_aliases([create_alias(name, alias)])
    await client.upsert(alias, [point(1, path="a")])
    await client.set_payload(alias, {"b": 1}, points=[1])
    assert (await client.retrieve(name, [1]))[0].payload == {"path": "a", "b": 1}
    assert (await client.count(alias)).count == 1
    described = models.AliasDescription(alias_name=alias, collection_name=name)
    assert (await client.get_collection_aliases(name)).aliases == [described]
    assert described in (await client.get_aliases()).aliases
    renamed = models.RenameAlias(old_alias_name=alias, new_alias_name=f"{alias}2")
    await client.update_collection_aliases([models.RenameAliasOperation(rename_alias=renamed)])
    assert (await client.count(f"{alias}2")).count == 1
    with pytest.raises(UnexpectedResponse) as raised:
        await client.count(alias)
    assert status_of(raised) == 404


async def test_an_alias_to_a_missing_collection_refuses_all_actions(client, name) -> None:
    with pytest.raises(UnexpectedResponse) as raised:
        await client.update_collection_aliases([create_alias("no_such_collection", f"{name}_b")])
    assert status_of(raised) == 404
    assert (await client.get_collection_aliases(name)).aliases == []


async def test_readers_always_find_one_side_of_an_alias_switch(client, name) -> None:
    other, alias = f"{name}_next", f"{name}_alias"
    await client.create_collection(other, vectors_config=VECTORS)
    await client.upsert(name, [point(1, side="old")])
    await client.upsert(other, [point(1, side="new")])
    await client.update_collection_aliases([create_alias(name, alias)])
    seen: list[str] = []
    is_switching = True

    async def read() -> None:
        while is_switching:
            (record,) = await client.retrieve(alias, [1])
            seen.append(record.payload["side"])

    readers = [asyncio.create_task(read()) for _ in range(3)]
    for target in [other, name] * 10:
        await client.update_collection_aliases([delete_alias(alias), create_alias(target, alias)])
    is_switching = False
    await asyncio.gather(*readers)
    assert set(seen) <= {"old", "new"}
    await client.delete_collection(other)


# Filters against a plain evaluation in Python

WORDS = ["a", "ab", "abc", "b", "bc", "ü"]
NUMBERS = [-1, 0, 1, 2]

documents = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "word": st.sampled_from(WORDS) | st.none(),
            "words": st.lists(st.sampled_from(WORDS), max_size=3),
            "plain": st.lists(st.sampled_from(WORDS), max_size=3),
            "number": st.sampled_from(NUMBERS),
            "flag": st.booleans(),
        },
    ),
    min_size=1,
    max_size=12,
)
strings = st.sampled_from(["word", "words", "plain"])
bounds = st.fixed_dictionaries(
    {}, optional={bound: st.sampled_from(NUMBERS) for bound in ("gte", "lt")}
) | st.fixed_dictionaries({}, optional={bound: st.sampled_from(NUMBERS) for bound in ("gt", "lte")})
leaves = st.one_of(
    st.tuples(st.just("value"), strings, st.sampled_from(WORDS)),
    st.tuples(st.just("value"), st.just("number"), st.sampled_from(NUMBERS)),
    st.tuples(st.just("value"), st.just("flag"), st.booleans()),
    st.tuples(
        st.sampled_from(["any", "except_"]), strings, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
    ),
    st.tuples(st.just("prefix"), strings, st.sampled_from(WORDS)),
    st.tuples(st.just("range"), st.just("number"), bounds),
    st.tuples(st.sampled_from(["is_empty", "is_null"]), strings, st.none()),
    st.tuples(st.just("has_id"), st.just("id"), st.sets(st.integers(0, 12), min_size=1, max_size=4)),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(
            st.sampled_from(["must", "should", "must_not"]),
            st.lists(inner, min_size=1, max_size=3),
            st.none(),
        ),
        st.tuples(st.just("min_should"), st.lists(inner, min_size=1, max_size=3), st.integers(1, 2)),
    ),
    max_leaves=6,
)


def as_condition(tree: tuple[str, Any, Any]) -> models.Condition:
    kind, key, value = tree
    if kind == "min_should":
        conditions = [as_condition(inner) for inner in key]
        return models.Filter(min_should=models.MinShould(conditions=conditions, min_count=value))
    if isinstance(key, list):
        return models.Filter(**{kind: [as_condition(inner) for inner in key]})
    return LEAF_CONDITIONS.get(kind, lambda key, value: field(key, **{kind: value}))(key, value)


LEAF_CONDITIONS = {
    "range": lambda key, bounds: models.FieldCondition(key=key, range=models.Range(**bounds)),
    "is_empty": lambda key, _: models.IsEmptyCondition(is_empty=models.PayloadField(key=key)),
    "is_null": lambda key, _: models.IsNullCondition(is_null=models.PayloadField(key=key)),
    "has_id": lambda _, wanted: models.HasIdCondition(has_id=sorted(wanted)),
}


def holds(tree: tuple[str, Any, Any], point_id: int, payload: dict[str, Any]) -> bool:
    kind, key, value = tree
    if isinstance(key, list):
        count = sum(holds(inner, point_id, payload) for inner in key)
        wanted = range(
            {"must": len(key), "should": 1, "must_not": 0, "min_should": value}[kind], len(key) + 1
        )
        return count == 0 if kind == "must_not" else count in wanted
    if kind == "has_id":
        return point_id in value
    stored = payload.get(key)
    if kind == "is_null":
        return key in payload and stored is None
    values = stored if isinstance(stored, list) else [] if stored is None else [stored]
    return not values if kind == "is_empty" else any(LEAF_TESTS[kind](item, value) for item in values)


BOUNDS = {"gte": operator.ge, "gt": operator.gt, "lte": operator.le, "lt": operator.lt}
LEAF_TESTS = {
    "value": operator.eq,
    "any": lambda item, wanted: item in wanted,
    "except_": lambda item, wanted: item not in wanted,
    "prefix": str.startswith,
    "range": lambda item, bounds: all(BOUNDS[bound](item, edge) for bound, edge in bounds.items()),
}


@pytest.fixture(scope="session")
def filtered(qdrant_server_url) -> Iterator[tuple[QdrantClient, str]]:
    client = QdrantClient(url=qdrant_server_url, check_compatibility=False, timeout=30)
    name = f"test_{uuid.uuid4().hex}"
    client.create_collection(name, vectors_config=VECTORS)
    client.create_payload_index(name, "word", models.KeywordIndexParams(type="keyword"))
    client.create_payload_index(name, "words", models.KeywordIndexParams(type="keyword", prefix=True))
    client.create_payload_index(name, "number", "integer")
    client.create_payload_index(name, "flag", "bool")
    yield client, name
    client.delete_collection(name)
    client.close()


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(documents=documents, questions=st.lists(trees, min_size=1, max_size=5))
def test_filters_match_a_plain_evaluation(filtered, documents, questions) -> None:
    client, name = filtered
    client.delete(name, models.FilterSelector(filter=models.Filter()))
    points = [
        models.PointStruct(id=number, vector={}, payload=payload) for number, payload in enumerate(documents)
    ]
    client.upsert(name, points)
    for tree in questions:
        records, _ = client.scroll(name, scroll_filter=models.Filter(must=[as_condition(tree)]), limit=100)
        expected = [number for number, payload in enumerate(documents) if holds(tree, number, payload)]
        assert [record.id for record in records] == expected
