"""The answers at a ref, file by file, and the points stored for it, chunk by chunk."""

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nats.js import JetStreamContext
from running_stack import Agent, Json, RunningStack
from truth_history import SYMBOLS

from prism_contracts.base import BASE_LAYER, layer_id, repo_id
from prism_contracts.names import KV_LAYERS, OBJECTS_LAYERS
from prism_contracts.records import Layer, LayerFiles, layer_key

TENANT = "default"
ALL = {"limit": 2_000, "max_tokens": 100_000}
LITERALS = ("balance", "shared_")
QUESTION = "shared total of interest"
SYMBOLS_A_CALL = 20
SCROLL_POINTS = 2_000
VALUE_CHARS = 400
# Fields that depend on where and when a point was written.
OF_THE_WRITE = frozenset({"scope", "version", "file"})

Answers = dict[str, Json]  # by path: the answer of each tool about the file


async def answers(agent: Agent, repo: str, ref: str = "") -> Answers:
    """Returns the answers of the reading tools at a ref."""
    asked = {"repo": repo} | ({"ref": ref} if ref else {})
    found: dict[str, Json] = defaultdict(lambda: defaultdict(list))
    listed = await agent.ask("list_files", **asked, include_skipped=True, **ALL)
    for file in listed["files"]:
        found[file.pop("file_path")]["listed"].append(file)
    for pattern, is_regex in [("^", True), *((literal, False) for literal in LITERALS)]:
        grep = await agent.ask("grep_code", **asked, pattern=pattern, regex=is_regex, **ALL)
        assert grep["complete"], grep["note"]
        for match in grep["matches"]:
            found[match["file_path"]][f"lines of {pattern}"].append((match["line"], match["text"]))
    for start in range(0, len(SYMBOLS), SYMBOLS_A_CALL):
        names = SYMBOLS[start : start + SYMBOLS_A_CALL]
        reply = await agent.ask("get_symbol_definition", **asked, symbols=names, max_tokens=100_000)
        for answer in reply["answers"]:
            for definition in answer["definitions"]:
                found[definition["file_path"]][f"definitions of {answer['symbol']}"].append(
                    {name: value for name, value in definition.items() if name not in {"repo", "file_path"}}
                )
    # Hits depend on the other files; that a path is listed at all does not.
    searched = await agent.ask("search_code", **asked, query=QUESTION, limit=100, detail="compact")
    for hit in searched["results"]:
        found[hit["file_path"]]
    return {path: dict(facts) for path, facts in found.items()}


async def stored(
    stack: RunningStack, js: JetStreamContext, name: str, refs: Iterable[str]
) -> dict[str, Answers]:
    """Returns the stored points of each ref of a repository by path: the file point, with the first lines of
    its chunks, and the chunks by text.

    Raises NatsError, APIError, httpx2.TransportError, OSError while NATS or the store is down.
    """
    repo = repo_id(name)
    lists = {ref: await _lists(js, repo, layer_id(ref)) if ref else [] for ref in refs}
    own = {variant for below in lists.values() for files in below for variant in files.variants.values()}
    points: dict[str, list[Json]] = defaultdict(list)
    for point in _scroll(stack, [f"{repo}/{layer}" for layer in (BASE_LAYER, *own)]):
        points[point["scope"].partition("/")[2]].append(point)
    files_of = {layer: _files(found) for layer, found in points.items()}
    return {ref: _shown(files_of, below) for ref, below in lists.items()}


def _shown(files_of: Mapping[str, Answers], lists: Iterable[LayerFiles]) -> Answers:
    """Returns the visible files of layers, given their lists of files, the lowest layer first."""
    shown = dict.fromkeys(files_of.get(BASE_LAYER, ()), BASE_LAYER)
    for files in lists:
        shown = {path: layer for path, layer in shown.items() if path not in files.hidden}
        shown |= files.variants
    return {path: files_of.get(layer, {}).get(path, {}) for path, layer in shown.items()}


async def _lists(js: JetStreamContext, repo: str, layer: str) -> list[LayerFiles]:
    """Returns the lists of files of a layer and those below it, the lowest first."""
    entry = await (await js.key_value(KV_LAYERS)).get(layer_key(TENANT, repo, layer))
    record = Layer.model_validate_json(entry.value or b"")
    below = [] if record.parent == BASE_LAYER else await _lists(js, repo, record.parent)
    kept = await (await js.object_store(OBJECTS_LAYERS)).get(record.files)
    return [*below, LayerFiles.model_validate_json(zlib.decompress(kept.data or b""))]


def differences(found: Answers, expected: Answers) -> Iterator[str]:
    """Yields each file that is missing, unexpected, or different."""
    for path in sorted(found.keys() | expected.keys()):
        if path not in found:
            yield f"{path} is lost"
        elif path not in expected:
            yield f"{path} is a ghost: {_short(found[path])}"
        else:
            yield from (
                f"{path}: {name} is {_short(found[path].get(name))}, not {_short(expected[path].get(name))}"
                for name in sorted(found[path].keys() | expected[path].keys())
                if found[path].get(name) != expected[path].get(name)
            )


def _short(value: Any) -> str:
    return repr(value)[:VALUE_CHARS]


def _files(points: Iterable[Json]) -> dict[str, Json]:
    """Returns the files of one layer by path, with their valid chunks."""
    files = {
        point["path"]: {"file": _facts(point), "chunks": []}
        for point in points
        if point.get("status") not in {None, "removed"}
    }
    chunks = [point for point in points if "status" not in point]
    for chunk in sorted(chunks, key=lambda point: point["text"]):
        file = files.get(chunk["path"])
        if file and file["file"]["generation"] == chunk["generation"]:
            file["chunks"].append(_facts(chunk))
    return files


def _facts(point: Mapping[str, Any]) -> Json:
    return {name: value for name, value in point.items() if name not in OF_THE_WRITE}


def _scroll(stack: RunningStack, scopes: list[str]) -> Iterator[Json]:
    """Yields the payloads of all points of some layers. Raises httpx2.TransportError, OSError."""
    offset: Any = None
    with stack.qdrant() as http:
        while True:
            body = {
                "limit": SCROLL_POINTS,
                "with_payload": True,
                "offset": offset,
                "filter": {"must": [{"key": "scope", "match": {"any": scopes}}]},
            }
            answer = http.post("/collections/prism_default/points/scroll", json=body)
            assert answer.status_code == 200, answer.text
            yield from (point["payload"] for point in answer.json()["result"]["points"])
            offset = answer.json()["result"]["next_page_offset"]
            if offset is None:
                return
